package loader

import (
	"strings"
	"testing"

	"adlens/internal/platform"
	"adlens/internal/records"
)

// An entry says its marketplace by id, or by a country that the account has one
// marketplace of; where it says both, they have to agree.
func TestActivityIsPlacedAtTheMarketplaceThatItSays(t *testing.T) {
	s := &session{}
	for _, p := range [][2]string{{"101", "US"}, {"102", "UK"}, {"103", "US"}} {
		s.markets = append(s.markets, Marketplace{Profile: platform.Profile{ID: p[0], Country: p[1]}})
	}
	for _, test := range []struct {
		country  string
		id, held records.ID
		want     string // country and id, or the fault
	}{
		{"", "103", "", "US 103"},
		{"US", "103", "", "US 103"}, // of the two, the id says which
		{"US", "103", "101", "US 103"},
		{"GB", "102", "", "UK 102"},
		{"GB", "", "", "UK 102"},
		{"UK", "", "", "UK 102"},
		{"US", "", "103", "US 103"},
		{"UK", "", "103", "UK 102"}, // it was held elsewhere
		{"US", "", "", `marketplace is "US", of which the account has 2; expected marketplace_id to say which`},
		{"US", "", "102", `marketplace is "US", of which the account has 2`},
		{"DE", "", "", `marketplace is "DE", expected a country that the account has a marketplace of`},
		{"US", "999", "", `marketplace_id is "999", expected a profile of the account`},
		{"US", "102", "", `marketplace is "US", expected UK, the country of marketplace_id 102`},
	} {
		a := records.Activity{Marketplace: test.country, MarketplaceID: test.id}
		err := s.placeActivity(&a, test.held)
		got := a.Marketplace + " " + string(a.MarketplaceID)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != test.want || err != nil && !strings.HasPrefix(got, test.want) {
			t.Errorf("%q %q, held at %q: %s, expected %s", test.country, test.id, test.held, got, test.want)
		}
	}
}

// The last record of an id counts, at the place of the first, also of one file; a deleted
// one takes it away.
func TestTheLastRecordOfAnIDCountsOnce(t *testing.T) {
	named := func(id records.ID, name string) records.Rule { return records.Rule{ID: id, Name: name} }
	held := []records.Rule{named("one", "held"), named("two", "held"), named("three", "held")}
	added := []records.Rule{named("four", "first"), named("two", "changed"), named("four", "last"), {ID: "three", Deleted: true}, {ID: "five", Deleted: true}, {ID: "one", Deleted: true}, named("one", "again")}
	var got []string
	for _, r := range rules.mergeRecords(held, added) {
		got = append(got, string(r.ID)+" "+r.Name)
	}
	if want := "one again, two changed, four last"; strings.Join(got, ", ") != want {
		t.Errorf("%v, expected %s", got, want)
	}
	if held[1].Name != "held" {
		t.Error("what is held was changed")
	}
}
