package demo

// The rows of exports, in the platform's common model.

type campaignRow struct {
	CampaignID        string     `json:"campaignId"`
	AdProduct         string     `json:"adProduct"`
	Name              string     `json:"name"`
	State             string     `json:"state"`
	StartDate         string     `json:"startDate"`
	EndDate           string     `json:"endDate,omitempty"`
	DeliveryStatus    string     `json:"deliveryStatus"`
	DeliveryReasons   []string   `json:"deliveryReasons,omitempty"`
	TargetingSettings string     `json:"targetingSettings"`
	CostType          string     `json:"costType,omitempty"`
	BrandEntityID     string     `json:"brandEntityId,omitempty"`
	BudgetCaps        budgetCaps `json:"budgetCaps"`
	CreationDateTime  string     `json:"creationDateTime"`
}

type budgetCaps struct {
	RecurrenceTimePeriod string      `json:"recurrenceTimePeriod"`
	BudgetType           string      `json:"budgetType"`
	BudgetValue          budgetValue `json:"budgetValue"`
}

type budgetValue struct {
	MonetaryBudget monetaryBudget `json:"monetaryBudget"`
}

type monetaryBudget struct {
	CurrencyCode string `json:"currencyCode"`
	Amount       cents  `json:"amount"`
}

type groupRow struct {
	AdGroupID        string    `json:"adGroupId"`
	CampaignID       string    `json:"campaignId"`
	AdProduct        string    `json:"adProduct"`
	Name             string    `json:"name"`
	State            string    `json:"state"`
	DeliveryStatus   string    `json:"deliveryStatus"`
	Bid              *groupBid `json:"bid,omitempty"`
	CreationDateTime string    `json:"creationDateTime"`
}

type groupBid struct {
	DefaultBid   cents  `json:"defaultBid"`
	CurrencyCode string `json:"currencyCode"`
}

type adRow struct {
	AdID             string   `json:"adId,omitempty"`
	AdGroupID        string   `json:"adGroupId"`
	AdProduct        string   `json:"adProduct"`
	State            string   `json:"state"`
	AdType           string   `json:"adType"`
	Creative         creative `json:"creative"`
	DeliveryStatus   string   `json:"deliveryStatus"`
	CreationDateTime string   `json:"creationDateTime"`
}

type creative struct {
	Products []creativeProduct `json:"products"`
}

type creativeProduct struct {
	ProductIDType string `json:"productIdType"`
	ProductID     string `json:"productId"`
}

func caps(c *campaign, amount cents) budgetCaps {
	period := "DAILY"
	if c.lifetime {
		period = "LIFETIME"
	}
	return budgetCaps{period, "MONETARY", budgetValue{monetaryBudget{c.market.currency, amount}}}
}

func shownProducts(l *listing) creative {
	out := creative{Products: []creativeProduct{}}
	for _, id := range l.products {
		out.Products = append(out.Products, creativeProduct{"ASIN", id})
	}
	return out
}
