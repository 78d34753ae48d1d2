package standin

import (
	"encoding/json"
	"strings"
)

// How Sponsored Display spells its entities: ids are numbers, states and types
// are lower-case, dates have no dashes.
var sdShapes = shapes{
	campaign: func(c Campaign) (object, object) {
		shown := object{
			"campaignId": json.Number(c.ID), "name": c.Name, "state": strings.ToLower(c.State), "tactic": orDefault(c.Targeting, "T00020"),
			"budget": jsonNumber(c.Budget), "budgetType": strings.ToLower(c.BudgetType), "costType": "cpc",
			"startDate": strings.ReplaceAll(c.StartDate, "-", ""), "portfolioId": nil,
			"deliveryProfile": "as_soon_as_possible", "undocumentedYet": object{},
		}
		putNonEmpty(shown, "endDate", strings.ReplaceAll(c.EndDate, "-", ""))
		if c.Portfolio != "" {
			shown["portfolioId"] = json.Number(c.Portfolio)
		}
		return shown, sdExtended("CAMPAIGN_STATUS_ENABLED")
	},
	adGroup: func(g AdGroup) (object, object) {
		return object{
			"adGroupId": json.Number(g.ID), "campaignId": json.Number(g.CampaignID), "name": g.Name, "state": strings.ToLower(g.State),
			"defaultBid": jsonNumber(orDefault(g.DefaultBid, "0.75")), "bidOptimization": "clicks", "tactic": "T00020", "creativeType": nil,
		}, sdExtended("ADGROUP_STATUS_ENABLED")
	},
	ad: func(a Ad) (object, object) {
		shown := object{
			"adId": json.Number(a.ID), "adGroupId": json.Number(a.AdGroupID), "campaignId": json.Number(a.CampaignID),
			"state": strings.ToLower(a.State), "adName": a.Name,
		}
		putNonEmpty(shown, "asin", a.firstASIN())
		putNonEmpty(shown, "sku", a.SKU)
		return shown, sdExtended("AD_STATUS_LIVE")
	},
}

// Display puts these beside the other members, not below one of their own.
func sdExtended(status string) object {
	return object{"servingStatus": status, "creationDate": 1767254400000, "lastUpdatedDate": 1767340800000}
}
