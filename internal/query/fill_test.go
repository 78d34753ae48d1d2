package query

import (
	"context"
	"errors"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/manifest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// november is a report of a month of the example by its days, which every
// table can answer.
func november(page int) Request {
	return Request{Period: days("2026-11-01", "2026-11-19"), Sort: "spend", Order: Descending, Paging: Paging{Page: page, PageSize: 10}}
}

// someShop has one row in each month.
func someShop() *shop {
	s := &shop{view: selling(exampleView(), 3), rows: map[uint32][]UnitRow{}}
	for _, e := range s.view.Manifest.Of(manifest.Month) {
		first, _ := e.FirstHeld()
		s.rows[e.Generation] = []UnitRow{{Generation: e.Generation, Day: first, Key: 2, Measures: [5]uint64{5, 4, 3, 2_000_000, 1_000_000}}}
	}
	return s
}

func mustBeRemembered(t *testing.T, s *Service, v View, r Request, want bool) *Report {
	t.Helper()
	report, ok := remembered(t, s, v, r)
	if ok != want {
		t.Fatalf("answered from memory: %v, want %v", ok, want)
	}
	return report
}

// remembered is an answer from memory; ok is false where it has to be computed.
func remembered(_ rapid.TB, s *Service, v View, r Request) (report *Report, ok bool) {
	if r.Dimensions == nil {
		r.Dimensions = []string{dimProduct}
	}
	return s.answerCached(context.Background(), v, r, PlanReport(r, v))
}

// A load makes new generations, and until they are read the engine answers.
// Those that stayed are not read again.
func TestOnlyWhatALoadHasChangedIsReadAgain(t *testing.T) {
	s := someShop()
	service := remembering(t, s, november(1))
	before := mustBeRemembered(t, service, s.view, november(1), true)
	old, reads, units := s.view, s.reads, service.memory.units.Stats().Values
	unit := manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: usKey, AdProduct: adlens.SponsoredBrands}, Start: day("2026-11-01")}
	changed, _ := s.view.Manifest.Find(unit)
	s.rows[7] = []UnitRow{{Generation: 7, Day: day("2026-11-02"), Key: 3, Measures: [5]uint64{0, 0, 1, 0, 0}}}
	changed.Generation = 7
	s.view.Manifest = s.view.Manifest.With(13, changed)
	mustBeRemembered(t, service, s.view, november(1), false)
	if err := service.fillRequest(context.Background(), s.view.Account, november(1)); err != nil {
		t.Fatal(err)
	}
	after := mustBeRemembered(t, service, s.view, november(1), true)
	if s.reads != reads+1 || len(rowsOf(before)) != 1 || len(rowsOf(after)) != 2 {
		t.Errorf("%d statements, %d rows before and %d after", s.reads-reads, len(rowsOf(before)), len(rowsOf(after)))
	}
	// What is dead takes no room: a request that began before the load is
	// computed, as of then.
	mustBeRemembered(t, service, old, november(1), false)
	if n := service.memory.units.Stats().Values; n != units {
		t.Errorf("%d units are in memory, %d before the load", n, units)
	}
}

// What is beyond the bounds is left to the engine, and not read again and again.
func TestNumbersThatAreTooLargeAreLeftToTheEngine(t *testing.T) {
	for name, large := range map[string]UnitRow{
		"beyond 63 bits": {Measures: [5]uint64{0, 0, 0, mostMeasure, 0}}, "a count in too many rows": {Measures: [5]uint64{1 << 50, 0, 0, 0, 0}},
		"too many products": {Key: maxRememberedKey + 1, Measures: [5]uint64{1, 0, 0, 0, 0}},
	} {
		s := someShop()
		for _, rows := range s.rows {
			rows[0].Measures, rows[0].Key = large.Measures, large.Key
			break
		}
		r := Request{Period: days("2024-10-01", "2026-11-19"), Sort: "spend", Order: Descending, Paging: Paging{Page: 1, PageSize: 10}}
		service := remembering(t, s, r)
		mustBeRemembered(t, service, s.view, r, false)
		service.noteMiss(s.view, r, PlanReport(r, s.view))
		if _, _, queued := service.memory.nextMiss(); queued {
			t.Errorf("%s: it is queued again", name)
		}
	}
}

// Each unit fits and all together do not; and a ratio needs more than its sums.
func TestSumsThatAreTooLargeAreLeftToTheEngine(t *testing.T) {
	s := someShop()
	for _, rows := range s.rows {
		rows[0].Measures = [5]uint64{1, 1 << 35, 1, mostMeasure / 2, 1}
	}
	service := remembering(t, s, november(1))
	mustBeRemembered(t, service, s.view, november(1), false)
	one := november(1)
	one.Filters = Filters{Marketplaces: []string{"US"}, AdProducts: []adlens.AdProduct{adlens.SponsoredBrands}}
	mustBeRemembered(t, remembering(t, s, one), s.view, one, true)
	for _, rows := range s.rows {
		rows[0].Measures = [5]uint64{1, 15 << 32, 1, 1, 1 << 62}
	}
	service = remembering(t, s, one)
	for sort, want := range map[string]bool{"roas": true, "acos": true, "sales": true, "average_cpc": true} {
		one.Sort = sort
		mustBeRemembered(t, service, s.view, one, want)
	}
}

// A store that fails, or breaks off midway, leaves nothing behind.
func TestAFailedFillHarmsNothing(t *testing.T) {
	s := someShop()
	service := NewService(s, nil)
	service.Remember(s, 1<<20)
	s.failed = errors.New("away")
	if err := service.fillRequest(context.Background(), "acct-7", november(1)); !errors.Is(err, s.failed) {
		t.Errorf("got %v", err)
	}
	mustBeRemembered(t, service, s.view, november(1), false)
	s.failed, service.memory.store = nil, broken{s}
	service.memory.queueMiss("acct-7", november(1))
	if _, err := service.Fill(context.Background()); err == nil || !strings.Contains(err.Error(), "panic: broken") {
		t.Errorf("got %v", err)
	}
	mustBeRemembered(t, service, s.view, november(1), false)
	service.memory.store = s
	if err := service.fillRequest(context.Background(), "acct-7", november(1)); err != nil {
		t.Fatal(err)
	}
	mustBeRemembered(t, service, s.view, november(1), true)
}

type broken struct{ UnitStore }

func (broken) UnitRowsBeside(context.Context, Statement, func() func(*UnitRow)) error {
	panic("broken")
}

// What would crowd out most of the rest is never read.
func TestAReportTooLargeForTheMemoryIsNotReadIn(t *testing.T) {
	s := someShop()
	service := NewService(s, nil)
	service.Remember(s, 1000)
	if err := service.fillRequest(context.Background(), "acct-7", november(1)); err != nil || s.reads != 0 {
		t.Errorf("%d statements, %v", s.reads, err)
	}
	mustBeRemembered(t, service, s.view, november(1), false)
}

// What of it is in memory already counts too: else its own units would drop one
// another, and be read again for each request.
func TestUnitsOfOneReportDoNotDropOneAnother(t *testing.T) {
	s := someShop()
	service := remembering(t, s, november(1))
	some, needed := service.memory.units.Stats().Values, service.memory.missingUnits(PlanReport(november(1), s.view))
	if some < 2 || len(needed[monthUnits]) > 0 {
		t.Fatalf("%d units are in memory, %d are not", some, len(needed[monthUnits]))
	}
	service.memory.limit = 2 * unitBytes // room for one more, but not for all
	unit := manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: usKey, AdProduct: adlens.SponsoredBrands}, Start: day("2026-11-01")}
	changed, _ := s.view.Manifest.Find(unit)
	changed.Generation = 7
	s.view.Manifest = s.view.Manifest.With(13, changed)
	s.reads = 0
	if err := service.fillRequest(t.Context(), s.view.Account, november(1)); err != nil || s.reads != 0 {
		t.Errorf("%d statements, %v", s.reads, err)
	}
}

// An engine that was away for a moment does not end reading ahead for good.
func TestAnAccountIsReadAheadAgainAfterAFailure(t *testing.T) {
	s := someShop()
	service := NewService(s, nil)
	service.Remember(s, 1<<20)
	service.queueAhead(s.view)
	s.failed = errors.New("away")
	if _, err := service.Fill(t.Context()); !errors.Is(err, s.failed) {
		t.Fatalf("got %v", err)
	}
	s.failed = nil
	service.queueAhead(s.view)
	mustBeFilled(t, service)
	mustBeRemembered(t, service, s.view, november(1), true)
}

// It is read behind its answer: beside it, that would take longer.
func TestAMissedReportIsSaidToBeMissedBehindItsAnswer(t *testing.T) {
	s := someShop()
	s.view = selling(s.view, fetchedNames)
	s.holds(fetchedRows)
	service := NewService(s, nil)
	mustNotBeSaid(t, service)
	service.Remember(s, 64<<20)
	mustNotBeSaid(t, service)
	answered := 0
	s.answers = func() {
		answered++
		mustNotBeSaid(t, service)
	}
	if _, err := service.Products(t.Context(), s.view, november(1)); err != nil || answered != 1 || s.reads != 0 {
		t.Fatalf("answered by the engine %d times, %d units read: %v", answered, s.reads, err)
	}
	<-service.Missed()
	mustBeFilled(t, service)
	mustBeRemembered(t, service, s.view, november(1), true)
	mustNotBeSaid(t, service)
}

// A report of few rows is never asked of the engine: reading them is as quick.
func TestFewRowsAreReadBeforeTheAnswerAndOnlyOnce(t *testing.T) {
	s := someShop()
	s.holds(10)
	service, want := NewService(s, nil), remembering(t, s, november(1))
	service.Remember(s, 1<<20)
	s.reads = 0
	for page := 1; page < 3; page++ {
		got, err := service.Products(t.Context(), s.view, november(page))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(productsAsText(mustBeRemembered(t, want, s.view, november(page), true)), productsAsText(got)); diff != "" {
			t.Errorf("(-memory +read):\n%s", diff)
		}
		if s.reads != 1 {
			t.Errorf("%d statements after %d pages", s.reads, page)
		}
	}
	s.failed = errors.New("away")
	if _, err := service.Products(t.Context(), s.view, Request{Period: days("2025-01-05", "2025-02-05"), Sort: "spend", Order: Descending}); !errors.Is(err, s.failed) {
		t.Errorf("got %v", err)
	}
}

// Memory that is too small for what was read still answers by it.
func TestWhatMemoryHasNoRoomForIsReadForEachAnswer(t *testing.T) {
	s := someShop()
	service := NewService(s, nil)
	service.Remember(s, 100)
	for reads := 1; reads < 3; reads++ {
		if report, err := service.Products(t.Context(), s.view, november(1)); err != nil || len(rowsOf(report)) != 1 || s.reads != reads {
			t.Fatalf("%d rows, %d statements: %v", len(rowsOf(report)), s.reads, err)
		}
	}
}

func mustNotBeSaid(t *testing.T, s *Service) {
	t.Helper()
	select {
	case <-s.Missed():
		t.Error("a report was missed")
	default:
	}
}

// mustBeFilled reads until nothing is left to do.
func mustBeFilled(t *testing.T, s *Service) {
	t.Helper()
	for worked := true; worked; {
		var err error
		if worked, err = s.Fill(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// Rows of newer products take twice what is estimated: a unit of them may have no room.
func TestAUnitWithoutRoomIsNotReadAheadAgain(t *testing.T) {
	const rows = 1000
	s := &shop{view: selling(exampleView(), rows), rows: map[uint32][]UnitRow{}}
	months := s.view.Manifest.Of(manifest.Month)
	month := months[len(months)-1]
	month.Rows = rows
	first, _ := month.FirstHeld()
	for i := range uint32(rows) {
		s.rows[month.Generation] = append(s.rows[month.Generation], UnitRow{Generation: month.Generation, Day: first, Key: 1<<keyBits + i, Measures: [5]uint64{5, 4, 3, 2_000_000, 1_000_000}})
	}
	products, _ := s.view.Manifest.Find(manifest.Unit{Kind: manifest.Products})
	s.view.Manifest = manifest.New(1, products, month)
	service := NewService(s, nil)
	service.Remember(s, (unitBytes+packedRowBytes*rows)*3/2)
	service.queueAhead(s.view)
	for range 10 {
		if worked, err := service.Fill(t.Context()); err != nil || !worked {
			if err != nil || s.reads != 1 {
				t.Errorf("%d statements: %v", s.reads, err)
			}
			return
		}
	}
	t.Errorf("after %d statements it goes on", s.reads)
}

// After one question, others about the account need no statement either, as
// far as there is room. What a load replaces takes the room that it had.
func TestAnAccountIsReadAheadIntoFreeRoom(t *testing.T) {
	for _, c := range []struct {
		bytes int
		all   bool
	}{{1 << 20, true}, {64 << 10, false}} {
		s := someShop()
		service := NewService(s, nil)
		service.Remember(s, c.bytes)
		if _, err := service.Products(t.Context(), s.view, november(1)); err != nil {
			t.Fatal(err)
		}
		mustBeFilled(t, service)
		mustBeRemembered(t, service, s.view, november(1), true)
		other := november(1)
		other.Period = days("2024-10-05", "2026-10-15")
		mustBeRemembered(t, service, s.view, other, c.all)
		used := service.memory.units.Weight()
		if used > c.bytes || !c.all && used > c.bytes/4*3 {
			t.Errorf("%d bytes are used of %d", used, c.bytes)
		}
		unit := manifest.Unit{Kind: manifest.Year, Slice: manifest.Slice{Marketplace: usKey, AdProduct: adlens.SponsoredBrands}, Start: day("2026-01-01")}
		s.view.Manifest = s.view.Manifest.With(13, manifest.Entry{Unit: unit, Generation: 7})
		service.queueAhead(s.view)
		mustBeFilled(t, service)
		if u, ok := service.memory.units.Peek(unitName{account: s.view.Account, table: yearUnits, unit: unit}); !ok || u.generation != 7 {
			t.Errorf("with %d bytes, a year is not read again: %+v", c.bytes, u)
		}
	}
}

// summed is a shop that has day totals.
type summed struct {
	*shop
	days *rollup
}

func (s summed) DayTotals(ctx context.Context, st Statement) ([]DayTotal, error) {
	return s.days.DayTotals(ctx, st)
}

// Who asks for a summary is likely to ask for products.
func TestAnAccountThatAsksForASummaryIsReadAhead(t *testing.T) {
	s := someShop()
	service := NewService(summed{s, s.asDays()}, nil)
	service.Remember(s, 1<<20)
	if _, err := service.Summary(t.Context(), s.view, november(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, named := service.directory.cachedNames(s.view); !named {
		t.Error("names, which every report needs, are not read first")
	}
	mustBeFilled(t, service)
	mustBeRemembered(t, service, s.view, november(1), true)
}

// An account that asks much does not keep others from being read in.
func TestEachAccountHasOneWish(t *testing.T) {
	m := newMemory(nil, 1<<20)
	m.queueMiss("a", november(1))
	m.queueMiss("b", november(1))
	for page := range 5_000 {
		m.queueMiss("a", november(page))
	}
	for _, want := range []string{"a", "b"} {
		if account, r, ok := m.nextMiss(); account != want || !ok || want == "a" && r.Page != 4_999 {
			t.Errorf("%q, %+v", account, r)
		}
	}
	if _, _, ok := m.nextMiss(); ok {
		t.Error("a miss is left")
	}
}

func TestStatementsForUnitsKeepValuesApart(t *testing.T) {
	some := []Live{{Generation: 112603}, {Generation: 112604}}
	for _, table := range []unitTable{yearUnits, monthUnits, dayUnits} {
		for _, by := range []level{byProduct, byCampaign, byAdGroup, byNothing} {
			for _, only := range []keys{{}, {nil, nil, {77770}}, {{77771, 77772}, {77773}, nil}} {
				mustKeepValuesApart(t, Plan{Account: "acct-'7", by: by, narrowing: narrowing{Only: only}}.unitsStatement(table, some))
			}
		}
	}
}

// A statement that does not name its partitions looks into all of them.
func TestUnitsAreLookedForInTheirPartitionsAlone(t *testing.T) {
	some := []Live{{Unit: manifest.Unit{Start: day("2026-05-01")}, Generation: 8}, {Unit: manifest.Unit{Start: day("2025-12-01")}, Generation: 9}, {Unit: manifest.Unit{Start: day("2026-05-01")}, Generation: 7}}
	for table, want := range map[unitTable][2]string{dayUnits: {"toYYYYMM(day) IN {calendar:Array(UInt32)}", "[202512,202605]"}, monthUnits: {"toYear(month) IN {calendar:Array(UInt32)}", "[2025,2026]"}, yearUnits: {"", ""}} {
		s := Plan{Account: "a", by: byCampaign}.unitsStatement(table, some)
		if !strings.Contains(s.SQL, want[0]) || s.Params["calendar"] != want[1] {
			t.Errorf("expected %q with %s:\n%s", want[0], want[1], s)
		}
	}
}
