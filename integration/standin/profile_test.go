package standin_test

import (
	"net/http"
	"slices"
	"testing"

	"adlens/integration/standin"
)

var manyProfiles = []standin.Profile{
	{ID: 1, Country: "US", Name: "Shop"},
	{ID: 2, Country: "UK", Type: "vendor"},
	{ID: 3, Country: "CA", Type: "agency"},
	{ID: 4, Country: "JP"},
	{ID: 5, Country: "US", ViewOnly: true},
	{ID: 6, Country: "US", NoPayment: true},
	{ID: 7, Country: "US", SubType: "KDP_AUTHOR"},
}

func (c *customer) profileIDs(query string) []string {
	c.t.Helper()
	var ids []string
	for _, profile := range decode[[]map[string]any](c.t, c.do(http.MethodGet, "/v2/profiles"+query, "").text) {
		ids = append(ids, profile["profileId"].(interface{ String() string }).String())
	}
	return ids
}

func TestProfilesAreListedOnHostOfTheirRegion(t *testing.T) {
	c := open(t, standin.Config{Profiles: manyProfiles})
	for region, want := range map[standin.Region][]string{standin.NA: {"1", "3", "6", "7"}, standin.EU: {"2"}, standin.FE: {"4"}} {
		c.host = c.p.RegionURL(region)
		if got := c.profileIDs(""); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", region, got, want)
		}
	}
}

func TestProfileHasCountrysCurrencyZoneAndMarketplace(t *testing.T) {
	c := open(t, standin.Config{Region: standin.EU, Profiles: manyProfiles})
	got := decode[[]map[string]any](t, c.do(http.MethodGet, "/v2/profiles", "").text)[0]
	info := got["accountInfo"].(map[string]any)
	if got["countryCode"] != "UK" || got["currencyCode"] != "GBP" || got["timezone"] != "Europe/London" ||
		info["marketplaceStringId"] != "A1F83G8C2ARO7P" || info["type"] != "vendor" {
		t.Errorf("got %v", got)
	}
	if _, has := got["dailyBudget"]; has {
		t.Error("a vendor has a daily budget")
	}
}

func TestProfileFiltersNarrowTheList(t *testing.T) {
	c := open(t, standin.Config{Profiles: manyProfiles})
	for query, want := range map[string][]string{
		"?accessLevel=view":                {"1", "3", "5", "6", "7"},
		"?profileTypeFilter=seller,vendor": {"1", "6", "7"},
		"?validPaymentMethodFilter=false":  {"6"},
	} {
		if got := c.profileIDs(query); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
	expect(t, c.do(http.MethodGet, "/v2/profiles?accessLevel=all", ""), http.StatusBadRequest, "accessLevel")
}

func TestProfileCallNeedsTokenAndClientButNoScope(t *testing.T) {
	c := open(t, standin.Config{Profiles: manyProfiles})
	c.scope = ""
	expect(t, c.do(http.MethodGet, "/v2/profiles", ""), http.StatusOK, `"profileId":1`)
	expect(t, c.do(http.MethodGet, "/v2/profiles", "", "Authorization", "Bearer x"), http.StatusUnauthorized, "Invalid token")
	expect(t, c.do(http.MethodGet, "/v2/profiles", "", "Authorization", c.access), http.StatusUnauthorized, "Invalid token")
	expect(t, c.do(http.MethodGet, "/v2/profiles", "", "Amazon-Advertising-API-ClientId", "x"), http.StatusUnauthorized, "details")
}

func TestGrantSeesItsProfilesOnly(t *testing.T) {
	c := open(t, standin.Config{
		Profiles: manyProfiles,
		Grants:   []standin.Grant{{RefreshToken: standin.DefaultRefreshToken, Profiles: []int64{6}}},
	})
	if got := c.profileIDs(""); !slices.Equal(got, []string{"6"}) {
		t.Errorf("got %v", got)
	}
	expect(t, c.do(http.MethodGet, "/sd/campaigns", ""), http.StatusUnauthorized, `{"code":"401","details":"Not authorized to access scope"`)
}

func TestWrongScopeIsRefused(t *testing.T) {
	c := open(t, standin.Config{Profiles: manyProfiles})
	for scope, want := range map[string]struct {
		status int
		text   string
	}{
		"":    {http.StatusBadRequest, "Missing scope"},
		"x":   {http.StatusBadRequest, "Invalid scope"},
		"2":   {http.StatusUnauthorized, "Not authorized to access scope"}, // another region's
		"999": {http.StatusUnauthorized, "Not authorized to access scope"},
		"3":   {http.StatusBadRequest, "Advertiser ID cannot be decrypted"}, // an agency
	} {
		c.scope = scope
		expect(t, c.do(http.MethodGet, "/sd/campaigns", ""), want.status, want.text)
	}
	c.scope = "1"
	expect(t, c.do(http.MethodGet, "/sd/campaigns", ""), http.StatusOK, "[]")
}

func TestUnknownPathIsNotFound(t *testing.T) {
	c := open(t, standin.Config{})
	expect(t, c.do(http.MethodGet, "/v3/everything", ""), http.StatusNotFound, "Could not find resource")
	if c.p.Calls(standin.Unknown) != 1 {
		t.Error("the call is not counted as unknown")
	}
}

func TestProfilesCanBeReplaced(t *testing.T) {
	c := open(t, standin.Config{Profiles: manyProfiles})
	c.p.SetProfiles(standin.Profile{ID: 11, Extra: map[string]any{"timezone": "Mars/Olympus"}})
	expect(t, c.do(http.MethodGet, "/v2/profiles", ""), http.StatusOK, `"timezone":"Mars/Olympus"`)
	if got := c.profileIDs(""); !slices.Equal(got, []string{"11"}) {
		t.Errorf("got %v", got)
	}
}
