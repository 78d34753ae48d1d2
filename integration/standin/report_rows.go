package standin

import (
	"encoding/json"
	"slices"
	"strconv"
)

// reportRows makes the content of a report from the facts as they are now: one
// row per grain of the type, with the columns that were requested and no other.
func (p *Platform) reportRows(r *report) []byte {
	rows := []map[string]any{}
	for _, fact := range p.sumFacts(r) {
		if !fact.isIdle() {
			rows = append(rows, p.factRow(r, fact))
		}
	}
	text, _ := json.Marshal(rows)
	return text
}

// sumFacts adds the facts of a report up to its grain, in the order of their
// first appearance.
func (p *Platform) sumFacts(r *report) []Fact {
	places := map[factKey]int{}
	var sums []Fact
	for _, fact := range p.Facts() {
		if fact.Profile != r.profile.ID || fact.AdProduct != r.kind.adProduct ||
			fact.Day < r.request.StartDate || fact.Day > r.request.EndDate {
			continue
		}
		if r.kind.adProduct == SponsoredBrands && p.data.isLegacy(fact.Profile, fact.CampaignID) {
			continue
		}
		fact = r.coarsenFact(fact)
		at, seen := places[fact.uniqueKey()]
		if seen {
			sums[at] = sums[at].addMeasures(fact)
			continue
		}
		places[fact.uniqueKey()] = len(sums)
		sums = append(sums, fact)
	}
	return sums
}

// coarsenFact drops what the report's grain does not tell apart.
func (r *report) coarsenFact(fact Fact) Fact {
	groups := r.request.Configuration.GroupBy
	if !r.kind.keepAdGroup && !slices.Contains(groups, "adGroup") {
		fact.AdGroupID = 0
	}
	if !r.kind.keepAd {
		fact.AdID = 0
	}
	if !r.kind.keepProduct {
		fact.Product, fact.SKU = "", ""
	}
	if r.request.Configuration.TimeUnit == "SUMMARY" {
		fact.Day = ""
	}
	return fact
}

func (p *Platform) factRow(r *report, fact Fact) map[string]any {
	values := p.columnValues(r, fact)
	types := r.kind.allowedColumns(r.request.Configuration.GroupBy)
	row := map[string]any{}
	for _, name := range r.request.Configuration.Columns {
		value, known := values[name]
		if !known && types[name] == numberColumn {
			value = 0
		}
		if extra, replaced := fact.Extra[name]; replaced {
			if extra != Absent {
				row[name] = extra
			}
			continue
		}
		if value != nil || !p.config.Rules.OmitEmpty {
			row[name] = value
		}
	}
	return row
}

// columnValues tells every column that the facts have an answer for.
func (p *Platform) columnValues(r *report, f Fact) map[string]any {
	v := map[string]any{
		"date": f.Day, "startDate": r.request.StartDate, "endDate": r.request.EndDate,
		"campaignId": f.CampaignID, "adGroupId": f.AdGroupID, "adId": f.AdID,
		"campaignName":               p.data.entityName(campaigns, f.Profile, f.CampaignID),
		"adGroupName":                p.data.entityName(adGroups, f.Profile, f.AdGroupID),
		"campaignBudgetCurrencyCode": r.profile.Currency, "campaignStatus": "ENABLED",
		"impressions": f.Impressions, "clicks": f.Clicks, "cost": jsonNumber(f.Cost), "spend": jsonNumber(f.Cost),
		"purchases": f.Purchases14d, "purchasesClicks": f.Purchases14d, "unitsSold": f.Purchases14d, "unitsSoldClicks": f.Purchases14d,
		"sales": jsonNumber(f.Sales14d), "salesClicks": jsonNumber(f.Sales14d),
	}
	for _, asin := range []string{"advertisedAsin", "promotedAsin"} {
		v[asin] = orNull(f.Product)
	}
	for _, sku := range []string{"advertisedSku", "promotedSku"} {
		// The platform has no SKU for vendors.
		if v[sku] = orNull(f.SKU); r.profile.Type == "vendor" {
			v[sku] = nil
		}
	}
	// Windows hold those before them; the facts know two of the four.
	for window, source := range map[string]string{"1d": "7d", "7d": "7d", "14d": "14d", "30d": "14d"} {
		purchases, sales := f.Purchases7d, f.Sales7d
		if source == "14d" {
			purchases, sales = f.Purchases14d, f.Sales14d
		}
		v["purchases"+window], v["unitsSoldClicks"+window], v["sales"+window] = purchases, purchases, jsonNumber(sales)
	}
	return v
}

func jsonNumber(text string) json.Number { return json.Number(decimalText(parseDecimal(text))) }

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// entityName is an entity's, made up where there is no such entity.
func (d *data) entityName(what kind, profile int64, id uint64) string {
	text := strconv.FormatUint(id, 10)
	d.mu.Lock()
	defer d.mu.Unlock()
	if what == campaigns {
		for _, one := range d.entities.Campaigns {
			if one.Profile == profile && one.ID == text {
				return one.Name
			}
		}
		return "campaign " + text
	}
	for _, one := range d.entities.AdGroups {
		if one.Profile == profile && one.ID == text {
			return one.Name
		}
	}
	return "ad group " + text
}
