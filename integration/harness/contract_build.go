package harness

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contractBuilder makes schemas of a document.
type contractBuilder struct {
	document map[string]any
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by what is compiled
	faults   []error
}

// asObject is a JSON object, or an empty one.
func asObject(value any) map[string]any {
	o, _ := value.(map[string]any)
	return o
}

// resolveRef follows a reference.
func (b *contractBuilder) resolveRef(value any) map[string]any {
	reference, ok := asObject(value)["$ref"].(string)
	if !ok {
		return asObject(value)
	}
	target := any(b.document)
	for _, name := range strings.Split(strings.TrimPrefix(reference, "#/"), "/") {
		target = asObject(target)[name]
	}
	if target == nil {
		b.faults = append(b.faults, fmt.Errorf("%s leads nowhere", reference))
	}
	return b.resolveRef(target)
}

func (b *contractBuilder) buildAnswers(responses map[string]any) map[string]described {
	all := map[string]described{}
	for status, value := range responses {
		response, d := b.resolveRef(value), described{headers: map[string]header{}, bodies: map[string]*jsonschema.Schema{}}
		for name, value := range asObject(response["headers"]) {
			h := b.resolveRef(value)
			d.headers[name] = header{h["required"] == true, b.compileSchema(h["schema"])}
		}
		for media, value := range asObject(response["content"]) {
			d.bodies[media] = nil
			if strings.HasSuffix(media, "json") && media != "application/x-ndjson" {
				d.bodies[media] = b.compileSchema(asObject(value)["schema"])
			}
		}
		all[status] = d
	}
	return all
}

// compileSchema makes a schema that allows nothing beyond what is described. What
// many answers share, like the problem, is made once.
func (b *contractBuilder) compileSchema(schema any) *jsonschema.Schema {
	text := fmt.Sprint(schema) // maps are printed in the order of their keys
	if done, ok := b.compiled[text]; ok {
		return done
	}
	name := fmt.Sprintf("schema-%d.json", len(b.compiled))
	if err := b.compiler.AddResource(name, b.closeSchema(schema, false)); err != nil {
		b.faults = append(b.faults, err)
		return nil
	}
	compiled, err := b.compiler.Compile(name)
	if err != nil {
		b.faults = append(b.faults, err)
	}
	b.compiled[text] = compiled
	return compiled
}

// closeSchema is a copy of a schema without references, in which no object has
// members beyond the described ones. What is a part of a whole (allOf) does
// not know the other parts' members; the whole does.
func (b *contractBuilder) closeSchema(value any, part bool) any {
	schema := maps.Clone(b.resolveRef(value))
	for name, inner := range schema {
		switch name {
		case "properties":
			schema[name] = b.eachOf(asObject(inner))
		case "items":
			schema[name] = b.closeSchema(inner, false)
		case "allOf":
			schema[name] = b.closeEach(inner, true)
		case "oneOf", "anyOf":
			schema[name] = b.closeEach(inner, part)
		}
	}
	// Many validators reckon with binary floats, and find that 304.97 is no
	// multiple of 0.01. This one does not; so the document says it in its own way.
	if schema["x-decimals"] == json.Number("2") {
		schema["multipleOf"] = json.Number("0.01")
	}
	_, open := schema["additionalProperties"]
	if isObject(schema) && !part && !open {
		schema["unevaluatedProperties"] = false
	}
	return schema
}

func isObject(schema map[string]any) bool {
	_, whole := schema["allOf"]
	types, _ := schema["type"].([]any)
	return whole || schema["type"] == "object" || slices.Contains(types, any("object"))
}

func (b *contractBuilder) eachOf(members map[string]any) map[string]any {
	all := map[string]any{}
	for name, value := range members {
		all[name] = b.closeSchema(value, false)
	}
	return all
}

func (b *contractBuilder) closeEach(values any, part bool) []any {
	all := []any{}
	for _, value := range values.([]any) {
		all = append(all, b.closeSchema(value, part))
	}
	return all
}
