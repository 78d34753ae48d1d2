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
				"campaigns": a.counted(id, "campaigns"), "ad_groups": a.counted(id, "adGroups"), "ads": a.counted(id, "ads"),
			},
		})
	}
	_, newest := a.Held()
	return map[string]any{"data": data, "meta": map[string]any{"data_last_date": orNull(newest)}}
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

func (a *Account) counted(profile, entity string) any {
	if a.synced(profile, entity).IsZero() {
		return nil
	}
	return count(len(a.listed(profile, entity)))
}

// Campaigns is the answer of /campaigns.
func (a *Account) Campaigns(q url.Values) (map[string]any, error) {
	profile := q.Get("marketplace_id")
	states := list(q, "states")
	var rows []map[string]any
	for _, row := range a.listed(profile, "campaigns") {
		if admits(states, shownState(row)) {
			rows = append(rows, a.campaign(profile, row))
		}
	}
	byName(rows, "campaign_id")
	return a.entityList(profile, "campaigns", rows, q)
}

func (a *Account) campaign(profile string, row record) map[string]any {
	caps := row.within("budgetCaps")
	money := caps.within("budgetValue").within("monetaryBudget")
	targeting := row.text("targetingSettings")
	if targeting != "AUTO" && targeting != "MANUAL" {
		targeting = ""
	}
	return map[string]any{
		"campaign_id": row.text("campaignId"), "marketplace_id": profile, "name": row.text("name"),
		"ad_product": row.text("adProduct"), "state": shownState(row), "targeting": orNull(targeting),
		"budget": map[string]any{
			"amount": money["amount"], "type": caps.text("recurrenceTimePeriod"), "currency_code": a.profiles[profile].currency,
		},
		"provenance": a.provenance(profile, row.text("campaignId")),
		"start_date": orNull(row.text("startDate")), "end_date": orNull(row.text("endDate")),
	}
}

// AdGroups is the answer of /ad-groups.
func (a *Account) AdGroups(q url.Values) (map[string]any, error) {
	profile := q.Get("marketplace_id")
	var rows []map[string]any
	for _, row := range a.listed(profile, "adGroups") {
		if !q.Has("campaign_id") || q.Get("campaign_id") == row.text("campaignId") {
			rows = append(rows, a.adGroup(profile, row))
		}
	}
	byName(rows, "ad_group_id")
	return a.entityList(profile, "adGroups", rows, q)
}

func (a *Account) adGroup(profile string, row record) map[string]any {
	var bid any
	if amount := row.within("bid")["defaultBid"]; amount != nil {
		bid = map[string]any{"amount": amount, "currency_code": a.profiles[profile].currency}
	}
	return map[string]any{
		"ad_group_id": row.text("adGroupId"), "campaign_id": row.text("campaignId"), "marketplace_id": profile,
		"name": row.text("name"), "ad_product": row.text("adProduct"), "state": shownState(row), "default_bid": bid,
	}
}

// byName orders by name, then by id, both by the bytes of their UTF-8.
func byName(rows []map[string]any, id string) {
	slices.SortFunc(rows, func(x, y map[string]any) int {
		return cmp.Or(strings.Compare(x["name"].(string), y["name"].(string)), strings.Compare(x[id].(string), y[id].(string)))
	})
}

func (a *Account) entityList(profile, entity string, rows []map[string]any, q url.Values) (map[string]any, error) {
	data, pagination, err := paged(rows, q, 100)
	return map[string]any{
		"data": data, "pagination": pagination,
		"meta": map[string]any{"synced_at": stamped(a.synced(profile, entity)), "syncing": false},
	}, err
}
