package connector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/ecb"
	"adlens/internal/platform"
	"adlens/loader"
)

func TestTheNewestPublishedDay(t *testing.T) {
	for now, want := range map[string]string{
		"2026-11-25T15:04:00Z": "2026-11-24", // Wednesday, 16:04 in Frankfurt
		"2026-11-25T15:05:00Z": "2026-11-25",
		"2026-07-01T14:04:00Z": "2026-06-30", // summer
		"2026-07-01T14:05:00Z": "2026-07-01",
		"2026-11-21T20:00:00Z": "2026-11-20", // Saturday
		"2026-11-22T23:30:00Z": "2026-11-20", // Monday there
		"2026-11-23T12:00:00Z": "2026-11-20",
		"2026-12-25T20:00:00Z": "2026-12-25", // a holiday, of which nothing is known here
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := lastPublished(at).String(); got != want {
			t.Errorf("at %s: %s, expected %s", now, got, want)
		}
	}
}

// rateStore is a store with rates in memory, as a loader leaves them.
type rateStore struct {
	*memory
	currency string
	rates    ecb.Table
	byHand   bool // a person has loaded rates of the euro
	loads    int
	failure  error // of loads
}

func (s *rateStore) Profiles(context.Context, string) ([]platform.Profile, error) {
	return []platform.Profile{{ID: "1", Currency: "USD"}, {ID: "2", Currency: s.currency}}, nil
}

func (s *rateStore) RateSpans(context.Context, string) ([]loader.RateSpan, error) {
	var spans []loader.RateSpan
	if s.byHand {
		spans = append(spans, loader.RateSpan{Currency: "EUR", First: 0, Last: adlens.LastStorableDay})
	}
	if days := s.rates.Days(); len(days) > 0 {
		spans = append(spans, loader.RateSpan{Currency: "EUR", Fetched: true, First: days[0], Last: days[len(days)-1]})
	}
	return spans, nil
}

func (s *rateStore) ReplaceLists(context.Context, string, loader.Lists) error { return nil }

func (s *rateStore) Load(_ context.Context, _ string, paths []string) (loader.Result, error) {
	if s.failure != nil {
		return loader.Result{}, s.failure
	}
	f, err := os.Open(paths[0])
	if err != nil {
		return loader.Result{}, err
	}
	defer f.Close()
	table, err := ecb.Read(f)
	if s.rates == nil {
		s.rates = ecb.Table{}
	}
	s.rates.Put(table, 0)
	s.loads++
	return loader.Result{Files: []loader.FileResult{{File: paths[0], Status: loader.Loaded}}}, err
}

// published is a bank of some days that counts calls.
type published struct {
	days             []string          // the newest first
	corrected        map[string]string // rates of days that are no longer 1.1
	daily, histories int
	failure          error
	noHistory        error // of the history alone
}

func (p *published) table(days []string) (ecb.Table, error) {
	if p.failure != nil {
		return nil, p.failure
	}
	text := "Date,USD,\n"
	for _, day := range days {
		text += day + "," + cmp.Or(p.corrected[day], "1.1") + ",\n"
	}
	return ecb.Read(strings.NewReader(text))
}

func (p *published) Daily(context.Context) (ecb.Table, error) {
	p.daily++
	return p.table(p.days[:1])
}

func (p *published) History(context.Context) (ecb.Table, error) {
	p.histories++
	table, err := p.table(p.days)
	return table, errors.Join(err, p.noHistory)
}

func (p *published) publish(from, to string) {
	first, _ := adlens.ParseDay(from)
	for day, _ := adlens.ParseDay(to); day >= first; day-- {
		if !isWeekend(day) {
			p.days = append(p.days, day.String())
		}
	}
}

// pullOn pulls rates at a time at which they are published up to a day, and returns what
// is kept then.
func (p *published) pullOn(t *testing.T, c *Connector, dir, now, newest string) (kept ecb.Table, err error) {
	t.Helper()
	p.days = nil
	p.publish("2026-01-01", newest)
	at, parsing := time.Parse(time.RFC3339, now)
	if parsing != nil {
		t.Fatal(parsing)
	}
	err = c.pullRates(t.Context(), "acme", dir, at)
	kept, reading := readKeptRates(filepath.Join(dir, RatesFile))
	if reading != nil {
		t.Fatal(reading)
	}
	return kept, err
}

// A story of some days: what is fetched, kept and loaded on each.
func TestRatesAreFetchedOnceADayAndGapsAreClosed(t *testing.T) {
	dir := t.TempDir()
	s := &rateStore{memory: newMemory("acme"), currency: "EUR"}
	b := &published{}
	c := New(Config{Store: s, Loader: s, Locks: s, Bank: b, Notice: func(string, string) {}})
	for i, step := range []struct {
		now, newest      string // of what is published
		daily, histories int    // calls so far
		first, last      string // of the kept file
		before           func()
	}{
		{"2026-11-20T16:00:00Z", "2026-11-20", 1, 1, "2026-07-23", "2026-11-20", nil},
		{"2026-11-22T16:00:00Z", "2026-11-20", 1, 1, "2026-07-23", "2026-11-20", nil}, // a weekend
		{"2026-11-23T16:00:00Z", "2026-11-23", 2, 2, "2026-07-23", "2026-11-23", nil},
		{"2026-11-24T14:00:00Z", "2026-11-23", 2, 2, "2026-07-23", "2026-11-23", nil},
		{"2026-11-24T16:00:00Z", "2026-11-23", 3, 2, "2026-07-23", "2026-11-23", nil}, // late
		{"2026-11-24T16:30:00Z", "2026-11-24", 4, 3, "2026-07-23", "2026-11-24", nil},
		{"2026-11-30T16:30:00Z", "2026-11-30", 5, 4, "2026-07-23", "2026-11-30", nil},                      // nothing ran for days
		{"2026-11-30T17:00:00Z", "2026-11-30", 5, 4, "2026-07-23", "2026-11-30", func() { s.rates = nil }}, // a database without them
		{"2026-11-30T17:00:00Z", "2026-11-30", 6, 5, "2026-08-03", "2026-11-30", func() {
			s.rates = nil
			if err := os.WriteFile(filepath.Join(dir, RatesFile), []byte("Date,US"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"2026-11-30T17:00:00Z", "2026-11-30", 7, 6, "2026-08-03", "2026-11-30", func() { dir = t.TempDir() }}, // it holds what can be loaded anywhere
		{"2026-12-01T16:30:00Z", "2026-12-01", 8, 7, "2026-08-03", "2026-12-01", func() { s.byHand = true }},   // which says nothing of other currencies
		{"2026-12-02T16:30:00Z", "2026-12-02", 8, 7, "2026-08-03", "2026-12-01", func() { s.currency = "USD" }},
	} {
		if step.before != nil {
			step.before()
		}
		kept, err := b.pullOn(t, c, dir, step.now, step.newest)
		if err != nil {
			t.Fatalf("step %d: %v", i+1, err)
		}
		days := kept.Days()
		if got, want := fmt.Sprintln(b.daily, b.histories, days[0], days[len(days)-1]), fmt.Sprintln(step.daily, step.histories, step.first, step.last); got != want {
			t.Errorf("step %d, at %s: %s, expected %s", i+1, step.now, got, want)
		}
	}
}

// Where the bank does not give its history, the newest day is taken alone, unless that would
// hide a gap before it.
func TestANewDayIsTakenWithoutTheHistory(t *testing.T) {
	dir := t.TempDir()
	s := &rateStore{memory: newMemory("acme"), currency: "EUR"}
	b := &published{}
	c := New(Config{Store: s, Loader: s, Locks: s, Bank: b, Notice: func(string, string) {}})
	for i, step := range []struct{ now, newest, last string }{
		{"2026-11-19T16:00:00Z", "2026-11-19", "2026-11-19"},
		{"2026-11-20T16:00:00Z", "2026-11-20", "2026-11-20"},
		{"2026-11-23T16:00:00Z", "2026-11-23", "2026-11-23"}, // over a weekend
		{"2026-11-25T16:00:00Z", "2026-11-25", "2026-11-23"},
	} {
		kept, err := b.pullOn(t, c, dir, step.now, step.newest)
		if !errors.Is(err, b.noHistory) {
			t.Errorf("step %d ends with %v", i+1, err)
		}
		b.noHistory = errors.New("the history is away")
		if days := kept.Days(); days[len(days)-1].String() != step.last {
			t.Errorf("step %d: kept up to %s, expected %s", i+1, days[len(days)-1], step.last)
		}
	}
}

// A person loads the bank's corrected history; the next new day, for which the history
// cannot be read, does not take the correction back.
func TestANewDayWithoutTheHistoryUndoesNoCorrection(t *testing.T) {
	dir, corrected := t.TempDir(), adlens.Date(2026, 11, 18)
	s := &rateStore{memory: newMemory("acme"), currency: "GBP"}
	b := &published{corrected: map[string]string{}}
	c := New(Config{Store: s, Loader: s, Locks: s, Bank: b, Notice: func(string, string) {}})
	if _, err := b.pullOn(t, c, dir, "2026-11-20T16:30:00Z", "2026-11-20"); err != nil {
		t.Fatal(err)
	}
	b.corrected[corrected.String()] = "1.25"
	history, err := b.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.rates.Put(history, 0)
	b.noHistory = errors.New("the history is away")
	if _, err := b.pullOn(t, c, dir, "2026-11-23T16:30:00Z", "2026-11-23"); !errors.Is(err, b.noHistory) {
		t.Errorf("the pull ends with %v", err)
	}
	days := s.rates.Days()
	if got := s.rates[corrected]["USD"].String(); got != "1.25" || days[len(days)-1] != adlens.Date(2026, 11, 23) {
		t.Errorf("%s has %s, expected the corrected rate; the newest day is %s", corrected, got, days[len(days)-1])
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left are %v: %v", left, err)
	}
}

// The bank corrects an old day in its history alone: the correction comes with the next
// new day. Until then the kept file is not loaded again over what is held, which a person
// may have loaded from the corrected history; where the database lacks days of it, it is.
func TestTheBanksCorrectionsOfOldDaysAreTaken(t *testing.T) {
	dir, corrected := t.TempDir(), adlens.Date(2026, 11, 18)
	s := &rateStore{memory: newMemory("acme"), currency: "GBP"}
	b := &published{corrected: map[string]string{}}
	c := New(Config{Store: s, Loader: s, Locks: s, Bank: b, Notice: func(string, string) {}})
	for i, step := range []struct {
		now, newest string
		rate        string // of the old day, as kept
		loads       int    // so far
		before      func()
	}{
		{"2026-11-20T16:30:00Z", "2026-11-20", "1.1", 1, nil},
		{"2026-11-23T16:30:00Z", "2026-11-20", "1.1", 1, func() { b.corrected[corrected.String()] = "1.25" }}, // late
		{"2026-11-23T16:31:00Z", "2026-11-20", "1.1", 2, func() { s.rates = nil }},                            // late, with an empty database
		{"2026-11-23T16:32:00Z", "2026-11-23", "1.25", 3, nil},
		{"2026-11-24T16:30:00Z", "2026-11-24", "1.25", 4, nil},
	} {
		if step.before != nil {
			step.before()
		}
		kept, err := b.pullOn(t, c, dir, step.now, step.newest)
		if err != nil {
			t.Fatalf("step %d: %v", i+1, err)
		}
		if rate := kept[corrected]["USD"]; rate.String() != step.rate || s.loads != step.loads {
			t.Errorf("step %d, at %s: the rate of %s is %s after %d loads, expected %s after %d", i+1, step.now, corrected, rate, s.loads, step.rate, step.loads)
		}
	}
}

// What fails is begun again after a pause, is done by one process at a time, and is
// complete then: a file that was kept is loaded without being fetched again.
func TestFailedRatesRestAndAreCompletedLater(t *testing.T) {
	dir := t.TempDir()
	s := &rateStore{memory: newMemory("acme"), currency: "GBP"}
	b := &published{failure: errors.New("the bank is closed")}
	b.publish("2026-01-01", "2026-11-20")
	c := New(Config{Store: s, Loader: s, Locks: s, Bank: b, Notice: func(string, string) {}})
	now := time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)
	if err := c.freshenRates(t.Context(), "acme", dir, now); !errors.Is(err, b.failure) {
		t.Errorf("the error is %v", err)
	}
	b.failure = nil
	if err := c.freshenRates(t.Context(), "acme", dir, now); err != nil || b.daily != 1 {
		t.Errorf("it did not rest: %v, %d calls", err, b.daily)
	}
	s.attempts[ratesWork("acme")] = attempt{time.Now().Add(-2 * ratesRetry), 1}
	s.held[ratesWork("acme")] = true
	if err := c.freshenRates(t.Context(), "acme", dir, now); err != nil || b.daily != 1 {
		t.Errorf("two were at it: %v, %d calls", err, b.daily)
	}
	delete(s.held, ratesWork("acme"))
	s.failure = errors.New("the database is away")
	if err := c.freshenRates(t.Context(), "acme", dir, now); !errors.Is(err, s.failure) || b.histories != 1 {
		t.Errorf("the error is %v, %d histories", err, b.histories)
	}
	s.failure = nil
	s.attempts[ratesWork("acme")] = attempt{time.Now().Add(-time.Hour), 1}
	if err := c.freshenRates(t.Context(), "acme", dir, now); err != nil || b.histories != 1 || s.loads != 1 {
		t.Errorf("%v, %d histories, %d loads", err, b.histories, s.loads)
	}
	// So is the file of a later day.
	b.days, now, s.failure = nil, now.Add(3*24*time.Hour), errors.New("the database is away")
	b.publish("2026-01-01", "2026-11-23")
	for i, want := range []int{1, 2} {
		s.attempts[ratesWork("acme")] = attempt{time.Now().Add(-time.Hour), 1}
		if err := c.freshenRates(t.Context(), "acme", dir, now); !errors.Is(err, s.failure) || b.histories != 2 || s.loads != want {
			t.Errorf("try %d: %v, %d histories, %d loads", i+1, err, b.histories, s.loads)
		}
		s.failure = nil
	}
}

// That the bank has not published the newest day hides no failure to load the others.
func TestALoadThatFailsIsReportedWhileRatesAreAwaited(t *testing.T) {
	s := &rateStore{memory: newMemory("acme"), currency: "GBP", failure: errors.New("the database is away")}
	b := &published{}
	b.publish("2026-01-01", "2026-11-19")
	c := New(Config{Store: s, Loader: s, Locks: s, Bank: b, Notice: func(string, string) {}})
	now := time.Date(2026, 11, 20, 16, 30, 0, 0, time.UTC) // a Friday
	for name, fetch := range map[string]func(context.Context, string, string, time.Time) error{"by serve": c.freshenRates, "by pull": c.pullRates} {
		if err := fetch(t.Context(), "acme", t.TempDir(), now); !errors.Is(err, s.failure) || errors.Is(err, errNotPublished) {
			t.Errorf("%s: the error is %v, want that of the load alone", name, err)
		}
	}
	s.failure = nil
	if err := c.pullRates(t.Context(), "acme", t.TempDir(), now); err != nil || s.loads != 1 {
		t.Errorf("the newest day is not published: %v, %d loads", err, s.loads)
	}
}
