package assistant

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/catalogue"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is a question that a model can ask. A new one is a row of tools.
type tool struct {
	name, title, words string
	arguments          []argument
	result             any // the zero value of its results
	answer             func(call) (any, error)
}

// describe returns the tool as clients list it.
func (t tool) describe() *mcp.Tool {
	properties, required := map[string]any{}, []string{}
	for _, a := range t.arguments {
		properties[a.Name] = a.schema()
		if a.Required {
			required = append(required, a.Name)
		}
	}
	input := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		input["required"] = required
	}
	no := false
	// Clients show the title of the annotations where a tool has no other: the list is read in
	// each conversation, and has it once.
	return &mcp.Tool{Name: t.name, Description: t.words, InputSchema: input,
		OutputSchema: schemaOf(reflect.TypeOf(t.result)),
		Annotations:  &mcp.ToolAnnotations{Title: t.title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}}
}

// apiArgument returns the argument that the API has as a parameter.
func apiArgument(e catalogue.Endpoint, name, words string) argument {
	p, ok := e.Parameter(name)
	if !ok {
		panic("assistant: " + e.Path + " has no parameter " + name)
	}
	p.Required = false
	return argument{p, words}
}

// scope are the arguments of all tools of figures.
func scope(more ...argument) []argument {
	all := []argument{
		apiArgument(catalogue.Report, "range", "default last_30_days; or dates"),
		apiArgument(catalogue.Report, "start_date", "YYYY-MM-DD, with end_date"),
		apiArgument(catalogue.Report, "end_date", ""),
		apiArgument(catalogue.Report, "timezone", "whose today; default UTC"),
		apiArgument(catalogue.Report, "marketplaces", "countries or ids"),
		apiArgument(catalogue.Report, "ad_products", ""),
		apiArgument(catalogue.Report, "campaign_ids", ""),
		apiArgument(catalogue.Report, "ad_group_ids", ""),
		apiArgument(catalogue.Report, "product_ids", ""),
		apiArgument(catalogue.Report, "currency", "default USD"),
		apiArgument(catalogue.Report, "compare", "ends yesterday"),
	}
	return append(more, all...)
}

// comparing are arguments of a tool that always compares.
func comparing(all []argument) []argument {
	i := slices.IndexFunc(all, func(a argument) bool { return a.Name == "compare" })
	all[i].Values = slices.DeleteFunc(slices.Clone(all[i].Values), func(value string) bool { return value == "none" })
	return all
}

// Arguments of tools alone.
var (
	figuresArgument = argument{catalogue.Parameter{Name: "figures", Kind: catalogue.Choice, List: true, MaxValues: apiFigures.MaxValues, Values: catalogue.ReportFigureNames, Others: "a measure of adlens://formulas"},
		"spend, sales, acos, roas, impressions, clicks, ctr, average_cpc, purchases (orders), conversion_rate; a measure of adlens://formulas; or a quotient: spend/purchases, in percent new_to_brand_sales%sales"}
	byArgument    = argument{catalogue.Parameter{Name: "by", Kind: catalogue.Choice, Values: slices.Concat(catalogue.ReportFigureNames, catalogue.DimensionNames), Others: figuresArgument.Others}, "figure or dimension; default spend"}
	whereArgument = argument{catalogue.Parameter{Name: "where", List: true, MaxValues: maxConditions}, `only rows like "purchases=0" (wasted spend), "acos>=50"; null meets none`}
	topArgument   = argument{catalogue.Parameter{Name: "top", Kind: catalogue.Number, Max: 50}, "default 10"}
	ofArgument    = argument{catalogue.Parameter{Name: "figure", Kind: catalogue.Choice, Values: catalogue.FigureNames}, "default spend"}
	kindArgument  = argument{catalogue.Parameter{Name: "kind", Kind: catalogue.Choice, Required: true, Values: []string{"campaigns", "ad_groups", "rules", "rule_runs"}}, ""}
	placeArgument = argument{catalogue.Parameter{Name: "marketplace"}, "country or id; for campaigns and ad groups"}
	runArgument   = argument{catalogue.Parameter{Name: "rule_run_id"}, "all changes of this run"}
	ruleArgument  = argument{catalogue.Parameter{Name: "rule_id"}, "for rule_runs"}
)

// apiFigures are the figures that the API takes.
var apiFigures = apiArgument(catalogue.Report, "figures", "")

// tools are all tools, in the order in which clients list them.
var tools = []tool{
	{"overview", "Account overview", "The account: marketplaces with currency, time zone, days held and counts; today; what adlens does not hold. Ask it first.", nil,
		overview{}, answerOverview},
	{"figures", "Figures of a period", "Totals of a period, by marketplace and by ad product, with shares; compare adds earlier figures and changes.", scope(figuresArgument),
		figuresByPart{}, answerFigures},
	{"timeline", "Figures over time", "Figures by day, week or month, oldest first, and their total. A week or month has only days of the period; partial names those cut.", scope(figuresArgument,
		apiArgument(catalogue.Timeline, "granularity", "default auto: up to 31 rows"), apiArgument(catalogue.Report, "page", "")),
		figuresTable{}, answerTimeline},
	{"rank", "Best and worst", "Campaigns, products, days or other dimensions ranked by a figure: highest first, lowest with order=asc; null last. With each row's share, all others as one, and the total.", scope(
		apiArgument(catalogue.Report, "dimensions", "default marketplace, campaign; with ad_group add campaign"), byArgument, apiArgument(catalogue.Report, "order", "default desc"), topArgument, whereArgument,
		apiArgument(catalogue.Report, "page", ""), apiArgument(catalogue.Report, "search", "in names and ids"), figuresArgument),
		matchingTable{}, answerRank},
	{"explain_change", "Why a figure changed", "What made a figure change against compare (default previous_period): contributions by marketplace, ad product, campaign, product and factor, adding up exactly to the change, of a ratio to divided_change.",
		comparing(scope(ofArgument)), explanation{}, answerExplain},
	{"list", "Campaigns, ad groups, rules", "Campaigns or ad groups with state, budget and bids of one marketplace; rules; or a rule's last 20 runs.", []argument{
		kindArgument, placeArgument, apiArgument(catalogue.AdGroups, "campaign_id", "of ad groups"), apiArgument(catalogue.Campaigns, "states", ""),
		apiArgument(catalogue.Campaigns, "search", "in names"), ruleArgument, runArgument, apiArgument(catalogue.Campaigns, "page", "")},
		listedRuns{}, answerList},
	{"activity", "What was changed", "What the service did on the platform, newest first: rules' changes, campaigns created or copied, products added, undos.", []argument{
		apiArgument(catalogue.Activity, "tool", ""), apiArgument(catalogue.Activity, "page", "")},
		listed{}, answerActivity},
}

// notHeld is what adlens has no data of, in the words that people ask with.
var notHeld = []string{"search terms", "keywords and targets", "placements", "stock and inventory", "organic sales and rank, total sales, TACOS", "hours of a day",
	"bids and budgets changed outside of rules", "competitors and share of voice", "profit, fees and cost of goods", "audiences", "creatives and listings", "DSP and other advertising platforms",
	"invoices and billing", "sessions, organic page views and the buy box", "reviews", "forecasts and benchmarks of other advertisers", "portfolios and labels",
	"why the platform shows or rejects an advertisement", "how the platform works", "what its reports leave out", "which other product was bought", "SKUs: products are ASINs",
	"changes: adlens only reads"}

// overview is the result of overview.
type overview struct {
	Account struct {
		ID           string `json:"account_id"`
		Name         string `json:"name"`
		IsDemo       bool   `json:"is_demo,omitzero"`
		Subscription string `json:"subscription"`
	} `json:"account"`
	Today      string             `json:"today"`
	Columns    []string           `json:"columns"`
	Rows       [][]jsontext.Value `json:"rows"`
	Incomplete jsontext.Value     `json:"incomplete,omitzero" schema:"array"`
	NotHeld    []string           `json:"not_held"`
	Requests   []string           `json:"requests"`
}

func answerOverview(c call) (any, error) {
	said, address, err := c.ask(answer.Request{Endpoint: "marketplaces"})
	if err != nil {
		return nil, err
	}
	t, err := listTable(said, nil)
	if err != nil {
		return nil, err
	}
	var o overview
	incomplete, missing, err := incompleteOf(said)
	if err != nil {
		return nil, err
	}
	if o.Incomplete, err = withMissing(incomplete, missing); err != nil {
		return nil, err
	}
	a := c.caller.Account
	o.Account.ID, o.Account.Name, o.Account.IsDemo, o.Account.Subscription = a.ID, adlens.CleanText(a.Name, maxText), a.IsDemo, string(a.Subscription)
	o.Today, o.Columns, o.Rows, o.NotHeld, o.Requests = adlens.DayOf(c.Now().UTC()).String(), t.Columns, t.Rows, notHeld, []string{address, answer.Request{Endpoint: answer.Account}.Path()}
	return o, nil
}

// chosen returns the figures of the call, or others where it names none.
func (c call) chosen(otherwise ...string) []string {
	if len(c.args["figures"]) > 0 {
		return c.args["figures"]
	}
	return otherwise
}

// figuresByPart is the result of figures.
type figuresByPart struct {
	frame
	ByMarketplace table `json:"by_marketplace"`
	ByAdProduct   table `json:"by_ad_product"`
}

func answerFigures(c call) (any, error) {
	figures := c.chosen(catalogue.FigureNames...)
	var a figuresByPart
	for _, part := range []struct {
		dimension string
		table     *table
	}{{"marketplace", &a.ByMarketplace}, {"ad_product", &a.ByAdProduct}} {
		r, err := c.readReport([]string{part.dimension}, figures)
		if err != nil {
			return nil, err
		}
		r.Requests = append(a.Requests, r.Requests...)
		a.frame, *part.table = r.frame, r.tableOf(figures, sumOf(figures))
	}
	a.ByAdProduct.Total = nil // said once
	return a, nil
}

// figuresTable is a result that is one table.
type figuresTable struct {
	frame
	cuts
	table
}

func answerTimeline(c call) (any, error) {
	figures := c.chosen("spend", "sales", "acos", "purchases")
	granularity := c.args.first("granularity", "auto")
	if granularity == "auto" {
		r, err := c.readReport(nil, []string{"clicks"})
		if err != nil {
			return nil, err
		}
		granularity = granularityOf(r.Period)
	}
	dimension, known := catalogue.TimeDimensions[granularity]
	if !known {
		return nil, &argumentError{"granularity is " + strconv.Quote(adlens.CleanText(granularity, maxText)) + "; expected " + strings.Join(catalogue.Granularities, ", ")}
	}
	r, err := c.readReport([]string{dimension}, figures, append(c.args.parameters("page"), answer.Parameter{Name: "page_size", Value: "62"})...)
	if err != nil {
		return nil, err
	}
	return figuresTable{r.frame, r.cut, r.tableOf(figures, "")}, nil
}

// granularityOf returns what shows a period in few rows: days up to 31, weeks up to
// half a year, months beyond.
func granularityOf(period jsontext.Value) string {
	start, end, err := daysOf(period)
	switch days := int(end-start) + 1; {
	case err != nil || days > 182:
		return "month"
	case days > 31:
		return "week"
	}
	return "day"
}

func answerRank(c call) (any, error) {
	by := c.args.first("by", "spend")
	figures := c.chosen("spend", "sales", "acos", "purchases")
	dimensions := c.args["dimensions"]
	if len(dimensions) == 0 {
		dimensions = []string{"marketplace", "campaign"} // whose names repeat in marketplaces
	}
	share := sumOf([]string{by})
	switch {
	case slices.Contains(catalogue.DimensionNames, by):
		share = sumOf(figures)
	case !slices.Contains(figures, by):
		figures = append([]string{by}, figures...)
	}
	conditions, err := readConditions(c.args["where"])
	if err != nil {
		return nil, err
	}
	if len(conditions) > 0 {
		return c.rankMatching(dimensions, figures, by, share, conditions)
	}
	params := append(c.args.parameters("page"), append(c.ranking(by), answer.Parameter{Name: "page_size", Value: c.args.first("top", defaultTop)})...)
	r, err := c.readReport(dimensions, figures, params...)
	if err != nil {
		return nil, err
	}
	return figuresTable{r.frame, r.cut, r.tableOf(figures, share)}, nil
}

// ranking is how rows are ranked: the highest first where the call does not say, also by
// a dimension, which the API sorts the other way.
func (c call) ranking(by string) []answer.Parameter {
	return append(c.args.parameters("search"), answer.Parameter{Name: "sort", Value: by}, answer.Parameter{Name: "order", Value: c.args.first("order", "desc")})
}

// defaultTop is how many rows a ranking has.
const defaultTop = "10"
