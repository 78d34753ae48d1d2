package docs

import (
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// schemaFields lists the members of an answer, each after the one that it is in.
// The figures stand in one line, as they are the same everywhere.
func (d *document) schemaFields(prefix string, s schema) []field {
	if path.Base(s.Ref) == "Figures" {
		return []field{{Name: prefix, Figures: true, Type: "numbers", Description: "All figures, each under its name."}}
	}
	s = d.resolveSchema(s)
	var all []field
	for _, part := range s.AllOf {
		all = append(all, d.schemaFields(prefix, part)...)
	}
	for _, m := range s.Properties {
		all = append(all, d.memberFields(prefix+m.Name, m.Value)...)
	}
	return all
}

func (d *document) memberFields(name string, s schema) []field {
	whole := d.resolveSchema(s)
	f := field{Name: name, Type: d.typeOf(whole), Description: whole.Description, Unit: whole.Unit, Formula: whole.Formula}
	if path.Base(s.Ref) == "Change" {
		return []field{f} // one number for each figure
	}
	inner := whole
	if whole.Items != nil {
		name, inner = name+"[]", *whole.Items
	}
	return append([]field{f}, d.schemaFields(name+".", inner)...)
}

// typeOf says in words what a value is.
func (d *document) typeOf(s schema) string {
	s = d.resolveSchema(s)
	words := slices.DeleteFunc(slices.Clone([]string(s.Type)), func(t string) bool { return t == "null" })
	text := strings.Join(words, " or ")
	switch {
	case len(s.Type) == 0 && len(s.AllOf) > 0:
		text = "object"
	case len(s.Type) == 0:
		text = "any value"
	case s.Items != nil:
		text = "list of " + d.typeOf(*s.Items)
	case s.Format == "date" || s.Format == "date-time":
		text = map[string]string{"date": "day", "date-time": "instant"}[s.Format]
	case len(s.Enum) > 0 && text == "string":
		text = d.describeValues(schema{Enum: slices.DeleteFunc(slices.Clone(s.Enum), isNull)})
	}
	if slices.Contains(s.Type, "null") {
		text += ", or null"
	}
	return text
}

func isNull(value jsontext.Value) bool { return string(value) == "null" }

// figureFields are the fields of a figures object.
func (d *document) figureFields(schema string) []field {
	var all []field
	for _, m := range d.Components.Schemas.findMember(schema).Properties {
		all = append(all, field{Name: m.Name, Type: d.typeOf(m.Value), Description: m.Value.Description, Unit: m.Value.Unit, Formula: m.Value.Formula})
	}
	return all
}

// changeFields says for each figure in what its change is counted.
func (d *document) changeFields() []field {
	var all []field
	for _, m := range d.Components.Schemas.findMember("Change").Properties {
		all = append(all, field{Name: m.Name, Description: m.Value.Description})
	}
	return all
}
