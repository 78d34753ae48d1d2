package manifest

import (
	"testing"
	"time"

	"adlens"
)

func TestDaysBetweenMarksBothEnds(t *testing.T) {
	for _, c := range []struct {
		from, to adlens.Day
		want     Days
	}{
		{adlens.Date(2026, 2, 1), adlens.Date(2026, 2, 1), 1},
		{adlens.Date(2026, 2, 3), adlens.Date(2026, 2, 4), 0b1100},
		{adlens.Date(2026, 1, 1), adlens.Date(2026, 1, 31), 1<<31 - 1},
		{adlens.Date(2026, 1, 31), adlens.Date(2026, 1, 31), 1 << 30},
	} {
		if got := DaysBetween(c.from, c.to); got != c.want {
			t.Errorf("DaysBetween(%s, %s) = %b, want %b", c.from, c.to, got, c.want)
		}
	}
}

func TestTheNewerReportIsTheLaterThenTheGreaterID(t *testing.T) {
	at := time.Date(2026, 3, 1, 2, 3, 4, 5, time.UTC)
	old := Source{ReportID: "b", GeneratedAt: at}
	for name, s := range map[string]Source{
		"a nanosecond later":                    {ReportID: "a", GeneratedAt: at.Add(1)},
		"the same time and a greater id":        {ReportID: "c", GeneratedAt: at},
		"the same instant read in another zone": {ReportID: "c", GeneratedAt: at.In(time.FixedZone("", 3600))},
	} {
		if !s.Newer(old) || old.Newer(s) {
			t.Errorf("%s is not newer", name)
		}
	}
	if old.Newer(old) {
		t.Error("a report is newer than itself")
	}
}

func TestHeldDaysAreThoseOfAllSlicesThatMatch(t *testing.T) {
	us := Slice{Marketplace: 1, AdProduct: adlens.SponsoredProducts}
	uk := Slice{Marketplace: 2, AdProduct: adlens.SponsoredProducts}
	march, may := adlens.Date(2026, 3, 1), adlens.Date(2026, 5, 1)
	m := New(7,
		Entry{Unit: Unit{Month, us, march}, Sources: []Source{{Days: 0b1100}}},
		Entry{Unit: Unit{Month, uk, may}, Sources: []Source{{Days: 0b1}, {Days: 0b10}}},
		Entry{Unit: Unit{Kind: Year, Slice: us, Start: adlens.Date(2026, 1, 1)}},
	)
	oldest, newest, ok := m.HeldDays(Any)
	if !ok || oldest != march+2 || newest != may+1 {
		t.Errorf("held from %s to %s (%v)", oldest, newest, ok)
	}
	if oldest, newest, _ = m.HeldDays(func(s Slice) bool { return s == us }); oldest != march+2 || newest != march+3 {
		t.Errorf("one slice is held from %s to %s", oldest, newest)
	}
	if _, _, ok := New(0).HeldDays(Any); ok {
		t.Error("an empty manifest holds days")
	}
}

func TestALoadDoesNotChangeTheManifestBeforeIt(t *testing.T) {
	u := Unit{Kind: Rates}
	before := New(1, Entry{Unit: u, Generation: 1})
	after := before.With(2, Entry{Unit: u, Generation: 9})
	if before.Generation(u) != 1 || after.Generation(u) != 9 || after.Version != 2 {
		t.Errorf("before %d, after %d", before.Generation(u), after.Generation(u))
	}
}

func TestAUnitIsNamedForPeople(t *testing.T) {
	slice := Slice{Marketplace: 2, AdProduct: adlens.SponsoredBrands}
	for want, u := range map[string]Unit{
		"figures of 2026-03, marketplace no. 2, " + adlens.SponsoredBrands.String():        {Kind: Month, Slice: slice, Start: adlens.Date(2026, 3, 1)},
		"products of the year 2026, marketplace no. 2, " + adlens.SponsoredBrands.String(): {Kind: Year, Slice: slice, Start: adlens.Date(2026, 1, 1)},
		"ad groups, marketplace no. 2, " + adlens.SponsoredBrands.String():                 {Kind: AdGroups, Slice: slice},
		"rates": {Kind: Rates},
	} {
		if got := u.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, kind := range Kinds {
		if (Unit{Kind: kind, Start: adlens.Date(2026, 3, 1)}).String() == "" {
			t.Errorf("kind %d has no name", kind)
		}
	}
}
