package standin

// How Sponsored Brands v4 spell their entities.
var sbShapes = shapes{
	campaign: func(c Campaign) (object, object) {
		shown := object{
			"campaignId": c.ID, "name": c.Name, "state": c.State, "budget": jsonNumber(c.Budget), "budgetType": c.BudgetType,
			"costType": "CPC", "startDate": c.StartDate, "brandEntityId": "ENTITY21STANDIN", "isMultiAdGroupsEnabled": !c.Legacy,
			"productLocation": "SOLD_ON_AMAZON", "bidding": object{"bidOptimization": true}, "undocumentedYet": 1.5,
		}
		putNonEmpty(shown, "endDate", c.EndDate)
		putNonEmpty(shown, "portfolioId", c.Portfolio)
		return shown, sbExtended()
	},
	adGroup: func(g AdGroup) (object, object) {
		return object{"adGroupId": g.ID, "campaignId": g.CampaignID, "name": g.Name, "state": g.State, "undocumentedYet": ""}, sbExtended()
	},
	ad: func(a Ad) (object, object) {
		shown := object{
			"adGroupId": a.AdGroupID, "campaignId": a.CampaignID, "state": a.State,
			"creative":    object{"type": "PRODUCT_COLLECTION", "asins": orEmpty(a.Products), "brandName": "Stand-in", "creativeStatus": "APPROVED"},
			"landingPage": object{"pageType": "PRODUCT_LIST", "asins": orEmpty(a.Products)},
		}
		if a.ID != "" {
			shown["adId"], shown["name"] = a.ID, a.Name
		}
		return shown, sbExtended()
	},
}

// Brands tell times in milliseconds.
func sbExtended() object {
	return object{"extendedData": object{"servingStatus": "CAMPAIGN_STATUS_ENABLED", "creationDate": 1767254400000, "lastUpdateDate": 1767340800000}}
}

// orEmpty makes a list that is never null in JSON.
func orEmpty(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}
