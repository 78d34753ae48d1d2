package query

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/query/period"
)

// Granularities, orders, and the one sort that is no figure.
const (
	Auto       = "auto"
	ByDay      = "day"
	ByWeek     = "week"
	ByMonth    = "month"
	Ascending  = "asc"
	Descending = "desc"

	SortProduct = "product_id"
	DefaultSort = "spend"
)

// maxDailyPoints is how many days a timeline shows day by day.
const maxDailyPoints = 92

// MaxRows is the cap of an answer with all rows.
const MaxRows = 100_000

// Filters narrow figures; nil is no filter.
type Filters struct {
	Marketplaces []string // canonical country codes, sorted
	AdProducts   []adlens.AdProduct
	Campaigns    []string // ids, sorted
	AdGroups     []string // likewise
	Products     []string // likewise
}

// AdProductNames are the platform's names of the ad products; nil is no filter.
func (f Filters) AdProductNames() []string {
	if f.AdProducts == nil {
		return nil
	}
	names := make([]string, len(f.AdProducts))
	for i, product := range f.AdProducts {
		names[i] = product.String()
	}
	return names
}

// Request is a question with every default filled in.
type Request struct {
	Period   period.Period
	TimeZone string
	Filters  Filters

	// Earlier is what the period is compared with; its Range says in which
	// way, and is "" where nothing is compared. Period stops at yesterday then.
	Earlier period.Period

	Dimensions  []string // of a report, in the order of their columns
	Figures     []int    // report: places in catalogue.ReportFigures in the order wanted; nil for those of every answer
	Local       bool     // amounts are in the marketplaces' own currencies
	Mixed       bool     // and those are several, which have no sum
	Currency    string   // of all amounts; "" where there are several, or none
	Search      string   // report: what an id, title or name contains
	SearchedIn  []string // the dimensions whose ids, titles or names those are
	Granularity string   // of dates: ByDay, ByWeek or ByMonth; "" without dates
	Sort, Order string   // of pages
	Paging
	Format
}

// parser collects faults while it fills a request.
type parser struct {
	endpoint catalogue.Endpoint
	request  Request
	view     View
	now      time.Time
	faults   []adlens.Fault
}

// newParser returns a parser that knows what is wrong with each value for itself. refused
// are the faults of what could not be read, or was sent twice: such a parameter was sent,
// though its value may be empty.
func newParser(e catalogue.Endpoint, params any, v View, now time.Time, refused []adlens.Fault) *parser {
	return &parser{endpoint: e, view: v, now: now, faults: slices.Concat(refused, checkParams(e, params))}
}

// isValid reports whether a parameter was sent and nothing is wrong with it.
func (p *parser) isValid(parameter, value string) bool {
	return value != "" && p.isUnrefused(parameter)
}

// isUnrefused reports whether nothing is wrong with some parameters. What another has to
// do with a value that was misspelt cannot be known, and is no fault of the other.
func (p *parser) isUnrefused(parameters ...string) bool {
	return !slices.ContainsFunc(p.faults, func(f adlens.Fault) bool { return slices.Contains(parameters, f.Parameter) })
}

// sentValue returns the value of a parameter as it was sent, also where it could not be
// read, and whether it was sent.
func (p *parser) sentValue(parameter, value string) (string, bool) {
	i := slices.IndexFunc(p.faults, func(f adlens.Fault) bool { return f.Parameter == parameter })
	if value != "" || i < 0 {
		return value, value != ""
	}
	return p.faults[i].Value, true
}

func (p *parser) addFault(parameter string, f adlens.Fault) {
	f.Parameter = parameter
	p.faults = append(p.faults, f)
}

// parseShared reads what all figure endpoints take.
func (p *parser) parseShared(format FormatParams, days PeriodParams, filters FilterParams, compare string) {
	p.request.Format = p.parseFormat(format)
	p.parsePeriod(days)
	p.parseComparison(compare)
	p.parseFilters(filters)
}

// ParseSummary makes a request of the summary's parameters.
func ParseSummary(params SummaryParams, v View, now time.Time, refused ...adlens.Fault) (Request, []adlens.Fault) {
	p := newParser(catalogue.Summary, params, v, now, refused)
	p.parseShared(params.FormatParams, params.PeriodParams, params.FilterParams, params.Compare)
	p.parseCurrency(params.Currency)
	return p.request, p.faults
}

// ParseTimeline makes a request of the timeline's parameters.
func ParseTimeline(params TimelineParams, v View, now time.Time, refused ...adlens.Fault) (Request, []adlens.Fault) {
	p := newParser(catalogue.Timeline, params, v, now, refused)
	p.parseShared(params.FormatParams, params.PeriodParams, params.FilterParams, params.Compare)
	p.parseCurrency(params.Currency)
	p.parseGranularity(params.Granularity)
	return p.request, p.faults
}

// ParseProducts makes a request of the product report's parameters.
func ParseProducts(params ProductParams, v View, now time.Time, refused ...adlens.Fault) (Request, []adlens.Fault) {
	p := newParser(catalogue.ProductReport, params, v, now, refused)
	p.parseShared(params.FormatParams, params.PeriodParams, params.FilterParams, params.Compare)
	p.parseCurrency(params.Currency)
	p.request.Sort, p.request.Order = DefaultSort, Descending
	if sort, ok := canonicalValue(params.Sort, catalogue.ProductSorts); ok {
		p.request.Sort = sort
	}
	if order, ok := canonicalValue(params.Order, catalogue.Orders); ok {
		p.request.Order = order
	}
	p.request.Paging = p.parsePaging(params.PagingParams)
	return p.request, p.faults
}

// parsePeriod finds the days requested. Where faults leave them open, they stay a
// single day, which no other rule objects to; days that are too many are known,
// and other rules speak of them too.
func (p *parser) parsePeriod(params PeriodParams) {
	p.request.TimeZone = "UTC"
	if p.isValid("timezone", params.TimeZone) {
		p.request.TimeZone = params.TimeZone
	}
	_, starts := p.sentValue("start_date", params.StartDate)
	_, ends := p.sentValue("end_date", params.EndDate)
	switch {
	case starts || ends:
		p.parseDates(params, starts, ends)
		return
	case !p.isUnrefused("range"):
		return
	}
	name, zone := period.Default, p.requestZone()
	if text, ok := canonicalValue(params.Range, catalogue.Ranges); ok {
		name = period.Name(text)
	}
	oldest, _, held := p.view.HeldSpan()
	p.request.Period, _ = period.Resolve(name, period.DayIn(zone, p.now), oldest, held).Until(p.earliestToday())
}

// earliestToday is today where the request is, or, of a zone that was refused, as early
// as today is anywhere.
func (p *parser) earliestToday() adlens.Day {
	today := period.DayIn(p.requestZone(), p.now)
	if !p.isUnrefused("timezone") {
		today--
	}
	return today
}

// LastEnded returns the last day that had ended by now in the time zone of a name.
func LastEnded(zone string, now time.Time) (adlens.Day, error) {
	place, err := period.Zone(zone)
	if err != nil {
		return 0, err
	}
	return period.DayIn(place, now) - 1, nil
}

// requestZone is the zone of the request, whose name is valid.
func (p *parser) requestZone() *time.Location {
	zone, err := period.Zone(p.request.TimeZone)
	if err != nil {
		panic(err) // UTC, or a name that its rule has let through
	}
	return zone
}

func (p *parser) parseDates(params PeriodParams, starts, ends bool) {
	if text, sent := p.sentValue("range", params.Range); sent {
		p.addFault("range", adlens.Fault{Value: text, Code: adlens.ConflictingParameters,
			Detail: fmt.Sprintf("range %q and dates exclude each other; send range, or start_date and end_date", text)})
	}
	if !starts {
		p.requireParam("start_date", "end_date", params.EndDate)
	}
	if !ends {
		p.requireParam("end_date", "start_date", params.StartDate)
	}
	if !p.isValid("start_date", params.StartDate) || !p.isValid("end_date", params.EndDate) {
		return
	}
	start, _ := adlens.ParseDay(params.StartDate) // its rule has let it through
	end, _ := adlens.ParseDay(params.EndDate)
	between, err := period.Between(start, end)
	p.request.Period = between
	p.addPeriodFault(params, err)
}

func (p *parser) requireParam(name, other, value string) {
	text, _ := p.sentValue(other, value)
	p.addFault(name, adlens.Fault{Code: adlens.MissingParameter,
		Detail: fmt.Sprintf("%s %q was sent without %s; send both days of the period", other, text, name)})
}

func (p *parser) addPeriodFault(params PeriodParams, err error) {
	var tooLong *period.TooLongError
	switch {
	case errors.As(err, &tooLong):
		p.request.Period = period.Period{Start: tooLong.Start, End: tooLong.End, Range: period.Custom}
		p.addFault("end_date", adlens.Fault{Value: params.EndDate, Code: adlens.PeriodTooLong,
			Detail: fmt.Sprintf("%s to %s is longer than %d years; from that start_date, end_date can be %s at the latest",
				params.StartDate, params.EndDate, period.MaxYears, tooLong.LastEnd)})
	case err != nil:
		p.addFault("start_date", adlens.Fault{Value: params.StartDate, Code: adlens.InvalidParameter,
			Detail: fmt.Sprintf("start_date %s is after end_date %s; expected the earlier day first", params.StartDate, params.EndDate)})
	}
}

func (p *parser) parseFilters(params FilterParams) {
	if params.Marketplaces != nil {
		p.parseMarketplaces(params.Marketplaces)
	}
	for _, text := range params.AdProducts {
		name, _ := canonicalValue(text, catalogue.AdProducts)
		if product, ok := adlens.ParseAdProduct(name); ok {
			p.request.Filters.AdProducts = append(p.request.Filters.AdProducts, product)
		}
	}
	f := &p.request.Filters
	f.Campaigns, f.AdGroups, f.Products = sortedIDs(params.CampaignIDs), sortedIDs(params.AdGroupIDs), sortedIDs(params.ProductIDs)
	slices.SortFunc(p.request.Filters.AdProducts, func(a, b adlens.AdProduct) int { return strings.Compare(a.String(), b.String()) })
	p.request.Filters.AdProducts = slices.Compact(p.request.Filters.AdProducts)
}

// sortedIDs are ids in order, each once; nil for none. One that is empty is left to
// its rule.
func sortedIDs(sent []string) []string {
	if sent == nil {
		return nil
	}
	ids := slices.Compact(slices.Sorted(slices.Values(sent)))
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

func (p *parser) parseMarketplaces(codes []string) {
	connected := p.view.connectedCountries()
	for _, text := range codes {
		if text == "" {
			continue // the rule for elements has said so
		}
		if m, ok := p.view.marketplaceByID(strings.Trim(text, " ")); ok {
			p.request.Filters.Marketplaces = append(p.request.Filters.Marketplaces, m.ID)
			continue
		}
		code, ok := canonicalValue(text, append(connected, "GB"))
		if code = adlens.CanonicalCountry(code); !ok || !slices.Contains(connected, code) {
			p.addFault("marketplaces", notConnected(text, connected))
			continue
		}
		p.request.Filters.Marketplaces = append(p.request.Filters.Marketplaces, code)
	}
	slices.Sort(p.request.Filters.Marketplaces)
	p.request.Filters.Marketplaces = slices.Compact(p.request.Filters.Marketplaces)
}

// notConnected refuses a country without figures: an answer of zeros would
// mislead. Of a country that the platform knows, no other one is suggested:
// it was no slip of the finger.
func notConnected(text string, connected []string) adlens.Fault {
	has := "none"
	if len(connected) > 0 {
		has = strings.Join(connected, ", ")
	}
	known := []string{"GB"}
	for _, c := range adlens.Countries {
		known = append(known, c.Code)
	}
	f := adlens.Fault{Value: text, Code: adlens.UnknownValue, Allowed: connected}
	if code, ok := canonicalValue(text, known); ok {
		f.Detail = fmt.Sprintf("%q (%s) is not connected to this account; the connected marketplaces are: %s", text, adlens.CountryName(adlens.CanonicalCountry(code)), has)
		return f
	}
	f.Detail = fmt.Sprintf("%q is not known here; the connected marketplaces are: %s", text, has)
	f.DidYouMean = Nearest(text, connected)
	return f
}

// autoGranularity is the granularity of a timeline whose request chooses none.
func (r Request) autoGranularity() string {
	if r.Period.Days() > maxDailyPoints {
		return ByMonth
	}
	return ByDay
}

func (p *parser) parseGranularity(text string) {
	asked, _ := canonicalValue(text, catalogue.Granularities)
	p.request.Granularity = p.request.autoGranularity()
	if asked == ByDay || asked == ByWeek || asked == ByMonth {
		p.request.Granularity = asked
	}
	days := p.request.Period.Days()
	if asked == ByDay && days > maxDailyPoints {
		p.addFault("granularity", adlens.Fault{Value: text, Code: adlens.GranularityTooFine, Allowed: []string{Auto, ByWeek, ByMonth},
			Detail: fmt.Sprintf("granularity day is for periods of up to %d days, and %s to %s has %d; expected week, month or auto",
				maxDailyPoints, p.request.Period.Start, p.request.Period.End, days)})
	}
}

// parsePaging fills in the defaults of a page. Text that is no number is a fault of
// its rule.
func (p *parser) parsePaging(params PagingParams) Paging {
	size, _ := p.endpoint.Parameter("page_size")
	paging := Paging{Page: 1, PageSize: size.Default.(int)}
	if n, err := strconv.Atoi(params.Page); err == nil {
		paging.Page = n
	}
	if isAll(params.PageSize) {
		paging.All, paging.PageSize = true, MaxRows
	} else if n, err := strconv.Atoi(params.PageSize); err == nil {
		paging.PageSize = n
	}
	return paging
}
