package integration_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/model"
)

// comparisons are the ways to compare.
var comparisons = []string{"previous_period", "previous_year"}

// compare compares where a day is left, also an hour later: the question may
// meet midnight.
func (a asker) compare(q url.Values) {
	now := time.Now()
	if model.Comparable(q, now, a.oldest) && model.Comparable(q, now.Add(time.Hour), a.oldest) {
		q.Set("compare", a.recased(a.one(append(comparisons, "none"))))
	}
}

// with is a question with more parameters.
func (q question) with(pairs ...string) question {
	more := question{q.path, maps.Clone(q.query)}
	for i := 0; i < len(pairs); i += 2 {
		more.query.Set(pairs[i], pairs[i+1])
	}
	return more
}

// shopOfTwoYears sold some products a year ago, some now, and some in both
// years; many have the same figures.
func shopOfTwoYears(t *testing.T) *tenant {
	t.Helper()
	h := sharedHouse(t)
	one := &tenant{model: model.New()}
	one.files.ID = name(t)
	one.ask = h.account(t, one.files.ID)
	dir, r := t.TempDir(), rand.New(rand.NewPCG(seed(t), 30))
	profilesFile(t, dir, [4]string{"101", "US", "USD", "seller"}, [4]string{"102", "UK", "USD", "seller"})
	for i, profile := range []string{"101", "102"} {
		for year, first := range []int{5, 15} {
			p := spPair(fmt.Sprint("r", profile, year), profile, daysAgo(365*(1-year)+31), 31, time.Now().Add(-time.Hour))
			for n, row := range p.rows {
				row["advertisedAsin"] = fmt.Sprintf("P%02d", first+r.IntN(20)+5*i)
				row["impressions"], row["clicks"] = r.IntN(3), r.IntN(3)
				row["cost"] = []any{0, 0.5, 1.25, 2}[r.IntN(4)]
				if n%3 == 0 {
					row["advertisedAsin"], row["sales7d"] = nil, 0
				}
			}
			p.write(t, dir)
		}
	}
	load(t, h.Program, one, dir)
	return one
}

// Pages of a comparison are parts of one list, whatever it is sorted by, and
// the rows of the earlier period alone are among them.
func TestPagesOfAComparisonAreTogetherTheWhole(t *testing.T) {
	t.Parallel()
	one := shopOfTwoYears(t)
	all := question{"/reports/products", url.Values{"start_date": {daysAgo(31)}, "end_date": {daysAgo(1)}, "page_size": {"all"}}}
	for _, way := range comparisons {
		for i, sort := range append([]string{"product_id"}, model.FigureNames...) {
			whole := all.with("compare", way, "sort", sort, "order", []string{"asc", "desc"}[i%2])
			check(t, one.ask, one.model, whole)
			rows := writtenRows(t, one, whole)
			if i == 0 && way == "previous_year" && !slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, `"marketplaces":[]`) }) {
				t.Error("no row is of the earlier period alone")
			}
			var together []string
			for page := 1; len(together) < len(rows); page++ {
				part := whole.with("page_size", "7", "page", fmt.Sprint(page))
				check(t, one.ask, one.model, part)
				more := writtenRows(t, one, part)
				if len(more) == 0 {
					break
				}
				together = append(together, more...)
			}
			if !slices.Equal(rows, together) {
				t.Errorf("%s: the pages are not the whole:\n%q\n%q", whole, rows, together)
			}
		}
	}
}

// writtenRows are the rows of an answer as they are written.
func writtenRows(t *testing.T, one *tenant, q question) []string {
	t.Helper()
	body := string(get(t, one.ask, "/api/v1"+q.String()).Body)
	_, data, found := strings.Cut(body, `"data":[`)
	data, _, ends := strings.Cut(data, `],"pagination"`)
	if !found || !ends {
		t.Fatalf("%s: no rows in %.300s", q, body)
	}
	if data == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(data, `{"product_id"`), `,{"product_id"`)
}

// Yesterday is another day in other zones, and so is the end of what is
// compared.
func TestComparisonsEndYesterdayInTheZone(t *testing.T) {
	t.Parallel()
	one := shopOfTwoYears(t)
	for _, zone := range []string{"UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Kathmandu"} {
		for i, name := range model.Ranges {
			period := url.Values{"range": {name}, "timezone": {zone}, "compare": {comparisons[i%2]}}
			oldest, _ := one.model.Held()
			now := time.Now()
			if !model.Comparable(period, now, oldest) || !model.Comparable(period, now.Add(time.Hour), oldest) {
				continue
			}
			for _, path := range []string{"/summary", "/timeline", "/reports/products"} {
				check(t, one.ask, one.model, question{path, period})
			}
		}
	}
}

func TestAComparisonOfTodayIsRefusedWithTheDays(t *testing.T) {
	t.Parallel()
	one := shopOfTwoYears(t)
	for _, path := range []string{"/summary", "/timeline", "/reports/products"} {
		for _, period := range []string{"range=today", "start_date=" + daysAgo(-2) + "&end_date=" + daysAgo(-9)} {
			a := get(t, one.ask, "/api/v1"+path+"?compare=PREVIOUS_year&timezone=UTC&"+period)
			p := problemOf(t, a, 400, "invalid_parameter")
			if len(p.Errors) != 1 || p.Errors[0].Parameter != "compare" || p.Errors[0].Value != "PREVIOUS_year" {
				t.Errorf("%s: %s", path, a.Body)
				continue
			}
			if detail := p.Errors[0].Detail; !strings.Contains(detail, daysAgo(1)) && !strings.Contains(detail, daysAgo(2)) {
				t.Errorf("%s: yesterday is not named: %s", path, detail)
			}
		}
	}
}

// Of an account without days nothing is covered, and nothing changed.
func TestComparisonsOfAnEmptyAccountAreNothing(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	one := &tenant{model: model.New(), ask: h.account(t, name(t))}
	for _, way := range comparisons {
		for _, path := range []string{"/summary", "/timeline", "/reports/products"} {
			check(t, one.ask, one.model, question{path, url.Values{"range": {"last_30_days"}, "compare": {way}}})
		}
	}
}

// A comparison has its own tag, the same for every spelling, and one that was
// loaded over is fresh.
func TestAComparisonHasATagOfItsOwn(t *testing.T) {
	t.Parallel()
	one := shopOfTwoYears(t)
	path := "/api/v1/summary?start_date=" + daysAgo(31) + "&end_date=" + daysAgo(2)
	tags := map[string]string{}
	for _, way := range append(comparisons, "none") {
		tags[get(t, one.ask, path+"&compare="+way).Header.Get("ETag")] = way
		tag := get(t, one.ask, path+"&compare=%20"+strings.ToUpper(way)+"%20").Header.Get("ETag")
		if tags[tag] != way {
			t.Errorf("%s in capitals has another tag", way)
		}
	}
	if plain := get(t, one.ask, path).Header.Get("ETag"); len(tags) != 3 || tags[plain] != "none" {
		t.Errorf("tags %v, without compare %s", tags, plain)
	}
}
