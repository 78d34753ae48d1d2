package docs

import (
	"bytes"
	"fmt"
	"slices"
	"text/template"

	"adlens/internal/catalogue"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const templateFile = "openapi.yaml.tmpl"

// renderSource returns the API's description as YAML: the template with the
// catalogue's rows in it, and only JSON answers if jsonOnly.
func renderSource(jsonOnly bool) ([]byte, error) {
	parsed, err := template.New(templateFile).Funcs(template.FuncMap{
		"json": flow,
		"parameters": func(all []catalogue.Parameter) []catalogue.Parameter {
			return slices.DeleteFunc(slices.Clone(all), func(p catalogue.Parameter) bool { return jsonOnly && p.IsOfFormats() })
		},
		"words":              parameterWords,
		"schema":             func(p catalogue.Parameter) (string, error) { return flow(parameterSchema(p)) },
		"columnSchema":       func(c catalogue.Column) (string, error) { return flow(columnSchema(c)) },
		"figureSchema":       func(f catalogue.Figure) (string, error) { return flow(figureSchema(f)) },
		"reportFigureSchema": func(f catalogue.Figure) (string, error) { return flow(reportFigureSchema(f)) },
		"changeSchema":       func(f catalogue.Figure) (string, error) { return flow(changeSchema(f)) },
	}).ParseFS(files, templateFile)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, map[string]any{
		"JSONOnly":  jsonOnly,
		"Endpoints": catalogue.Endpoints, "Parameters": catalogue.Parameters, "Dimensions": catalogue.Dimensions, "Figures": catalogue.Figures, "FigureNames": catalogue.FigureNames,
		"ReportFigures": catalogue.ReportFigures, "ReportFigureNames": catalogue.ReportFigureNames,
		"DimensionNames": catalogue.DimensionNames, "MaxPageSize": catalogue.MaxPageSize, "MaxTablePageSize": catalogue.MaxTablePageSize,
		"Ranges": catalogue.Ranges, "AdProducts": catalogue.AdProducts, "States": catalogue.States, "Tools": catalogue.Tools,
		"Formats": catalogue.Formats, "ProductSorts": catalogue.ProductSorts,
	})
	return out.Bytes(), err
}

// flow writes a value as JSON, which is a flow of YAML.
func flow(value any) (string, error) {
	text, err := json.Marshal(value, jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))
	return string(text), err
}

// schema is a schema of the document, with its members in their order there.
type schema struct {
	Ref         string   `json:"$ref,omitzero"`
	Type        any      `json:"type,omitzero"`
	Format      string   `json:"format,omitzero"`
	Enum        []string `json:"enum,omitzero"`
	Decimals    int      `json:"x-decimals,omitzero"`
	Minimum     *int     `json:"minimum,omitzero"`
	Maximum     int      `json:"maximum,omitzero"`
	MinLength   int      `json:"minLength,omitzero"`
	MaxLength   int      `json:"maxLength,omitzero"`
	MinItems    int      `json:"minItems,omitzero"`
	MaxItems    int      `json:"maxItems,omitzero"`
	Items       *schema  `json:"items,omitzero"`
	Default     any      `json:"default,omitzero"`
	Description string   `json:"description,omitzero"`
	Unit        string   `json:"x-unit,omitzero"`
	Formula     string   `json:"x-formula,omitzero"`
}

// parameterWords describes a parameter. The default of one that takes all at once is in its
// words alone: its schema is a reference to oneOf, and some generators of clients read no
// document that has a default next to one.
func parameterWords(p catalogue.Parameter) string {
	if p.TakesAll {
		return fmt.Sprintf("%s The default is %v.", p.Words, p.Default)
	}
	return p.Words
}

func parameterSchema(p catalogue.Parameter) schema {
	one := schema{Type: "string", Default: p.Default}
	switch {
	case p.Schema != "":
		one = schema{Ref: "#/components/schemas/" + p.Schema}
	case p.Kind == catalogue.Choice:
		one.Enum = p.Values
	case p.Kind == catalogue.Day:
		one.Format = "date"
	case p.Kind == catalogue.Text && p.Min > 0:
		one.MinLength, one.MaxLength = p.Min, p.Max
	case p.Kind == catalogue.Number:
		one.Type, one.Minimum, one.Maximum = "integer", new(1), p.Max
	}
	if p.List {
		return schema{Type: "array", MinItems: 1, MaxItems: p.MaxValues, Items: &one}
	}
	return one
}

func columnSchema(c catalogue.Column) schema {
	one := schema{Type: "string", Format: c.Format}
	switch {
	case c.Schema != "":
		one = schema{Ref: "#/components/schemas/" + c.Schema}
	case c.Null:
		one.Type = []string{"string", "null"}
	}
	if c.List {
		return schema{Type: "array", Items: &one, Description: c.Words}
	}
	one.Description = c.Words
	return one
}

var nullableNumber = []string{"number", "null"}

func figureSchema(f catalogue.Figure) schema {
	s := schema{Type: "number", Format: "double", Decimals: f.Decimals(), Minimum: new(0), Description: f.Words, Unit: string(f.Unit), Formula: f.Formula()}
	if f.Unit == catalogue.USD {
		s.Unit = "currency" // which the answer or the row names: it need not be dollars
	}
	switch {
	case f.IsRatio():
		s.Type = nullableNumber
	case f.Unit == catalogue.Count:
		s.Type, s.Format = "integer", "int64"
		s.Description += " A sum is exact at any size, also beyond 64 bits."
	}
	return s
}

// reportFigureSchema is of a figure that may be unknown, or of several currencies.
func reportFigureSchema(f catalogue.Figure) schema {
	s := figureSchema(f)
	if s.Type == "number" || !slices.Contains(catalogue.FigureNames, f.Name) {
		s.Type = []any{s.Type, "null"}
	}
	return s
}

// changeDecimals are those of a change, of whatever figure: most are percentages.
const changeDecimals = 2

func changeSchema(f catalogue.Figure) schema {
	in := map[catalogue.Unit]string{catalogue.Percent: "In percentage points.", catalogue.Ratio: "In units of the ratio.", catalogue.USD: "In the currency of the answer."}[f.Unit]
	if !f.IsRatio() {
		in = "In percent of the earlier " + f.Name + "."
	}
	return schema{Type: nullableNumber, Format: "double", Decimals: changeDecimals, Description: in}
}
