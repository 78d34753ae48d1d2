package standin

// exportShapes is the common model of the exports. Unlike the lists it names
// the currency, which is the profile's.
func exportShapes(profile Profile) shapes {
	return shapes{
		campaign: func(c Campaign) (object, object) { return exportCampaign(c, profile.Currency), nil },
		adGroup:  func(g AdGroup) (object, object) { return exportAdGroup(g, profile.Currency), nil },
		ad:       func(a Ad) (object, object) { return exportAd(a), nil },
	}
}

func exportCampaign(c Campaign, currency string) object {
	amount := object{"currencyCode": currency, "amount": jsonNumber(c.Budget)}
	shown := object{
		"campaignId": c.ID, "adProduct": c.AdProduct, "name": c.Name, "state": c.State, "startDate": c.StartDate,
		"deliveryStatus": "DELIVERING", "deliveryReasons": []string{}, "tags": []object{},
		"optimization": object{"bidStrategy": "SALES_BID_DOWN_ONLY", "placementBidAdjustments": []object{}},
		"budgetCaps": object{
			"recurrenceTimePeriod": c.BudgetType, "budgetType": "MONETARY", "budgetValue": object{"monetaryBudget": amount},
		},
	}
	putNonEmpty(shown, "endDate", c.EndDate)
	putNonEmpty(shown, "portfolioId", c.Portfolio)
	switch c.AdProduct {
	case SponsoredBrands:
		shown["brandEntityId"], shown["costType"] = "ENTITY21STANDIN", "CPC"
	case SponsoredDisplay:
		shown["targetingSettings"], shown["costType"] = orDefault(c.Targeting, "T00020"), "CPC"
	default:
		shown["targetingSettings"] = orDefault(c.Targeting, "MANUAL")
	}
	return addDates(shown)
}

func exportAdGroup(g AdGroup, currency string) object {
	shown := object{
		"adGroupId": g.ID, "campaignId": g.CampaignID, "adProduct": g.AdProduct, "name": g.Name, "state": g.State,
		"deliveryStatus": "DELIVERING", "deliveryReasons": []string{},
	}
	if g.AdProduct != SponsoredBrands {
		shown["bid"] = object{"defaultBid": jsonNumber(orDefault(g.DefaultBid, "0.75")), "currencyCode": currency}
	}
	return addDates(shown)
}

// exportAd has no campaign: the model does not have one either.
func exportAd(a Ad) object {
	products := []object{}
	for _, asin := range a.Products {
		products = append(products, object{"productIdType": "ASIN", "productId": asin})
	}
	if a.SKU != "" {
		products = append(products, object{"productIdType": "SKU", "productId": a.SKU})
	}
	shown := object{
		"adGroupId": a.AdGroupID, "adProduct": a.AdProduct, "state": a.State, "adType": "PRODUCT_AD",
		"creative": object{"products": products}, "deliveryStatus": "DELIVERING",
	}
	if a.AdProduct == SponsoredBrands {
		shown["adType"] = "PRODUCT_COLLECTION"
	}
	putNonEmpty(shown, "adId", a.ID)
	putNonEmpty(shown, "name", a.Name)
	return addDates(shown)
}

func addDates(shown object) object {
	shown["creationDateTime"], shown["lastUpdatedDateTime"] = "2026-01-01T08:00:00.000Z", "2026-01-02T08:00:00.000Z"
	return shown
}
