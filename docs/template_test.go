package docs

import (
	"testing"

	"adlens/internal/catalogue"
)

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
