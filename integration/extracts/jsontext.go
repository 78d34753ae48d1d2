package extracts

import (
	"encoding/json"
	"strings"
)

// member is one name of an object with its value as JSON text.
type member struct{ name, value string }

// object writes members in a random order: the platform promises none.
func (w *writer) object(members ...member) string {
	w.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	var text strings.Builder
	text.WriteString("{")
	for i, m := range members {
		if i > 0 {
			text.WriteString(",")
		}
		text.WriteString(quote(m.name) + ":" + m.value)
	}
	text.WriteString("}")
	return text.String()
}

// id writes an id as a number or as text: both come.
func (w *writer) id(digits string) string {
	if w.chance(50) {
		return quote(digits)
	}
	return digits
}

func quote(text string) string {
	content, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(content)
}
