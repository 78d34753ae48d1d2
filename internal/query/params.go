package query

import (
	"reflect"
	"slices"
	"sync"
)

// The parameter structs are the parameters of the catalogue's endpoints, in
// their order. Text is as the client sent it, "" if it sent nothing; an empty
// value that was sent never gets here. The catalogue has the rules.

// paramFields has the fields of parameter structs by type: finding them takes longer
// than reading and checking what a request sent.
var paramFields sync.Map

// ParamFields returns the fields of a parameter struct, those of embedded structs in
// their place. The tag query of each is the name of its parameter.
func ParamFields(params reflect.Type) []reflect.StructField {
	found, ok := paramFields.Load(params)
	if !ok {
		embedded := func(f reflect.StructField) bool { return f.Anonymous }
		found, _ = paramFields.LoadOrStore(params, slices.DeleteFunc(reflect.VisibleFields(params), embedded))
	}
	fields, _ := found.([]reflect.StructField)
	return fields
}

// PeriodParams say which days are requested.
type PeriodParams struct {
	Range     string `query:"range"`
	StartDate string `query:"start_date"`
	EndDate   string `query:"end_date"`
	TimeZone  string `query:"timezone"`
}

// FilterParams narrow the figures; comma-separated lists.
type FilterParams struct {
	Marketplaces []string `query:"marketplaces"`
	AdProducts   []string `query:"ad_products"`
	CampaignIDs  []string `query:"campaign_ids"`
	AdGroupIDs   []string `query:"ad_group_ids"`
	ProductIDs   []string `query:"product_ids"`
}

// PagingParams choose a page.
type PagingParams struct {
	Page     string `query:"page"`
	PageSize string `query:"page_size"`
}

// SummaryParams are the parameters of the summary.
type SummaryParams struct {
	PeriodParams
	FilterParams
	Currency string `query:"currency"`
	FormatParams
	Compare string `query:"compare"`
}

// TimelineParams are the parameters of the timeline.
type TimelineParams struct {
	PeriodParams
	FilterParams
	Currency    string `query:"currency"`
	Granularity string `query:"granularity"`
	FormatParams
	Compare string `query:"compare"`
}

// ProductParams are the parameters of the product report.
type ProductParams struct {
	PeriodParams
	FilterParams
	Currency string `query:"currency"`
	Sort     string `query:"sort"`
	Order    string `query:"order"`
	PagingParams
	FormatParams
	Compare string `query:"compare"`
}

// ReportParams are the parameters of the report by any dimensions.
type ReportParams struct {
	Dimensions []string `query:"dimensions"`
	Figures    []string `query:"figures"`
	PeriodParams
	FilterParams
	Currency string `query:"currency"`
	Search   string `query:"search"`
	Sort     string `query:"sort"`
	Order    string `query:"order"`
	PagingParams
	FormatParams
	Compare string `query:"compare"`
}
