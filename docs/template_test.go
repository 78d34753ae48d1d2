package docs

import (
	"encoding/json"
	"strings"
	"testing"

	"adlens/internal/catalogue"
)

// ogen, a generator of clients for Go, reads no document that has a default next to a
// schema of oneOf, which it cannot set.
func TestNoDefaultIsNextToAChoiceOfSchemas(t *testing.T) {
	for _, document := range [][]byte{OpenAPI(), JSONOnly()} {
		var d map[string]any
		if err := json.Unmarshal(document, &d); err != nil {
			t.Fatal(err)
		}
		schemas := d["components"].(map[string]any)["schemas"].(map[string]any)
		var check func(place string, value any)
		check = func(place string, value any) {
			switch v := value.(type) {
			case map[string]any:
				target := v
				if reference, ok := v["$ref"].(string); ok {
					target, _ = schemas[strings.TrimPrefix(reference, "#/components/schemas/")].(map[string]any)
				}
				if target["oneOf"] != nil && v["default"] != nil {
					t.Errorf("%s has the default %v next to oneOf", place, v["default"])
				}
				for name, inner := range v {
					check(place+"/"+name, inner)
				}
			case []any:
				for _, inner := range v {
					check(place, inner)
				}
			}
		}
		check("", d)
	}
}

// Clients format by x-decimals, and the check of answers against the document rests on it.
func TestChangesOfCountsHaveDecimalsToo(t *testing.T) {
	for _, f := range catalogue.Figures {
		if s := changeSchema(f); s.Decimals != 2 {
			t.Errorf("a change of %s has %d decimals", f.Name, s.Decimals)
		}
		if s := figureSchema(f); (s.Decimals == 0) != (f.Unit == catalogue.Count && !f.IsRatio()) {
			t.Errorf("%s has %d decimals", f.Name, s.Decimals)
		}
	}
}

// Every figure answer takes currency=local, so the unit of an amount is what its currency says;
// and a sum of counts is exact where int64 ends.
func TestTheDocumentPromisesNoDollarsAndNoEndOfCounts(t *testing.T) {
	for _, f := range catalogue.ReportFigures {
		s := figureSchema(f)
		if s.Unit == string(catalogue.USD) {
			t.Errorf("%s has the unit %s", f.Name, s.Unit)
		}
		if strings.Contains(s.Description, "64 bits") != (s.Format == "int64") {
			t.Errorf("%s has the format %s and is described as %q", f.Name, s.Format, s.Description)
		}
	}
}
