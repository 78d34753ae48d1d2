package catalogue_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/schema"
)

// snake writes a platform's name in snake case: purchasesSameSku14d as
// purchases_same_sku_14d.
func snake(name string) string {
	var b strings.Builder
	var last rune
	for _, r := range name {
		if last != 0 && (unicode.IsUpper(r) || unicode.IsDigit(r) && !unicode.IsDigit(last)) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	return b.String()
}

func TestExtraMeasuresHaveThePlatformsNamesInSnakeCase(t *testing.T) {
	for _, m := range catalogue.Extra {
		if m.Name != snake(m.Column) {
			t.Errorf("%s is stored as %s, want %s", m.Column, m.Name, snake(m.Column))
		}
	}
}

func TestMeasuresAreWhole(t *testing.T) {
	names := map[string]bool{}
	for _, m := range catalogue.Measures {
		if names[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		names[m.Name] = true
		if !slices.Contains([]catalogue.Unit{catalogue.Count, catalogue.USD, catalogue.Local}, m.Unit) || m.Column == "" || len(m.AdProducts) == 0 {
			t.Errorf("%+v", m)
		}
	}
	for _, m := range catalogue.Headline {
		for _, p := range adlens.AdProducts {
			if m.ColumnOf(p, false) == "" || m.ColumnOf(p, true) == "" {
				t.Errorf("%s has no column in reports of %s", m.Name, p)
			}
		}
	}
}

// statements returns the steps of the schema about a table.
func statements(t *testing.T, table string) string {
	t.Helper()
	steps, err := schema.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, step := range steps {
		for _, statement := range step.Statements {
			if regexp.MustCompile(`(CREATE TABLE IF NOT EXISTS|ALTER TABLE) ` + table + `\b`).MatchString(statement) {
				b.WriteString(statement)
			}
		}
	}
	return b.String()
}

func TestTheStoreHasAColumnForEachMeasure(t *testing.T) {
	facts := statements(t, "facts")
	for _, m := range catalogue.Measures {
		kind := "UInt64"
		if m.IsAmount() {
			kind = `Decimal\(18, 6\)`
		}
		if !regexp.MustCompile(`\b` + m.Name + " " + kind).MatchString(facts) {
			t.Errorf("no step of the schema adds the column %s of facts", m.Name)
		}
	}
}

func TestParametersAreWhole(t *testing.T) {
	keys := map[string]bool{}
	for _, p := range catalogue.Parameters {
		if keys[p.Key()] {
			t.Errorf("%s is there twice", p.Key())
		}
		keys[p.Key()] = true
		choice := p.Kind == catalogue.Choice
		if p.Words == "" || choice != (p.Values != nil) || p.Kind == catalogue.Number && p.Max == 0 {
			t.Errorf("%+v", p)
		}
		if value, ok := p.Default.(string); choice && p.Default != nil && (!ok || !slices.Contains(p.Values, value)) {
			t.Errorf("the default of %s is %v", p.Key(), p.Default)
		}
	}
}

func TestEndpointsAreWhole(t *testing.T) {
	known := map[string]bool{}
	for _, p := range catalogue.Parameters {
		known[p.Key()] = true
	}
	for _, e := range catalogue.Endpoints {
		names := map[string]bool{}
		for _, p := range e.Parameters {
			if !known[p.Key()] || names[p.Name] || p.In != catalogue.Query {
				t.Errorf("%s: %s is not in the list of parameters, is there twice, or is in no query string", e.Path, p.Key())
			}
			names[p.Name] = true
		}
		for _, x := range e.Examples {
			if _, err := os.Stat("../../docs/examples/" + x.File + ".json"); err != nil {
				t.Errorf("%s: %v", e.Path, err)
			}
		}
		documented := e.Documented()
		if e.HasPath() != (len(documented) > 0 && documented[0].In == catalogue.Path) {
			t.Errorf("%s: the parameter of the path is not documented", e.Path)
		}
	}
}
