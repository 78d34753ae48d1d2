package model

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// Names in English of the countries that extracts name.
var countryNames = map[string]string{
	"US": "United States", "UK": "United Kingdom", "DE": "Germany", "JP": "Japan", "CA": "Canada",
	"FR": "France", "IT": "Italy", "ES": "Spain", "MX": "Mexico", "AU": "Australia", "BR": "Brazil",
}

// Profiles are the ids of the connected marketplaces, sorted.
func (a *Account) Profiles() []string {
	var ids []string
	for id := range a.profiles {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Marketplaces is the answer of /marketplaces.
func (a *Account) Marketplaces() map[string]any {
	ids := a.Profiles()
	slices.SortStableFunc(ids, func(x, y string) int { return cmp.Compare(a.profiles[x].country, a.profiles[y].country) })
	data := []any{}
	for _, id := range ids {
		p := a.profiles[id]
		first, last := a.heldBy(id)
		data = append(data, map[string]any{
			"marketplace_id": id, "country_code": p.country, "name": countryNames[p.country], "currency_code": p.currency,
			"timezone": p.timezone, "data_first_date": orNull(first), "data_last_date": orNull(last),
			"counts": map[string]any{
				"campaigns": a.entityCount(id, "campaigns"), "ad_groups": a.entityCount(id, "adGroups"), "ads": a.entityCount(id, "ads"),
			},
		})
	}
	oldest, newest := a.Held()
	meta := map[string]any{"data_last_date": orNull(newest)}
	a.setLacks(meta, request{period: Period{Start: oldest, End: newest}})
	return map[string]any{"data": data, "meta": meta}
}

func (a *Account) heldBy(profile string) (oldest, newest string) {
	for _, r := range a.reports {
		if r.profile != profile {
			continue
		}
		if oldest == "" || r.start < oldest {
			oldest = r.start
		}
		newest = max(newest, r.end)
	}
	return oldest, newest
}

func (a *Account) entityCount(profile, entity string) any {
	if a.syncedAt(profile, entity).IsZero() {
		return nil
	}
	return jsonCount(len(a.listedRows(profile, entity)))
}

// Campaigns is the answer of /campaigns.
func (a *Account) Campaigns(q url.Values) (map[string]any, error) {
	profile := q.Get("marketplace_id")
	states := listParam(q, "states")
	var rows []map[string]any
	for _, row := range a.listedRows(profile, "campaigns") {
		if passesFilter(states, shownState(row)) && nameContains(row, q) {
			rows = append(rows, a.campaignObject(profile, row))
		}
	}
	byName(rows, "campaign_id")
	return a.entityList(profile, "campaigns", rows, q)
}

func (a *Account) campaignObject(profile string, row record) map[string]any {
	caps := row.memberObject("budgetCaps")
	money := caps.memberObject("budgetValue").memberObject("monetaryBudget")
	targeting := row.memberText("targetingSettings")
	if targeting != "AUTO" && targeting != "MANUAL" {
		targeting = ""
	}
	return map[string]any{
		"campaign_id": row.memberText("campaignId"), "marketplace_id": profile, "name": row.memberText("name"),
		"ad_product": row.memberText("adProduct"), "state": shownState(row), "targeting": orNull(targeting),
		"budget": map[string]any{
			"amount": money["amount"], "type": caps.memberText("recurrenceTimePeriod"), "currency_code": a.profiles[profile].currency,
		},
		"provenance": a.campaignProvenance(profile, row.memberText("campaignId")),
		"start_date": orNull(row.memberText("startDate")), "end_date": orNull(row.memberText("endDate")),
	}
}

// AdGroups is the answer of /ad-groups.
func (a *Account) AdGroups(q url.Values) (map[string]any, error) {
	profile := q.Get("marketplace_id")
	var rows []map[string]any
	for _, row := range a.listedRows(profile, "adGroups") {
		if (!q.Has("campaign_id") || q.Get("campaign_id") == row.memberText("campaignId")) && nameContains(row, q) {
			rows = append(rows, a.adGroup(profile, row))
		}
	}
	byName(rows, "ad_group_id")
	return a.entityList(profile, "adGroups", rows, q)
}

func (a *Account) adGroup(profile string, row record) map[string]any {
	var bid any
	if amount := row.memberObject("bid")["defaultBid"]; amount != nil {
		bid = map[string]any{"amount": amount, "currency_code": a.profiles[profile].currency}
	}
	return map[string]any{
		"ad_group_id": row.memberText("adGroupId"), "campaign_id": row.memberText("campaignId"), "marketplace_id": profile,
		"name": row.memberText("name"), "ad_product": row.memberText("adProduct"), "state": shownState(row), "default_bid": bid,
	}
}

// nameContains reports whether the name of a row contains the search text.
func nameContains(row record, q url.Values) bool {
	return contains(row.memberText("name"), q.Get("search"))
}

// byName orders by name, then by id, both by the bytes of their UTF-8.
func byName(rows []map[string]any, id string) {
	slices.SortFunc(rows, func(x, y map[string]any) int {
		return cmp.Or(strings.Compare(x["name"].(string), y["name"].(string)), strings.Compare(x[id].(string), y[id].(string)))
	})
}

func (a *Account) entityList(profile, entity string, rows []map[string]any, q url.Values) (map[string]any, error) {
	data, pagination, err := cutPage(rows, q, 100)
	return map[string]any{
		"data": data, "pagination": pagination,
		"meta": map[string]any{"synced_at": formatTime(a.syncedAt(profile, entity)), "syncing": false},
	}, err
}

// contains reports whether a text contains another in any case, of which some letters have
// two small ones.
func contains(text, part string) bool {
	folded := func(s string) string {
		return strings.NewReplacer("ς", "σ", "ı", "i", "ſ", "s", "\u00b5", "\u03bc").Replace(strings.ToLower(s))
	}
	return strings.Contains(folded(text), folded(part))
}
