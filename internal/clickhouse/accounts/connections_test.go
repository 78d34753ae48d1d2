package accounts

import (
	"context"
	"maps"
	"testing"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/loader"
)

// visible is what is visible of an account with two marketplaces.
type visible struct {
	Visible
	manifest manifest.Manifest
	forms    loader.Forms
}

func (v visible) Manifest(context.Context, string) (manifest.Manifest, error) { return v.manifest, nil }

func (visible) Marketplaces(context.Context, string, uint32) ([]loader.Marketplace, error) {
	return []loader.Marketplace{{Key: 1, Profile: platform.Profile{ID: "101"}}, {Key: 2, Profile: platform.Profile{ID: "102"}}}, nil
}

func (v visible) Forms(context.Context, string, uint32) (loader.Forms, error) { return v.forms, nil }

// Days of another marketplace or ad product say nothing of which are held: a server would
// not read them.
func TestHeldDaysAreOfTheMarketplaceAndAdProductAlone(t *testing.T) {
	month := adlens.Date(2026, 3, 1)
	entry := func(key uint16, p adlens.AdProduct, days manifest.Days) manifest.Entry {
		return manifest.Entry{Unit: manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: key, AdProduct: p}, Start: month}, Sources: []manifest.Source{{Days: days}}}
	}
	c := ConnectionStore{Visible: visible{manifest: manifest.New(1, entry(1, adlens.SponsoredProducts, 0b1001), entry(1, adlens.SponsoredBrands, 0b10),
		entry(2, adlens.SponsoredProducts, 1<<30))}}
	for _, one := range []struct {
		id   string
		of   adlens.AdProduct
		want map[adlens.Day]bool
	}{
		{"101", adlens.SponsoredProducts, map[adlens.Day]bool{month: true, month + 3: true}},
		{"101", adlens.SponsoredBrands, map[adlens.Day]bool{month + 1: true}},
		{"102", adlens.SponsoredProducts, map[adlens.Day]bool{month + 30: true}},
		{"102", adlens.SponsoredBrands, nil},
		{"103", adlens.SponsoredProducts, nil},
	} {
		if got, err := c.HeldDays(t.Context(), "acme", one.id, one.of); err != nil || !maps.Equal(got, one.want) {
			t.Errorf("%s of %s: %v, %v, want %v", one.of, one.id, got, err, one.want)
		}
	}
}

// What reports wait for is news where rates or lists are, and the marketplaces alone need
// legacy reports of which a list named a campaign of one ad group.
func TestWhatReportsWaitForIsOfRatesAndLists(t *testing.T) {
	rates, forms := manifest.Unit{Kind: manifest.Rates}, manifest.Unit{Kind: manifest.Forms}
	known := loader.Forms{{Marketplace: 2, ID: "7"}: platform.OneAdGroup, {Marketplace: 1, ID: "7"}: platform.ManyAdGroups}
	for _, one := range []struct {
		rates, forms, want uint32
		legacy             map[string]bool
	}{{0, 0, 0, nil}, {3, 0, 3, nil}, {3, 5, 5, map[string]bool{"102": true}}, {6, 5, 6, map[string]bool{"102": true}}} {
		m := manifest.New(1, manifest.Entry{Unit: rates, Generation: one.rates}, manifest.Entry{Unit: forms, Generation: one.forms})
		c := ConnectionStore{Visible: visible{manifest: m, forms: known}}
		if got, err := c.AwaitedVersion(t.Context(), "acme"); got != one.want || err != nil {
			t.Errorf("rates %d and lists %d: %d, %v, want %d", one.rates, one.forms, got, err, one.want)
		}
		if got, err := c.LegacyProfiles(t.Context(), "acme"); !maps.Equal(got, one.legacy) || err != nil {
			t.Errorf("rates %d and lists %d: legacy reports of %v, %v, want %v", one.rates, one.forms, got, err, one.legacy)
		}
	}
}
