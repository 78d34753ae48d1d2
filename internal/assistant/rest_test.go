package assistant

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/exact"
	"adlens/internal/query"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// shelf is a store of products with these spends, in millionths of a dollar; each also
// has sales of ten dollars.
type shelf struct {
	warehouse
	spends []uint64
	pages  *int // that were read
}

func (s shelf) sums(i int) exact.Sums {
	return exact.Sums{exact.Whole(900), exact.Whole(2), exact.Whole(1), exact.Whole(s.spends[i]), exact.Whole(10_000_000)}
}

func (s shelf) Ranked(_ context.Context, st query.Statement, _ int, _ bool) (rows []query.RankedRow, total int, err error) {
	*s.pages++
	limit, _ := strconv.Atoi(st.Params["limit"])
	for i := range min(limit, len(s.spends)) {
		rows = append(rows, query.RankedRow{ID: fmt.Sprintf("B%09d", i), Sums: s.sums(i)})
	}
	return rows, len(s.spends), nil
}

func (s shelf) DayTotals(context.Context, query.Statement) ([]query.DayTotal, error) {
	day := query.DayTotal{Generation: 5, Day: adlens.Date(2026, 3, 1)}
	for i := range s.spends {
		for measure, n := range []uint64{900, 2, 1, s.spends[i], 10_000_000} {
			day.Sums[measure], _ = day.Sums[measure].Add(exact.Uint128{Lo: n})
		}
	}
	return []query.DayTotal{day}, nil
}

// What rows that are not shown have spent is in others, however little it is; what only
// rounding of those shown left is not.
func TestOthersHaveWhatTheOtherRowsHave(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }
	caller := auth.Caller{Account: adlens.Account{ID: "acme"}}
	for _, c := range []struct {
		name          string
		shown, hidden uint64 // of each of ten rows, and of each of two
		where, others string
		pages         int
	}{
		{"whole cents", 1_000_000, 20_000, "", "[null null 0.04 20.00 0.20 500.00 4 0.01 0.40]", 2},
		{"more than rounding leaves", 1_000_000, 900_000, "", "[null null 1.80 20.00 9.00 11.11 4 0.45 15.25]", 1},
		{"nothing", 1_000_000, 0, "", "[null null 0.00 20.00 0.00 null 4 0.00 0.00]", 1},
		{"only what rounding left", 1_004_000, 0, "", "[null null 0.00 20.00 0.00 null 4 0.00 0.00]", 2},
		{"only what rounding took", 1_006_000, 0, "", "[null null 0.00 20.00 0.00 null 4 0.00 0.00]", 2},
		{"less than rounding took", 1_006_000, 15_000, "", "[null null 0.04 20.00 0.20 500.00 4 0.01 0.40]", 2},
		{"rows that match", 1_000_000, 20_000, "spend>=1", "[null null 0.04 20.00 0.20 500.00 4 0.01 0.40]", 1},
		{"all rows match", 1_004_000, 1_004_000, "spend>=1", "[null null 2.05 20.00 10.25 9.76 4 0.51 17.01]", 1},
	} {
		store := shelf{warehouse{}, nil, new(int)}
		for i := range 12 {
			store.spends = append(store.spends, map[bool]uint64{true: c.shown, false: c.hidden}[i < 10])
		}
		s := New(Config{Answers: answer.New(answer.Config{Figures: query.NewService(store, nil), Now: now}), Now: now,
			Failed: func(_ *mcp.RequestExtra, tool string, err error) { t.Errorf("%s: %v", tool, err) },
			Admit:  func(context.Context, *mcp.RequestExtra) (auth.Caller, error) { return caller, nil }})
		asked, err := s.newCall(t.Context(), caller, arguments{"range": {"this_month"}, "dimensions": {"product"}, "figures": strings.Split("spend,sales,acos,roas,clicks,average_cpc", ",")})
		if err != nil {
			t.Fatal(err)
		}
		if c.where != "" {
			asked.args["where"] = []string{c.where}
		}
		result, err := answerRank(asked)
		if err != nil {
			t.Fatal(err)
		}
		var got table
		switch r := result.(type) {
		case figuresTable:
			got = r.table
		case matchingTable:
			if got = r.table; *r.MatchingRows == got.TotalRows && fmt.Sprintf("%s", r.Matching) != fmt.Sprintf("%s", got.Total) {
				t.Errorf("%s: all that matches is %s, the total %s", c.name, r.Matching, got.Total)
			}
		}
		if others := fmt.Sprintf("%s", got.Others); others != c.others || *store.pages != c.pages {
			t.Errorf("%s: others are %s after %d pages, want %s after %d; %s total %s", c.name, others, *store.pages, c.others, c.pages, got.Columns, got.Total)
		}
	}
}

// The earlier period's amounts may be doubtful where those now are not.
func TestTheRestOfTheEarlierPeriodIsNoRoundingEither(t *testing.T) {
	const row = `{"campaign_id":"%d","campaign_name":null,"spend":1.00,"clicks":1,"comparison":{"spend":%s,"clicks":1,"change":{}}}`
	const answer = `{"comparison":{"period":{},"history_covered":true},"totals":{"spend":2.00,"clicks":2,"comparison":{"spend":1.01,"clicks":2,"change":{}}},"data":[%s],"pagination":{"total_rows":%d},"meta":{}}`
	for hidden, want := range map[string]string{"0.01": "0.01", "0.00": "0.00"} {
		r := reportOf(t, []string{"spend", "clicks"}, fmt.Sprintf(answer, fmt.Sprintf(row, 1, "1.00"), 2))
		every := reportOf(t, []string{"spend"}, fmt.Sprintf(answer, fmt.Sprintf(row, 1, "1.00")+","+fmt.Sprintf(row, 2, hidden), 2))
		if got := fmt.Sprint(r.doubtful()); got != "[spend]" {
			t.Errorf("doubtful are %s, not the spend before alone", got)
		}
		r.every = &every
		if rest := r.rest(); string(rest.before[0]) != want || string(rest.now[0]) != "1.00" {
			t.Errorf("the rest of rows with %s before is %s", hidden, rest.before)
		}
	}
}
