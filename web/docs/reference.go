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

// operationPages are the endpoints as pages, in the document's order.
func (d *document) operationPages() []operationPage {
	var all []operationPage
	for _, item := range d.Paths {
		if item.Value.Get != nil {
			all = append(all, d.describeOperation(item.Name, *item.Value.Get))
		}
	}
	return all
}

func (d *document) describeOperation(address string, o operation) operationPage {
	page := operationPage{operation: o, Path: address, Open: o.Security != nil && len(*o.Security) == 0}
	for _, p := range o.Parameters {
		page.Parameters = append(page.Parameters, d.describeParameter(p))
	}
	for _, r := range o.Responses {
		status, answered := r.Name, d.resolveResponse(r.Value)
		page.Responses = append(page.Responses, responseRow{status, answered.Description, answered.errorCodes()})
		if status != "200" {
			continue
		}
		for _, h := range answered.Headers {
			page.Headers = append(page.Headers, d.describeHeader(h))
		}
		for _, m := range answered.Content {
			page.Formats = append(page.Formats, m.Name)
			page.Examples = append(page.Examples, m.Value.exampleValues()...)
			if m.Name == "application/json" {
				page.Columns = d.schemaFields("", m.Value.Schema)
			}
		}
	}
	return page
}

func (m media) exampleValues() []example {
	var all []example
	for _, e := range m.Examples {
		all = append(all, e.Value)
	}
	return all
}

// errorCodes are the errors that a response has examples of: each has one, by its
// code.
func (r response) errorCodes() []string {
	var codes []string
	for _, e := range r.Content.findMember("application/problem+json").Examples {
		codes = append(codes, e.Name)
	}
	return codes
}

func (d *document) resolveResponse(r response) response {
	if r.Ref != "" {
		return d.Components.Responses.findMember(path.Base(r.Ref))
	}
	return r
}

func (d *document) describeHeader(m member[header]) headerRow {
	h := m.Value
	if h.Ref != "" {
		h = d.Components.Headers.findMember(path.Base(h.Ref))
	}
	return headerRow{m.Name, h.Description, h.Example}
}

func (d *document) describeParameter(p parameter) parameterRow {
	if p.Ref != "" {
		p = d.Components.Parameters.findMember(path.Base(p.Ref))
	}
	s := d.resolveSchema(p.Schema)
	return parameterRow{p, d.describeValues(s), trimQuotes(s.Default)}
}

// resolveSchema follows a reference.
func (d *document) resolveSchema(s schema) schema {
	if s.Ref == "" {
		return s
	}
	target := d.Components.Schemas.findMember(path.Base(s.Ref))
	if s.Description != "" {
		target.Description = s.Description
	}
	return d.resolveSchema(target)
}

// describeValues says in words which values a schema allows.
func (d *document) describeValues(s schema) string {
	s = d.resolveSchema(s)
	switch {
	case len(s.OneOf) > 0:
		var all []string
		for _, one := range s.OneOf {
			all = append(all, d.describeValues(one))
		}
		return strings.Join(all, ", or ")
	case s.Const != nil:
		return trimQuotes(s.Const)
	case len(s.Enum) > 0:
		var all []string
		for _, value := range s.Enum {
			all = append(all, trimQuotes(value))
		}
		return strings.Join(all, ", ")
	case s.Items != nil:
		if values := d.describeValues(*s.Items); values != "text" {
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

func trimQuotes(value jsontext.Value) string { return strings.Trim(string(value), `"`) }
