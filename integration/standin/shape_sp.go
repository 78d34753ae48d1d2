package standin

// How Sponsored Products v3 spell their entities. The members that the
// specification lacks are ones that live answers carry.
var spShapes = shapes{
	campaign: func(c Campaign) (object, object) {
		shown := object{
			"campaignId": c.ID, "name": c.Name, "state": c.State, "targetingType": orDefault(c.Targeting, "MANUAL"),
			"budget":          object{"budget": jsonNumber(c.Budget), "budgetType": c.BudgetType},
			"dynamicBidding":  object{"strategy": "LEGACY_FOR_SALES", "placementBidding": []object{{"placement": "PLACEMENT_TOP", "percentage": 50}}},
			"startDate":       c.StartDate,
			"tags":            object{},
			"statusReasons":   []string{},
			"undocumentedYet": object{"list": []any{1, nil, "x"}},
		}
		putNonEmpty(shown, "endDate", c.EndDate)
		putNonEmpty(shown, "portfolioId", c.Portfolio)
		return shown, spExtended()
	},
	adGroup: func(g AdGroup) (object, object) {
		return object{
			"adGroupId": g.ID, "campaignId": g.CampaignID, "name": g.Name, "state": g.State,
			"defaultBid": jsonNumber(orDefault(g.DefaultBid, "0.75")), "undocumentedYet": true,
		}, spExtended()
	},
	ad: func(a Ad) (object, object) {
		shown := object{
			"adId": a.ID, "adGroupId": a.AdGroupID, "campaignId": a.CampaignID, "state": a.State, "undocumentedYet": nil,
		}
		putNonEmpty(shown, "asin", a.firstASIN())
		putNonEmpty(shown, "sku", a.SKU)
		return shown, spExtended()
	},
}

func spExtended() object {
	return object{"extendedData": object{
		"servingStatus": "CAMPAIGN_STATUS_ENABLED", "creationDateTime": "2026-01-01T08:00:00.000Z", "lastUpdateDateTime": "2026-01-02T08:00:00.000Z",
		"creationDate": 1767254400000, "lastUpdateDate": 1767340800000,
	}}
}
