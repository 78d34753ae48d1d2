package platform

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxValue is how much of a wrong value an error repeats.
const maxValue = 64

// Fault is what is wrong with one value of a file: where it stands, what it
// is, and what would be right.
type Fault struct {
	Row      int    // from 1; 0 where the fault is not in a row
	Field    string // "" where no field is to blame
	Value    string // as written in the file; "" where there is none
	Expected string // a phrase: what the value should be
}

func (f *Fault) Error() string {
	var b strings.Builder
	if f.Row > 0 {
		fmt.Fprintf(&b, "row %d: ", f.Row)
	}
	if f.Field != "" {
		fmt.Fprintf(&b, "%s ", f.Field)
	}
	if f.Value != "" {
		fmt.Fprintf(&b, "is %s, ", ClipText(f.Value, maxValue))
	}
	return b.String() + "expected " + f.Expected
}

// ClipText cuts a text to a limit of bytes, between characters, and says so by dots.
func ClipText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "..."
}

// ID is an identifier of the platform. Some come as numbers beyond 2^53, so
// they are text from the first byte on and never pass through a float.
type ID string

// UnmarshalJSON accepts text or a whole number; null is no id.
func (id *ID) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		*id = ""
		return nil
	}
	text, err := idText(raw)
	*id = ID(text)
	return err
}

var errNoID = errors.New("no id: expected text or a whole number")

func idText(raw []byte) (string, error) {
	switch {
	case len(raw) == 0:
		return "", errNoID
	case raw[0] == '"':
		return unquoteText(raw)
	case raw[0] >= '0' && raw[0] <= '9' && !strings.ContainsAny(string(raw), ".eE"):
		return string(raw), nil
	}
	return "", errNoID
}

// unquoteText returns the text of a JSON string. NUL is refused: nothing after
// us agrees on what it means.
func unquoteText(raw []byte) (string, error) {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", err
	}
	if strings.ContainsRune(string(text), 0) {
		return "", errors.New("text with a NUL character")
	}
	return string(text), nil
}

// Decode reads one JSON value into a struct. What is wrong with a value is
// said as a Fault, in words of the file and not of the program.
func Decode(raw jsontext.Value, into any, row int) error {
	err := json.Unmarshal(raw, into)
	var wrong *json.SemanticError
	if !errors.As(err, &wrong) {
		return err
	}
	field := strings.ReplaceAll(strings.TrimPrefix(string(wrong.JSONPointer), "/"), "/", ".")
	return &Fault{Row: row, Field: field, Value: string(valueAt(raw, wrong.JSONPointer)), Expected: expectedOf(wrong)}
}

// expectedOf says what a value should have been.
func expectedOf(wrong *json.SemanticError) string {
	if errors.Is(wrong.Err, errNoID) || wrong.GoType == reflect.TypeFor[ID]() {
		return "an id: text or a whole number"
	}
	if wrong.GoType == reflect.TypeFor[time.Time]() {
		return "a time like 2026-11-20T10:24:00.000Z"
	}
	switch wrong.GoType.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Uint64, reflect.Int:
		return "a whole number, not negative"
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "a list in brackets"
	}
	return "an object in braces"
}

// valueAt finds the value that a pointer leads to.
func valueAt(raw jsontext.Value, pointer jsontext.Pointer) jsontext.Value {
	for token := range pointer.Tokens() {
		var members map[string]jsontext.Value
		var elements []jsontext.Value
		if json.Unmarshal(raw, &members) == nil {
			raw = members[token]
		} else if i, err := strconv.Atoi(token); err == nil && json.Unmarshal(raw, &elements) == nil && i < len(elements) {
			raw = elements[i]
		}
	}
	return raw
}
