package standin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"adlens/integration/standin"
)

const (
	spCampaignMedia = "application/vnd.spCampaign.v3+json"
	spAdGroupMedia  = "application/vnd.spAdGroup.v3+json"
	spAdMedia       = "application/vnd.spProductAd.v3+json"
	sbCampaignMedia = "application/vnd.sbcampaignresource.v4+json"
	sbAdMedia       = "application/vnd.sbadresource.v4+json"
)

// structure is an account with something of everything.
func structure() standin.Entities {
	var e standin.Entities
	for _, product := range []string{standin.SponsoredProducts, standin.SponsoredBrands, standin.SponsoredDisplay} {
		for i, state := range []string{"ENABLED", "PAUSED", "ARCHIVED", "ENABLED", "ENABLED"} {
			id := fmt.Sprintf("14415844948873027%d", i)
			e.Campaigns = append(e.Campaigns, standin.Campaign{
				Profile: 1, AdProduct: product, ID: id, Name: fmt.Sprintf("Campaign %d", i), State: state, Targeting: map[bool]string{true: "AUTO"}[i == 0],
				Budget: "10.50", EndDate: "2026-12-31", Portfolio: "77",
			})
			e.AdGroups = append(e.AdGroups, standin.AdGroup{Profile: 1, AdProduct: product, ID: "2" + id, CampaignID: id, Name: "Group", DefaultBid: "0.80"})
			ad := standin.Ad{Profile: 1, AdProduct: product, ID: "3" + id[1:], AdGroupID: "2" + id, CampaignID: id, Name: "Ad", Products: []string{"B01", "B02"}}
			if product == standin.SponsoredBrands && i == 0 {
				ad.ID = ""
			}
			e.Ads = append(e.Ads, ad)
		}
	}
	e.Campaigns = append(e.Campaigns, standin.Campaign{Profile: 2, AdProduct: standin.SponsoredProducts, ID: "9"})
	return e
}

func structured(t *testing.T, lists standin.ListPlan) *customer {
	t.Helper()
	return reporting(t, standin.Config{Entities: structure(), Lists: lists})
}

func names(t *testing.T, got answer, key string) []string {
	t.Helper()
	var found []string
	for _, one := range got.object(t)[key].([]any) {
		found = append(found, strings.TrimPrefix(one.(map[string]any)["name"].(string), "Campaign "))
	}
	return found
}

func TestListIsPagedByNextToken(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	var all []string
	token := ""
	for page, more := range []bool{true, true, false} {
		got := c.list("/sp/campaigns/list", spCampaignMedia, fmt.Sprintf(`{"maxResults":2,"nextToken":%q}`, token))
		object := got.object(t)
		if object["totalResults"] != json.Number("5") || got.header.Get("Content-Type") != spCampaignMedia {
			t.Errorf("page %d: %+v", page, got)
		}
		next, has := object["nextToken"].(string)
		if has != more {
			t.Fatalf("page %d: token %q", page, next)
		}
		token = next
		all = append(all, names(t, got, "campaigns")...)
	}
	if !slices.Equal(all, []string{"0", "1", "2", "3", "4"}) {
		t.Errorf("got %v", all)
	}
}

func TestTokenIsGoodForItsFiltersOnly(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	token := c.list("/sp/campaigns/list", spCampaignMedia, `{"maxResults":2}`).object(t)["nextToken"].(string)
	expect(t, c.list("/sp/campaigns/list", spCampaignMedia, `{"stateFilter":{"include":["ENABLED"]},"nextToken":"`+token+`"}`), 400, "Invalid nextToken")
	expect(t, c.list("/sp/campaigns/list", spCampaignMedia, `{"nextToken":"???"}`), 400, "Invalid nextToken")
}

func TestListFilters(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	for body, want := range map[string][]string{
		``: {"0", "1", "2", "3", "4"},
		`{"stateFilter":{"include":["PAUSED","ARCHIVED"]}}`:                                         {"1", "2"},
		`{"campaignIdFilter":{"include":["144158449488730273"]}}`:                                   {"3"},
		`{"portfolioIdFilter":{"include":["1"]}}`:                                                   nil,
		`{"nameFilter":{"include":["campaign 4"],"queryTermMatchType":"BROAD_MATCH"}}`:              {"4"},
		`{"nameFilter":{"include":["campaign 4","Campaign 1"],"queryTermMatchType":"EXACT_MATCH"}}`: {"1"},
	} {
		if got := names(t, c.list("/sp/campaigns/list", spCampaignMedia, body), "campaigns"); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", body, got, want)
		}
	}
	got := c.list("/sp/adGroups/list", spAdGroupMedia, `{"campaignTargetingTypeFilter":"AUTO"}`)
	if found := names(t, got, "adGroups"); len(found) != 1 {
		t.Errorf("got %v", found)
	}
}

func TestListNeedsItsMediaTypeInBothHeaders(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	post := func(content, accept string) answer {
		return c.do(http.MethodPost, "/sp/campaigns/list", `{}`, "Content-Type", content, "Accept", accept)
	}
	expect(t, post("application/json", spCampaignMedia), http.StatusUnsupportedMediaType, "details")
	expect(t, post(spCampaignMedia, "application/json"), http.StatusNotAcceptable, "details")
	expect(t, post(spCampaignMedia, spCampaignMedia), http.StatusOK, "campaigns")
}

func TestListRefusesWhatItDoesNotKnow(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	many := strings.Repeat(`"1",`, 10) + `"1"`
	for _, refused := range []struct{ path, media, body, text string }{
		{"/sp/campaigns/list", spCampaignMedia, `{"maxResults":1001}`, "maxResults"},
		{"/sb/v4/campaigns/list", sbCampaignMedia, `{"maxResults":101}`, "between 1 and 100"},
		{"/sb/v4/campaigns/list", sbCampaignMedia, `{"maxResults":0}`, "between 1 and 100"},
		{"/sb/v4/campaigns/list", sbCampaignMedia, `{"campaignIdFilter":{"include":[` + many + `]}}`, "more than 10 ids"},
		{"/sb/v4/campaigns/list", sbCampaignMedia, `{"stateFilter":{"include":["ENABLING"]}}`, "ENABLING"},
		{"/sp/campaigns/list", spCampaignMedia, `{"stateFilter":{"include":["enabled"]}}`, "enabled"},
		{"/sp/campaigns/list", spCampaignMedia, `{"adIdFilter":{"include":["1"]}}`, "adIdFilter"},
		{"/sp/campaigns/list", spCampaignMedia, `{"startIndex":3}`, "startIndex"},
		{"/sp/campaigns/list", spCampaignMedia, `{`, "not valid"},
	} {
		expect(t, c.list(refused.path, refused.media, refused.body), http.StatusBadRequest, refused.text)
	}
}

func TestProductsListsSpellThemselvesAsDocumented(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	campaign := c.list("/sp/campaigns/list", spCampaignMedia, `{"maxResults":1}`).object(t)["campaigns"].([]any)[0].(map[string]any)
	if campaign["campaignId"] != "144158449488730270" || campaign["targetingType"] != "AUTO" || campaign["endDate"] != "2026-12-31" || campaign["portfolioId"] != "77" ||
		fmt.Sprint(campaign["budget"]) != "map[budget:10.5 budgetType:DAILY]" || campaign["extendedData"] != nil || campaign["undocumentedYet"] == nil {
		t.Errorf("campaign %v", campaign)
	}
	extended := c.list("/sp/campaigns/list", spCampaignMedia, `{"maxResults":1,"includeExtendedDataFields":true}`)
	expect(t, extended, http.StatusOK, `"creationDateTime"`)
	group := c.list("/sp/adGroups/list", spAdGroupMedia, `{"maxResults":1}`).object(t)["adGroups"].([]any)[0].(map[string]any)
	if group["adGroupId"] != "2144158449488730270" || group["defaultBid"] != json.Number("0.8") {
		t.Errorf("group %v", group)
	}
	ad := c.list("/sp/productAds/list", spAdMedia, `{"maxResults":1}`).object(t)["productAds"].([]any)[0].(map[string]any)
	if ad["adId"] != "344158449488730270" || ad["asin"] != "B01" {
		t.Errorf("ad %v", ad)
	}
}

func TestBrandsListsSpellThemselvesAsDocumented(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	got := c.list("/sb/v4/campaigns/list", sbCampaignMedia, `{"maxResults":1}`).object(t)
	campaign := got["campaigns"].([]any)[0].(map[string]any)
	if got["totalCount"] != json.Number("5") || got["totalResults"] != nil || campaign["budget"] != json.Number("10.5") || campaign["targetingType"] != nil {
		t.Errorf("got %v", got)
	}
	groups := c.list("/sb/v4/adGroups/list", "application/vnd.sbadgroupresource.v4+json", `{}`).object(t)
	if group := groups["adGroups"].([]any)[0].(map[string]any); group["defaultBid"] != nil || groups["totalResults"] != json.Number("5") {
		t.Errorf("groups %v", groups)
	}
	list := c.list("/sb/v4/ads/list", sbAdMedia, `{}`).object(t)["ads"].([]any)
	legacy, modern := list[0].(map[string]any), list[1].(map[string]any)
	if _, has := legacy["adId"]; has || legacy["name"] != nil || modern["adId"] != "344158449488730271" {
		t.Errorf("ads %v %v", legacy, modern)
	}
	c.scope = "7"
	expect(t, c.list("/sb/v4/ads/list", sbAdMedia, `{}`), http.StatusBadRequest, "KDP authors")
}

func TestPagesAndTotalsCanBeSkewed(t *testing.T) {
	c := structured(t, standin.ListPlan{PageCap: 3, TotalsSkew: 2})
	got := c.list("/sp/campaigns/list", spCampaignMedia, `{"maxResults":5}`)
	if found := names(t, got, "campaigns"); len(found) != 3 || got.object(t)["totalResults"] != json.Number("7") {
		t.Errorf("got %s", got.text)
	}
	c.p.SetLists(standin.ListPlan{})
	expect(t, c.list("/sp/campaigns/list", spCampaignMedia, `{}`), http.StatusOK, `"totalResults":5`)
}

func TestEntitiesCanBeChangedAndBent(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	entities := c.p.Entities()
	entities.Campaigns = entities.Campaigns[:1]
	entities.Campaigns[0].Extra = map[string]any{"state": "OTHER", "name": standin.Absent, "budget": nil}
	c.p.SetEntities(entities)
	campaign := c.list("/sp/campaigns/list", spCampaignMedia, ``).object(t)["campaigns"].([]any)[0].(map[string]any)
	budget, has := campaign["budget"]
	if _, named := campaign["name"]; campaign["state"] != "OTHER" || named || !has || budget != nil {
		t.Errorf("got %v", campaign)
	}
}

func TestTokensMisleadOnDemand(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	page := func(token string) (string, []string) {
		got := c.list("/sp/campaigns/list", spCampaignMedia, fmt.Sprintf(`{"maxResults":2,"nextToken":%q}`, token))
		next, _ := got.object(t)["nextToken"].(string)
		return next, names(t, got, "campaigns")
	}
	stop := c.p.Inject(standin.Fault{On: standin.SPCampaigns, Times: -1, Do: standin.EndlessToken()})
	seen := map[string]bool{}
	token, last := "", []string{}
	for range 6 {
		if token, last = page(token); token == "" || seen[token] {
			t.Fatalf("endless: token %q", token)
		}
		seen[token] = true
	}
	if len(last) != 0 {
		t.Errorf("endless: %v", last)
	}
	stop()

	c.p.Inject(standin.Fault{On: standin.SPCampaigns, Nth: 2, Times: 2, Do: standin.SameToken()})
	first, _ := page("")
	for range 2 {
		if again, got := page(first); again != first || !slices.Equal(got, []string{"2", "3"}) {
			t.Errorf("same: %v", got)
		}
	}
	c.p.Heal()

	c.p.Inject(standin.Fault{On: standin.SPCampaigns, Nth: 2, Do: standin.RepeatPage()})
	next, one := page("")
	next, two := page(next)
	_, three := page(next)
	if !slices.Equal(one, two) || !slices.Equal(three, []string{"4"}) {
		t.Errorf("repeat: %v %v %v", one, two, three)
	}
}

func TestAListHidesItemsAndBendsItsTotalOnDemand(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	for want, effect := range map[string]standin.Effect{
		`"totalResults":2}`: standin.ShownOnly(2), `"totalResults":9}`: standin.WrongTotal(4), `]}`: standin.NoTotal(),
	} {
		stop := c.p.Inject(standin.Fault{On: standin.SPCampaigns, Do: effect})
		got := c.list("/sp/campaigns/list", spCampaignMedia, `{}`)
		if !strings.HasSuffix(strings.TrimSpace(got.text), want) {
			t.Errorf("want %s at the end of %s", want, got.text)
		}
		stop()
	}
	c.p.Inject(standin.Fault{On: standin.SDCampaigns, Do: standin.ShownOnly(2)})
	if got := c.display("/sd/campaigns"); len(got) != 2 {
		t.Errorf("Display shows %d campaigns, want 2", len(got))
	}
}

func TestProfilesAndTheirEntitiesCanBeAdded(t *testing.T) {
	c := structured(t, standin.ListPlan{})
	c.p.AddProfiles(standin.Profile{ID: 8})
	c.p.SetEntitiesOf(8, standin.Entities{Campaigns: []standin.Campaign{{Profile: 8, AdProduct: standin.SponsoredDisplay, ID: "81", Name: "Added"}}})
	if got := c.display("/sd/campaigns"); len(got) != 5 {
		t.Errorf("profile 1 has %d campaigns, want its 5", len(got))
	}
	c.p.Change(8, func(p *standin.Profile) { p.Name = "Changed" })
	expect(t, c.do(http.MethodGet, "/v2/profiles", ""), http.StatusOK, `"name":"Changed"`)
	c.scope = "8"
	if got := c.display("/sd/campaigns"); len(got) != 1 || got[0]["name"] != "Added" {
		t.Errorf("profile 8 has %v", got)
	}
}
