package main

import (
	"strings"
	"testing"

	"adlens/internal/exact"
)

func sumsOf(t *testing.T, text string) exact.Sums {
	t.Helper()
	s, err := readSums(strings.Fields(text), false)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFiguresAreRoundedHalfAwayFromZero(t *testing.T) {
	for text, want := range map[string]string{
		"1000 10 1 2.345 10":    " spend=2.35 sales=10.00 acos=23.45 roas=4.26 impressions=1000 clicks=10 ctr=1.00 average_cpc=0.23 purchases=1 conversion_rate=10.00",
		"0 0 0 0.004999 0":      " spend=0.00 sales=0.00 acos=null roas=0.00 impressions=0 clicks=0 ctr=null average_cpc=null purchases=0 conversion_rate=null",
		"3 1 1 0.005 123456789": " spend=0.01 sales=123456789.00 acos=0.00 roas=24691357800.00 impressions=3 clicks=1 ctr=33.33 average_cpc=0.01 purchases=1 conversion_rate=100.00",
	} {
		if got := figuresText(sumsOf(t, text)); got != want {
			t.Errorf("%s:\n%s\nexpected\n%s", text, got, want)
		}
	}
}

const answered = `{"period":{"start_date":"2026-01-01","end_date":"2026-01-31"},"data":[
	{"product_id":"A","title":null,"marketplaces":["DE","US"],"spend":2.00,"sales":4.00,"acos":50.00,"roas":2.00,"impressions":10,"clicks":4,"ctr":40.00,"average_cpc":0.50,"purchases":1,"conversion_rate":25.00},
	{"product_id":null,"title":null,"marketplaces":["US"],"spend":2.00,"sales":0.00,"acos":null,"roas":0.00,"impressions":10,"clicks":4,"ctr":40.00,"average_cpc":0.50,"purchases":1,"conversion_rate":25.00}],
	"pagination":{"total_rows":2}}`

func askedProducts(t *testing.T) (*question, expected) {
	t.Helper()
	q := &question{endpoint: products, from: 20454, to: 20484, sort: "spend", order: "desc", page: 1, size: 100}
	groups := []group{
		{id: "", markets: 1 << 2, sums: sumsOf(t, "10 4 1 2 0")},
		{id: "A", markets: 1<<1 | 1<<2, sums: sumsOf(t, "10 4 1 2 4")},
	}
	return q, q.expectAnswer(groups, places{1: {country: "DE"}, 2: {country: "US"}})
}

func TestTheRightAnswerPasses(t *testing.T) {
	q, right := askedProducts(t)
	got, err := q.readAnswer([]byte(answered))
	if err != nil {
		t.Fatal(err)
	}
	if err := firstDifference(right.shown, got); err != nil {
		t.Error(err)
	}
	peer, err := q.readPeer([][]string{{"A", "6", "10", "4", "1", "2", "4", "2"}, {"", "4", "10", "4", "1", "2.000000", "0", "2"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := firstDifference(right.sums, peer); err != nil {
		t.Error(err)
	}
}

// Each of these answers is wrong in one place.
func TestOneWrongCentIsFound(t *testing.T) {
	q, right := askedProducts(t)
	for _, change := range [][2]string{
		{`"spend":2.00,"sales":4.00`, `"spend":2.01,"sales":4.00`}, {`"sales":4.00`, `"sales":4`}, {`"acos":null`, `"acos":0.00`},
		{`"total_rows":2`, `"total_rows":3`}, {`["DE","US"]`, `["US","DE"]`}, {`"product_id":"A"`, `"product_id":"B"`},
		{`"conversion_rate":25.00}]`, `"conversion_rate":25.01}]`}, {`"clicks":4,`, ``},
	} {
		wrong := strings.Replace(answered, change[0], change[1], 1)
		if wrong == answered {
			t.Fatalf("%s is not there", change[0])
		}
		got, err := q.readAnswer([]byte(wrong))
		if err != nil {
			t.Fatal(err)
		}
		if firstDifference(right.shown, got) == nil {
			t.Errorf("%s instead of %s was not found", change[1], change[0])
		}
	}
	if _, err := q.readAnswer([]byte(strings.Replace(answered, "2026-01-31", "2026-01-30", 1))); err == nil {
		t.Error("another period was not found")
	}
	for _, rows := range [][][]string{
		{{"A", "6", "10", "4", "1", "2.000001", "4", "2"}, {"", "4", "10", "4", "1", "2", "0", "2"}},
		{{"", "4", "10", "4", "1", "2", "0", "2"}, {"A", "6", "10", "4", "1", "2", "4", "2"}},
		{{"A", "6", "10", "4", "1", "2", "4", "1"}},
	} {
		got, err := q.readPeer(rows, false)
		if err != nil {
			t.Fatal(err)
		}
		if firstDifference(right.sums, got) == nil {
			t.Errorf("%v was not found to be wrong", rows)
		}
	}
}
