package platform

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

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
		fmt.Fprintf(&b, "is %s, ", clip(f.Value))
	}
	return b.String() + "expected " + f.Expected
}

func clip(value string) string {
	if len(value) <= maxValue {
		return value
	}
	cut := maxValue
	for cut > 0 && !utf8.RuneStart(value[cut]) {
		cut--
	}
	return value[:cut] + "..."
}

// ID is an identifier of the platform. Some come as numbers beyond 2^53, so
// they are text from the first byte on and never pass through a float.
type ID string

// UnmarshalJSON accepts a string or a whole number.
func (id *ID) UnmarshalJSON(raw []byte) error {
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
		return unquote(raw)
	case raw[0] >= '0' && raw[0] <= '9' && !strings.ContainsAny(string(raw), ".eE"):
		return string(raw), nil
	}
	return "", errNoID
}

// unquote returns the text of a JSON string. NUL is refused: nothing after
// us agrees on what it means.
func unquote(raw []byte) (string, error) {
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", err
	}
	if strings.ContainsRune(string(text), 0) {
		return "", errors.New("text with a NUL character")
	}
	return string(text), nil
}
