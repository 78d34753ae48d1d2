package query

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/records"

	"github.com/google/go-cmp/cmp"
)

func TestALimitedViewHasNothingOfOtherMarketplaces(t *testing.T) {
	whole := exampleView()
	whole.Legacy = []LegacyCampaign{{Marketplace: usKey, ID: "1"}, {Marketplace: uk2Key, ID: "2"}}
	for _, c := range []struct {
		only      []string
		ids       string
		countries string // of which nothing is elsewhere
		keys      []uint16
	}{
		{[]string{"US"}, "1001", "US", []uint16{usKey}},
		{[]string{"UK"}, "2001,2002", "UK", []uint16{uk1Key, uk2Key}},
		{[]string{"2002"}, "2002", "", []uint16{uk2Key}},
		{[]string{"1001", "2001", "2002"}, "1001,2001,2002", "UK,US", []uint16{usKey, uk1Key, uk2Key}},
		{[]string{"DE"}, "", "", nil}, // not connected any more: nothing, never everything
		{[]string{}, "", "", nil},
	} {
		v := whole.limitTo(c.only)
		if got := strings.Join(v.Limited.Marketplaces, ","); got != c.ids || len(v.Marketplaces) != len(c.keys) {
			t.Errorf("%q: the marketplaces are %s, want %s", c.only, got, c.ids)
		}
		if got := strings.Join(v.Limited.Countries, ","); got != c.countries {
			t.Errorf("%q: the countries are %s, want %s", c.only, got, c.countries)
		}
		units := 0
		for _, e := range v.Manifest.Entries() {
			if e.Slice != (manifest.Slice{}) && !slices.Contains(c.keys, e.Slice.Marketplace) {
				t.Fatalf("%q: the view has %s", c.only, e.Unit)
			}
			units++
		}
		for _, e := range whole.Manifest.Entries() {
			if _, has := v.Manifest.Find(e.Unit); !has && (e.Slice == (manifest.Slice{}) || slices.Contains(c.keys, e.Slice.Marketplace)) {
				t.Errorf("%q: the view lacks %s", c.only, e.Unit)
			}
		}
		if slices.ContainsFunc(v.Legacy, func(l LegacyCampaign) bool { return !slices.Contains(c.keys, l.Marketplace) }) {
			t.Errorf("%q: the view has legacy campaigns %v", c.only, v.Legacy)
		}
		if _, _, held := v.Manifest.HeldDays(manifest.Any); held != (c.keys != nil) {
			t.Errorf("%q: held days are %v with %d units", c.only, held, units)
		}
	}
}

// What a repair brings back of legacy campaigns changes neither the version nor the
// marketplaces.
func TestALimitedViewIsMadeAgainAfterARepair(t *testing.T) {
	s := NewService(nil, nil)
	half, whole := exampleView(), exampleView()
	whole.Legacy = []LegacyCampaign{{Marketplace: usKey, ID: "1"}}
	other := half
	other.Account += "-2"
	s.limitView(half, []string{"US"})
	s.limitView(other, []string{"US"})
	s.Forget(half.Account)
	if v := s.limitView(whole, []string{"US"}); len(v.Legacy) != 1 {
		t.Errorf("the view has the legacy campaigns %v, expected one", v.Legacy)
	}
	if kept := s.limited.Stats().Values; kept != 2 {
		t.Errorf("%d views are kept, expected that of another account too", kept)
	}
	s.Forget("")
	if kept := s.limited.Stats().Values; kept != 0 {
		t.Errorf("%d views are kept after all were forgotten", kept)
	}
}

// A limited view outlives the whole view that it was made of.
func TestLimitedViewsTakeTheMemoryThatIsCounted(t *testing.T) {
	s := NewService(nil, nil)
	before := heapBytes()
	for account := range 20 {
		v, entries := View{Account: fmt.Sprint(account)}, []manifest.Entry(nil)
		for key := range uint16(30) {
			v.Marketplaces = append(v.Marketplaces, Marketplace{Key: key + 1, ID: fmt.Sprint(key), Country: fmt.Sprint(key)})
			v.Legacy = append(v.Legacy, LegacyCampaign{Marketplace: key + 1, ID: fmt.Sprint("campaign ", key), Days: make([]adlens.Day, 5000)})
			for month := range 36 {
				unit := manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: key + 1, AdProduct: adlens.SponsoredProducts}, Start: adlens.Date(2024, time.Month(1+month), 1)}
				sources := make([]manifest.Source, 5)
				for i := range sources {
					sources[i] = manifest.Source{ReportID: fmt.Sprintf("%036d", i), SHA256: fmt.Sprintf("%064d", i)}
				}
				entries = append(entries, manifest.Entry{Unit: unit, Sources: sources})
			}
		}
		v.Manifest = manifest.New(7, entries...)
		s.limitView(v, []string{"0", "1", "2"})
	}
	taken, counted := heapBytes()-before, s.limited.Weight()
	if 10*taken > 12*counted || 10*counted > 12*taken {
		t.Errorf("%d views take %d bytes, of which %d are counted", s.limited.Stats().Values, taken, counted)
	}
}

// heapBytes returns how many bytes are in use.
func heapBytes() int {
	var m runtime.MemStats
	for range 2 { // a pool keeps what it has for one collection
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// An answer's name depends on the marketplaces, however they were given.
func TestIdentitiesOfLimitedViewsAreThoseOfTheirMarketplaces(t *testing.T) {
	v, r := exampleView(), Request{Period: days("2026-01-01", "2026-01-31")}
	names := map[string]string{}
	for what, view := range map[string]View{"all": v, "US": v.limitTo([]string{"US"}), "UK": v.limitTo([]string{"UK"}), "2001": v.limitTo([]string{"2001"}), "all three": v.limitTo([]string{"UK", "US"}), "none": v.limitTo(nil)} {
		for endpoint, name := range map[string]string{"summary": Identity("summary", view, r), "rules": ListIdentity("rules", view, ListRequest{})} {
			if other, known := names[name]; known {
				t.Errorf("%s of %s is named like that of %s", endpoint, what, other)
			}
			names[name] = what
		}
	}
	if Identity("summary", v.limitTo([]string{"UK"}), r) != Identity("summary", v.limitTo([]string{"2002", "2001"}), r) {
		t.Error("the same marketplaces, given by country and by ids, make two names")
	}
}

func TestRulesAndRunsAreCutToAView(t *testing.T) {
	v := exampleView().limitTo([]string{"US", "2001"}) // one of two in the UK
	known := map[string]bool{"c1": true}
	list := func(texts ...string) *[]string { return &texts }
	ids := func(texts ...records.ID) *[]records.ID { return &texts }
	for _, c := range []struct {
		scope, want records.Scope
		acts        bool
	}{
		{records.Scope{}, records.Scope{}, true},
		{records.Scope{Marketplaces: list("US")}, records.Scope{Marketplaces: list("US")}, true},
		{records.Scope{Marketplaces: list("DE", "UK", "FR")}, records.Scope{Marketplaces: list("UK")}, true},
		{records.Scope{Marketplaces: list("DE")}, records.Scope{}, false},
		{records.Scope{Marketplaces: list()}, records.Scope{Marketplaces: list()}, true},
		{records.Scope{CampaignIDs: ids("c1", "c2")}, records.Scope{CampaignIDs: ids("c1")}, true},
		{records.Scope{CampaignIDs: ids("c2")}, records.Scope{}, false},
		{records.Scope{Marketplaces: list("US", "DE"), CampaignIDs: ids("c2")}, records.Scope{}, false},
		{records.Scope{Marketplaces: list("US"), CampaignIDs: ids("c2")}, records.Scope{Marketplaces: list("US"), CampaignIDs: ids("c2")}, true},
		{records.Scope{Marketplaces: list(), CampaignIDs: ids("c2")}, records.Scope{}, false},
		{records.Scope{Marketplaces: list("UK"), CampaignIDs: ids("c2")}, records.Scope{}, false}, // of which the view has one marketplace of two
	} {
		got, acts := v.limitRule(Rule{Rule: records.Rule{Scope: c.scope}}, known)
		if acts != c.acts || acts && scopeText(got.Scope) != scopeText(c.want) {
			t.Errorf("%s is %s, %v; want %s, %v", scopeText(c.scope), scopeText(got.Scope), acts, scopeText(c.want), c.acts)
		}
	}
	if _, acts := exampleView().limitTo([]string{"9999"}).limitRule(Rule{}, nil); acts {
		t.Error("a view whose marketplaces are gone has a rule that acts everywhere")
	}
	change := func(country string) records.Change { return records.Change{Marketplace: country} }
	for _, c := range []struct {
		name          string
		run           records.RuleRun
		marketplaces  string
		changes       int
		changed       string // "?" where it is not known
		looksAreKnown bool
	}{
		{"of the view alone", records.RuleRun{Marketplaces: []string{"US"}, Changed: 7, Changes: []records.Change{change("US")}}, "US", 1, "7", true},
		{"in others too, with all changes listed", records.RuleRun{Marketplaces: []string{"DE", "US"}, Changed: 3, Changes: []records.Change{change("US"), change("DE"), change("US")}}, "US", 2, "2", false},
		{"in others too, with some changes listed", records.RuleRun{Marketplaces: []string{"DE", "US"}, Changed: 9, Changes: []records.Change{change("US")}}, "US", 1, "?", false},
		{"in a country of which the view has a part", records.RuleRun{Marketplaces: []string{"UK", "US"}, Changed: 1, Changes: []records.Change{change("UK")}}, "US", 0, "0", false},
		{"with a change elsewhere", records.RuleRun{Marketplaces: []string{"US"}, Changed: 1, Changes: []records.Change{change("")}}, "US", 0, "0", false},
	} {
		before := fmt.Sprint(c.run)
		got := v.limitRun(RuleRun{RuleRun: c.run})
		changed := fmt.Sprint(got.Changed)
		if got.ChangedUnknown {
			changed = "?"
		}
		if strings.Join(got.Marketplaces, ",") != c.marketplaces || len(got.Changes) != c.changes || changed != c.changed || got.LookedAtUnknown == c.looksAreKnown {
			t.Errorf("a run %s is %+v", c.name, got)
		}
		if fmt.Sprint(c.run) != before {
			t.Errorf("a run %s was changed in its place: %v", c.name, c.run)
		}
	}
}

func scopeText(s records.Scope) string {
	text := "all"
	if s.Marketplaces != nil {
		text = fmt.Sprint(*s.Marketplaces)
	}
	if s.CampaignIDs != nil {
		text += fmt.Sprint(" ", *s.CampaignIDs)
	}
	return text
}

// What a limited view lists of records is a condition of the statement, with its
// marketplaces as a parameter.
func TestStatementsOfRecordsNameTheMarketplacesOfALimitedView(t *testing.T) {
	v := exampleView()
	limited := v.limitTo([]string{"2001", "US"})
	for name, parameter := range map[string][2]string{"activity": {"marketplaces", `["1001","2001"]`}, "activity_count": {"marketplaces", `["1001","2001"]`}, "rules": {"countries", `["US"]`}, "rule_runs": {"countries", `["US"]`},
		"rule_runs_bytes": {"countries", `["US"]`}} {
		st := limited.listStatement(name, ListRequest{Paging: Paging{Page: 1, PageSize: 5}})
		if st.Params[parameter[0]] != Text(parameter[1]) || !strings.Contains(st.SQL, "{"+parameter[0]+":String}") {
			t.Errorf("%s: %s", name, st)
		}
		if plain := v.listStatement(name, ListRequest{Paging: Paging{Page: 1, PageSize: 5}}); strings.Contains(plain.SQL, "JSONExtract(") || strings.Contains(plain.SQL, "/*") {
			t.Errorf("%s of the whole account: %s", name, plain)
		}
	}
	changesOfLastRuns := func(v View) bool {
		return !strings.Contains(v.listStatement("rules", ListRequest{Paging: Paging{Page: 1, PageSize: 5}}).SQL, "m.1 != 'changes'")
	}
	if changesOfLastRuns(v) || !changesOfLastRuns(limited) {
		t.Error("the changes of last runs are read where they are not shown, or not where a limited view counts them")
	}
	for _, of := range []View{v, limited} {
		if st := of.listStatement("activity", ListRequest{Paging: Paging{Page: 1, PageSize: 5}}); !strings.Contains(st.SQL, "m.1 NOT IN ('created_campaign_ids', 'changed_campaign_ids')") {
			t.Errorf("the campaigns that entries list are read, and not shown: %s", st)
		}
	}
	var years []uint32
	for _, e := range limited.Manifest.Of(manifest.Year) {
		years = append(years, e.Generation)
	}
	if st, some := limited.heldKeysStatement(identified[2], []uint32{9, 3}); !some || st.Params["keys"] != "[3,9]" || strings.Contains(st.SQL, "/*") ||
		st.Params["generations"] != Numbers(years) || len(years) == len(v.Manifest.Of(manifest.Year)) {
		t.Errorf("held keys: %v, expected those of %v\n%s", some, years, st)
	}
	if _, some := v.limitTo(nil).heldKeysStatement(identified[2], []uint32{1}); some {
		t.Error("a view without marketplaces has figures")
	}
}

// recordList is a store of records that notes its statements.
type recordList struct {
	ListStore
	asked []Statement
}

func (l *recordList) Count(_ context.Context, s Statement) (int, error) {
	l.asked = append(l.asked, s)
	return 3, nil
}

func (l *recordList) RulesWithRuns(_ context.Context, s Statement) ([]Rule, error) {
	l.asked = append(l.asked, s)
	elsewhere, unknown := []string{"DE"}, []records.ID{"of no list"}
	return []Rule{{Rule: records.Rule{ID: "everywhere"}, LastRun: &RuleRun{RuleRun: records.RuleRun{ID: "of none", LookedAt: records.LookedAt{Campaigns: 5}}}},
		{Rule: records.Rule{ID: "unknown", Scope: records.Scope{CampaignIDs: &unknown}}},
		{Rule: records.Rule{ID: "elsewhere", Scope: records.Scope{Marketplaces: &elsewhere, CampaignIDs: &unknown}}}}, nil
}

func (l *recordList) Runs(_ context.Context, s Statement) ([]RuleRun, error) {
	l.asked = append(l.asked, s)
	return []RuleRun{{RuleRun: records.RuleRun{ID: "of none", Changed: 2, Changes: []records.Change{{Marketplace: ""}}}},
		{RuleRun: records.RuleRun{ID: "elsewhere", Marketplaces: []string{"DE"}, Changed: 1}}}, nil
}

func (l *recordList) Entries(_ context.Context, s Statement) ([]records.Activity, error) {
	l.asked = append(l.asked, s)
	return []records.Activity{{ID: "a1", MarketplaceID: "no more"}, {ID: "a2", MarketplaceID: "1001"}}, nil
}

// A key for all marketplaces of an account is told what a whole key is, also of records
// that name none of them.
func TestAViewLimitedToAllMarketplacesHasAllRecords(t *testing.T) {
	whole := exampleView()
	told := func(v View) (text string) {
		store := &recordList{}
		s := NewService(newEngine(), store)
		r := ListRequest{Paging: Paging{Page: 1, PageSize: 5}}
		rules, rulesErr := s.Rules(t.Context(), v, r)
		runs, found, runsErr := s.RuleRuns(t.Context(), v, "unknown")
		bytes, bytesErr := s.RunBytes(t.Context(), v, "unknown")
		activity, activityErr := s.Activity(t.Context(), v, r)
		for _, answer := range []any{rules, runs, found, bytes, activity, store.asked, rulesErr, runsErr, bytesErr, activityErr} {
			encoded, err := json.Marshal(answer)
			if err != nil {
				t.Fatal(err)
			}
			text += string(encoded) + "\n"
		}
		return text
	}
	for _, only := range [][]string{{"UK", "US"}, {"1001", "2001", "2002"}} {
		if diff := cmp.Diff(told(whole), told(whole.limitTo(only))); diff != "" {
			t.Errorf("%q (-whole +limited):\n%s", only, diff)
		}
	}
	for name, v := range map[string]View{"a part": whole.limitTo([]string{"US"}), "none of none": View{Account: "acct-7"}.limitTo([]string{"US"})} {
		if !v.isPart() {
			t.Errorf("a view of %s is taken for the whole", name)
		}
	}
}

// sharedIDs is a store where marketplaces have the same campaign, each with a name of its
// own, and in their lists.
type sharedIDs struct{ shelf }

func campaignID(id string) adlens.EntityID {
	return adlens.EntityID{Type: adlens.CampaignEntity, ID: id}
}

func (s *sharedIDs) Entities(context.Context, string, uint32) ([]NamedEntity, error) {
	named := func(key uint32, id string, market uint16, name string, day int) NamedEntity {
		return NamedEntity{key, campaignID(id), adlens.MarketplaceName{Marketplace: market, DatedName: adlens.DatedName{Text: name, At: time.Date(2026, 10, day, 0, 0, 0, 0, time.UTC)}}}
	}
	return []NamedEntity{
		named(1, "6", usKey, "Lamps", 2), named(1, "6", uk1Key, "Lights", 3), named(1, "6", 0, "Torches", 4),
		named(2, "7", 0, "Ropes", 1), named(2, "7", uk2Key, "Cords", 9),
		named(3, "8", uk2Key, "Tents", 1), {Key: 4, EntityID: campaignID("9")},
		named(5, "10", 0, "Spring", 10), named(5, "10", usKey, "Autumn", 1),
		{Key: 6, EntityID: campaignID("11")}, {Key: 7, EntityID: campaignID("12")},
	}, nil
}

func (s *sharedIDs) ListedNames(_ context.Context, _ string, generations []uint32) (all []ListedName, err error) {
	for _, generation := range generations {
		all = append(all, ListedName{Generation: generation, EntityID: campaignID("5")})
	}
	return all, nil
}

// Another marketplace's name is not shown, however new it is.
func TestNamesAreThoseOfTheViewsMarketplaces(t *testing.T) {
	whole, store := exampleView(), &sharedIDs{}
	d := newDirectory(store)
	for _, c := range []struct {
		only  []string
		names []string // by number
	}{
		{[]string{"US"}, []string{"Lamps", "Ropes", "", "", "Spring"}},
		{[]string{"2001"}, []string{"Lights", "Ropes", "", "", "Spring"}},
		{[]string{"2002"}, []string{"Torches", "Cords", "Tents", "", "Spring"}},
		{[]string{"UK"}, []string{"Lights", "Cords", "Tents", "", "Spring"}},
		{[]string{"UK", "US"}, []string{"Torches", "Cords", "Tents", "", "Spring"}},
		{nil, []string{"Torches", "Ropes", "", "", "Spring"}},
	} {
		for range 2 { // from the store, and from memory
			known, err := d.getEntities(t.Context(), whole.limitTo(c.only))
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.names {
				if got := known.entity(uint32(i + 1)).Name.Text; got != want {
					t.Errorf("%q: campaign %d is %q, want %q", c.only, i+1, got, want)
				}
			}
		}
	}
}

func TestAnIDIsInTheListsOfEachMarketplaceThatHasIt(t *testing.T) {
	whole := exampleView()
	for key, generation := range map[uint16]uint32{uk1Key: 11, usKey: 12, uk2Key: 13} {
		unit := manifest.Unit{Kind: manifest.Campaigns, Slice: manifest.Slice{Marketplace: key, AdProduct: adlens.SponsoredProducts}}
		whole.Manifest = whole.Manifest.With(whole.Manifest.Version, manifest.Entry{Unit: unit, Generation: generation, Sources: make([]manifest.Source, 1)})
	}
	store := &sharedIDs{}
	s := &Service{store: store, directory: newDirectory(store)}
	for _, c := range []struct {
		only []string
		want bool
	}{{[]string{"US"}, true}, {[]string{"2001"}, true}, {[]string{"2002"}, true}, {[]string{"UK", "US"}, true}, {nil, false}} {
		listed, err := s.listedIDs(t.Context(), whole.limitTo(c.only), levels[byCampaign])
		if err != nil {
			t.Fatal(err)
		}
		if got := listed("5"); got != c.want {
			t.Errorf("%q: the campaign is listed: %v, want %v", c.only, got, c.want)
		}
	}
}
