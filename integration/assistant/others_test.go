package assistant_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/model"
)

// Others have the amounts of rows that are not shown also where rounding of those shown
// could leave as much, and none that rounding alone left.
func TestOthersOfFewCentsAreAsTheOracleHasThem(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	one := &house.Tenant{Model: model.New()}
	one.Files.ID = house.AccountID(t)
	one.Ask = h.Client(t, one.Files.ID)
	dir := t.TempDir()
	house.ProfilesFile(t, dir, [4]string{"101", "US", "USD", "seller"})
	daily := house.SpPair("daily", "101", house.DaysAgo(70), 63, time.Now().Add(-time.Hour))
	for _, row := range daily.Rows {
		row["cost"] = house.Exact("1.00")
	}
	daily.Rows[62]["cost"] = house.Exact("0.31")
	daily.Write(t, dir)
	for day, costs := range map[int]string{6: "1.00 0.02 0.03 0", 5: "1.004 0 0 0", 4: "1.006 0.02 0 0", 3: "2.00 0.01 0.01 0.01", 2: "1.006 0 0 0"} {
		p := house.SpPair(fmt.Sprint("day", day), "101", house.DaysAgo(day), 1, time.Now().Add(-time.Hour))
		p.Rows = nil
		for i := range 13 { // ten with the first cost
			row := house.SpRow(house.DaysAgo(day), fmt.Sprintf("P%02d", i), strings.Fields(costs)[max(i-9, 0)])
			p.Rows = append(p.Rows, row)
		}
		p.Write(t, dir)
	}
	house.Load(t, h.Program, one, dir)
	s := openSession(t, h.Program, one.Files.ID, "--limit-minute", "0", "--limit-day", "0")
	for day := 2; day <= 6; day++ {
		q := url.Values{"start_date": {house.DaysAgo(day)}, "end_date": {house.DaysAgo(day)}, "dimensions": {"product"}, "figures": {"spend,sales,acos,clicks"},
			"sort": {"spend"}, "compare": {"previous_period"}, "page_size": {"all"}}
		for _, top := range []int{3, 10, 11, 12} {
			compareTop(t, s, one.Model, q, "spend", top)
		}
	}
	start, end := house.DaysAgo(70), house.DaysAgo(8)
	got := s.mustCall(t, "timeline", map[string]any{"start_date": start, "end_date": end, "granularity": "day"})
	want, err := one.Model.Report(url.Values{"start_date": {start}, "end_date": {end}, "dimensions": {"date"}, "page_size": {"all"}}, time.Now())
	house.Need(t, err)
	days := want["data"].([]any)
	want["data"] = days[:62]
	if d := othersDifferences(want, got, days); len(days) != 63 || len(d) > 0 {
		t.Errorf("timeline of %d days: %v", len(days), d)
	}
}
