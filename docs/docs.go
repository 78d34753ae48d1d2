// Package docs carries the documents that the program itself serves.
package docs

import (
	"bytes"
	"embed"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
)

//go:embed openapi.yaml.tmpl examples
var files embed.FS

// ServerAddress is the address of the server in pages and recipes. A server that
// serves them puts its own in its place.
const ServerAddress = "https://figures.example.com"

// Servers is what the document says of its server's address, as JSON, given that
// address. As OpenAPI and JSONOnly return it, it is RelativeAddress.
func Servers(address string) string { return `"servers":[{"url":"` + address + `"` }

// RelativeAddress is the address of the server that the document is from.
const RelativeAddress = "/"

// OpenAPI returns the description of the API as JSON, with the catalogue and the
// examples in their places. It is made once, and must not be changed.
var OpenAPI = sync.OnceValue(func() jsontext.Value { return describe(false) })

// JSONOnly returns OpenAPI for generators of clients that give an answer one type: without
// answers that are not JSON, and without what is about these alone.
var JSONOnly = sync.OnceValue(func() jsontext.Value { return describe(true) })

func describe(jsonOnly bool) jsontext.Value {
	text, err := renderSource(jsonOnly)
	if err != nil {
		panic("docs: " + templateFile + ": " + err.Error()) // the tests read it
	}
	bundled, err := bundle(text)
	if err != nil {
		panic("docs: " + templateFile + ": " + err.Error()) // likewise
	}
	return bundled
}

// bundle makes one JSON document of the source and the files that it names.
// Members keep their order.
func bundle(source []byte) (jsontext.Value, error) {
	var document yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(source, &document, yaml.UseOrderedMap()); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := write(jsontext.NewEncoder(&out), document); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func write(e *jsontext.Encoder, value any) error {
	switch v := value.(type) {
	case yaml.MapSlice:
		if file, ok := fileOf(v); ok {
			return writeFile(e, file)
		}
		return writeObject(e, v)
	case []any:
		return writeArray(e, v)
	case nil:
		return e.WriteToken(jsontext.Null)
	case bool:
		return e.WriteToken(jsontext.Bool(v))
	case string:
		return e.WriteToken(jsontext.String(v))
	case uint64:
		return e.WriteToken(jsontext.Uint(v))
	case int64:
		return e.WriteToken(jsontext.Int(v))
	case float64:
		return e.WriteToken(jsontext.Float(v))
	}
	return fmt.Errorf("a value of the type %T", value)
}

func writeObject(e *jsontext.Encoder, members yaml.MapSlice) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, member := range members {
		name, ok := member.Key.(string)
		if !ok {
			return fmt.Errorf("the name %v is no text; quote it", member.Key)
		}
		if err := e.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := write(e, member.Value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

func writeArray(e *jsontext.Encoder, elements []any) error {
	if err := e.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for _, element := range elements {
		if err := write(e, element); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndArray)
}
