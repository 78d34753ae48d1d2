package docs

import (
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
)

// exampleDir holds the examples: real answers, which tests make again.
const exampleDir = "examples"

// Example is a question and its real answer.
type Example struct {
	Summary string         `json:"summary"`
	Request string         `json:"x-request"` // method and address
	Value   jsontext.Value `json:"value"`
}

// ReadExample reads an example by its name, such as "summary" or
// "errors/invalid_key". found is false where there is none.
func ReadExample(name string) (example Example, found bool) {
	text, err := files.ReadFile(path.Join(exampleDir, name+".json"))
	if err != nil {
		return Example{}, false
	}
	return example, json.Unmarshal(text, &example) == nil
}

// fileOf finds a reference to another file, which is an example.
func fileOf(object yaml.MapSlice) (file string, ok bool) {
	if len(object) != 1 || object[0].Key != "$ref" {
		return "", false
	}
	file, ok = object[0].Value.(string)
	return file, ok && strings.HasPrefix(file, exampleDir+"/")
}

// writeFile writes an example as it is: its numbers keep their digits.
func writeFile(e *jsontext.Encoder, file string) error {
	text, err := files.ReadFile(file)
	if err != nil {
		return err
	}
	return e.WriteValue(text)
}
