package query

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"adlens/docs"
	"adlens/internal/catalogue"
)

// apiDocument is what these tests read of the document.
type apiDocument struct {
	Paths map[string]struct {
		Get struct{ Parameters []documentedParameter }
	}
	Components struct {
		Parameters map[string]documentedParameter
		Schemas    map[string]documentedSchema
	}
}

type documentedParameter struct {
	Ref      string `json:"$ref"`
	Name, In string
	Required bool
	Style    string
	Explode  *bool
	Schema   documentedSchema

	Description string
}

type documentedSchema struct {
	Ref              string `json:"$ref"`
	Type             any
	Enum             []any
	Const            any
	Default          any
	Format           string
	Minimum, Maximum *int
	Items            *documentedSchema
	OneOf            []documentedSchema
	Required         []string
	Properties       map[string]struct {
		Unit    string `json:"x-unit"`
		Formula string `json:"x-formula"`
	}
}

func theDocument(t *testing.T) (d apiDocument) {
	t.Helper()
	if err := json.Unmarshal(docs.OpenAPI(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// parameterStructs are those of the endpoints below /api/v1.
var parameterStructs = map[string]any{
	"/account": struct{}{}, "/marketplaces": FormatParams{}, "/summary": SummaryParams{}, "/timeline": TimelineParams{}, "/reports/products": ProductParams{}, "/report": ReportParams{},
	"/campaigns": CampaignParams{}, "/ad-groups": AdGroupParams{}, "/rules": RulesParams{}, "/rules/{rule_id}/runs": FormatParams{}, "/activity": ActivityParams{},
}

func TestTheDocumentHasTheParametersOfTheProgram(t *testing.T) {
	d := theDocument(t)
	for address := range d.Paths {
		if short, ok := strings.CutPrefix(address, "/api/v1"); ok && parameterStructs[short] == nil {
			t.Errorf("%s is in the document, and not in this test", address)
		}
	}
	for short, params := range parameterStructs {
		written := d.queryParameters("/api/v1" + short)
		i := slices.IndexFunc(catalogue.Endpoints, func(e catalogue.Endpoint) bool { return e.Path == short })
		built := parametersOf(catalogue.Endpoints[i], reflect.TypeOf(params))
		for _, w := range written {
			i := slices.IndexFunc(built, func(b builtParameter) bool { return b.Name == w.Name })
			var wrong string
			if i < 0 {
				wrong = "the program does not know it"
			} else {
				wrong = d.differ(w, built[i])
			}
			if wrong != "" {
				t.Errorf("%s %s: %s", short, w.Name, wrong)
			}
		}
		if got, want := inOrderOf(written, built), builtNames(built); !slices.Equal(got, want) {
			t.Errorf("%s: the document has %q, the program %q", short, got, want)
		}
	}
}

func (d apiDocument) queryParameters(address string) []documentedParameter {
	var all []documentedParameter
	for _, p := range d.Paths[address].Get.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[path.Base(p.Ref)]
		}
		if p.In == "query" {
			all = append(all, p)
		}
	}
	return all
}

// builtParameter is a field of a parameter struct.
type builtParameter struct {
	catalogue.Parameter
	list bool
}

func parametersOf(e catalogue.Endpoint, params reflect.Type) []builtParameter {
	var all []builtParameter
	for _, f := range ParamFields(params) {
		p, _ := e.Parameter(f.Tag.Get("query"))
		all = append(all, builtParameter{p, f.Type.Kind() == reflect.Slice})
	}
	return all
}

func builtNames(built []builtParameter) []string {
	var names []string
	for _, b := range built {
		names = append(names, b.Name)
	}
	return names
}

// inOrderOf are the documented names that the program knows, in the order of
// the document.
func inOrderOf(written []documentedParameter, built []builtParameter) []string {
	var names []string
	for _, w := range written {
		if slices.Contains(builtNames(built), w.Name) {
			names = append(names, w.Name)
		}
	}
	return names
}

// differ says in what a parameter is not as documented; "" is in nothing.
func (d apiDocument) differ(w documentedParameter, b builtParameter) string {
	s := d.resolved(w.Schema)
	if b.list != (s.Type == "array") || b.list && (w.Style != "form" || w.Explode == nil || *w.Explode) {
		return fmt.Sprintf("a list %t, documented as %v %s", b.list, s.Type, w.Style)
	}
	if b.list {
		s = d.resolved(*s.Items)
	}
	if (w.Name == "marketplace_id") != w.Required {
		return fmt.Sprintf("needed: documented %t", w.Required)
	}
	r := rules[b.Key()]
	switch b.Kind {
	case catalogue.Day:
		return unless(s.Format == "date", "documented as %v", s)
	case catalogue.Zone, catalogue.Text:
		return unless(s.Type == "string" && s.Enum == nil, "documented as %v", s)
	case catalogue.Number:
		return d.differInBounds(r, s)
	}
	built := r.fault("no such value").Allowed
	var written []string
	for _, value := range s.Enum {
		written = append(written, fmt.Sprint(value))
	}
	return unless(slices.Equal(built, written), "the program knows %q, the document %q", built, written)
}

func (d apiDocument) differInBounds(r rule, s documentedSchema) string {
	takesAll := false
	for _, one := range s.OneOf {
		if takesAll = takesAll || one.Const == catalogue.All; one.Minimum != nil {
			s = one
		}
	}
	if s.Minimum == nil || s.Maximum == nil {
		return "no bounds are documented"
	}
	for n, valid := range map[int]bool{*s.Minimum - 1: false, *s.Minimum: true, *s.Maximum: true, *s.Maximum + 1: false} {
		if r.valid(fmt.Sprint(n)) != valid {
			return fmt.Sprintf("%d is valid: documented %t", n, valid)
		}
	}
	return unless(r.valid(catalogue.All) == takesAll, "takes %s: documented %t", catalogue.All, takesAll)
}

func unless(right bool, format string, values ...any) string {
	if right {
		return ""
	}
	return fmt.Sprintf(format, values...)
}

func (d apiDocument) resolved(s documentedSchema) documentedSchema {
	if s.Ref == "" {
		return s
	}
	return d.Components.Schemas[path.Base(s.Ref)]
}

func TestTheDocumentHasTheDefaultsOfTheProgram(t *testing.T) {
	d := theDocument(t)
	for name, want := range map[string]any{"timezone": "UTC", "granularity": Auto, "sort": "spend", "order": Descending, "page": 1.0, "page_size": 100.0} {
		p, ok := d.Components.Parameters[name]
		got := p.Schema.Default
		if got == nil {
			got = d.resolved(p.Schema).Default
		}
		if !ok || got != want {
			t.Errorf("%s: documented %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]string{"report_page_size": " The default is 100.", "rows_page_size": " The default is 100.", "rules_page_size": " The default is 1000."} {
		if p := d.Components.Parameters[name]; !strings.HasSuffix(p.Description, want) {
			t.Errorf("%s: %q does not end in%s", name, p.Description, want)
		}
	}
	// A generated client that filled this default in would send it beside dates.
	if got := d.Components.Parameters["range"].Schema.Default; got != nil {
		t.Errorf("range has the default %v", got)
	}
}

func TestTheDocumentHasTheFiguresOfTheCatalogue(t *testing.T) {
	d := theDocument(t)
	for _, schema := range []string{"Figures", "Change"} {
		if got := d.Components.Schemas[schema].Required; !slices.Equal(got, catalogue.FigureNames) {
			t.Errorf("%s has %q, the catalogue %q", schema, got, catalogue.FigureNames)
		}
		if got := len(d.Components.Schemas[schema].Properties); got != len(catalogue.Figures) {
			t.Errorf("%s has %d members, the catalogue %d", schema, got, len(catalogue.Figures))
		}
	}
	for _, f := range catalogue.Figures {
		written := d.Components.Schemas["Figures"].Properties[f.Name]
		if unit := cmp.Or(map[catalogue.Unit]string{catalogue.USD: "currency"}[f.Unit], string(f.Unit)); written.Unit != unit || written.Formula != f.Formula() {
			t.Errorf("%s: documented %+v, want %s %q", f.Name, written, f.Unit, f.Formula())
		}
	}
}
