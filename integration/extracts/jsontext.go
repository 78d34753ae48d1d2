package extracts

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// member is one name of an object with its value as JSON text.
type member struct{ name, value string }

// varyObject writes an object of the platform as it may come: with members in any
// order, ids as numbers or as text, nulls or nothing, and members that no
// reader knows. The extra ones are the caller's.
func (w *writer) varyObject(v any, extra ...member) string {
	content, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	return w.varyNext(d, "", extra...)
}

func (w *writer) varyNext(d *json.Decoder, name string, members ...member) string {
	token, err := d.Token()
	if err != nil {
		panic(err)
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return "[" + strings.Join(w.varyElements(d, name), ",") + "]"
		}
		return w.varyMembers(d, members)
	case string:
		if isID(name, t) {
			return w.varyID(t)
		}
		return quoteJSON(t)
	case json.Number:
		if isID(name, t.String()) {
			return w.varyID(t.String())
		}
		return t.String()
	case bool:
		return strconv.FormatBool(t)
	}
	return "null"
}

func (w *writer) varyElements(d *json.Decoder, name string) (all []string) {
	for d.More() {
		all = append(all, w.varyNext(d, name))
	}
	_, _ = d.Token() // the end, which More has seen
	return all
}

func (w *writer) varyMembers(d *json.Decoder, members []member) string {
	for d.More() {
		name, _ := d.Token()
		m := member{name.(string), ""}
		if m.value = w.varyNext(d, m.name); m.value != "null" || w.percentChance(70) {
			members = append(members, m)
		}
	}
	_, _ = d.Token()
	if w.percentChance(20) {
		members = append(members, member{"somethingNew", `{"deep":{"er":[null,1.5]}}`})
	}
	return w.shuffledObject(members...)
}

// isID reports whether a value is an id, which may be a number or text.
func isID(name, value string) bool {
	return strings.HasSuffix(name, "Id") && strings.Trim(value, "0123456789") == ""
}

// shuffledObject writes members in a random order: the platform promises none.
func (w *writer) shuffledObject(members ...member) string {
	w.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	var text strings.Builder
	text.WriteString("{")
	for i, m := range members {
		if i > 0 {
			text.WriteString(",")
		}
		text.WriteString(quoteJSON(m.name) + ":" + m.value)
	}
	text.WriteString("}")
	return text.String()
}

// varyID writes an id as a number or as text: both come.
func (w *writer) varyID(digits string) string {
	if w.percentChance(50) {
		return quoteJSON(digits)
	}
	return digits
}

func quoteJSON(text string) string {
	content, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(content)
}
