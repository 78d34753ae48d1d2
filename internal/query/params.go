package query

// The parameter structs are the documented parameters of the endpoints, in
// their order. Text is as the client sent it, "" where it sent nothing; an
// empty value that was sent never gets here. The rules are in validate.go.

// PeriodParams say which days are asked for.
type PeriodParams struct {
	Range     string `query:"range" validate:"omitempty,range"`
	StartDate string `query:"start_date" validate:"omitempty,day"`
	EndDate   string `query:"end_date" validate:"omitempty,day"`
	TimeZone  string `query:"timezone" validate:"omitempty,zone"`
}

// FilterParams narrow the figures; comma-separated lists.
type FilterParams struct {
	Marketplaces []string `query:"marketplaces" validate:"dive,element"`
	AdProducts   []string `query:"ad_products" validate:"dive,element,adproduct"`
}

// PagingParams choose a page.
type PagingParams struct {
	Page     string `query:"page" validate:"omitempty,page"`
	PageSize string `query:"page_size" validate:"omitempty,pagesize"`
}

// SummaryParams are the parameters of the summary.
type SummaryParams struct {
	PeriodParams
	FilterParams
	FormatParams
	Compare string `query:"compare" validate:"omitempty,compare"`
}

// TimelineParams are the parameters of the timeline.
type TimelineParams struct {
	PeriodParams
	FilterParams
	Granularity string `query:"granularity" validate:"omitempty,granularity"`
	FormatParams
	Compare string `query:"compare" validate:"omitempty,compare"`
}

// ProductParams are the parameters of the product report.
type ProductParams struct {
	PeriodParams
	FilterParams
	Sort  string `query:"sort" validate:"omitempty,sort"`
	Order string `query:"order" validate:"omitempty,order"`
	PagingParams
	FormatParams
	Compare string `query:"compare" validate:"omitempty,compare"`
}
