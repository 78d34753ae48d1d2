package assistant

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/catalogue"
	"adlens/internal/query"

	"github.com/go-json-experiment/json/jsontext"
)

// argument is an argument of a tool.
type argument struct {
	catalogue.Parameter        // as the API has it, or of the tool alone
	words               string // for the model; "" where the name and values say it
}

// argumentError reports an argument that the tool itself refuses.
type argumentError struct{ detail string }

func (e *argumentError) Error() string { return e.detail }

// arguments are those of a call, by name: lists have their elements, others one.
type arguments map[string][]string

// argumentNames returns the names of arguments.
func argumentNames(all []argument) (names []string) {
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names
}

// first returns the value of an argument, or another where it was not given.
func (a arguments) first(name, otherwise string) string {
	if len(a[name]) == 0 {
		return otherwise
	}
	return a[name][0]
}

// parameters returns the arguments with these names as parameters of the API.
func (a arguments) parameters(names ...string) (all []answer.Parameter) {
	for _, name := range names {
		for _, value := range a[name] {
			all = append(all, answer.Parameter{Name: name, Value: value})
		}
	}
	return all
}

// readArguments reads the arguments of a call. It is as strict as the API is: a
// misspelt filter would widen the answer.
func (t tool) readArguments(text []byte) (arguments, error) {
	given := arguments{}
	if len(text) == 0 || jsontext.Value(text).Kind() == 'n' {
		text = []byte("{}")
	}
	sent, err := readObject(text)
	if err != nil {
		return nil, &argumentError{"the arguments are no JSON object"}
	}
	for _, name := range sent.names {
		i := slices.IndexFunc(t.arguments, func(a argument) bool { return a.Name == name })
		if i < 0 {
			return nil, t.unknownArgument(name)
		}
		values, err := readValues(sent.values[name], t.arguments[i])
		if err != nil {
			return nil, err
		}
		if len(values) > 0 {
			given[name] = values
		}
	}
	if n := countQuotients(given[figuresArgument.Name]); n > maxQuotients {
		return nil, &argumentError{fmt.Sprintf("figures has %d quotients, as spend/purchases is one; expected %d at most", n, maxQuotients)}
	}
	for _, a := range t.arguments {
		if a.Required && len(given[a.Name]) == 0 {
			return nil, &argumentError{a.Name + " is missing" + expected(a)}
		}
	}
	return given, nil
}

func (t tool) unknownArgument(name string) error {
	known := argumentNames(t.arguments)
	detail := fmt.Sprintf("%q is no argument of %s, which has %s", adlens.CleanText(name, maxText), t.name, strings.Join(known, ", "))
	if len(known) == 0 {
		detail = fmt.Sprintf("%q is no argument of %s, which has none", adlens.CleanText(name, maxText), t.name)
	} else if meant := query.Nearest(name, known); meant != "" {
		detail += "; did you mean " + meant + "?"
	}
	return &argumentError{detail}
}

// readValues reads a value or, of a list, its elements. Null is an argument that was
// not given.
func readValues(v jsontext.Value, a argument) ([]string, error) {
	switch v.Kind() {
	case 'n':
		return nil, nil
	case '[':
		if !a.List {
			return nil, wrongArgument(a, v)
		}
		all, err := readList(v)
		if err != nil {
			return nil, wrongArgument(a, v)
		}
		if len(all) == 0 {
			return nil, &argumentError{a.Name + " is an empty list; leave it out where all are meant"}
		}
		var values []string
		for _, one := range all {
			more, err := readElements(one, a)
			if err != nil {
				return nil, err
			}
			for _, value := range more {
				if values, err = addValue(values, value, a); err != nil {
					return nil, err
				}
			}
		}
		return values, nil
	}
	return readElements(v, a)
}

// readElements reads a value, or several with commas between them where the argument
// is a list of choices.
func readElements(v jsontext.Value, a argument) (values []string, err error) {
	if text := textOf(v); a.List && a.Kind == catalogue.Choice && strings.Contains(text, ",") {
		for part := range strings.SplitSeq(text, ",") {
			value, err := readScalar(textValue(strings.TrimSpace(part)), a)
			if err != nil {
				return nil, err
			}
			if values, err = addValue(values, value, a); err != nil {
				return nil, err
			}
		}
		return values, nil
	}
	value, err := readScalar(v, a)
	return []string{value}, err
}

// addValue adds a value that is not there yet to those of a list, which may be bounded.
func addValue(values []string, value string, a argument) ([]string, error) {
	if slices.Contains(values, value) {
		return values, nil
	}
	if a.MaxValues > 0 && len(values) == a.MaxValues {
		return nil, &argumentError{fmt.Sprintf("%s has more than %d values; expected %d at most", a.Name, a.MaxValues, a.MaxValues)}
	}
	return append(values, value), nil
}

func readScalar(v jsontext.Value, a argument) (string, error) {
	var text string
	switch v.Kind() {
	case '"':
		text = textOf(v)
	case '0':
		text = string(v)
	default:
		return "", wrongArgument(a, v)
	}
	if text == "" {
		return "", &argumentError{a.Name + " is empty; give it a value or leave it out"}
	}
	switch n, whole := parseWhole(text); {
	case a.Kind == catalogue.Choice:
		text = a.spell(text)
	case a.Kind == catalogue.Number && whole:
		text = strconv.FormatInt(n, 10)
	}
	if (a.own() || a.Kind == catalogue.Number) && !a.takes(text) {
		return "", wrongArgument(a, v)
	}
	return text, nil
}

// spell returns a value as the catalogue spells it: case and outer spaces make no
// difference, as in the API.
func (a argument) spell(text string) string {
	i := slices.IndexFunc(a.Values, func(value string) bool { return strings.EqualFold(value, strings.TrimSpace(text)) })
	if i >= 0 {
		return a.Values[i]
	}
	if f, is := readQuotient(strings.ToLower(strings.TrimSpace(text))); is && a.Others != "" {
		return f.Name
	}
	return text
}

// takes reports whether a value is one of the argument's.
func (a argument) takes(text string) bool {
	switch a.Kind {
	case catalogue.Choice:
		return slices.Contains(a.Values, text)
	case catalogue.Number:
		n, err := strconv.Atoi(text)
		return err == nil && n >= 1 && n <= a.Max
	}
	return true
}

// own reports whether the API does not know the argument, or takes more values, so that
// the tool judges it.
func (a argument) own() bool {
	return !slices.ContainsFunc(catalogue.Parameters, func(p catalogue.Parameter) bool { return p.Name == a.Name && len(p.Values) <= len(a.Values) })
}

func wrongArgument(a argument, v jsontext.Value) error {
	return &argumentError{fmt.Sprintf("%s is %s%s%s", a.Name, adlens.CleanText(string(v), maxText), expected(a), didYouMean(a, textOf(v)))}
}

// didYouMean names the value that was meant, where one is near.
func didYouMean(a argument, text string) string {
	if meant := query.Nearest(text, a.Values); meant != "" {
		return "; did you mean " + meant + "?"
	}
	return ""
}

// expected says what would be right.
func expected(a argument) string {
	what := "a text"
	switch {
	case a.Others != "":
		what = strings.Join(catalogue.FigureNames, ", ") + ", or " + a.Others
		if slices.Contains(a.Values, catalogue.DimensionNames[0]) {
			what += ", or a dimension of the call"
		}
	case len(a.Values) > 0:
		what = strings.Join(a.Values, ", ")
		if a.List {
			what = "a list of " + what
		}
	case a.Kind == catalogue.Number:
		what = fmt.Sprintf("a number from 1 to %d", a.Max)
	case a.List:
		what = "a list of texts"
	}
	return "; expected " + what
}

// schema describes the argument to clients.
func (a argument) schema() map[string]any {
	s := map[string]any{"type": "string"}
	switch a.Kind {
	case catalogue.Number:
		s = map[string]any{"type": "integer", "minimum": 1}
		if a.Max < catalogue.MaxPage {
			s["maximum"] = a.Max
		}
	case catalogue.Choice:
		if a.Others == "" {
			s["enum"] = a.Values
		}
	}
	if a.List {
		s = map[string]any{"type": "array", "items": s}
	}
	if a.words != "" {
		s["description"] = a.words
	}
	return s
}
