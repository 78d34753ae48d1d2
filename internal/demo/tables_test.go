package demo

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"adlens"
)

func table(t *testing.T, b []byte) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestProfiles(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(accountProfiles())
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		ProfileID                           json.Number
		CountryCode, CurrencyCode, Timezone string
		AccountInfo                         struct{ Type, ID, MarketplaceStringID string }
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, p := range list {
		kinds[p.AccountInfo.Type]++
		if len(p.ProfileID.String()) != 16 || p.CountryCode == "" || len(p.CurrencyCode) != 3 || p.Timezone == "" || p.AccountInfo.ID == "" || p.AccountInfo.MarketplaceStringID == "" {
			t.Errorf("profile %+v", p)
		}
	}
	if len(list) != 3 || kinds["seller"] == 0 || kinds["vendor"] == 0 {
		t.Errorf("%d profiles: %v", len(list), kinds)
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	s := span{adlens.Date(2025, time.November, 1), adlens.Date(2026, time.November, 19)}
	rows := table(t, ratesCSV(1, s))
	form := regexp.MustCompile(`^[01]\.\d{4,6}$`)
	for _, row := range rows[1:] {
		at, err := time.Parse(time.DateOnly, row[0])
		if err != nil || !isBusinessDay(adlens.Date(at.Date())) || !form.MatchString(row[2]) {
			t.Errorf("row %v, error %v", row, err)
		}
	}
	if first, last := rows[1][0], rows[len(rows)-1][0]; first != "2025-10-27" || last != "2026-11-19" { // the 25th is a Saturday
		t.Errorf("from %s to %s", first, last)
	}
	longer := string(ratesCSV(1, span{s.first, s.last + 30}))
	if !strings.HasPrefix(longer, string(ratesCSV(1, s))) {
		t.Error("a later end changed the rates before it")
	}
}

func TestProducts(t *testing.T) {
	t.Parallel()
	s := span{adlens.Date(2023, time.November, 1), adlens.Date(2026, time.November, 19)}
	list := makeProducts(defaultSeed, s)
	b, err := titlesCSV(list)
	if err != nil {
		t.Fatal(err)
	}
	rows := table(t, b)
	if n := len(rows) - 1; n < 200 || n > 280 {
		t.Errorf("%d titles", n)
	}
	form := regexp.MustCompile(`^B0[A-Z0-9]{8}$`)
	seen := map[string]bool{}
	untitled, launched, ended := 0, 0, 0
	for _, p := range list {
		if !form.MatchString(p.id) || seen[p.id] {
			t.Errorf("product id %s", p.id)
		}
		seen[p.id] = true
		untitled += one(p.title == "")
		launched += one(p.from > s.first)
		ended += one(p.until < s.last)
	}
	if share := float64(untitled) / float64(len(list)); share < 0.02 || share > 0.09 {
		t.Errorf("%.3f of the products have no title", share)
	}
	if launched < 10 || ended < 10 {
		t.Errorf("%d launched, %d ended", launched, ended)
	}
	for _, mark := range []string{`,`, `"`, `ü`, `⛺`} {
		if !strings.Contains(string(b), mark) {
			t.Errorf("no title has %s", mark)
		}
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestProductIDsNeverMeet(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for place := range places {
		for generation := range 40 {
			id := productID(place, generation)
			if seen[id] {
				t.Fatalf("%s twice", id)
			}
			seen[id] = true
		}
	}
}

// Most sales come from few products, and a product may have several ads.
func TestLongTail(t *testing.T) {
	t.Parallel()
	s := span{adlens.Date(2026, time.January, 1), adlens.Date(2026, time.January, 31)}
	for _, m := range markets {
		ads := newChannel(defaultSeed, m, adlens.SponsoredProducts, s, makeProducts(defaultSeed, s)).ads
		reach, all, number := map[string]float64{}, 0.0, map[string]int{}
		for _, ad := range ads {
			reach[ad.product.id] += ad.reach
			all += ad.reach
			number[ad.product.id]++
		}
		head, several := 0.0, 0
		for id := range reach {
			if reach[id] > 2*all/float64(len(reach)) {
				head += reach[id]
			}
			several += one(number[id] > 1)
		}
		if head/all < 0.35 || several < 10 {
			t.Errorf("%s: the head has %.2f of the reach, %d products have several ads", m.country, head/all, several)
		}
	}
}
