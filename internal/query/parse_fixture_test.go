package query

import (
	"fmt"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/catalogue"
)

// refusal is what of a fault a client's program acts on.
type refusal struct {
	parameter, value string
	code             adlens.Code
	allowed          string // joined by spaces
	didYouMean       string
}

func refusals(faults []adlens.Fault) []refusal {
	var all []refusal
	for _, f := range faults {
		all = append(all, refusal{f.Parameter, f.Value, f.Code, strings.Join(f.Allowed, " "), f.DidYouMean})
	}
	return all
}

// mustRefuse fails unless exactly these faults were found, each with a detail
// that names its value.
func mustRefuse(t *testing.T, name string, faults []adlens.Fault, want ...refusal) {
	t.Helper()
	if got, want := fmt.Sprintf("%+q", refusals(faults)), fmt.Sprintf("%+q", want); got != want {
		t.Errorf("%s:\n got %s\nwant %s", name, got, want)
	}
	for _, f := range faults {
		if f.Detail == "" || !strings.Contains(strings.ToLower(f.Detail), strings.ToLower(strings.Trim(fmt.Sprintf("%q", f.Value), `"`))) {
			t.Errorf("%s: the detail of %s does not name %q: %s", name, f.Parameter, f.Value, f.Detail)
		}
	}
}

func ofPeriod(p PeriodParams) ProductParams { return ProductParams{PeriodParams: p} }

func ofLists(marketplaces, adProducts string) ProductParams {
	var p ProductParams
	if marketplaces != "" {
		p.Marketplaces = strings.Split(marketplaces, ",")
	}
	if adProducts != "" {
		p.AdProducts = strings.Split(adProducts, ",")
	}
	return p
}

func mustMention(t *testing.T, f adlens.Fault, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(f.Detail, word) {
			t.Errorf("the detail of %s does not mention %q: %s", f.Parameter, word, f.Detail)
		}
	}
}

const bothConnected = "UK US"

var (
	allRanges        = strings.Join(catalogue.Ranges, " ")
	allAdProducts    = strings.Join(catalogue.AdProducts, " ")
	allGranularities = strings.Join(catalogue.Granularities, " ")
	allSorts         = strings.Join(catalogue.ProductSorts, " ")
)
