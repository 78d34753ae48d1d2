package docs

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// document is what the pages need of an OpenAPI document. Unlike what generic
// readers make of one, its members keep their order.
type document struct {
	Info       struct{ Summary, Description string }
	Tags       []struct{ Name, Description string }
	Paths      members[struct{ Get *operation }]
	Components struct {
		Parameters members[parameter]
		Headers    members[header]
		Responses  members[response]
		Schemas    members[schema]
	}
}

type operation struct {
	ID          string `json:"operationId"`
	Tags        []string
	Summary     string
	Description string
	Security    *[]jsontext.Value // empty: no key is needed
	Parameters  []parameter
	Responses   members[response]
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Required    bool
	Schema      schema
	Example     jsontext.Value
}

type header struct {
	Ref         string `json:"$ref"`
	Description string
	Example     jsontext.Value
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     members[header]
	Content     members[media]
}

type media struct {
	Schema   schema
	Examples members[example]
}

type example struct {
	Summary string
	Request string `json:"x-request"`
	Value   jsontext.Value
}

type schema struct {
	Ref              string `json:"$ref"`
	Type             kinds
	Format           string
	Description      string
	Enum             []jsontext.Value
	Const            jsontext.Value
	Default          jsontext.Value
	Minimum, Maximum jsontext.Value
	Items            *schema
	Properties       members[schema]
	AllOf, OneOf     []schema
	Unit             string `json:"x-unit"`
	Formula          string `json:"x-formula"`
}

// kinds are the types that a value may have.
type kinds []string

// UnmarshalJSON takes one type as well as several.
func (k *kinds) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		return json.Unmarshal(text, (*[]string)(k))
	}
	*k = make(kinds, 1)
	return json.Unmarshal(text, &(*k)[0])
}

// members are the members of an object in their order.
type members[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSONFrom reads an object.
func (m *members[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		one := member[T]{Name: name.String()}
		if err := json.UnmarshalDecode(d, &one.Value); err != nil {
			return err
		}
		*m = append(*m, one)
	}
	_, err := d.ReadToken()
	return err
}

// findMember finds a member; the zero value where there is none.
func (m members[T]) findMember(name string) (value T) {
	for _, one := range m {
		if one.Name == name {
			return one.Value
		}
	}
	return value
}

func readDocument(text []byte) (*document, error) {
	d := &document{}
	err := json.Unmarshal(text, d, json.MatchCaseInsensitiveNames(true))
	return d, err
}
