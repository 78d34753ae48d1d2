package freshness_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/standin"
)

// stale gives a connected marketplace an old list, and the platform another.
func (l *live) stale(t *testing.T) *merchant {
	t.Helper()
	m := l.merchant(t, "US")
	r := random(t)
	m.connect(t)
	m.hold(r, 0, "before", 120, 110, 105)
	m.loadOld(t, 0, time.Hour)
	m.hold(r, 0, "after", 121, 111, 106)
	return m
}

// echo answers with what a client must never write down.
func echo() standin.Effect {
	return standin.Effected(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, fmt.Sprintf(`{"code":"400","details":"%s %s %s"}`, house.CanarySecret, house.CanaryRefresh, r.Header.Get("Authorization")))
	})
}

func TestAListThatFailsStaysAndKeepsNoOtherBack(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	for what, c := range map[string]struct {
		on    standin.Endpoint
		do    standin.Effect
		nth   int
		calls int    // of that endpoint at most
		says  string // in the log
	}{
		"500 for ever":        {standin.SPAdGroups, standin.ServerError(500), 1, 6, "500"},
		"throttled for ever":  {standin.SBAds, standin.Throttled("1"), 2, 8, "429"},
		"refused":             {standin.SBCampaigns, standin.Error(403, standin.Details, "not for you"), 1, 2, "403"},
		"cut answers":         {standin.SDAds, standin.CutBody(), 2, 8, "productAds"},
		"wrong JSON":          {standin.SPCampaigns, standin.WrongJSON(), 2, 8, "damaged"},
		"a web page":          {standin.SDCampaigns, standin.HTML(), 2, 8, "campaigns"},
		"resets":              {standin.SPAds, standin.Reset(), 1, 6, "productAds"},
		"tokens never taken":  {standin.SDAdGroups, standin.ExpiredToken(), 2, 8, "401"},
		"pages without end":   {standin.SBAdGroups, standin.EndlessToken(), 1, 40, "no rows"},
		"the same page again": {standin.SPCampaigns, standin.SameToken(), 1, 20, "page"},
		"repeated pages":      {standin.SBCampaigns, standin.RepeatPage(), 2, 20, "twice"},
		"totals that differ":  {standin.SPAdGroups, standin.WrongTotal(1), 1, 20, "total"},
		"fewer than promised": {standin.SBAds, standin.WrongTotal(-1), 1, 20, "total"},
		"secrets told back":   {standin.SPAds, echo(), 1, 2, "400"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := l.stale(t)
			m.fault(0, standin.Fault{On: c.on, Nth: c.nth, Times: -1, Do: c.do})
			m.begin(t, "/campaigns", 0)
			m.settled(t, 0)
			m.Model.Load(m.exportsAsShown(t, 0, c.on))
			house.CheckLists(t, m.Tenant) // synced_at included, which is the old one's
			m.wantSaidOnce(t, c.says)
			calls := m.listCalls(0)
			if calls := m.callsOf(c.on); calls > c.calls {
				t.Errorf("%d calls, want at most %d", calls, c.calls)
			}
			// Who asks now is shown the same, and the platform rests.
			for range 5 {
				house.CheckLists(t, m.Tenant)
			}
			if now := m.listCalls(0); now != calls {
				t.Errorf("a failed reading was begun again at once: %d calls became %d", calls, now)
			}
		})
	}
}

// callsOf counts the calls of one list of the account.
func (m *merchant) callsOf(endpoint standin.Endpoint) int {
	calls := 0
	for page, n := range m.pagesAsked(0) {
		if strings.HasPrefix(page, string(endpoint)+" from") {
			calls += n
		}
	}
	return calls
}

// wantSaidOnce demands one line of the log on the account's lists, which names
// the marketplace and what went wrong, and no secret.
func (m *merchant) wantSaidOnce(t *testing.T, what string) {
	t.Helper()
	var about []string
	for _, line := range m.log() {
		if !strings.Contains(line, "figures") {
			about = append(about, line)
		}
	}
	if len(about) != 1 || !strings.Contains(about[0], m.id(0)) || !strings.Contains(about[0], what) {
		t.Errorf("want one line of the log that names %s and says %q, got %d:\n%s", m.id(0), what, len(about), strings.Join(about, "\n"))
	}
	for _, server := range m.live.servers {
		for _, secret := range []string{house.CanarySecret, house.CanaryRefresh, "Atza|"} {
			if strings.Contains(server.Log(), secret) {
				t.Errorf("the log says %q", secret)
			}
		}
	}
}

func TestAReadingSurvivesWhatThePlatformDoes(t *testing.T) {
	t.Parallel()
	m := liveHouse(t).stale(t)
	for _, fault := range []standin.Fault{
		{On: standin.SPCampaigns, Nth: 2, Do: standin.ServerError(502)},
		{On: standin.SPAdGroups, Do: standin.Throttled("1")},
		{On: standin.SPAds, Do: standin.CutBody()},
		{On: standin.SBCampaigns, Nth: 2, Do: standin.ExpiredToken()},
		{On: standin.SBAdGroups, Do: standin.Reset()},
		{On: standin.SBAds, Nth: 2, Do: standin.Throttled("")},
		{On: standin.SDCampaigns, Nth: 2, Do: standin.HTML()},
		{On: standin.SDAdGroups, Do: standin.Stall(300 * time.Millisecond)},
		{On: standin.SDAds, Nth: 2, Do: standin.RepeatPage()},
	} {
		m.fault(0, fault)
	}
	began := time.Now()
	m.begin(t, "/campaigns", 0)
	m.read(t, 0, began, m.settled(t, 0))
	house.CheckLists(t, m.Tenant)
	if said := m.log(); len(said) > 20 {
		t.Errorf("the log has %d lines on one reading:\n%s", len(said), strings.Join(said, "\n"))
	}
}

func TestAnAuthorWithoutBrandsHasTheOtherLists(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	m := l.merchant(t, "US")
	l.platform.Change(m.profiles[0].ID, func(p *standin.Profile) { p.SubType = "KDP_AUTHOR" })
	m.hold(random(t), 0, "book", 12, 0, 7)
	m.connect(t)
	m.readAnew(t)
	house.CheckLists(t, m.Tenant)
}

func TestAFirstReadingThatIsRefusedMidwayShowsTheOtherLists(t *testing.T) {
	t.Parallel()
	m := liveHouse(t).merchant(t, "US")
	m.hold(random(t), 0, "half", 150, 20, 20)
	m.connect(t)
	m.fault(0, standin.Fault{On: standin.SPCampaigns, Nth: 2, Times: -1, Do: standin.Error(400, standin.Details, "Invalid nextToken")})
	m.begin(t, "/campaigns", 0)
	l := m.settled(t, 0)
	if l.Meta.SyncedAt == nil || len(l.Data) == 0 {
		t.Fatalf("want the campaigns of two ad products, got %s", l.answer)
	}
	m.Model.Load(m.exportsAsShown(t, 0, standin.SPCampaigns))
	house.CheckLists(t, m.Tenant) // ad groups of unknown campaigns are not shown
	m.wantSaidOnce(t, "Invalid nextToken")
}

// Of a platform that gives no list at all nothing is shown, and it is asked no
// sooner than a list that failed.
func TestAPlatformThatRefusesEveryListShowsNothing(t *testing.T) {
	t.Parallel()
	m := liveHouse(t).merchant(t, "US")
	m.hold(random(t), 0, "none", 5, 5, 5)
	m.connect(t)
	for _, endpoint := range listEndpoints {
		m.fault(0, standin.Fault{On: endpoint, Times: -1, Do: standin.Error(400, standin.Details, "not today")})
	}
	m.begin(t, "/campaigns", 0)
	if l := m.settled(t, 0); l.Meta.SyncedAt != nil || len(l.Data) != 0 {
		t.Errorf("want no list, got one of %v with %d campaigns", l.Meta.SyncedAt, len(l.Data))
	}
	house.Check(t, m.Ask, m.Model, house.NewQuestion("/marketplaces", ""))
	m.wantSaidOnce(t, "not today")
}

func TestReadingsThatHaveToWaitKeepNoOtherBack(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 1)
	for range 6 {
		waiting := l.merchant(t, "US")
		waiting.connect(t)
		waiting.fault(0, standin.Fault{On: standin.SPAds, Times: -1, Do: standin.Throttled("1800")})
		waiting.fault(0, standin.Fault{On: standin.SPCampaigns, Times: -1, Do: standin.Throttled("1800")})
		waiting.begin(t, "/campaigns", 0)
	}
	m := l.merchant(t, "US")
	m.hold(random(t), 0, "free", 3, 3, 3)
	m.connect(t)
	m.readAnew(t)
	house.CheckLists(t, m.Tenant)
}

func TestAConnectionThatWasRevokedIsSaidAndTheListIsKept(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 1) // calls for tokens name no account
	m := l.stale(t)
	before := l.platform.Calls(standin.Token)
	l.platform.Revoke(m.refresh)
	m.begin(t, "/campaigns", 0)
	m.settled(t, 0)
	house.CheckLists(t, m.Tenant)
	house.Eventually(t, "/account says that the platform refused", func() bool {
		connected, _ := connection(t, m.Ask)
		return !connected
	})
	if said := strings.Join(m.log(), "\n"); !strings.Contains(said, "adlens connect") {
		t.Errorf("want the way out in the log, got %s", said)
	}
	for range 5 {
		house.CheckLists(t, m.Tenant)
	}
	<-time.After(house.SeveralLooks)
	if calls := l.platform.Calls(standin.Token) - before; calls > 4 {
		t.Errorf("the platform was asked %d times for a token", calls)
	}
}

func TestAListThatLostMostIsReplacedOnlyWhereThatIsSure(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	for what, c := range map[string]struct {
		faults   []standin.Fault
		left     [3]int // campaigns of each ad product on the platform
		replaced bool
		twice    standin.Endpoint // what has to be read twice
	}{
		"Display, the same twice":                   {nil, [3]int{20, 20, 9}, true, standin.SDCampaigns},
		"Display, half of it left":                  {nil, [3]int{20, 20, 10}, true, ""},
		"Display, nothing left, the same twice":     {nil, [3]int{20, 20, 0}, true, standin.SDCampaigns},
		"Display, whole at the second reading":      {[]standin.Fault{{On: standin.SDCampaigns, Times: 2, Do: standin.ShownOnly(3)}}, [3]int{20, 20, 20}, false, standin.SDCampaigns},
		"Display, another part each time":           {[]standin.Fault{{On: standin.SDCampaigns, Times: 2, Do: standin.ShownOnly(3)}, {On: standin.SDCampaigns, Times: -1, Do: standin.ShownOnly(4)}}, [3]int{20, 20, 20}, false, standin.SDCampaigns},
		"Products, with its total":                  {nil, [3]int{2, 20, 20}, true, ""},
		"Brands, with its total":                    {nil, [3]int{20, 0, 20}, true, ""},
		"Products, without a total, the same twice": {[]standin.Fault{{On: standin.SPCampaigns, Times: -1, Do: standin.NoTotal()}}, [3]int{2, 20, 20}, true, standin.SPCampaigns},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := l.merchant(t, "US")
			r := random(t)
			m.connect(t)
			m.hold(r, 0, "before", 20, 20, 20)
			m.loadOld(t, 0, time.Hour)
			// The very same campaigns, but for those that are gone.
			m.live.platform.SetEntitiesOf(m.profiles[0].ID, m.without(c.left))
			for _, fault := range c.faults {
				m.fault(0, fault)
			}
			began := time.Now()
			m.begin(t, "/campaigns", 0)
			done := m.settled(t, 0)
			if c.replaced {
				m.read(t, 0, began, done)
			} else if m.Model.Load(m.exportsAsShown(t, 0, c.twice)); len(m.log()) == 0 {
				t.Error("the log does not say why the list was kept")
			}
			house.CheckLists(t, m.Tenant)
			m.wantReadTwice(t, c.twice)
		})
	}
}

// without takes campaigns off the ends of the ad products' lists.
func (m *merchant) without(left [3]int) standin.Entities {
	all := m.live.platform.Entities()
	kept := standin.Entities{}
	seen := map[string]int{}
	most := map[string]int{}
	for i, product := range house.AdProducts {
		most[product] = left[i]
	}
	for _, c := range all.Campaigns {
		if c.Profile != m.profiles[0].ID {
			continue
		}
		if seen[c.AdProduct]++; seen[c.AdProduct] <= most[c.AdProduct] {
			kept.Campaigns = append(kept.Campaigns, c)
		}
	}
	for _, g := range all.AdGroups {
		if g.Profile == m.profiles[0].ID {
			kept.AdGroups = append(kept.AdGroups, g)
		}
	}
	for _, a := range all.Ads {
		if a.Profile == m.profiles[0].ID {
			kept.Ads = append(kept.Ads, a)
		}
	}
	return kept
}

// wantReadTwice demands that one list began twice and every other once.
func (m *merchant) wantReadTwice(t *testing.T, twice standin.Endpoint) {
	t.Helper()
	pages := m.pagesAsked(0)
	for _, endpoint := range listEndpoints {
		want := 1
		if endpoint == twice {
			want = 2
		}
		begun := pages[fmt.Sprintf("%s from %q", endpoint, "")] + pages[fmt.Sprintf("%s from %q", endpoint, "0")]
		if begun != want {
			t.Errorf("%s was read %d times, want %d", endpoint, begun, want)
		}
	}
}
