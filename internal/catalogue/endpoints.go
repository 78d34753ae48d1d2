package catalogue

import (
	"slices"
	"strings"
)

// Endpoint is an address below /api/v1 that answers GET.
type Endpoint struct {
	Path       string
	Operation  string // its id in the API's document
	Tag        string // the part of the document that it is in
	Summary    string
	Words      string      // Markdown, in the document
	Parameters []Parameter // of the query string, in documented order
	Answer     string      // what a 200 is
	Schema     string      // of its JSON, in the document
	Capped     bool        // a cap of the service's own may leave rows out
	Examples   []Example
}

// Example is a real answer of an endpoint, in docs/examples.
type Example struct{ Name, File string }

var (
	Account = Endpoint{Path: "/account", Operation: "getAccount", Tag: "Account", Summary: "The account behind the key",
		Words: "The subscription, the connection to the ad platform, the newest day with data, and the key of this call.\n" +
			"It answers whatever the state of the subscription, and is never stored by caches.\n",
		Answer: "The account.", Schema: "Account", Examples: []Example{{"account", "account"}}}

	Marketplaces = Endpoint{Path: "/marketplaces", Operation: "listMarketplaces", Tag: "Account", Summary: "The connected marketplaces",
		Words: "One element for each marketplace, by `country_code`, then `marketplace_id`. Two profiles of one country are two marketplaces.\n" +
			"Counted is what is, with all its parents, enabled or paused.\n",
		Parameters: formats,
		Answer:     "The marketplaces.", Schema: "MarketplaceList", Examples: []Example{{"marketplaces", "marketplaces"}}}

	Summary = Endpoint{Path: "/summary", Operation: "getSummary", Tag: "Figures", Summary: "Totals of a period",
		Words: "The figures of a period as a whole, by marketplace and by ad product. The exact sums of the parts equal those of the whole; each figure is rounded on its own.\n" +
			"\n" +
			"As a table it is rows with `section` (`total`, `by_marketplace`, `by_ad_product`), `marketplace`, `marketplace_id`, `ad_product` and the figures.\n",
		Parameters: slices.Concat(periods, filters, []Parameter{currency}, formats, []Parameter{compare}),
		Answer:     "The totals.", Schema: "Summary", Capped: true, Examples: []Example{{"summary", "summary"}, {"filtered", "summary_filtered"}, {"compared", "summary_compared"}, {"nothing", "summary_without_figures"}}}

	Timeline = Endpoint{Path: "/timeline", Operation: "getTimeline", Tag: "Figures", Summary: "Figures by day, week or month",
		Words:      "A point for each day, week or month of a period, oldest first. One without a figure is left out. A week or month holds only its days inside the period.\n",
		Parameters: slices.Concat(periods, filters, []Parameter{currency, granularity}, formats, []Parameter{compare}),
		Answer:     "The points.", Schema: "Timeline", Capped: true, Examples: []Example{{"days", "timeline_days"}, {"months", "timeline_months"}, {"compared", "timeline_compared"}}}

	ProductReport = Endpoint{Path: "/reports/products", Operation: "listProducts", Tag: "Figures", Summary: "Figures by advertised product",
		Words: "A row for each advertised product with figures in the period. The row whose `product_id` is null is the group of figures that the platform ties to no product, mostly Sponsored Brands.\n" +
			"\n" +
			"Rows are ordered by the value as shown; null comes last in both orders, and ties go by `product_id`, so pages never overlap. `totals` are the figures of the whole report, all pages.\n",
		Parameters: slices.Concat(periods, filters, []Parameter{currency, productSort, order, page, reportPageSize}, formats, []Parameter{compare}),
		Answer:     "A page of products.", Schema: "ProductReport", Capped: true, Examples: []Example{{"products", "products"}, {"compared", "products_compared"}}}

	Report = Endpoint{Path: "/report", Operation: "getReport", Tag: "Figures", Summary: "Figures by any dimensions",
		Words: "A row for each combination of the dimensions' values with figures in the period: `dimensions=month,product` has one for each product of each month. The exact sums of the rows are those of the summary with the same period and filters.\n" +
			"\n" +
			"Rows are ordered by the value as shown; null comes last in both orders, and ties go by the dimensions, so pages never overlap. `totals` are the figures of the whole report, all pages.\n",
		Parameters: slices.Concat([]Parameter{dimensions, figures}, periods, filters, []Parameter{currency, search, reportSort, reportOrder, page, rowsPageSize}, formats, []Parameter{compare}),
		Answer:     "A page of rows.", Schema: "Report", Capped: true, Examples: []Example{{"months", "report_months"}, {"campaigns", "report_campaigns"}, {"products", "report_products"}}}

	Campaigns = Endpoint{Path: "/campaigns", Operation: "listCampaigns", Tag: "Campaigns", Summary: "One marketplace's campaigns",
		Words: "Campaigns that are enabled or paused, by name, then id. Archived ones are never listed.\n" +
			"\n" +
			"The list is read from the platform at most every 30 minutes. On the first call for a marketplace it may be empty with `meta.syncing` true; ask again about a minute later.\n",
		Parameters: slices.Concat([]Parameter{marketplaceID, states, listSearch, page, pageSize}, formats),
		Answer:     "A page of campaigns.", Schema: "CampaignPage", Examples: []Example{{"campaigns", "campaigns"}}}

	AdGroups = Endpoint{Path: "/ad-groups", Operation: "listAdGroups", Tag: "Campaigns", Summary: "One marketplace's ad groups",
		Words:      "Ad groups that are, with their campaign, enabled or paused, by name, then id. The list is read with the campaigns' and is as old.\n",
		Parameters: slices.Concat([]Parameter{marketplaceID, campaignID, listSearch, page, pageSize}, formats),
		Answer:     "A page of ad groups.", Schema: "AdGroupPage", Examples: []Example{{"ad_groups", "ad_groups"}}}

	Rules = Endpoint{Path: "/rules", Operation: "listRules", Tag: "Rules", Summary: "All rules",
		Words:      "All rules with their last run that was no test, the most recently edited first.",
		Parameters: slices.Concat([]Parameter{page, rulesPageSize}, formats),
		Answer:     "A page of rules.", Schema: "RuleList", Capped: true, Examples: []Example{{"rules", "rules"}}}

	RuleRuns = Endpoint{Path: "/rules/{rule_id}/runs", Operation: "listRuleRuns", Tag: "Rules", Summary: "The last runs of a rule",
		Words:      "What the last 20 runs of a rule looked at and changed, newest first. Test runs are not listed.",
		Parameters: formats,
		Answer:     "The runs.", Schema: "RuleRunList", Examples: []Example{{"runs", "rule_runs"}}}

	Activity = Endpoint{Path: "/activity", Operation: "listActivity", Tag: "Rules", Summary: "Operations on the platform",
		Words: "Everything that was done on the platform for this account, newest first: campaigns created or copied, products added, a rule's changes, an undo.\n" +
			"A rule's run appears once for each marketplace, with the same `rule_run_id`.\n",
		Parameters: slices.Concat([]Parameter{tool, page, reportPageSize}, formats),
		Answer:     "A page of operations.", Schema: "ActivityPage", Capped: true, Examples: []Example{{"activity", "activity"}}}
)

// Endpoints are all endpoints, in the order of the API's document.
var Endpoints = []Endpoint{Account, Marketplaces, Summary, Timeline, ProductReport, Report, Campaigns, AdGroups, Rules, RuleRuns, Activity}

// Parameter returns a parameter of the query string by its name.
func (e Endpoint) Parameter(name string) (Parameter, bool) {
	i := slices.IndexFunc(e.Parameters, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		return Parameter{}, false
	}
	return e.Parameters[i], true
}

// IsPaged reports whether the answer is a page of rows.
func (e Endpoint) IsPaged() bool {
	_, paged := e.Parameter(page.Name)
	return paged
}

// HasFormats reports whether the answer has rows, which can be written in other
// formats, named by an ETag and read in parts.
func (e Endpoint) HasFormats() bool {
	_, ok := e.Parameter(format.Name)
	return ok
}

// HasPath reports whether the path names a thing, which may not exist.
func (e Endpoint) HasPath() bool { return strings.Contains(e.Path, "{") }

// Documented returns all parameters of a request in the order of the document:
// those of the path, of the query string, and of headers.
func (e Endpoint) Documented() []Parameter {
	var all []Parameter
	for _, p := range Parameters {
		if p.In == Path && strings.Contains(e.Path, "{"+p.Name+"}") {
			all = append(all, p)
		}
	}
	all = append(all, e.Parameters...)
	if e.HasFormats() {
		all = append(all, ifNoneMatch)
	}
	return all
}
