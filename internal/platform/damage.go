package platform

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Damage says in our words what is wrong with the form of JSON text: the field,
// where there is one, the byte, and what stands there. Errors of reading keep
// their own words.
func Damage(err error) error {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return errors.New(stripPrefix(err.Error()))
	}
	if syntax.ByteOffset == 0 {
		for _, other := range otherFiles {
			if strings.Contains(syntax.Error(), other.begins) {
				return fmt.Errorf("%s, expected JSON in UTF-8", other.is)
			}
		}
	}
	field := ""
	if name := fieldOf(syntax.JSONPointer); name != "" {
		field = name + ": "
	}
	return fmt.Errorf("%sdamaged JSON at byte %d: %s", field, syntax.ByteOffset, stripPrefix(syntax.Err.Error()))
}

// RowDamage says in our words what is wrong with the form of a row of CSV: its number of
// values, where those that wanted describes are right, or its quotes. Errors of reading
// keep their own words.
func RowDamage(err error, values []string, wanted string) error {
	var form *csv.ParseError
	switch {
	case !errors.As(err, &form):
		return err
	case errors.Is(err, csv.ErrFieldCount):
		return &Fault{Row: form.StartLine, Value: fmt.Sprintf("%q", strings.Join(values, ",")), Expected: fmt.Sprintf("%s, and not %d", wanted, len(values))}
	}
	return &Fault{Row: form.StartLine, Expected: "quotes around the whole of a value, with each quote inside written twice, and an end to each"}
}

// otherFiles are files that are no JSON, by what the decoder says of their
// first character.
var otherFiles = []struct{ begins, is string }{
	{`character '<'`, "it begins like HTML or XML"},
	{`character '\xff'`, "it begins like text in UTF-16"},
	{`character '\xfe'`, "it begins like text in UTF-16"},
	{`character '\x1f'`, "it is packed, or packed twice"},
}

// stripPrefix is an error's text without the name of the decoder's package.
func stripPrefix(text string) string {
	for _, prefix := range []string{"jsontext: ", "read error: ", "jsontext: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// fieldOf is the name that a pointer into an array of rows ends with, or that a
// pointer into an object does; "" where it points at a row.
func fieldOf(p jsontext.Pointer) string {
	name := p.LastToken()
	if name == "" || strings.Trim(name, "0123456789") == "" {
		return ""
	}
	return name
}
