package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/made"
)

func smallShape() Shape {
	return Shape{Rows: 60_000, Small: 2, Products: 300, Years: 1, Zipf: 1, Seed: 7, End: adlens.Date(2026, 11, 20)}
}

func campaignShape() Shape {
	s := smallShape()
	s.Campaigns = 360
	return s
}

// written is a month of the heavy account's first slice of a kind.
func written(t *testing.T, s Shape, kind int, version int) (string, Totals) {
	t.Helper()
	accounts, err := s.makeAccounts()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r := report{slice{&accounts[0], 0, kinds[kind]}, adlens.Date(2026, 3, 1), adlens.Date(2026, 3, 31), version, time.Now()}
	totals, err := s.writeDownload(r, new(made.Rows), &b)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), totals
}

func TestTheSameShapeMakesTheSameExtracts(t *testing.T) {
	first, totals := written(t, smallShape(), 0, 0)
	again, _ := written(t, smallShape(), 0, 0)
	if first != again {
		t.Error("two reports of one shape differ")
	}
	if int64(len(first)) != totals.Bytes {
		t.Errorf("%d bytes were counted, %d written", totals.Bytes, len(first))
	}
	if restated, _ := written(t, smallShape(), 0, 1); first == restated {
		t.Error("a restatement is what it restates")
	}
	other := smallShape()
	other.Seed++
	if reseeded, _ := written(t, other, 0, 0); first == reseeded {
		t.Error("another seed makes the same report")
	}
}

func TestWhatIsCountedIsWhatIsWritten(t *testing.T) {
	for kind := range kinds {
		compareCounted(t, smallShape(), kind)
		compareCounted(t, campaignShape(), kind)
	}
}

func compareCounted(t *testing.T, s Shape, kind int) {
	t.Helper()
	text, totals := written(t, s, kind, 0)
	var rows []map[string]any
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatal(err)
	}
	var places []struct{ CampaignID, AdGroupID json.Number } // more digits than a float64 has
	if err := json.Unmarshal([]byte(text), &places); err != nil {
		t.Fatal(err)
	}
	var clicks, purchases float64
	facts := map[string]bool{}
	for i, row := range rows {
		clicks += row["clicks"].(float64)
		purchases += row[kinds[kind].measures[kinds[kind].headline[2]]].(float64)
		product, _ := row[kinds[kind].ProductColumn].(string)
		facts[fmt.Sprint(row["date"], product, places[i])] = true
	}
	if totals.Rows != int64(len(rows)) || totals.Facts != int64(len(facts)) || totals.Clicks != int64(clicks) || totals.Purchases != int64(purchases) {
		t.Errorf("%s: counted %+v, written %d rows, %d facts, %.0f clicks, %.0f purchases", kinds[kind].ID, totals, len(rows), len(facts), clicks, purchases)
	}
}

// A row of a shape with campaigns is a product's day in one campaign and ad group.
func TestProductsRunInThreeCampaignsOnAverage(t *testing.T) {
	s := campaignShape()
	accounts, err := s.makeAccounts()
	if err != nil {
		t.Fatal(err)
	}
	campaigns, runs := map[int64]slice{}, 0
	heavy := &accounts[0]
	for _, of := range heavy.reportSlices() {
		for day := s.firstDay(); day < s.firstDay()+100; day++ {
			seen := map[adPlace]bool{}
			s.drawRows(of, day, 0, func(r *row) {
				if other, ok := campaigns[r.campaign]; ok && other != of {
					t.Fatalf("campaign %d is of market %d, %s and of market %d, %s", r.campaign, of.market, of.kind.ID, other.market, other.kind.ID)
				}
				if seen[r.adPlace] {
					t.Fatalf("%s has two rows of %+v", day, r.adPlace)
				}
				campaigns[r.campaign], seen[r.adPlace] = of, true
			})
		}
	}
	for rank := range heavy.products {
		runs += heavy.runs(rank)
	}
	if len(campaigns) != s.Campaigns || runs != meanRuns*len(heavy.products) {
		t.Errorf("%d products run in %d of %d campaigns, %d times in all", len(heavy.products), len(campaigns), s.Campaigns, runs)
	}
	s.Campaigns = 17
	if _, err := s.makeAccounts(); err == nil {
		t.Error("there are fewer campaigns than a product runs in, without an error")
	}
}

func TestTheGeneratorKnowsThePlatformsColumns(t *testing.T) {
	for _, k := range kinds {
		if len(k.measures) != measures || slices.Contains(k.headline[:], -1) {
			t.Errorf("%s has %d measures, headline %v", k.ID, len(k.measures), k.headline)
		}
		for _, name := range k.measures {
			if !slices.ContainsFunc(k.Measures, func(m catalogue.Measure) bool { return m.Column == name }) {
				t.Errorf("%s has no %s", k.ID, name)
			}
		}
	}
}

func TestRowsAreAboutAsManyAsAskedFor(t *testing.T) {
	for _, change := range []func(*Shape){func(*Shape) {}, func(s *Shape) { s.GapYear, s.Years = true, 3 }, func(s *Shape) { s.Zipf = 0.5 }, func(s *Shape) { s.OneProduct = true }, func(s *Shape) { s.Campaigns = 360 }} {
		s := smallShape()
		change(&s)
		accounts, err := s.makeAccounts()
		if err != nil {
			t.Fatal(err)
		}
		var all Totals
		for i := range accounts {
			for _, of := range accounts[i].reportSlices() {
				for day := s.firstDay(); day <= s.End; day++ {
					all.addTotals(s.sumDay(of, day, 0))
				}
			}
		}
		if off := float64(all.Facts)/float64(s.Rows) - 1; math.Abs(off) > 0.05 {
			t.Errorf("%+v made %d facts", s, all.Facts)
		}
	}
}

func TestProductsHaveIDsOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for rank := range 60_000 {
		id := productID(200, rank)
		if seen[id] || len(id) != 10 || strings.ToUpper(id) != id {
			t.Fatalf("product %d is %q", rank, id)
		}
		seen[id] = true
	}
}
