package answer

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

// Parameter is one name and value, as sent.
type Parameter struct{ Name, Value string }

// bindParameters reads parameters into a parameter struct. It is strict: what is
// unknown, empty or, unless it is a list, given twice is a fault, because a lost filter widens an
// answer.
func bindParameters(sent []Parameter, into any) (faults []adlens.Fault) {
	fields := fieldsOf(reflect.ValueOf(into).Elem())
	seen := map[string]int{}
	for _, p := range sent {
		i := slices.IndexFunc(fields, func(f paramField) bool { return f.name == p.Name })
		switch {
		case !isText(p.Name) || !isText(p.Value):
			faults = append(faults, adlens.Fault{Parameter: Printable(p.Name), Value: Printable(p.Value), Code: adlens.InvalidParameter,
				Detail: fmt.Sprintf("%s is not text; expected UTF-8 without NUL", Printable(p.Name))})
		case i < 0:
			faults = append(faults, unknownParameter(p, fields))
		case seen[p.Name] > 1 && !fields[i].isList(): // that was reported
		case seen[p.Name] > 0 && !fields[i].isList():
			faults = append(faults, adlens.Fault{Parameter: p.Name, Value: p.Value, Code: adlens.InvalidParameter,
				Detail: fmt.Sprintf("%s was given twice, then as %q; send it once", p.Name, Printable(p.Value))})
		case strings.TrimSpace(p.Value) == "":
			faults = append(faults, adlens.Fault{Parameter: p.Name, Value: p.Value, Code: adlens.InvalidParameter,
				Detail: fmt.Sprintf("%s is empty; give it a value or leave it out", p.Name)})
		default:
			fields[i].setValue(p.Value)
		}
		seen[p.Name]++
	}
	return faults
}

// ReadQuery reads the parameters of a query string. What does not parse is a
// fault, and the rest is read nevertheless.
func ReadQuery(raw string) (sent []Parameter, faults []adlens.Fault) {
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
			faults = append(faults, adlens.Fault{Parameter: Printable(plainName), Value: Printable(value), Code: adlens.InvalidParameter,
				Detail: fmt.Sprintf("the query string does not parse at %q; expected name=value pairs joined by &, in UTF-8, with %%XX for other characters", Printable(part))})
		} else {
			sent = append(sent, Parameter{plainName, plainValue})
		}
	}
	return sent, faults
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// Printable returns what was sent as text for an error.
func Printable(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
	if len(s) > 64 {
		s = strings.ToValidUTF8(s[:64], "") + "..."
	}
	return s
}

func unknownParameter(p Parameter, fields []paramField) adlens.Fault {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	detail := fmt.Sprintf("%q is no parameter of this endpoint", Printable(p.Name))
	if len(names) == 0 {
		detail += ", which has none"
	} else {
		detail += "; it knows " + strings.Join(names, ", ")
	}
	return adlens.Fault{Parameter: Printable(p.Name), Value: Printable(p.Value), Code: adlens.UnknownParameter, Detail: detail,
		Allowed: names, DidYouMean: query.Nearest(p.Name, names)}
}

// paramField is a field of a parameter struct.
type paramField struct {
	name  string
	value reflect.Value
}

// fieldsOf lists the parameters of a struct in their documented order.
func fieldsOf(v reflect.Value) []paramField {
	known := query.ParamFields(v.Type())
	fields := make([]paramField, len(known))
	for i, f := range known {
		fields[i] = paramField{f.Tag.Get("query"), v.FieldByIndex(f.Index)}
	}
	return fields
}

func (f paramField) isList() bool { return f.value.Kind() == reflect.Slice }

// setValue sets a value. A list that is given several times is the list of all its
// values.
func (f paramField) setValue(value string) {
	if !f.isList() {
		f.value.SetString(value)
		return
	}
	elements, _ := f.value.Interface().([]string)
	for element := range strings.SplitSeq(value, ",") {
		elements = append(elements, strings.Trim(element, " "))
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

// preferFormat sets the format of parameters that have one and were sent without
// it.
func preferFormat(params any, format string) {
	for _, f := range fieldsOf(reflect.ValueOf(params).Elem()) {
		if f.name == "format" && f.value.String() == "" {
			f.setValue(format)
		}
	}
}

// RefuseParameters returns the error of parameters that were sent where there are
// none, or nil.
func RefuseParameters(sent []Parameter, faults []adlens.Fault) error {
	return ReadParameters(sent, faults, &struct{}{})
}

// ReadParameters reads parameters into a struct whose fields name theirs by the tag
// query. The error is a *query.FaultsError.
func ReadParameters(sent []Parameter, faults []adlens.Fault, into any) error {
	return joinFaults(append(faults, bindParameters(sent, into)...), into)
}

// mostFaults bounds the faults that an error lists, each with what would be right: an
// address has room for thousands of parameters, and of values of a list.
const mostFaults = 1_000

// joinFaults returns the error of faults, in the documented order of the parameters, or
// nil for none. The last that it lists counts those that are left out.
func joinFaults(faults []adlens.Fault, params any) error {
	if len(faults) == 0 {
		return nil
	}
	faults = inOrder(faults, params)
	if more := len(faults) - mostFaults; more > 0 {
		faults = faults[:mostFaults]
		faults[mostFaults-1].Detail += fmt.Sprintf("; %d more faults are not listed", more)
	}
	return &query.FaultsError{Faults: faults}
}
