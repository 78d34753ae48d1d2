package main

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"adlens"
)

// question is a request of the API together with what it means, found out
// here and not by the program.
type question struct {
	name     string
	endpoint string // below /api/v1
	account  *account
	key      string
	params   url.Values

	from, to    adlens.Day
	markets     []string // country codes, nil for all
	adProducts  []adlens.AdProduct
	campaigns   []string // ids, nil for all
	granularity string   // day or month
	by          string   // what rows are of: product or campaign
	byDate      bool     // and of a date
	sort, order string
	page, size  int
}

const (
	summaries = "summary"
	timelines = "timeline"
	products  = "reports/products"
	breakdown = "report" // by product or campaign, and by date or not
)

// What the rows of a report are of: dimensions, and columns of the peers' tables.
const (
	byProduct  = "product"
	byCampaign = "campaign"
)

func (q *question) requestURL(server string) string {
	return server + "/api/v1/" + q.endpoint + "?" + q.params.Encode()
}

// when is a period under the name that it has in a question.
type when struct {
	name     string
	params   url.Values
	from, to adlens.Day
}

// asker makes questions about one account.
type asker struct {
	shape   Shape
	today   adlens.Day
	account *account
	key     string
	prefix  string
	all     []*question
}

func (a *asker) namedPeriod(name string) when {
	t := a.today
	from, to := t, t
	switch name {
	case "all_time":
		from = a.shape.firstDay()
	case "this_year":
		from = t.FirstOfYear()
	case "last_year":
		to = t.FirstOfYear() - 1
		from = to.FirstOfYear()
	case "this_month":
		from = t.FirstOfMonth()
	case "last_month":
		to = t.FirstOfMonth() - 1
		from = to.FirstOfMonth()
	case "yesterday":
		from, to = t-1, t-1
	default:
		var days int
		if _, err := fmt.Sscanf(name, "last_%d_days", &days); err != nil {
			panic(err) // the names are this program's own
		}
		from = t - adlens.Day(days) + 1
	}
	return when{name, url.Values{"range": {name}}, from, to}
}

func (a *asker) customPeriod(name string, from, to adlens.Day) when {
	return when{name, url.Values{"start_date": {from.String()}, "end_date": {to.String()}}, from, to}
}

// addQuestion adds a question; more are further parameters in pairs.
func (a *asker) addQuestion(endpoint string, w when, more ...string) {
	q := &question{endpoint: endpoint, account: a.account, key: a.key, params: url.Values{}, from: w.from, to: w.to,
		granularity: "day", by: byProduct, sort: "spend", order: "desc", page: 1, size: 100}
	name := []string{a.prefix + strings.TrimPrefix(endpoint, "reports/"), w.name}
	for k, v := range w.params {
		q.params[k] = v
	}
	if q.to-q.from >= 92 {
		q.granularity = "month"
	}
	for i := 0; i < len(more); i += 2 {
		key, value := more[i], more[i+1]
		q.params.Set(key, value)
		name = append(name, strings.ToLower(strings.ReplaceAll(value, "SPONSORED_", "")))
		switch key {
		case "marketplaces":
			q.markets = strings.Split(value, ",")
		case "ad_products":
			for part := range strings.SplitSeq(value, ",") {
				p, _ := adlens.ParseAdProduct(part)
				q.adProducts = append(q.adProducts, p)
			}
		case "campaign_ids":
			q.campaigns = strings.Split(value, ",")
			name[len(name)-1] = "one campaign"
		case "dimensions":
			date, by, dated := strings.Cut(value, ",")
			if q.by, q.byDate = by, dated; !dated {
				q.by = date
			}
		case "granularity":
			q.granularity = value
		case "sort":
			q.sort = value
		case "order":
			q.order = value
		case "page":
			fmt.Sscan(value, &q.page)
			name[len(name)-1] = "page " + value
		case "page_size":
			fmt.Sscan(value, &q.size)
			name[len(name)-1] = value + " rows"
		}
	}
	q.name = strings.Join(name, ", ")
	a.all = append(a.all, q)
}

// Names of questions that goals are measured on.
const (
	qSummaryAll   = "summary, all_time"
	qMonthsAll    = "timeline, all_time"
	qProductsAll  = "products, all_time"
	qProductsSome = "products, all_time, us,de, products"
	qYear         = "products, last_year"
	qFourYears    = "products, four unaligned years"
	qNamed30      = "products, last_30_days"
	qAny30        = "products, any 30 days"
)

// allQuestions are all that a run asks about the heavy and some small accounts.
func allQuestions(shape Shape, accounts []account, keys map[string]string, now time.Time) []*question {
	a := &asker{shape: shape, today: adlens.DayOf(now.UTC()), account: &accounts[0], key: keys[heavyID]}
	a.addHeavyQuestions()
	for _, small := range someOf(accounts[1:]) {
		a.account, a.key, a.prefix = small, keys[small.id], small.id+": "
		a.addSmallQuestions()
	}
	return a.all
}

// someOf are one in fifty of the small accounts: three at most, one at least.
func someOf(small []account) []*account {
	var some []*account
	n := min(3, max(1, len(small)/50), len(small))
	for i := range n {
		some = append(some, &small[i*(len(small)-1)/max(1, n-1)])
	}
	return some
}

func (a *asker) addHeavyQuestions() {
	end := a.shape.End
	year := a.customPeriod("365 unaligned days", end-45-364, end-45)
	four := a.customPeriod("four unaligned years", max(a.shape.firstDay(), end-100-4*365), end-100)
	window := a.customPeriod("any 30 days", end-200-29, end-200)
	for _, w := range []when{a.namedPeriod("all_time"), a.namedPeriod("last_year"), a.namedPeriod("this_year"), four, a.namedPeriod("last_90_days"),
		a.namedPeriod("last_30_days"), a.namedPeriod("last_7_days"), window} {
		a.addQuestion(summaries, w)
	}
	a.addQuestion(summaries, a.namedPeriod("all_time"), "marketplaces", "US,UK")
	a.addQuestion(summaries, a.namedPeriod("last_year"), "ad_products", "SPONSORED_DISPLAY")
	a.addQuestion(timelines, a.namedPeriod("all_time"))
	a.addQuestion(timelines, a.namedPeriod("last_year"))
	a.addQuestion(timelines, four)
	a.addQuestion(timelines, a.namedPeriod("all_time"), "marketplaces", "US", "ad_products", "SPONSORED_PRODUCTS,SPONSORED_BRANDS")
	a.addQuestion(timelines, a.customPeriod("92 days", end-91, end))
	a.addQuestion(timelines, a.namedPeriod("last_30_days"))
	for _, w := range []when{a.namedPeriod("all_time"), a.namedPeriod("last_year"), year, four, a.namedPeriod("this_year"), a.namedPeriod("last_90_days"),
		a.namedPeriod("last_60_days"), a.namedPeriod("last_30_days"), a.namedPeriod("last_14_days"), a.namedPeriod("last_7_days"), a.namedPeriod("this_month"),
		a.namedPeriod("last_month"), a.namedPeriod("yesterday"), window, a.customPeriod("any 45 days", end-700-44, end-700), a.customPeriod("any 10 days", end-333-9, end-333)} {
		a.addQuestion(products, w)
	}
	a.addQuestion(products, a.namedPeriod("all_time"), "marketplaces", "US,DE", "ad_products", "SPONSORED_PRODUCTS")
	a.addQuestion(products, a.namedPeriod("all_time"), "ad_products", "SPONSORED_BRANDS,SPONSORED_DISPLAY")
	a.addQuestion(products, a.namedPeriod("last_30_days"), "marketplaces", "JP")
	a.addQuestion(products, a.namedPeriod("all_time"), "sort", "acos")
	a.addQuestion(products, a.namedPeriod("last_30_days"), "sort", "acos", "order", "asc")
	a.addQuestion(products, a.namedPeriod("last_year"), "sort", "purchases")
	a.addQuestion(products, a.namedPeriod("all_time"), "sort", "product_id", "order", "asc")
	a.addQuestion(products, a.namedPeriod("all_time"), "page", fmt.Sprint(max(1, a.shape.Products/200)))
	a.addQuestion(products, a.namedPeriod("last_30_days"), "page", "10")
	a.addQuestion(products, a.namedPeriod("all_time"), "page_size", "1000")
	a.addQuestion(products, a.namedPeriod("last_90_days"), "page_size", "1000")
	a.addBreakdown(a.namedPeriod("last_90_days"), "date,product", "spend", "desc")
	a.addBreakdown(a.namedPeriod("last_90_days"), "date,product", "date", "asc")
	a.addBreakdown(four, "date,product", "date", "asc", "page", "9")
	if a.shape.Campaigns > 0 {
		one := a.account.middleCampaign()
		a.addBreakdown(a.namedPeriod("all_time"), byCampaign, "spend", "desc")
		a.addBreakdown(a.namedPeriod("last_30_days"), byCampaign, "spend", "desc")
		a.addBreakdown(year, "date,campaign", "date", "asc")
		a.addBreakdown(a.namedPeriod("all_time"), byProduct, "spend", "desc", "campaign_ids", one)
		a.addQuestion(timelines, a.namedPeriod("all_time"), "campaign_ids", one)
	}
}

// addBreakdown asks for a report by dimensions.
func (a *asker) addBreakdown(w when, dimensions, sort, order string, more ...string) {
	a.addQuestion(breakdown, w, append([]string{"dimensions", dimensions, "sort", sort, "order", order}, more...)...)
}

// middleCampaign is the id of a campaign of the first slice, which has neither its best
// nor its worst products.
func (a *account) middleCampaign() string {
	return fmt.Sprint(firstCampaign + slice{a, 0, kinds[0]}.campaignNumber(a.campaigns/2))
}

func (a *asker) addSmallQuestions() {
	end := a.shape.End
	a.addQuestion(summaries, a.namedPeriod("all_time"))
	a.addQuestion(summaries, a.namedPeriod("last_30_days"))
	a.addQuestion(timelines, a.namedPeriod("all_time"))
	a.addQuestion(timelines, a.namedPeriod("last_30_days"))
	a.addQuestion(products, a.namedPeriod("all_time"))
	a.addQuestion(products, a.namedPeriod("last_year"))
	a.addQuestion(products, a.namedPeriod("last_30_days"))
	a.addQuestion(products, a.customPeriod("any 30 days", end-200-29, end-200))
	a.addQuestion(products, a.customPeriod("four unaligned years", max(a.shape.firstDay(), end-100-4*365), end-100))
	if a.shape.Campaigns > 0 {
		a.addBreakdown(a.namedPeriod("all_time"), byCampaign, "spend", "desc")
	}
}
