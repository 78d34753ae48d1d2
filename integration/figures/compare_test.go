package figures_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/model"
)

// shopOfTwoYears sold some products a year ago, some now, and some in both
// years; many have the same figures.
func shopOfTwoYears(t *testing.T) *house.Tenant {
	t.Helper()
	h := house.Shared(t)
	one := &house.Tenant{Model: model.New()}
	one.Files.ID = house.AccountID(t)
	one.Ask = h.Client(t, one.Files.ID)
	dir, r := t.TempDir(), rand.New(rand.NewPCG(house.Seed(t), 30))
	house.ProfilesFile(t, dir, [4]string{"101", "US", "USD", "seller"}, [4]string{"102", "UK", "USD", "seller"})
	for i, profile := range []string{"101", "102"} {
		for year, first := range []int{5, 15} {
			p := house.SpPair(fmt.Sprint("r", profile, year), profile, house.DaysAgo(365*(1-year)+31), 31, time.Now().Add(-time.Hour))
			for n, row := range p.Rows {
				row["advertisedAsin"] = fmt.Sprintf("P%02d", first+r.IntN(20)+5*i)
				row["impressions"], row["clicks"] = r.IntN(3), r.IntN(3)
				row["cost"] = []any{0, 0.5, 1.25, 2}[r.IntN(4)]
				if n%3 == 0 {
					row["advertisedAsin"], row["sales7d"] = nil, 0
				}
			}
			p.Write(t, dir)
		}
	}
	house.Load(t, h.Program, one, dir)
	return one
}

// Pages of a comparison are parts of one list, whatever it is sorted by, and
// the rows of the earlier period alone are among them.
func TestPagesOfAComparisonAreTogetherTheWhole(t *testing.T) {
	t.Parallel()
	one := shopOfTwoYears(t)
	all := house.Question{Path: "/reports/products", Query: url.Values{"start_date": {house.DaysAgo(31)}, "end_date": {house.DaysAgo(1)}, "page_size": {"all"}}}
	for _, way := range house.Comparisons {
		for i, sort := range append([]string{"product_id"}, model.FigureNames...) {
			whole := all.With("compare", way, "sort", sort, "order", []string{"asc", "desc"}[i%2])
			house.Check(t, one.Ask, one.Model, whole)
			rows := writtenRows(t, one, whole)
			if i == 0 && way == "previous_year" && !slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, `"marketplaces":[]`) }) {
				t.Error("no row is of the earlier period alone")
			}
			var together []string
			for page := 1; len(together) < len(rows); page++ {
				part := whole.With("page_size", "7", "page", fmt.Sprint(page))
				house.Check(t, one.Ask, one.Model, part)
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
func writtenRows(t *testing.T, one *house.Tenant, q house.Question) []string {
	t.Helper()
	body := string(house.Get(t, one.Ask, "/api/v1"+q.String()).Body)
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
			period := url.Values{"range": {name}, "timezone": {zone}, "compare": {house.Comparisons[i%2]}}
			oldest, _ := one.Model.Held()
			now := time.Now()
			if !model.Comparable(period, now, oldest) || !model.Comparable(period, now.Add(time.Hour), oldest) {
				continue
			}
			for _, path := range []string{"/summary", "/timeline", "/reports/products"} {
				house.Check(t, one.Ask, one.Model, house.Question{Path: path, Query: period})
			}
		}
	}
}

func TestAComparisonOfTodayIsRefusedWithTheDays(t *testing.T) {
	t.Parallel()
	one := shopOfTwoYears(t)
	for _, path := range []string{"/summary", "/timeline", "/reports/products"} {
		for _, period := range []string{"range=today", "start_date=" + house.DaysAgo(-2) + "&end_date=" + house.DaysAgo(-9)} {
			a := house.Get(t, one.Ask, "/api/v1"+path+"?compare=PREVIOUS_year&timezone=UTC&"+period)
			p := house.ProblemOf(t, a, 400, "invalid_parameter")
			if len(p.Errors) != 1 || p.Errors[0].Parameter != "compare" || p.Errors[0].Value != "PREVIOUS_year" {
				t.Errorf("%s: %s", path, a.Body)
				continue
			}
			if detail := p.Errors[0].Detail; !strings.Contains(detail, house.DaysAgo(1)) && !strings.Contains(detail, house.DaysAgo(2)) {
				t.Errorf("%s: yesterday is not named: %s", path, detail)
			}
		}
	}
}

// Of an account without days nothing is covered, and nothing changed.
func TestComparisonsOfAnEmptyAccountAreNothing(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	one := &house.Tenant{Model: model.New(), Ask: h.Client(t, house.AccountID(t))}
	for _, way := range house.Comparisons {
		for _, path := range []string{"/summary", "/timeline", "/reports/products"} {
			house.Check(t, one.Ask, one.Model, house.Question{Path: path, Query: url.Values{"range": {"last_30_days"}, "compare": {way}}})
		}
	}
}

// A comparison has its own tag, the same for every spelling, and one that was
// loaded over is fresh.
func TestAComparisonHasATagOfItsOwn(t *testing.T) {
	t.Parallel()
	one := shopOfTwoYears(t)
	path := "/api/v1/summary?start_date=" + house.DaysAgo(31) + "&end_date=" + house.DaysAgo(2)
	tags := map[string]string{}
	for _, way := range append(house.Comparisons, "none") {
		tags[house.Get(t, one.Ask, path+"&compare="+way).Header.Get("ETag")] = way
		tag := house.Get(t, one.Ask, path+"&compare=%20"+strings.ToUpper(way)+"%20").Header.Get("ETag")
		if tags[tag] != way {
			t.Errorf("%s in capitals has another tag", way)
		}
	}
	if plain := house.Get(t, one.Ask, path).Header.Get("ETag"); len(tags) != 3 || tags[plain] != "none" {
		t.Errorf("tags %v, without compare %s", tags, plain)
	}
}
