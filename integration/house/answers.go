package house

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/model"
)

// Question is one figure request below /api/v1.
type Question struct {
	Path  string
	Query url.Values
}

func (q Question) String() string {
	if len(q.Query) == 0 {
		return q.Path
	}
	return q.Path + "?" + q.Query.Encode()
}

// Expected is what the oracle answers at one moment.
func Expected(m *model.Account, q Question, now time.Time) (any, error) {
	switch q.Path {
	case "/summary":
		answer, err := m.Summary(q.Query, now)
		return answer, err
	case "/timeline":
		answer, err := m.Timeline(q.Query, now)
		return answer, err
	case "/reports/products":
		answer, err := m.Products(q.Query, now)
		return answer, err
	case "/report":
		answer, err := m.Report(q.Query, now)
		return answer, err
	default:
		return expectedList(m, q)
	}
}

// Differences asks the program and holds its answer against the oracle's. A
// request may meet midnight: then either day's answer is right.
func Differences(c harness.Client, m *model.Account, q Question) []string {
	before := time.Now()
	answer, err := c.Get("/api/v1" + q.String())
	after := time.Now()
	if err != nil {
		return []string{err.Error()}
	}
	if answer.Status != 200 {
		return []string{"want status 200, got " + answer.String()}
	}
	got, err := model.Decode(answer.Body)
	if err != nil {
		return []string{err.Error()}
	}
	var lines []string
	for _, now := range []time.Time{before, after} {
		want, err := Expected(m, q, now)
		if err != nil {
			return []string{"the oracle: " + err.Error()}
		}
		if lines = model.Diff(want, got); len(lines) == 0 {
			return wrongPaging(q, got, answer)
		}
	}
	return lines
}

// wrongPaging holds the paging headers of a paged answer against the body.
func wrongPaging(q Question, body any, answer harness.Answer) []string {
	pagination, paged := body.(map[string]any)["pagination"].(map[string]any)
	if !paged {
		return nil
	}
	var lines []string
	want := fmt.Sprint(pagination["total_rows"])
	if got := answer.Header.Get("X-Total-Rows"); got != want {
		lines = append(lines, fmt.Sprintf("want X-Total-Rows %s, got %q", want, got))
	}
	link := answer.Header.Get("Link")
	if pagination["next_page"] == nil {
		if link != "" {
			lines = append(lines, "the last page links to "+link)
		}
		return lines
	}
	return append(lines, wrongLink(q, link, fmt.Sprint(pagination["next_page"]))...)
}

// wrongLink demands the same request with another page.
func wrongLink(q Question, link, page string) []string {
	address, isNext := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	next, err := url.Parse(address)
	if err != nil || !isNext {
		return []string{fmt.Sprintf("want a link to the next page, got %q", link)}
	}
	want := maps.Clone(q.Query)
	want.Set("page", page)
	if got := next.Query(); next.Path != "/api/v1"+q.Path || got.Encode() != want.Encode() {
		return []string{fmt.Sprintf("want a link with %s, got %q", want.Encode(), link)}
	}
	return nil
}

// Check reports every difference of one question.
func Check(t *testing.T, c harness.Client, m *model.Account, q Question) {
	t.Helper()
	if lines := Differences(c, m, q); len(lines) > 0 {
		shown := lines[:min(len(lines), 20)]
		t.Errorf("%s: %d differences\n  %s", q, len(lines), strings.Join(shown, "\n  "))
	}
}

// CheckAll asks the reports over everything that is held.
func CheckAll(t *testing.T, c harness.Client, m *model.Account) {
	t.Helper()
	for _, q := range Everything() {
		Check(t, c, m, q)
	}
}

// Everything asks the reports over all that is held.
func Everything() []Question {
	return []Question{
		{"/summary", url.Values{"range": {"all_time"}}},
		{"/timeline", url.Values{"range": {"last_90_days"}}},
		{"/timeline", url.Values{"range": {"all_time"}, "granularity": {"month"}}},
		{"/reports/products", url.Values{"range": {"all_time"}, "page_size": {"all"}}},
		{"/report", url.Values{"range": {"all_time"}, "page_size": {"all"}, "dimensions": {"month,product,ad_product"}}},
	}
}

var (
	zones = []string{
		"UTC", "America/New_York", "America/Los_Angeles", "Europe/London", "Europe/Berlin", "Asia/Tokyo",
		"Asia/Kolkata", "Asia/Kathmandu", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Pacific/Apia",
		"Australia/Lord_Howe", "Etc/GMT+12", "Etc/GMT-14", "GB", "US/Pacific", "EST5EDT", "Africa/Casablanca",
	}
	AdProducts = []string{"SPONSORED_PRODUCTS", "SPONSORED_BRANDS", "SPONSORED_DISPLAY"}
)

// Asker makes random questions that the contract allows.
type Asker struct {
	*rand.Rand
	Places []string            // connected countries and marketplaces
	IDs    map[string][]string // by dimension of ids, for its filter
	Texts  map[string][]string // by dimension of ids, to search for
	Oldest string
	// Currencies are those of the marketplaces that a request is about.
	Currencies func(url.Values) []string
}

// idFilters are the dimensions of ids with their filters.
var idFilters = [][2]string{{"campaign", "campaign_ids"}, {"ad_group", "ad_group_ids"}, {"product", "product_ids"}}

// NewAsker asks about what an account holds.
func NewAsker(r *rand.Rand, m *model.Account) Asker {
	a := Asker{Rand: r, Places: m.Places(), IDs: map[string][]string{}, Texts: map[string][]string{}, Currencies: m.Currencies}
	a.Oldest, _ = m.Held()
	for _, filter := range idFilters {
		ids, texts := m.IDs(filter[0])
		a.IDs[filter[0]] = slices.DeleteFunc(ids, func(id string) bool { return strings.Contains(id, ",") || strings.TrimSpace(id) != id })
		a.Texts[filter[0]] = texts
	}
	return a
}

func (a Asker) one(of []string) string { return of[a.IntN(len(of))] }

func (a Asker) Ask() Question {
	q := Question{Query: url.Values{}}
	a.period(q.Query)
	a.filters(q.Query)
	if a.IntN(2) == 0 {
		a.compare(q.Query)
	}
	currencies := a.Currencies(q.Query)
	if a.IntN(3) == 0 && len(currencies) == 1 {
		q.Query.Set("currency", a.recased("local"))
	}
	switch a.IntN(5) {
	case 0:
		q.Path = "/summary"
	case 1:
		q.Path = "/timeline"
		a.granularity(q.Query)
	case 2:
		q.Path = "/reports/products"
		a.order(q.Query, append([]string{"product_id"}, model.FigureNames...))
	default:
		q.Path = "/report"
		a.breakdown(q.Query, currencies)
	}
	return q
}

// breakdown divides by five dimensions at most, one of time at most.
func (a Asker) breakdown(q url.Values, currencies []string) {
	dimensions := []string{"marketplace", "ad_product", "campaign", "ad_group", "product", a.one([]string{"date", "week", "month"})}
	a.Shuffle(len(dimensions), func(i, j int) { dimensions[i], dimensions[j] = dimensions[j], dimensions[i] })
	sorts := dimensions[:a.IntN(6)]
	if len(sorts) > 0 {
		q.Set("dimensions", a.recased(strings.Join(sorts, ",")))
	}
	if a.IntN(3) == 0 {
		a.search(q, sorts)
	}
	isMixed := len(currencies) > 1 && slices.Contains(sorts, "marketplace") && a.IntN(2) == 0
	if isMixed {
		q.Set("currency", "local")
	}
	figures := model.FigureNames
	if a.IntN(2) == 0 {
		figures = slices.Concat(figures, a.further(q, currencies))
		a.Shuffle(len(figures), func(i, j int) { figures[i], figures[j] = figures[j], figures[i] })
		figures = figures[:1+a.IntN(len(figures))]
		q.Set("figures", strings.Join(figures, ","))
	}
	sortable := slices.DeleteFunc(slices.Clone(figures), func(name string) bool { return isMixed && model.FurtherMeasures[name].IsMoney() })
	sorts = slices.Concat(sorts, sortable)
	a.order(q, sorts)
}

// further are further measures that reports of the request may have.
func (a Asker) further(q url.Values, currencies []string) (some []string) {
	asked := strings.ToUpper(strings.ReplaceAll(strings.Join(q["ad_products"], ","), " ", ""))
	for _, name := range slices.Sorted(maps.Keys(model.FurtherMeasures)) {
		m := model.FurtherMeasures[name]
		isReported := asked == "" || slices.ContainsFunc(m.AdProducts, func(p string) bool { return strings.Contains(asked, p) })
		inDollars := q.Get("currency") == "" && !slices.Equal(currencies, []string{"USD"})
		if isReported && !(m.IsMoney() && inDollars) && a.IntN(3) > 0 {
			some = append(some, name)
		}
	}
	return some
}

// search looks for a piece of a text that one of the dimensions has.
func (a Asker) search(q url.Values, dimensions []string) {
	var texts []string
	for _, dimension := range dimensions {
		if known := a.Texts[dimension]; len(known) > 0 {
			texts = append(texts, a.one(known))
		}
	}
	if len(texts) == 0 {
		return
	}
	if part := a.part(a.one(texts)); part != "" {
		q.Set("search", part)
	}
}

// part is some characters of a text, in any case.
func (a Asker) part(text string) string {
	letters := []rune(text)
	from := a.IntN(max(1, len(letters)-1))
	part := string(letters[from:min(len(letters), from+2+a.IntN(4))])
	if len([]rune(part)) < 2 || strings.TrimSpace(part) == "" {
		return ""
	}
	if a.IntN(2) == 0 {
		return strings.ToUpper(part)
	}
	return part
}

func (a Asker) period(q url.Values) {
	if a.IntN(2) == 0 {
		q.Set("timezone", a.one(zones))
	}
	switch n := a.IntN(10); {
	case n == 0: // the default
	case n < 6:
		q.Set("range", a.recased(a.one(model.Ranges)))
	default:
		length := 1 + a.IntN([]int{3, 40, 95, 700, 2100}[a.IntN(5)])
		end := time.Now().UTC().AddDate(0, 0, 3-a.IntN(430))
		q.Set("end_date", end.Format(time.DateOnly))
		q.Set("start_date", end.AddDate(0, 0, 1-length).Format(time.DateOnly))
	}
}

// recased writes a value of a closed set otherwise than in canonical form.
func (a Asker) recased(value string) string {
	switch a.IntN(6) {
	case 0:
		return strings.ToUpper(value)
	case 1:
		return " " + value + " "
	case 2:
		return strings.ToLower(value)
	}
	return value
}

func (a Asker) filters(q url.Values) {
	for range a.IntN(3) {
		q.Add("marketplaces", a.some(a.Places))
	}
	if a.IntN(2) == 0 {
		q.Set("ad_products", a.some(AdProducts))
	}
	// Most questions have no filter of ids, and few have two: they soon leave nothing.
	for range []int{0, 0, 0, 0, 0, 1, 1, 2}[a.IntN(8)] {
		filter := idFilters[a.IntN(len(idFilters))]
		ids := a.IDs[filter[0]]
		for range min(len(ids), 1+a.IntN(4)) {
			q.Add(filter[1], a.one(ids)+","+a.one(ids))
		}
	}
}

// some is a list of values, repetitions included.
func (a Asker) some(of []string) string {
	var values []string
	for range 1 + a.IntN(3) {
		value := a.one(of)
		if value == "UK" && a.IntN(2) == 0 {
			value = "GB"
		}
		values = append(values, a.recased(value))
	}
	return strings.Join(values, ",")
}

func (a Asker) granularity(q url.Values) {
	choices := []string{"auto", "week", "month"}
	period, err := model.ResolvePeriod(q, time.Now(), a.Oldest)
	// Two days of margin: the period may grow at midnight.
	if err == nil && model.DaysIn(period.Start, period.End) <= 90 {
		choices = append(choices, "day")
	}
	if a.IntN(4) > 0 {
		q.Set("granularity", a.recased(a.one(choices)))
	}
}

func (a Asker) order(q url.Values, sorts []string) {
	if a.IntN(3) > 0 {
		q.Set("sort", a.recased(a.one(sorts)))
	}
	if a.IntN(2) == 0 {
		q.Set("order", a.recased(a.one([]string{"asc", "desc"})))
	}
	switch a.IntN(4) {
	case 0:
		q.Set("page_size", a.one([]string{"1", "2", "3", "5", "100", "1000"}))
		q.Set("page", a.one([]string{"1", "2", "3", "9"}))
	case 1:
		q.Set("page_size", "all")
	}
}

// Comparisons are the ways to compare.
var Comparisons = []string{"previous_period", "previous_year"}

// compare compares where a day is left, also an hour later: the question may
// meet midnight.
func (a Asker) compare(q url.Values) {
	now := time.Now()
	if model.Comparable(q, now, a.Oldest) && model.Comparable(q, now.Add(time.Hour), a.Oldest) {
		q.Set("compare", a.recased(a.one(append(Comparisons, "none"))))
	}
}

// With is a question with more parameters.
func (q Question) With(pairs ...string) Question {
	more := Question{q.Path, maps.Clone(q.Query)}
	for i := 0; i < len(pairs); i += 2 {
		more.Query.Set(pairs[i], pairs[i+1])
	}
	return more
}

func SameAnswers(t *testing.T, tenants []*Tenant, q Question) {
	t.Helper()
	Check(t, tenants[0].Ask, tenants[0].Model, q)
	first := decodedAnswer(t, tenants[0].Ask, q)
	for _, other := range tenants[1:] {
		for _, line := range model.Diff(first, decodedAnswer(t, other.Ask, q)) {
			t.Errorf("%s: another order of loading: %s", q, line)
		}
	}
}

func decodedAnswer(t *testing.T, c harness.Client, q Question) any {
	t.Helper()
	answer, err := c.Get("/api/v1" + q.String())
	Need(t, err)
	value, err := model.Decode(answer.Body)
	if err != nil || answer.Status != 200 {
		t.Fatalf("%s: %s: %v", q, answer, err)
	}
	return value
}
