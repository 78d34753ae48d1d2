package answer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/exact"
	"adlens/internal/formats"
	"adlens/internal/manifest"
	"adlens/internal/query"
)

var now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func sums(measures ...uint64) (s exact.Sums) {
	for _, n := range measures {
		s = append(s, exact.Whole(n))
	}
	return s
}

// shop is a store of one product.
type shop struct{ statements int }

func (*shop) View(_ context.Context, account string) (query.View, error) {
	month := manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: 1, AdProduct: adlens.SponsoredProducts}, Start: adlens.Date(2026, 3, 1)}
	return query.View{Account: account, Manifest: manifest.New(7, manifest.Entry{Unit: manifest.Unit{Kind: manifest.Products}, Generation: 6, Rows: 2000}, manifest.Entry{Unit: month, Generation: 5, Rows: 100, Sources: []manifest.Source{{Days: 0xff}}}),
		Marketplaces: []query.Marketplace{{Key: 1, ID: "101", Country: "US"}}}, nil
}

func (*shop) DayTotals(context.Context, query.Statement) ([]query.DayTotal, error) { return nil, nil }

func (*shop) BucketCounts(context.Context, query.Statement) ([]query.BucketCount, error) {
	return nil, nil
}

func (s *shop) Ranked(context.Context, query.Statement, int, bool) ([]query.RankedRow, int, error) {
	s.statements++
	return []query.RankedRow{{ID: "B0LAMP", Marketplaces: []uint16{1}, Sums: sums(900, 9, 1, 4_000_000, 20_000_000)}}, 1, nil
}

func (*shop) ProductIDs(context.Context, string, uint32) (map[uint32]string, error) {
	return map[uint32]string{1: "B0LAMP"}, nil
}

func (*shop) Entities(context.Context, string, uint32) ([]query.NamedEntity, error) { return nil, nil }

func (*shop) ListedNames(context.Context, string, []uint32) ([]query.ListedName, error) {
	return nil, nil
}

func (*shop) HeldKeys(context.Context, query.Statement) ([]query.HeldKey, error) { return nil, nil }

func (*shop) Titles(context.Context, string, uint32) (map[string]string, error) { return nil, nil }

func (*shop) Connections(context.Context, string) ([]adlens.Connection, error) { return nil, nil }

func newShop() (*shop, *Service) {
	s := &shop{}
	return s, New(Config{Figures: query.NewService(s, nil), Connections: s, Cache: 1 << 20, Memory: 1 << 20, Now: func() time.Time { return now }})
}

// reading is one that ends, and stores its lists, between the moment that a request is
// about and the question of whether it still runs.
type reading struct {
	shop
	version uint32
	ends    bool
	lists   map[uint32]time.Time // when the campaigns of a version were listed
}

func (r *reading) View(ctx context.Context, account string) (query.View, error) {
	v, err := r.shop.View(ctx, account)
	v.Manifest.Version = r.version
	if at, listed := r.lists[r.version]; listed {
		list := manifest.Unit{Kind: manifest.Campaigns, Slice: manifest.Slice{Marketplace: 1, AdProduct: adlens.SponsoredProducts}}
		v.Manifest = v.Manifest.With(r.version, manifest.Entry{Unit: list, Generation: r.version, Sources: []manifest.Source{{GeneratedAt: at}}})
	}
	return v, err
}

func (r *reading) Asked(context.Context, string, string, *time.Time) (syncing, ended bool, err error) {
	if r.ends {
		r.version = 8
	}
	return !r.ends, r.ends, nil
}

func TestAnAnswerThatSaysThatAReadingEndedHasItsLists(t *testing.T) {
	caller := auth.Caller{Account: adlens.Account{ID: "acme"}}
	for _, c := range []struct {
		name        string
		ends, given bool      // whether it is asked of a moment before
		before      time.Time // of the list that is held, zero for none
		version     uint32
		syncing     bool
	}{
		{"still runs", false, false, time.Time{}, 7, true},
		{"ends", true, false, time.Time{}, 8, false},
		{"ends, and there was a list before", true, false, now.Add(-time.Hour), 8, false},
		{"ended before the moment", true, false, now, 7, false},
		{"ends since the moment that is asked of", true, true, time.Time{}, 7, true},
	} {
		r := &reading{version: 7, ends: c.ends, lists: map[uint32]time.Time{8: now}}
		if !c.before.IsZero() {
			r.lists[7] = c.before
		}
		s := New(Config{Figures: query.NewService(r, nil), Lists: r, Now: func() time.Time { return now }})
		m, err := s.Now(t.Context(), caller)
		if err != nil {
			t.Fatal(err)
		}
		request := Request{Endpoint: "campaigns", Parameters: []Parameter{{Name: "marketplace_id", Value: "101"}}}
		if c.given {
			request.Moment = &m
		}
		q, err := s.Ask(t.Context(), caller, request)
		if err != nil {
			t.Fatal(err)
		}
		m.Manifest.Version = c.version
		list := q.request.(query.ListRequest)
		if list.Syncing != c.syncing || q.Name != accountPrefix("acme")+query.ListIdentity("campaigns", m.View, list) {
			t.Errorf("one that %s: syncing %v, or of another version than %d", c.name, list.Syncing, c.version)
		}
	}
}

// What a surface that is not HTTP does with an admitted caller.
func TestAQuestionIsAnsweredWithoutHTTP(t *testing.T) {
	store, s := newShop()
	caller := auth.Caller{Account: adlens.Account{ID: "acme"}}
	ask := func(how string, r Request) *Answer {
		t.Helper()
		q, err := s.Ask(t.Context(), caller, r)
		if err != nil {
			t.Fatal(err)
		}
		a, err := q.Answer(t.Context())
		if err != nil || q.How != how || a.Tag != q.Head().Tag && q.Name != "" {
			t.Fatalf("%s, expected %s; %+v, %v", q.How, how, a, err)
		}
		if how != "" && s.MemoryInUse() < len(a.Body) {
			t.Errorf("%d bytes are counted of an answer that is being sent", s.MemoryInUse())
		}
		q.Close()
		if s.MemoryInUse() != 0 || len(s.cache.uses) != 0 {
			t.Errorf("%d bytes are counted after the question was closed", s.MemoryInUse())
		}
		return a
	}
	products := Request{Endpoint: "reports/products", Parameters: []Parameter{{"range", "this_month"}}, Format: query.NDJSON}
	a := ask(Computed, products)
	if line := string(a.Body); a.Format != query.NDJSON || a.Pages == nil || a.Pages.Rows != 1 || !strings.HasPrefix(line, `{"product_id":"B0LAMP","title":null,"marketplaces":["US"],"spend":4.00,`) {
		t.Errorf("%+v: %s", a, line)
	}
	ask(Remembered, products)
	if store.statements != 1 {
		t.Errorf("%d statements, expected 1", store.statements)
	}
	if account := ask("", Request{Endpoint: Account}); !strings.HasPrefix(string(account.Body), `{"account_id":"acme",`) {
		t.Errorf("%s", account.Body)
	}
}

// What an answer may take while it is made is by its rows: those of products are many.
func TestAReportWithoutDimensionsIsOneRow(t *testing.T) {
	_, s := newShop()
	for endpoint, want := range map[string]int{"report": 1, "reports/products": 101} {
		q, err := s.Ask(t.Context(), auth.Caller{Account: adlens.Account{ID: "acme"}}, Request{Endpoint: endpoint, Parameters: []Parameter{{"range", "this_month"}, {"page_size", "all"}}})
		if err != nil {
			t.Fatal(err)
		}
		if most, err := q.most(t.Context()); err != nil || most != want {
			t.Errorf("%s has %d rows at most: %v", endpoint, most, err)
		}
		q.Close()
	}
}

// Lost rows that are back have their account answered from them, under the same version.
func TestAForgottenAccountIsComputedAgainAndNoOther(t *testing.T) {
	_, s := newShop()
	ask := func(account, how string) {
		t.Helper()
		q, err := s.Ask(t.Context(), auth.Caller{Account: adlens.Account{ID: account}}, Request{Endpoint: "reports/products", Parameters: []Parameter{{"range", "this_month"}}})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		if known := q.Head().Tag != ""; known != (how == Remembered) {
			t.Errorf("%s: a tag is known: %t", account, known)
		}
		if _, err := q.Answer(t.Context()); err != nil || q.How != how {
			t.Errorf("%s is %s, expected %s: %v", account, q.How, how, err)
		}
	}
	for _, how := range []string{Computed, Remembered} {
		ask("acme", how)
		ask("acme-2", how)
	}
	s.Forget("acme")
	ask("acme", Computed)
	ask("acme-2", Remembered)
	s.Forget("")
	ask("acme", Computed)
	ask("acme-2", Computed)
}

func TestWhatCannotBeAskedIsRefusedWithAllFaults(t *testing.T) {
	_, s := newShop()
	_, err := s.Ask(t.Context(), auth.Caller{}, Request{Endpoint: "timeline", Parameters: []Parameter{{"color", "red"}, {"range", "today"}, {"range", "today"}, {"start_date", "x"}}})
	var faults *query.FaultsError
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	var got []string
	for _, f := range faults.Faults {
		got = append(got, f.Parameter+" "+string(f.Code))
	}
	if want := "range invalid_parameter, range conflicting_parameters, start_date invalid_parameter, end_date missing_parameter, color unknown_parameter"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, expected %q", got, want)
	}
	var missing *NotFoundError
	if _, err := s.Ask(t.Context(), auth.Caller{}, Request{Endpoint: "sumary"}); !errors.As(err, &missing) {
		t.Errorf("an unknown endpoint: %v", err)
	}
}

// linked is a store of connections to the platform, and of one key's last use.
type linked struct {
	all  []adlens.Connection
	used time.Time
}

func (l linked) Connections(context.Context, string) ([]adlens.Connection, error) { return l.all, nil }

func (l linked) LastUse(context.Context, string, time.Time) (time.Time, error) { return l.used, nil }

// An account is connected where the platform takes the credentials of each connection, since
// the first was made. A key was last used when any process says so.
func TestTheAccountIsThatOfAllConnectionsAndProcesses(t *testing.T) {
	early, late := now.Add(-2*time.Hour), now.Add(-time.Hour)
	both := func(first, second bool) []adlens.Connection {
		return []adlens.Connection{{Accepted: first, ConnectedAt: late}, {Accepted: second, ConnectedAt: early}, {Accepted: true, ConnectedAt: late}}
	}
	const since = `,"connected_at":"2026-03-10T10:00:00.000Z"}`
	for _, c := range []struct {
		store linked
		last  *time.Time // as this process knows it
		want  string
	}{
		{linked{}, nil, `"platform":{"connected":false,"connected_at":null}`},
		{linked{all: both(true, true)}, nil, `"platform":{"connected":true` + since},
		{linked{all: both(false, true)}, nil, `"platform":{"connected":false` + since},
		{linked{all: both(true, false)}, nil, `"platform":{"connected":false` + since},
		{linked{}, nil, `"last_used_at":null`},
		{linked{}, &late, `"last_used_at":"2026-03-10T11:00:00.000Z"`},
		{linked{used: early}, nil, `"last_used_at":"2026-03-10T10:00:00.000Z"`},
		{linked{used: early}, &late, `"last_used_at":"2026-03-10T11:00:00.000Z"`},
		{linked{used: late}, &early, `"last_used_at":"2026-03-10T11:00:00.000Z"`},
	} {
		s := New(Config{Figures: query.NewService(&shop{}, nil), Connections: c.store, Uses: c.store, Now: func() time.Time { return now }})
		q, err := s.Ask(t.Context(), auth.Caller{Account: adlens.Account{ID: "acme"}, LastUse: c.last}, Request{Endpoint: Account})
		if err != nil {
			t.Fatal(err)
		}
		if a, err := q.Answer(t.Context()); err != nil || !strings.Contains(string(a.Body), c.want) {
			t.Errorf("%+v: %s, expected %s: %v", c.store, a.Body, c.want, err)
		}
		q.Close()
	}
}

// A client that polls learns of its key's end before it is refused.
func TestTheAccountSaysWhenItsKeyEnds(t *testing.T) {
	s := New(Config{Figures: query.NewService(&shop{}, nil), Connections: linked{}, Uses: linked{}, Now: func() time.Time { return now }})
	for _, ends := range []*time.Time{nil, new(now.Add(time.Hour))} {
		q, err := s.Ask(t.Context(), auth.Caller{Account: adlens.Account{ID: "acme"}, Key: auth.Record{ExpiresAt: ends}}, Request{Endpoint: Account})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		a, err := q.Answer(t.Context())
		if err != nil || strings.Contains(string(a.Body), `"expires_at":"2026-03-10T13:00:00.000Z"`) != (ends != nil) || strings.Contains(string(a.Body), "expires_at") != (ends != nil) {
			t.Errorf("of a key that ends at %v: %s: %v", ends, a.Body, err)
		}
	}
}

// Columns are the same whether there are rows or not, and whatever is null.
func TestListsWithoutRowsHaveTheirColumns(t *testing.T) {
	for want, both := range map[string][2]func(*writer){
		"default_bid_amount,default_bid_currency_code": {pageOf((*writer).adGroups, query.AdGroup{}), pageOf((*writer).adGroups, query.AdGroup{DefaultBid: &adlens.Amount{}})},
		"scope_marketplaces,scope_campaign_ids,schedule_frequency,schedule_time,schedule_timezone,last_run_rule_run_id,last_run_started_at": {
			pageOf((*writer).writeRules, query.Rule{}), pageOf((*writer).writeRules)},
	} {
		first, again := headOf(t, both[0]), headOf(t, both[1])
		if first != again || !strings.Contains(first, want) {
			t.Errorf("%s and %s, expected %s", first, again, want)
		}
	}
}

// A table has no value of a row in the next one, which has none there.
func TestWhatARowDoesNotHaveIsNotThatOfTheRowBefore(t *testing.T) {
	bid, err := adlens.ParseAmount([]byte("1.5"))
	if err != nil {
		t.Fatal(err)
	}
	body, _, err := writeAs(query.Format{Name: query.CSV, Separator: query.Comma}, "", "", pageOf((*writer).adGroups, query.AdGroup{DefaultBid: &bid}, query.AdGroup{}))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(body), "\r\n")
	if !strings.Contains(lines[1], ",1.5") || strings.Contains(lines[2], "1.5") {
		t.Errorf("an ad group with a bid and one without: %q", lines[1:])
	}
}

func pageOf[T any](describe func(*writer, *query.Page[T]), rows ...T) func(*writer) {
	p := &query.Page[T]{Rows: rows, Request: query.ListRequest{Paging: query.Paging{Page: 1, PageSize: 100}}}
	return func(w *writer) { describe(w, p) }
}

func headOf(t *testing.T, describe func(*writer)) string {
	t.Helper()
	body, _, err := writeAs(query.Format{Name: query.CSV, Separator: query.Comma}, "", "", describe)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(body), "\r\n")
	return head
}

// Without its comparison a view has today, too: its reader gets that only where the
// comparison is refused.
func TestAComparisonIsLeftOutOnlyWhereItIsRefused(t *testing.T) {
	_, s := newShop()
	for _, c := range []struct{ saved, want string }{
		{"range=this_month&compare=previous_period", "which is compared"},
		{"range=today&compare=previous_period", ""},
		{"range=today&compare=previous_period&campaign_ids=7", "is no longer accepted"},
		{"range=this_month", ""},
		{"range=this_month&compare=None", ""},
	} {
		v, err := ParseView("#/products?" + c.saved)
		if err != nil {
			t.Fatal(err)
		}
		r, err := v.Request("/api/v1/reports/products", []Parameter{{"compare", "none"}, {"page_size", "5"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		q, err := s.Ask(t.Context(), auth.Caller{Account: adlens.Account{ID: "acme"}}, r)
		if err == nil {
			q.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s without a comparison: %v, want %q", c.saved, err, c.want)
		}
	}
}

// A ratio of amounts that are unlike enough has more digits than tables of Parquet have
// room for. All other formats have every digit.
func TestANumberThatAFormatHasNoRoomForIsRefused(t *testing.T) {
	for _, name := range []string{query.CSV, query.XLSX, query.NDJSON, query.JSON, query.Parquet} {
		_, _, err := writeAs(query.Format{Name: name, Separator: query.Comma}, "EUR", "", func(w *writer) {
			formats.Rows(w.Writer, "data", "", func(yield func(string) bool) { yield(strings.Repeat("9", 37) + ".00") },
				func(digits string) { w.Number("acos", 2, []byte(digits)) })
		})
		var refused *query.FaultsError
		switch {
		case name != query.Parquet && err != nil:
			t.Errorf("%s: %v", name, err)
		case name == query.Parquet && (!errors.As(err, &refused) || refused.Faults[0].Parameter != "format" || !strings.Contains(err.Error(), "acos")):
			t.Errorf("%s: %v, want a fault that names the format and the figure", name, err)
		}
	}
}
