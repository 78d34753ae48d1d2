package model

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

func ratOf(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

func TestMillionthsLeftOverGoToTheGreatestCutOffParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ amounts, rate, want string }{
		{"0.01 0.01 0.01", "0.0243", "243 243 243"},
		{"0.01 0.01 0.01", "0.02431", "243 243 243"},                    // 729.3
		{"0.01 0.01 0.01", "0.02432", "244 243 243"},                    // 729.6: equals, so the first
		{"0.0000001 0.0000009 0.0000005", "1", "0 1 1"},                 // 1.5
		{"0.0000002 0.0000002", "1", "0 0"},                             // 0.4
		{"0.00000025 0.00000025", "1", "1 0"},                           // 0.5 is rounded up
		{"3 0.0000019 0 0.0000019", "1", "3000000 2 0 2"},               // each gets one
		{"0 0", "1.5", "0 0"},                                           // nothing to share
		{"12", "0.00000012", "1"},                                       // alone
		{"999999999999.99 0.01", "0.333333", "333332999999996667 3333"}, // .667 and .33
	} {
		var amounts []*big.Rat
		for _, amount := range strings.Fields(c.amounts) {
			amounts = append(amounts, ratOf(t, amount))
		}
		if got := strings.Trim(fmt.Sprint(shareMicros(amounts, ratOf(t, c.rate))), "[]"); got != c.want {
			t.Errorf("%s at %s: want the shares %s, got %s", c.amounts, c.rate, c.want, got)
		}
	}
}

func TestAProductOfManyCampaignsIsSharedExactly(t *testing.T) {
	t.Parallel()
	for _, rate := range []string{"0.0243", "0.024317", "0.024349999"} {
		dir := t.TempDir()
		write(t, dir, "profiles.json", `[{"profileId":7,"countryCode":"TR","currencyCode":"TRY","accountInfo":{"type":"seller"}}]`)
		write(t, dir, "rates.csv", "date,currency,usd\n2026-11-06,TRY,"+rate+"\n")
		write(t, dir, "r.report.json", `{"reportId":"r","profileId":7,"startDate":"2026-11-06","endDate":"2026-11-06","generatedAt":"2026-11-07T00:00:00Z",
			"configuration":{"adProduct":"SPONSORED_PRODUCTS","columns":["campaignId"]}}`)
		rows, sales := make([]string, 3000), new(big.Rat)
		for i := range rows {
			amount := fmt.Sprintf("%d.%02d", i%7, i%100)
			sales.Add(sales, ratOf(t, amount))
			rows[i] = fmt.Sprintf(`{"date":"2026-11-06","advertisedAsin":"A","campaignId":%d,"impressions":1,"clicks":1,"cost":0.01,"purchases7d":0,"sales7d":%s}`, i, amount)
		}
		rows[0] = strings.Replace(rows[0], `"campaignId":0,`, "", 1)
		write(t, dir, "r.json", "["+strings.Join(rows, ",")+"]")
		a := New()
		for _, r := range a.Load(dir) {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		checkShares(t, a, ratOf(t, rate), sales)
	}
}

// checkShares demands one fact of each campaign, no millionth more or less in all,
// and the smallest ids, of which null is the last, with the millionths left over.
func checkShares(t *testing.T, a *Account, rate, sold *big.Rat) {
	t.Helper()
	facts := slices.SortedFunc(slices.Values(a.deriveFacts()), func(x, y fact) int { return compareHolders(x.holder, y.holder) })
	if len(facts) != 3000 || facts[0].campaign != "1" || facts[1].campaign != "10" || facts[2999].campaign != "" {
		t.Fatalf("want 3000 facts of campaigns 1, 10 and so on, null last, got %d", len(facts))
	}
	var spend, sales big.Int
	cent := ratOf(t, "0.01")
	exact := inMicros(cent, rate)
	for i := range facts {
		spend.Add(&spend, &facts[i].spend)
		sales.Add(&sales, &facts[i].sales)
		off := new(big.Rat).Sub(ratOfInt(&facts[i].spend), exact)
		if facts[i].spend.Sign() < 0 || off.Abs(off).Cmp(big.NewRat(1, 1)) > 0 {
			t.Errorf("campaign %s has %s millionths, exactly they are %s", facts[i].campaign, &facts[i].spend, exact.FloatString(6))
		}
		if i > 0 && facts[i].spend.Cmp(&facts[i-1].spend) > 0 {
			t.Errorf("campaign %q has more than %q, which is the smaller id", facts[i].campaign, facts[i-1].campaign)
		}
	}
	if want := toMicros(ratOf(t, "30"), rate); spend.Cmp(want) != 0 {
		t.Errorf("at %s: want %s millionths of spend in all, got %s", rate.FloatString(9), want, &spend)
	}
	if want := toMicros(sold, rate); sales.Cmp(want) != 0 {
		t.Errorf("at %s: want %s millionths of sales in all, got %s", rate.FloatString(9), want, &sales)
	}
}
