package assistant

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// schemaOf describes the results of a type to clients, briefly, because each
// conversation reads it: the names and types of members, and of lists whether they
// have lists. The tag schema says what a value of the API is ("object", "string",
// "boolean", "array"), which may be null where it ends in "?".
func schemaOf(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[jsontext.Value]():
		return map[string]any{}
	case t.Kind() == reflect.Pointer:
		return schemaOf(t.Elem())
	case t.Kind() == reflect.Slice:
		if t.Elem().Kind() == reflect.Slice && t.Elem() != reflect.TypeFor[jsontext.Value]() {
			return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
		}
		return map[string]any{"type": "array"}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case t.Kind() == reflect.Int:
		return map[string]any{"type": "integer"}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.String:
		return map[string]any{"type": "string"}
	}
	properties := map[string]any{}
	addMembers(t, properties)
	return map[string]any{"type": "object", "properties": properties}
}

// addMembers adds the members of a struct, and of those that are embedded in it.
func addMembers(t reflect.Type, properties map[string]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			addMembers(f.Type, properties)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		properties[name] = schemaOf(f.Type)
		if kind, isNullable := strings.CutSuffix(f.Tag.Get("schema"), "?"); isNullable {
			properties[name] = map[string]any{"type": []string{kind, "null"}}
		} else if kind != "" {
			properties[name] = map[string]any{"type": kind}
		}
	}
}
