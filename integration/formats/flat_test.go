package formats_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"adlens/integration/house"
	"adlens/integration/model"
)

// flatField is a field of a row of the JSON answer as a table shows it.
type flatField struct {
	name string
	text *string // nil for null
	kind byte    // 'n' number, 't' text, 'b' true or false, '0' null
}

// flatten lists the fields of an object in their order: those of objects
// behind their names, lists of values joined, lists of objects as they are.
func flatten(t *testing.T, prefix string, object json.RawMessage) []flatField {
	t.Helper()
	var fields []flatField
	decoder := json.NewDecoder(bytes.NewReader(object))
	_, err := decoder.Token()
	house.Need(t, err)
	for decoder.More() {
		name, err := decoder.Token()
		house.Need(t, err)
		var value json.RawMessage
		house.Need(t, decoder.Decode(&value))
		fields = append(fields, flatValue(t, prefix+name.(string), value)...)
	}
	return fields
}

func flatValue(t *testing.T, name string, value json.RawMessage) []flatField {
	t.Helper()
	text := string(value)
	switch value[0] {
	case '{':
		return flatten(t, name+"_", value)
	case '[':
		var list []any
		house.Need(t, json.Unmarshal(value, &list))
		var texts []string
		for _, element := range list {
			plain, ok := element.(string)
			if !ok {
				return []flatField{{name, &text, 't'}}
			}
			texts = append(texts, plain)
		}
		if len(list) == 0 && name == "changes" { // a list of objects
			return []flatField{{name, &text, 't'}}
		}
		text = strings.Join(texts, ";")
		return []flatField{{name, &text, 't'}}
	case '"':
		house.Need(t, json.Unmarshal(value, &text))
		return []flatField{{name, &text, 't'}}
	case 'n':
		return []flatField{{name, nil, '0'}}
	case 't', 'f':
		return []flatField{{name, &text, 'b'}}
	}
	return []flatField{{name, &text, 'n'}}
}

// flatRows are the rows of an answer in JSON; those of a summary are its
// total and the elements of its lists.
func flatRows(t *testing.T, body []byte) [][]flatField {
	t.Helper()
	var answer struct {
		Data          []json.RawMessage
		ByMarketplace []json.RawMessage `json:"by_marketplace"`
		ByAdProduct   []json.RawMessage `json:"by_ad_product"`
	}
	house.Need(t, json.Unmarshal(body, &answer))
	var rows [][]flatField
	for _, row := range answer.Data {
		rows = append(rows, flatten(t, "", row))
	}
	if answer.ByMarketplace == nil {
		return rows
	}
	section := func(name string) flatField { return flatField{"section", &name, 't'} }
	total := []flatField{section("total")}
	for _, f := range flatten(t, "", body) {
		figure := strings.TrimPrefix(strings.TrimPrefix(f.name, "comparison_"), "change_")
		if slices.Contains(model.FigureNames, figure) {
			total = append(total, f)
		}
	}
	rows = append(rows, total)
	for _, row := range answer.ByMarketplace {
		rows = append(rows, append([]flatField{section("by_marketplace")}, flatten(t, "", row)...))
	}
	for _, row := range answer.ByAdProduct {
		rows = append(rows, append([]flatField{section("by_ad_product")}, flatten(t, "", row)...))
	}
	return rows
}
