package docs

import (
	"fmt"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// operationPage is what the page of an endpoint says.
type operationPage struct {
	operation
	Path       string
	Open       bool // no key is needed
	Parameters []parameterRow
	Columns    []field // of its JSON answer
	Formats    []string
	Examples   []example
	Headers    []headerRow
	Responses  []responseRow
}

// parameterRow is a parameter with its values in words.
type parameterRow struct {
	parameter
	Values  string
	Default string
}

// field is a member of an answer; its name has the way to it.
type field struct {
	Name, Type, Description string
	Unit, Formula           string
	Figures                 bool // stands for all figures
}

type headerRow struct {
	Name, Description string
	Example           jsontext.Value
}

// responseRow is a status with the codes of its errors.
type responseRow struct {
	Status, Description string
	Codes               []string
}

// operations are the endpoints as pages, in the document's order.
func (d *document) operations() []operationPage {
	var all []operationPage
	for _, item := range d.Paths {
		if item.Value.Get != nil {
			all = append(all, d.operation(item.Name, *item.Value.Get))
		}
	}
	return all
}

func (d *document) operation(address string, o operation) operationPage {
	page := operationPage{operation: o, Path: address, Open: o.Security != nil && len(*o.Security) == 0}
	for _, p := range o.Parameters {
		page.Parameters = append(page.Parameters, d.parameter(p))
	}
	for _, r := range o.Responses {
		status, answered := r.Name, d.response(r.Value)
		page.Responses = append(page.Responses, responseRow{status, answered.Description, answered.codes()})
		if status != "200" {
			continue
		}
		for _, h := range answered.Headers {
			page.Headers = append(page.Headers, d.header(h))
		}
		for _, m := range answered.Content {
			page.Formats = append(page.Formats, m.Name)
			page.Examples = append(page.Examples, m.Value.examples()...)
			if m.Name == "application/json" {
				page.Columns = d.fields("", m.Value.Schema)
			}
		}
	}
	return page
}

func (m media) examples() []example {
	var all []example
	for _, e := range m.Examples {
		all = append(all, e.Value)
	}
	return all
}

// codes are the errors that a response has examples of: each has one, by its
// code.
func (r response) codes() []string {
	var codes []string
	for _, e := range r.Content.of("application/problem+json").Examples {
		codes = append(codes, e.Name)
	}
	return codes
}

func (d *document) response(r response) response {
	if r.Ref != "" {
		return d.Components.Responses.of(path.Base(r.Ref))
	}
	return r
}

func (d *document) header(m member[header]) headerRow {
	h := m.Value
	if h.Ref != "" {
		h = d.Components.Headers.of(path.Base(h.Ref))
	}
	return headerRow{m.Name, h.Description, h.Example}
}

func (d *document) parameter(p parameter) parameterRow {
	if p.Ref != "" {
		p = d.Components.Parameters.of(path.Base(p.Ref))
	}
	s := d.schema(p.Schema)
	byDefault := s.Default
	if p.Schema.Default != nil {
		byDefault = p.Schema.Default
	}
	return parameterRow{p, d.values(s), strings.Trim(string(byDefault), `"`)}
}

// schema follows a reference.
func (d *document) schema(s schema) schema {
	if s.Ref == "" {
		return s
	}
	target := d.Components.Schemas.of(path.Base(s.Ref))
	if s.Description != "" {
		target.Description = s.Description
	}
	return d.schema(target)
}

// values says in words which values a schema allows.
func (d *document) values(s schema) string {
	s = d.schema(s)
	switch {
	case len(s.OneOf) > 0:
		var all []string
		for _, one := range s.OneOf {
			all = append(all, d.values(one))
		}
		return strings.Join(all, ", or ")
	case s.Const != nil:
		return unquoted(s.Const)
	case len(s.Enum) > 0:
		var all []string
		for _, value := range s.Enum {
			all = append(all, unquoted(value))
		}
		return strings.Join(all, ", ")
	case s.Items != nil:
		if values := d.values(*s.Items); values != "text" {
			return "list of " + values
		}
		return "list"
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("whole number from %s to %s", s.Minimum, s.Maximum)
	case s.Format == "date":
		return "day, YYYY-MM-DD"
	}
	return "text"
}

func unquoted(value jsontext.Value) string { return strings.Trim(string(value), `"`) }
