package platform

import (
	"adlens"
	"adlens/internal/catalogue"
)

// ReportType is a kind of report that figures come from. There is exactly one
// per ad product, because two would count the same money twice.
type ReportType struct {
	ID            string
	AdProduct     adlens.AdProduct
	GroupBy       string
	ProductColumn string              // the advertised product of a row; "" where rows have none
	Measures      []catalogue.Measure // whose columns it has
	// Legacy is set for the type of version 2 of the platform's reporting. Its reports
	// are of one day each, which their rows do not name.
	Legacy bool
}

// Columns of reports beside their measures.
const (
	DateColumn     = "date"
	CurrencyColumn = "campaignBudgetCurrencyCode"
	CampaignColumn = "campaignId"
	AdGroupColumn  = "adGroupId"

	campaignNameColumn = "campaignName"
	adGroupNameColumn  = "adGroupName"
)

// Headline returns the columns of the catalogue's headline measures, in their
// order, in reports to vendors or to sellers.
func (t *ReportType) Headline(vendor bool) (columns []string) {
	if t.Legacy {
		return t.measureColumns()
	}
	for _, m := range catalogue.Headline {
		columns = append(columns, m.ColumnOf(t.AdProduct, vendor))
	}
	return columns
}

// ReportTypes are the report types that figures come from.
var ReportTypes = []*ReportType{
	{ID: "spAdvertisedProduct", AdProduct: adlens.SponsoredProducts, GroupBy: "advertiser", ProductColumn: "advertisedAsin",
		Measures: catalogue.ReportedBy(adlens.SponsoredProducts)},
	{ID: "sbCampaigns", AdProduct: adlens.SponsoredBrands, GroupBy: "campaign",
		Measures: catalogue.ReportedBy(adlens.SponsoredBrands)},
	{ID: "sdAdvertisedProduct", AdProduct: adlens.SponsoredDisplay, GroupBy: "advertiser", ProductColumn: "promotedAsin",
		Measures: catalogue.ReportedBy(adlens.SponsoredDisplay)},
}

// FindReportType returns the report type of an id that figures come from.
func FindReportType(id string) (*ReportType, bool) {
	for _, t := range ReportTypes {
		if t.ID == id {
			return t, true
		}
	}
	return nil, false
}

// RequestColumns are the columns to ask the platform for: all that are kept,
// but those that it added lately and may still refuse, because one column that
// it does not know refuses the whole report.
func (t *ReportType) RequestColumns() []string {
	columns := []string{DateColumn, CurrencyColumn, CampaignColumn, campaignNameColumn}
	if t.ProductColumn != "" {
		columns = append(columns, AdGroupColumn, adGroupNameColumn, "adId", t.ProductColumn)
	}
	for _, m := range t.Measures {
		if !m.Recent {
			columns = append(columns, m.Column)
		}
	}
	return columns
}
