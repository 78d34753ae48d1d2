package demo

// What is on the platform's lists this morning. States are each entity's own:
// an archived campaign keeps enabled ads.

func (o *office) campaignRows(m *market) any {
	rows := []campaignRow{}
	for _, c := range o.campaigns(m) {
		rows = append(rows, o.campaignRow(c))
	}
	return rows
}

func (o *office) campaignRow(c *campaign) campaignRow {
	k := kinds[c.kind]
	row := campaignRow{
		CampaignID: digits(c.id), AdProduct: adTypes[c.adType].adProduct, Name: c.label, State: c.state(o.seed, o.today),
		StartDate: c.start.String(), TargetingSettings: k.targeting, CostType: k.costType,
		BudgetCaps: caps(c, o.budget(c)), CreationDateTime: c.createdAt(o.seed),
	}
	if c.drive != nil {
		row.EndDate = c.drive.last.String()
	}
	if c.adType == brands {
		row.BrandEntityID = "ENTITY21DEMO" + c.market.country
	}
	row.DeliveryStatus, row.DeliveryReasons = delivery(row.State, o.today < c.start)
	return row
}

// delivery tells whether ads are shown, and why not.
func delivery(state string, pending bool) (status string, reasons []string) {
	switch {
	case state != enabled:
		return "NOT_DELIVERING", []string{"CAMPAIGN_" + state}
	case pending:
		return "NOT_DELIVERING", []string{"CAMPAIGN_PENDING_START_DATE"}
	}
	return "DELIVERING", nil
}

func (o *office) groupRows(m *market) any {
	rows := []groupRow{}
	for _, c := range o.campaigns(m) {
		status, _ := delivery(c.state(o.seed, o.today), o.today < c.start)
		for _, g := range c.groups {
			row := groupRow{
				AdGroupID: digits(g.id), CampaignID: digits(c.id), AdProduct: adTypes[c.adType].adProduct,
				Name: g.label, State: enabled, DeliveryStatus: status, CreationDateTime: c.createdAt(o.seed),
			}
			if c.adType != brands {
				row.Bid = &groupBid{o.bid(g), m.currency}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (o *office) adRows(m *market) any {
	rows := []adRow{}
	for _, c := range o.campaigns(m) {
		for _, g := range c.groups {
			for _, ad := range g.ads {
				rows = append(rows, o.adRow(ad))
			}
		}
	}
	return rows
}

func (o *office) adRow(ad *listing) adRow {
	c := ad.group.campaign
	row := adRow{
		AdGroupID: digits(ad.group.id), AdProduct: adTypes[c.adType].adProduct, State: o.adState(ad), AdType: ad.form,
		Creative: shownProducts(ad), CreationDateTime: c.createdAt(o.seed),
	}
	if p := ad.product; p != nil && p.from > c.created() {
		row.CreationDateTime = instant(p.from.midnight())
	}
	if ad.id != 0 {
		row.AdID = digits(ad.id)
	}
	row.DeliveryStatus = "NOT_DELIVERING"
	if row.State == enabled {
		row.DeliveryStatus, _ = delivery(c.state(o.seed, o.today), o.today < c.start)
	}
	return row
}

// adState is enabled until the product is no longer sold. Then the ad is paused
// by the rule for that, or by hand where there is none, and put away later.
func (o *office) adState(ad *listing) string {
	const kept = 45 // days
	p := ad.product
	switch {
	case p == nil || p.until >= o.today:
		return enabled
	case p.until < o.today-kept:
		return archived
	}
	if r := o.keeper(ad.group.campaign, pauseEnded); r != nil && p.until >= r.standing(o.today) {
		return enabled
	}
	return paused
}
