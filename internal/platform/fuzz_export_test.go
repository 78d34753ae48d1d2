package platform_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/platform"
)

const goodExport = `{"exportId":"e","profileId":101,"entity":"campaigns","status":"COMPLETED","generatedAt":"2026-11-04T08:00:00Z","adProductFilter":["SPONSORED_PRODUCTS"]}`

func FuzzExport(f *testing.F) {
	for _, seed := range []string{goodExport, goodExport[:60], goodExport + goodExport, `{"exportId":1.5}`, `{"adProductFilter":null}`, `{"adProductFilter":[""]}`,
		`{"exportId":"e","exportId":"f"}`, `{"generatedAt":"2262-01-01T00:00:00Z"}`, "[]", "null", ""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := platform.DecodeExport(bytes.NewReader(text))
		if err != nil {
			return
		}
		if e.ID == "" || e.ProfileID == "" || len(e.AdProducts) == 0 || e.GeneratedAt.Year() < 1970 || e.GeneratedAt.Year() > 2261 ||
			!slices.Contains([]platform.Entity{platform.Campaigns, platform.AdGroups, platform.Ads}, e.Entity) {
			t.Errorf("accepted: %+v", e)
		}
	})
}

// listed is what all entities have.
type listed struct {
	id        string
	adProduct adlens.AdProduct
	state     platform.State
	amount    *adlens.Amount
}

// readers read each entity's rows into what they have in common.
var readers = []func(text []byte, e *platform.Export) ([]listed, int, error){
	func(text []byte, e *platform.Export) (all []listed, rows int, err error) {
		rows, err = platform.ReadCampaigns(bytes.NewReader(text), e, func(c platform.Campaign) error {
			all = append(all, listed{c.ID, c.AdProduct, c.State, c.Budget})
			return nil
		})
		return all, rows, err
	},
	func(text []byte, e *platform.Export) (all []listed, rows int, err error) {
		rows, err = platform.ReadAdGroups(bytes.NewReader(text), e, func(g platform.AdGroup) error {
			all = append(all, listed{g.ID + g.CampaignID, g.AdProduct, g.State, g.DefaultBid})
			return nil
		})
		return all, rows, err
	},
	func(text []byte, e *platform.Export) (all []listed, rows int, err error) {
		rows, err = platform.ReadAds(bytes.NewReader(text), e, func(a platform.Ad) error {
			all = append(all, listed{a.AdGroupID, a.AdProduct, a.State, nil})
			return nil
		})
		return all, rows, err
	},
}

func FuzzLists(f *testing.F) {
	row := `{"campaignId":1,"adGroupId":"2","adId":3,"adProduct":"SPONSORED_PRODUCTS","name":"One","state":"enabled","startDate":"2026-01-01","endDate":null,` +
		`"targetingSettings":"AUTO","bid":{"defaultBid":0.75,"currencyCode":"USD"},"budgetCaps":{"recurrenceTimePeriod":"DAILY","budgetValue":{"monetaryBudget":{"amount":10.5,"currencyCode":"USD"}}}}`
	for _, seed := range []string{"[" + row + "]", "[" + row + "," + row + "]", "[]", "[" + row, "[" + row + ",]", `[{"campaignId":1e3}]`, `[{"state":null}]`, `[{"bid":null,"budgetCaps":null}]`,
		strings.Replace("["+row+","+row+"]", "SPONSORED_PRODUCTS", "SPONSORED_TELEVISION", 1), `[{"bid":{"defaultBid":-1}}]`, `[{"name":"\u0000"}]`, `[[` + row + `]]`, `[{"\u0073tate":"ENABLED"}]`} {
		f.Add([]byte(seed))
	}
	export := &platform.Export{ID: "e", ProfileID: "101", AdProducts: []adlens.AdProduct{adlens.SponsoredProducts, adlens.SponsoredDisplay}, Currency: "USD"}
	limit, err := adlens.ParseAmount([]byte("999999999999.99999999999999999999"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range readers {
			export.Skipped = nil
			all, rows, err := read(text, export)
			for _, l := range all {
				if l.id == "" || !slices.Contains(export.AdProducts, l.adProduct) || l.state == "" || l.amount != nil && limit.Less(*l.amount) {
					t.Fatalf("accepted: %+v", l)
				}
			}
			if err != nil {
				continue
			}
			skipped := 0
			for name, n := range export.Skipped {
				if _, kept := adlens.ParseAdProduct(name); kept {
					t.Fatalf("%d rows of %s were skipped", n, name)
				}
				skipped += n
			}
			if rows != len(all)+skipped {
				t.Fatalf("%d rows, %d of them visited and %d skipped", rows, len(all), skipped)
			}
			whole := bytes.TrimRight(text, " \t\r\n")
			if _, _, err := read(whole[:len(whole)-1], export); err == nil {
				t.Fatal("a file is taken for whole without its last byte")
			}
		}
	})
}

// Rows that are left out count when a fault says where it is.
func TestAFaultOfAListNamesItsRow(t *testing.T) {
	e := &platform.Export{ID: "e", ProfileID: "101", AdProducts: []adlens.AdProduct{adlens.SponsoredProducts}, Currency: "USD"}
	row := `{"campaignId":7,"adProduct":"SPONSORED_PRODUCTS","name":"One","state":"ENABLED"}`
	other := strings.Replace(row, "SPONSORED_PRODUCTS", "SPONSORED_TELEVISION", 1)
	visited := 0
	_, err := platform.ReadCampaigns(strings.NewReader("["+other+","+row+","+row+"]"), e, func(platform.Campaign) error {
		if visited++; visited == 2 {
			return &platform.Fault{Field: "campaignId", Value: "7", Expected: "an id that is listed once"}
		}
		return nil
	})
	var fault *platform.Fault
	if !errors.As(err, &fault) || fault.Row != 3 {
		t.Errorf("%v, expected a fault of row 3", err)
	}
}

// The driver stores Go's zero time, 0001-01-01, as 1970-01-01.
func TestDaysOfCampaignsAreRefusedBefore1900(t *testing.T) {
	e := &platform.Export{ID: "e", ProfileID: "101", AdProducts: []adlens.AdProduct{adlens.SponsoredProducts}, Currency: "USD"}
	read := func(field, day string) error {
		row := fmt.Sprintf(`[{"campaignId":7,"adProduct":"SPONSORED_PRODUCTS","name":"One","state":"ENABLED",%q:%q}]`, field, day)
		_, err := platform.ReadCampaigns(strings.NewReader(row), e, func(platform.Campaign) error { return nil })
		return err
	}
	for _, field := range []string{"startDate", "endDate"} {
		for _, day := range []string{"0001-01-01", "1899-12-31"} {
			if want, err := fmt.Sprintf("row 1: %s is %s, expected a day from 1900-01-01 on, or null", field, day), read(field, day); err == nil || err.Error() != want {
				t.Errorf("%v, expected %s", err, want)
			}
		}
		for _, day := range []string{"1900-01-01", "2299-12-31", "9999-12-31"} {
			if err := read(field, day); err != nil {
				t.Error(err)
			}
		}
	}
}
