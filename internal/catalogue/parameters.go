package catalogue

import (
	"slices"

	"adlens"
)

// Kind is what the values of a parameter are.
type Kind int

// The kinds of parameters.
const (
	Text   Kind = iota // an id or code, which only the account's data can judge
	Choice             // one of Values, without regard to case
	Day                // YYYY-MM-DD
	Zone               // a name of the time-zone database
	Number             // a whole number from 1 to Max
)

// Place is where a request has a parameter.
type Place string

// The places of parameters.
const (
	Query  Place = "" // the query string
	Path   Place = "path"
	Header Place = "header"
)

// Parameter is a parameter of endpoints. A new one is a row below, its place
// in the parameters of endpoints, and a field of their structs in
// internal/query.
type Parameter struct {
	Name     string
	ID       string // its name in the API's document, if Name is not unique there
	In       Place
	Kind     Kind
	List     bool // of values with commas between them
	Required bool

	Values   []string // of a Choice
	Shown    []string // those of Values that messages name, where all are too many; Others says what else there is
	Others   string
	Excluded map[string]string // values that exist and are refused, with the reason
	Min, Max int               // of the characters of a Text, and Max of a Number; 0 is no bound
	// MaxValues is how many values a List has at most; 0 is no bound.
	MaxValues int
	TakesAll  bool // a Number may be All

	// Default is what the document says is used if nothing is sent. It is nil
	// if clients that fill it in would be refused.
	Default any
	Schema  string // the schema of the document that Values or bounds are in
	Words   string // Markdown, in the document
	Example any
}

// Key returns the name of the parameter in the API's document.
func (p Parameter) Key() string {
	if p.ID != "" {
		return p.ID
	}
	return p.Name
}

// Bounds of pages.
const (
	MaxPage     = 1_000_000_000
	MaxPageSize = 1_000
	// MaxTablePageSize is that of a report in another format than JSON.
	MaxTablePageSize = 100_000
)

// All is the value of a Number that stands for everything at once.
const All = "all"

// The values of choices.
var (
	Ranges = []string{"today", "yesterday", "last_7_days", "last_14_days", "last_30_days", "last_60_days", "last_90_days",
		"this_month", "last_month", "this_year", "last_year", "all_time"}
	AdProducts    = adProductNames()
	Granularities = []string{"auto", "day", "week", "month"}
	ProductSorts  = slices.Concat(FigureNames, []string{"product_id"})
	Orders        = []string{"asc", "desc"}
	States        = []string{"ENABLED", "PAUSED"}
	Tools         = []string{"rule", "campaign_create", "campaign_copy", "product_add", "undo"}
	Formats       = []string{"json", "csv", "xlsx", "parquet", "ndjson"}
	Separators    = []string{"comma", "semicolon", "tab"}
	Decimals      = []string{"point", "comma"}
	Headers       = []string{"names", "labels"}
	Currencies    = []string{"USD", "local"}
	Comparisons   = []string{"none", "previous_period", "previous_year"}
)

func adProductNames() []string {
	names := make([]string, len(adlens.AdProducts))
	for i, p := range adlens.AdProducts {
		names[i] = p.String()
	}
	return names
}

var (
	namedRange = Parameter{Name: "range", Kind: Choice, Values: Ranges, Schema: "NamedPeriod", Example: "last_30_days",
		Words: "A period that moves with today. `last_30_days` is 30 days, the last of them today; `this_month` and `this_year` end today; `all_time` starts at the account's oldest day with data.\n" +
			"Without any period it is `last_30_days`. It cannot be sent together with dates.\n"}
	startDate = Parameter{Name: "start_date", Kind: Day, Example: "2026-11-01",
		Words: "The first day of the period. Sent together with `end_date`; both days belong to it."}
	endDate = Parameter{Name: "end_date", Kind: Day, Example: "2026-11-30",
		Words: "The last day of the period, at most six calendar years after `start_date`. It may lie in the future."}
	timeZone = Parameter{Name: "timezone", Kind: Zone, Default: "UTC", Example: "Europe/London",
		Words: "Decides which day today is; a name of the IANA time-zone database in its exact spelling. Days themselves are the marketplace's own calendar days."}
	marketplaces = Parameter{Name: "marketplaces", List: true, Example: []string{"US", "UK"},
		Words: "Only these: country codes of connected marketplaces, or ids that `/api/v1/marketplaces` lists, with commas between them. `GB` is understood as `UK`. What is not connected is refused, and the message lists what is.\n"}
	adProducts = Parameter{Name: "ad_products", Kind: Choice, List: true, Values: AdProducts, Schema: "AdProduct", Example: []string{"SPONSORED_PRODUCTS", "SPONSORED_DISPLAY"},
		Words: "Only these kinds of advertising, with commas between them."}
	granularity = Parameter{Name: "granularity", Kind: Choice, Values: Granularities, Default: "auto",
		Words: "Days, weeks or months. `auto` is days up to 92 days, and months beyond; `day` is refused beyond 92 days. A week begins on Monday."}
	productIDs = Parameter{Name: "product_ids", List: true, MaxValues: 200, Example: []string{"B0C7J1M4KQ"},
		Words: "Only these products, by their ids, with commas between them; 200 at most. An id that is neither in a figure nor in the list of products is refused."}
	campaignIDs = Parameter{Name: "campaign_ids", List: true, MaxValues: 200, Example: []string{"276748589410145"},
		Words: "Only these campaigns, by their ids, with commas between them; 200 at most. An id that is neither in a figure nor in the list of campaigns is refused. Archived campaigns have figures too."}
	adGroupIDs = Parameter{Name: "ad_group_ids", List: true, MaxValues: 200, Example: []string{"190112233445566"},
		Words: "Only these ad groups, by their ids, with commas between them; 200 at most. An id that is neither in a figure nor in the list of ad groups is refused."}
	dimensions = Parameter{Name: "dimensions", Kind: Choice, List: true, Values: DimensionNames, MaxValues: 5, Schema: "Dimension", Example: []string{"month", "product"},
		Words: "What the figures are divided by, in the order in which their columns are wanted, with commas between them; at most one of `date`, `week` and `month`. Without it there is one row of everything."}
	figures = Parameter{Name: "figures", ID: "figure_names", Kind: Choice, List: true, MaxValues: 200, Values: ReportFigureNames, Shown: FigureNames, Others: "a further measure that /docs/figures lists", Schema: "Figure", Example: []string{"spend", "acos"},
		Words: "The figures wanted, in their order, with commas between them, 200 at most; without it the ten that every answer has. Further ones are measures as the platform reports them: null, and never 0, where no report behind a row has them, and where only some do they are the sum of those, which `meta.incomplete` says. One that no ad product of the filters reports is refused, and an amount of them that is not in US dollars needs `currency=local`."}
	currency = Parameter{Name: "currency", Kind: Choice, Values: Currencies, Default: "USD",
		Words: "US dollars, or the marketplaces' own amounts, unconverted. Marketplaces of several currencies have none in common: `local` is refused for them, but in a report that is divided by marketplace, whose rows then say their `currency`. Amounts are sorted by their US dollars there, and null in `totals`."}
	search = Parameter{Name: "search", Min: 2, Max: 100, Example: "lamp",
		Words: "Only rows whose product id or title, campaign name or ad group name contains this text, without regard to case; 2 to 100 characters. It looks in those of `product`, `campaign` and `ad_group` that are among the dimensions, and needs one."}
	listSearch = Parameter{Name: "search", ID: "list_search", Min: 2, Max: 100, Example: "lamp",
		Words: "Only rows whose name contains this text, without regard to case; 2 to 100 characters."}
	reportSort = Parameter{Name: "sort", ID: "rows_sort", Example: "spend",
		Words: "The figure of the answer, or the dimension, that decides the order of rows; rows that are equal in it go by their dimensions. Without it the date, week or month; else `spend`, where it is requested, or else the first figure."}
	reportOrder = Parameter{Name: "order", ID: "rows_order", Kind: Choice, Values: Orders, Example: "desc",
		Words: "Ascending or descending. Null comes last in both. Without it dimensions are ascending and figures descending."}
	rowsPageSize = Parameter{Name: "page_size", ID: "rows_page_size", Kind: Number, Max: MaxTablePageSize, TakesAll: true, Schema: "RowsOrAll", Default: 100,
		Words: "Rows of a page: up to 1,000 in JSON and 100,000 in the other formats; or `all` for everything at once, up to 100,000 rows. More rows than that are cut off, which `meta.truncated` and `X-Truncated` say."}
	productSort = Parameter{Name: "sort", Kind: Choice, Values: ProductSorts, Schema: "ProductSort", Default: "spend",
		Words: "The figure, or `product_id`, that decides the order of rows."}
	order = Parameter{Name: "order", Kind: Choice, Values: Orders, Default: "desc",
		Words: "Ascending or descending. Null comes last in both."}
	page = Parameter{Name: "page", Kind: Number, Max: MaxPage, Default: 1,
		Words: "Which page, from 1. A page past the end has no rows."}
	pageSize = Parameter{Name: "page_size", Kind: Number, Max: MaxPageSize, Default: 100,
		Words: "Rows of a page."}
	reportPageSize = Parameter{Name: "page_size", ID: "report_page_size", Kind: Number, Max: MaxPageSize, TakesAll: true, Schema: "PageSizeOrAll", Default: 100,
		Words: "Rows of a page, or `all` for everything at once, up to 100,000 rows. More rows than that are cut off, which `meta.truncated` and `X-Truncated` say."}
	rulesPageSize = Parameter{Name: "page_size", ID: "rules_page_size", Kind: Number, Max: MaxPageSize, TakesAll: true, Schema: "PageSizeOrAll", Default: 1_000,
		Words: "Rows of a page, or `all` for everything at once, up to 100,000 rows. More rows than that are cut off, which `meta.truncated` and `X-Truncated` say."}
	marketplaceID = Parameter{Name: "marketplace_id", Required: true, Example: "4471209935518602",
		Words: "The marketplace, by an id that `/api/v1/marketplaces` lists."}
	states = Parameter{Name: "states", Kind: Choice, List: true, Values: States, Schema: "State",
		Excluded: map[string]string{"ARCHIVED": "archived campaigns are never listed"}, Example: []string{"ENABLED"},
		Words: "Only these states, with commas between them. Both without it. `ARCHIVED` is refused, as archived campaigns are never listed."}
	campaignID = Parameter{Name: "campaign_id", Example: "276748589410145",
		Words: "Only the ad groups of this campaign. A campaign that is not in the marketplace's list is refused."}
	ruleID = Parameter{Name: "rule_id", In: Path, Required: true, Example: "rule-low-stock",
		Words: "The rule, by an id that `/api/v1/rules` lists."}
	tool = Parameter{Name: "tool", Kind: Choice, List: true, Values: Tools, Schema: "Operation", Example: []string{"rule"},
		Words: "Only these operations, with commas between them. `rule` keeps only what rules did."}
	format = Parameter{Name: "format", Kind: Choice, Values: Formats, Schema: "AnswerFormat", Default: "json",
		Words: "The format of the answer. It beats `Accept`; an `Accept` that fits nothing gets JSON. Errors are always `application/problem+json`.\n" +
			"In CSV, Excel and Parquet columns are the JSON field names in their order; nested objects become `parent_child`, lists of plain values are joined by `;`, lists of objects are one JSON text, and null is an empty cell. NDJSON has the rows of JSON as they are.\n"}
	separator = Parameter{Name: "separator", Kind: Choice, Values: Separators,
		Words: "What stands between the cells of CSV; a comma without it. Refused with any other format."}
	decimal = Parameter{Name: "decimal", Kind: Choice, Values: Decimals,
		Words: "What stands before the decimals of CSV; a point without it. Refused with any other format."}
	headers = Parameter{Name: "headers", Kind: Choice, Values: Headers,
		Words: "The first line of CSV and of an Excel sheet: `names` of the JSON fields, or `labels` for people, such as `Orders` for `purchases`; `names` without it. Refused with any other format."}
	compare = Parameter{Name: "compare", Kind: Choice, Values: Comparisons, Default: "none",
		Words: "Compares the period with an earlier one. The end of the period is cut to yesterday (in `timezone`), because today's figures are not whole; the start stays, and where nothing is left, as of `today`, the question is refused. `previous_period` is as many days immediately before, `previous_year` both dates one year earlier (29 February becomes the 28th).\n" +
			"The answer, its elements, points and rows gain `comparison`. What has figures in either period appears; the side without has zeros and null ratios. Points are compared by position: the third day with the third, the second month with the second.\n"}
	ifNoneMatch = Parameter{Name: "If-None-Match", In: Header, Example: "\"3q2-8Kw1xYdVbn0uJt5MZA\"",
		Words: "The `ETag` of an answer that you hold. While it still is the answer, you get a short 304 without a body."}
)

// Parameters are all parameters, in the order of the API's document.
var Parameters = []Parameter{
	namedRange, startDate, endDate, timeZone, marketplaces, adProducts, campaignIDs, adGroupIDs, productIDs, dimensions, figures, currency, search, listSearch, granularity, productSort, reportSort, order, reportOrder,
	page, pageSize, reportPageSize, rowsPageSize, rulesPageSize, marketplaceID, states, campaignID, ruleID, tool,
	format, separator, decimal, headers, compare, ifNoneMatch,
}

// Parameters that endpoints have together.
var (
	periods = []Parameter{namedRange, startDate, endDate, timeZone}
	filters = []Parameter{marketplaces, adProducts, campaignIDs, adGroupIDs, productIDs}
	formats = []Parameter{format, separator, decimal, headers}
)

// IsOfFormats reports whether the parameter chooses how an answer is written, or is for the
// formats other than JSON alone.
func (p Parameter) IsOfFormats() bool {
	return slices.ContainsFunc(formats, func(f Parameter) bool { return f.Name == p.Name })
}
