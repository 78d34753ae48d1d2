package assistant

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/exact"
	"adlens/internal/manifest"
	"adlens/internal/query"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// warehouse is a store of many products, and of nothing else.
type warehouse struct {
	query.Store
	products int
}

func (warehouse) View(_ context.Context, account string) (query.View, error) {
	month := manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: 1, AdProduct: adlens.SponsoredProducts}, Start: adlens.Date(2026, 3, 1)}
	return query.View{Account: account, Manifest: manifest.New(7, manifest.Entry{Unit: month, Generation: 5, Sources: []manifest.Source{{Days: 0xff}}}),
		Marketplaces: []query.Marketplace{{Key: 1, ID: "101", Country: "US"}}}, nil
}

func (w warehouse) Ranked(context.Context, query.Statement, int, bool) (rows []query.RankedRow, total int, err error) {
	for i := range w.products {
		rows = append(rows, query.RankedRow{ID: fmt.Sprintf("B%09d", i), Sums: exact.Sums{exact.Whole(900), exact.Whole(9), exact.Whole(1), exact.Whole(4_000_000), exact.Whole(20_000_000)}})
	}
	return rows, len(rows), nil
}

func (warehouse) BucketCounts(context.Context, query.Statement) ([]query.BucketCount, error) {
	return nil, nil
}

func (warehouse) DayTotals(context.Context, query.Statement) ([]query.DayTotal, error) {
	return nil, nil
}

func (warehouse) Entities(context.Context, string, uint32) ([]query.NamedEntity, error) {
	return nil, nil
}

func (warehouse) ListedNames(context.Context, string, []uint32) ([]query.ListedName, error) {
	return nil, nil
}

func (warehouse) Titles(context.Context, string, uint32) (map[string]string, error) { return nil, nil }

// What a call reads of large answers counts one after the other: a call that held two
// would wait for memory that it has itself.
func TestTheRowsThatACallReadsCountUntilItsResultIsWritten(t *testing.T) {
	store := warehouse{products: 2000}
	now := func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }
	caller := auth.Caller{Account: adlens.Account{ID: "acme"}}
	answers := answer.New(answer.Config{Figures: query.NewService(store, nil), Now: now, Memory: 1 << 20})
	s := New(Config{Answers: answers, Now: now, Failed: func(_ *mcp.RequestExtra, tool string, err error) { t.Errorf("%s: %v", tool, err) },
		Admit: func(context.Context, *mcp.RequestExtra) (auth.Caller, error) { return caller, nil }})
	params := []answer.Parameter{{Name: "range", Value: "this_month"}, {Name: "dimensions", Value: "product"}, {Name: "figures", Value: "spend"}, {Name: "page_size", Value: "all"}}
	question, err := answers.Ask(t.Context(), caller, answer.Request{Endpoint: "report", Parameters: params})
	if err != nil {
		t.Fatal(err)
	}
	written, err := question.Answer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	question.Close()
	c, err := s.newCall(t.Context(), caller, arguments{"range": {"this_month"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.readReport([]string{"product"}, []string{"spend"}, params[3])
	if used := answers.MemoryInUse(); err != nil || len(r.rows) != store.products || used < (1+readWeight)*len(written.Body) {
		t.Errorf("%d bytes are counted of %d rows with a body of %d: %v", used, len(r.rows), len(written.Body), err)
	}
	if _, _, err := c.ask(answer.Request{Endpoint: "marketplaces"}); err != nil || answers.MemoryInUse() > len(written.Body) {
		t.Errorf("%d bytes are counted of the next answer: %v", answers.MemoryInUse(), err)
	}
	c.held.release()
	for i, sent := range map[int]string{3: `{"range":"this_month","dimensions":["product"],"where":["spend>1"]}`, 4: `{"range":"this_month"}`} {
		result, err := s.callHandler(tools[i])(t.Context(), &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: tools[i].name, Arguments: []byte(sent)}})
		if err != nil || result.IsError || answers.MemoryInUse() != 0 {
			t.Errorf("%s: %d bytes are counted after the call: %+v, %v", tools[i].name, answers.MemoryInUse(), result.Content[0], err)
		}
	}
}

// A call that goes on after midnight asks of one day.
func TestAllThatACallAsksIsOfOneDay(t *testing.T) {
	at := time.Date(2026, 3, 10, 23, 59, 59, 0, time.UTC)
	now := func() time.Time { return at }
	caller := auth.Caller{Account: adlens.Account{ID: "acme"}}
	s := New(Config{Answers: answer.New(answer.Config{Figures: query.NewService(warehouse{products: 1}, nil), Now: now}), Now: now})
	c, err := s.newCall(t.Context(), caller, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		body, _, err := c.ask(answer.Request{Endpoint: "report", Parameters: []answer.Parameter{{Name: "range", Value: "yesterday"}, {Name: "dimensions", Value: "product"}}})
		if text := fmt.Sprintf("%s", body); err != nil || !strings.Contains(text, "2026-03-09") || strings.Contains(text, "2026-03-10") {
			t.Errorf("at %s it asks of another day: %s, %v", at, text, err)
		}
		at = at.Add(time.Second)
	}
}

// A review of seven whole days does not have one that is not held yet.
func TestTheWeekOfAReviewIsHeld(t *testing.T) {
	at := time.Date(2026, 3, 10, 2, 0, 0, 0, time.UTC) // the newest day held is the 8th
	now := func() time.Time { return at }
	session := connectTo(t, warehouse{products: 1}, now)
	for _, c := range []struct {
		day                int
		prompt, sent, want string
	}{
		{10, "weekly_review", "", "from 2026-03-02 to 2026-03-08,"},
		{8, "weekly_review", "", "from 2026-03-01 to 2026-03-07,"},
		{10, "why_did_acos_change", "", "start_date 2026-02-07, end_date 2026-03-08 and"},
		{10, "why_did_acos_change", "last_7_days", "start_date 2026-03-02, end_date 2026-03-08 and"},
		{10, "why_did_acos_change", "this_month", "start_date 2026-03-01, end_date 2026-03-08 and"},
		{10, "why_did_acos_change", "last_month", "start_date 2026-02-01, end_date 2026-02-28 and"},
		{10, "why_did_acos_change", "today", `range is "today"; expected one of yesterday, last_7_days,`},
		{10, "why_did_acos_change", "all_time", `range is "all_time"; expected one of yesterday, last_7_days,`},
		{10, "why_did_acos_change", "yesterday", `range is "yesterday", of which no whole day is held of all marketplaces and ad products that go on; the last such day is 2026-03-08 at the latest`},
	} {
		at = time.Date(2026, 3, c.day, 2, 0, 0, 0, time.UTC)
		params := &mcp.GetPromptParams{Name: c.prompt}
		if c.sent != "" {
			params.Arguments = map[string]string{"range": c.sent}
		}
		got, err := session.GetPrompt(t.Context(), params)
		text := fmt.Sprint(err)
		if err == nil {
			text = got.Messages[0].Content.(*mcp.TextContent).Text
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%+v: %s", c, text)
		}
	}
}

// A period with a day that has ended and is not held says so, and is not compared as if
// that day had no figures.
func TestDaysThatAreNotHeldAreNoFall(t *testing.T) {
	// A time zone of the system that is wrong, which no part of adlens reads.
	t.Setenv("ZONEINFO", t.TempDir())
	zone := filepath.Join(os.Getenv("ZONEINFO"), "America", "Los_Angeles")
	if err := errors.Join(os.Mkdir(filepath.Dir(zone), 0o700), os.WriteFile(zone, []byte("TZif"+strings.Repeat("\x00", 35)+"\x01\x00\x00\x00\x04"+strings.Repeat("\x00", 6)+"UTC\x00"), 0o600)); err != nil {
		t.Fatal(err)
	}
	at := time.Time{} // the newest day held is the 8th
	now := func() time.Time { return at }
	session := connectTo(t, warehouse{products: 1}, now)
	for _, c := range []struct {
		day                int
		tool, period, zone string
		want               any
	}{
		{10, "rank", "last_7_days", "UTC", "2026-03-09"},
		{10, "rank", "yesterday", "UTC", "2026-03-09"},
		{12, "rank", "yesterday", "UTC", "2026-03-11"},
		{9, "rank", "last_7_days", "UTC", nil}, // today has not ended
		{9, "rank", "last_7_days", "Pacific/Auckland", nil},
		{10, "rank", "last_7_days", "America/Los_Angeles", nil},
		{9, "rank", "today", "UTC", nil},
		{10, "rank", "last_month", "UTC", nil},
		{10, "explain_change", "yesterday", "UTC", "2026-03-09"},
		{9, "explain_change", "last_7_days", "UTC", nil},
	} {
		at = time.Date(2026, 3, c.day, 2, 0, 0, 0, time.UTC)
		arguments := map[string]any{"range": c.period, "timezone": c.zone}
		if c.tool == "rank" {
			arguments["dimensions"] = "product"
		}
		got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: arguments})
		if err != nil || got.IsError {
			t.Fatalf("%+v: %+v, %v", c, got, err)
		}
		result := got.StructuredContent.(map[string]any)
		if result["not_held_from"] != c.want {
			t.Errorf("%+v: not_held_from is %v", c, result["not_held_from"])
		}
		why := fmt.Sprint(result["why_not_divided"])
		if c.tool == "explain_change" && strings.Contains(why, "days of the period from 2026-03-09 on are not held") != (c.want != nil) {
			t.Errorf("%+v: %s", c, got.StructuredContent)
		}
	}
}

// A call that has ended reads no further rows of an answer, and says that it took too long.
func TestNoRowsAreReadOnceACallHasEnded(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	said, err := readObject(jsontext.Value(`{"period":{},"totals":{"spend":1.00},"data":[{"product_id":"1","spend":1.00}],"pagination":{"total_rows":1},"meta":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	r.setFigures([]string{"spend"})
	err = r.read(ctx, said, "")
	s := New(Config{Failed: func(*mcp.RequestExtra, string, error) {}})
	if text := s.explainError(nil, "rank", err); len(r.rows) > 0 || text != "the request took longer than 30s; ask for a shorter period or fewer figures" {
		t.Errorf("%d rows are read: %s", len(r.rows), text)
	}
}

// A part of adlens that does not answer is no reason to ask for less.
func TestOnlyACallThatTookTooLongAsksForAShorterPeriod(t *testing.T) {
	const tooLong, notNow = "the request took longer than 30s;", "the figures cannot be read at the moment;"
	s := New(Config{Failed: func(*mcp.RequestExtra, string, error) {}})
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("read rows: %w", context.DeadlineExceeded), tooLong},
		{&adlens.Error{Kind: adlens.QueryTimeout, Err: context.DeadlineExceeded}, tooLong},
		{&adlens.Error{Kind: adlens.EngineUnavailable, Err: context.DeadlineExceeded}, notNow},
		{&adlens.Error{Kind: adlens.Overloaded, Err: context.DeadlineExceeded}, notNow},
	} {
		if text := s.explainError(nil, "rank", c.err); !strings.HasPrefix(text, c.want) {
			t.Errorf("%s, %v: %q, want %q", adlens.KindOf(c.err), c.err, text, c.want)
		}
	}
}

// saleless is a warehouse whose first product has no sales.
type saleless struct{ warehouse }

func (s saleless) Ranked(ctx context.Context, q query.Statement, limit int, descending bool) (rows []query.RankedRow, total int, err error) {
	rows, total, err = s.warehouse.Ranked(ctx, q, limit, descending)
	rows[0].Sums[4] = exact.Sum{}
	return rows, total, err
}

// A product without a sale has no ACOS, which is not one of 50 % or less.
func TestRowsThatHaveNullInAConditionAreCounted(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) }
	session := connectTo(t, saleless{warehouse{products: 3}}, now)
	for where, want := range map[string]string{"acos>50 spend>0": "0 1", "acos<=50 spend>0": "2 1", "sales=0 spend>0": "1 <nil>", "acos>50 sales>0": "0 <nil>", "acos>50 roas=0": "0 1"} {
		got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "rank", Arguments: map[string]any{"range": "this_month", "dimensions": "product", "where": strings.Fields(where)}})
		if err != nil || got.IsError {
			t.Fatalf("%s: %+v, %v", where, got, err)
		}
		result := got.StructuredContent.(map[string]any)
		if counts := fmt.Sprint(result["matching_rows"], " ", result["null_rows"]); counts != want {
			t.Errorf("%s: %s rows match and have null, want %s", where, counts, want)
		}
	}
}
