package http

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"adlens"
	"adlens/internal/query"
)

// maxParameters bounds the parameters of a request; the endpoint with the
// most has a dozen.
const maxParameters = 100

// parameter is one name and value of a query string, in the order sent.
type parameter struct{ name, value string }

// decode reads a query string into a parameter struct. It is strict where Go
// and Gin are not: what does not parse, is unknown, empty or given twice is a
// fault, because a lost filter widens an answer.
func decode(raw string, into any) []adlens.Fault {
	sent, faults := parse(raw)
	fields := fieldsOf(reflect.ValueOf(into).Elem())
	seen := map[string]bool{}
	for _, p := range sent {
		i := slices.IndexFunc(fields, func(f paramField) bool { return f.name == p.name })
		switch {
		case i < 0:
			faults = append(faults, unknownParameter(p, fields))
		case seen[p.name]:
			faults = append(faults, adlens.Fault{Parameter: p.name, Value: p.value, Code: adlens.InvalidParameter,
				Detail: fmt.Sprintf("%s was given twice, then as %q; send it once%s", p.name, printable(p.value), fields[i].listHint())})
		case strings.TrimSpace(p.value) == "":
			faults = append(faults, adlens.Fault{Parameter: p.name, Value: p.value, Code: adlens.InvalidParameter,
				Detail: fmt.Sprintf("%s is empty; give it a value or leave it out", p.name)})
		default:
			fields[i].set(p.value)
		}
		seen[p.name] = true
	}
	return faults
}

// parse splits a query string. What does not parse is a fault, and the rest is
// read nevertheless.
func parse(raw string) (sent []parameter, faults []adlens.Fault) {
	for raw != "" {
		var part string
		part, raw, _ = strings.Cut(raw, "&")
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		plainName, errName := url.QueryUnescape(name)
		plainValue, errValue := url.QueryUnescape(value)
		if errName != nil || errValue != nil || strings.Contains(part, ";") || !isText(plainName) || !isText(plainValue) {
			faults = append(faults, adlens.Fault{Parameter: printable(plainName), Value: printable(value), Code: adlens.InvalidParameter,
				Detail: fmt.Sprintf("the query string does not parse at %q; expected name=value pairs joined by &, in UTF-8, with %%XX for other characters", printable(part))})
		} else {
			sent = append(sent, parameter{plainName, plainValue})
		}
		if len(sent)+len(faults) > maxParameters {
			return nil, []adlens.Fault{{Parameter: printable(plainName), Code: adlens.InvalidParameter,
				Detail: fmt.Sprintf("the query string has more than %d parameters", maxParameters)}}
		}
	}
	return sent, faults
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// printable is text for an error, whatever was sent.
func printable(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "..."
	}
	return s
}

func unknownParameter(p parameter, fields []paramField) adlens.Fault {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	detail := fmt.Sprintf("%q is no parameter of this endpoint", printable(p.name))
	if len(names) == 0 {
		detail += ", which has none"
	} else {
		detail += "; it knows " + strings.Join(names, ", ")
	}
	return adlens.Fault{Parameter: printable(p.name), Value: printable(p.value), Code: adlens.UnknownParameter, Detail: detail,
		Allowed: names, DidYouMean: query.Nearest(p.name, names)}
}

// paramField is a field of a parameter struct.
type paramField struct {
	name  string
	value reflect.Value
}

// fieldsOf lists the parameters of a struct in their documented order, those
// of embedded structs in their place.
func fieldsOf(v reflect.Value) []paramField {
	var fields []paramField
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			fields = append(fields, fieldsOf(v.Field(i))...)
			continue
		}
		fields = append(fields, paramField{f.Tag.Get("query"), v.Field(i)})
	}
	return fields
}

func (f paramField) isList() bool { return f.value.Kind() == reflect.Slice }

func (f paramField) listHint() string {
	if f.isList() {
		return ", with commas between the values"
	}
	return ""
}

func (f paramField) set(value string) {
	if !f.isList() {
		f.value.SetString(value)
		return
	}
	elements := strings.Split(value, ",")
	for i := range elements {
		elements[i] = strings.Trim(elements[i], " ")
	}
	f.value.Set(reflect.ValueOf(elements))
}

// inOrder puts faults into the order of the documented parameters; unknown
// ones come last, as they were sent.
func inOrder(faults []adlens.Fault, params any) []adlens.Fault {
	fields := fieldsOf(reflect.ValueOf(params).Elem())
	place := func(f adlens.Fault) int {
		i := slices.IndexFunc(fields, func(p paramField) bool { return p.name == f.Parameter })
		if i < 0 {
			return len(fields)
		}
		return i
	}
	slices.SortStableFunc(faults, func(a, b adlens.Fault) int { return place(a) - place(b) })
	return faults
}
