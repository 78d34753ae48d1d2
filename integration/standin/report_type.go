package standin

// reportType is what one reportTypeId can be asked for.
type reportType struct {
	adProduct string
	lookBack  int // days
	groups    []groupBy
	base      columnSet
	// keepProduct says that rows are per advertised product; keepAd and
	// keepAdGroup that they are per ad or ad group. The grain does not depend
	// on the columns that were requested.
	keepAdGroup, keepAd, keepProduct bool
}

// groupBy is one grouping with the columns and filters that it brings.
type groupBy struct {
	name    string
	columns columnSet
	filters []string
}

// The types with clicks and cost. Others exist on the real platform; a client
// that needs one will find it refused here.
var reportTypes = map[string]reportType{
	"spAdvertisedProduct": {
		adProduct: SponsoredProducts, lookBack: 95, base: spAdvertisedProductColumns,
		groups:      []groupBy{{"advertiser", nil, []string{"adCreativeStatus"}}},
		keepAdGroup: true, keepAd: true, keepProduct: true,
	},
	"spCampaigns": {
		adProduct: SponsoredProducts, lookBack: 95, base: spMeasures.withColumns(parseColumns("campaignBiddingStrategy", "")),
		groups: []groupBy{
			{"campaign", spCampaignColumns, []string{"campaignStatus"}},
			{"adGroup", parseColumns("adGroupName adStatus", "adGroupId"), []string{"adStatus"}},
			{"campaignPlacement", spCampaignColumns.withColumns(parseColumns("placementClassification", "")), []string{"campaignSite"}},
		},
	},
	"sbCampaigns": {
		adProduct: SponsoredBrands, lookBack: 60, base: sbCampaignColumns,
		groups: []groupBy{{"campaign", nil, []string{"campaignStatus"}}},
	},
	"sbAdGroup": {
		adProduct: SponsoredBrands, lookBack: 60, base: sbAdGroupColumns,
		groups: []groupBy{{"adGroup", nil, []string{"adStatus"}}}, keepAdGroup: true,
	},
	"sbAds": {
		adProduct: SponsoredBrands, lookBack: 60, base: sbAdColumns,
		groups: []groupBy{{"ads", nil, []string{"adStatus"}}}, keepAdGroup: true, keepAd: true,
	},
	"sdCampaigns": {
		adProduct: SponsoredDisplay, lookBack: 65, base: sdMeasures,
		groups: []groupBy{{"campaign", sdCampaignColumns, nil}, {"matchedTarget", parseColumns("matchedTargetAsin", ""), nil}},
	},
	"sdAdvertisedProduct": {
		adProduct: SponsoredDisplay, lookBack: 65, base: sdAdvertisedProductColumns,
		groups:      []groupBy{{"advertiser", nil, nil}},
		keepAdGroup: true, keepAd: true, keepProduct: true,
	},
}

// allowedColumns tells the columns that go with the groupings requested.
func (t reportType) allowedColumns(groups []string) columnSet {
	set := t.base
	for _, group := range t.groups {
		for _, name := range groups {
			if group.name == name {
				set = set.withColumns(group.columns)
			}
		}
	}
	return set
}

func (t reportType) groupNames() []string {
	var names []string
	for _, group := range t.groups {
		names = append(names, group.name)
	}
	return names
}

// filtersOf tells the filters that every one of the groupings allows.
func (t reportType) filtersOf(groups []string) []string {
	counts := map[string]int{}
	var common []string
	for _, group := range t.groups {
		for _, name := range groups {
			if group.name != name {
				continue
			}
			for _, filter := range group.filters {
				if counts[filter]++; counts[filter] == len(groups) {
					common = append(common, filter)
				}
			}
		}
	}
	return common
}
