package freshness_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
	"adlens/integration/standin"
)

// live is a program whose servers talk to a stand-in of the platform.
type live struct {
	*harness.Program
	platform *standin.Platform
	servers  []*harness.Server

	mu    sync.Mutex
	plans map[int64]func(standin.ReportOrder) standin.JobPlan // of reports, by profile
}

var sharedLive = struct {
	sync.Once
	*live
	dir string
	err error
}{}

// liveHouse gives the live program that tests share: each of them has accounts
// and profiles of its own, and calls are counted by profile.
func liveHouse(t *testing.T) *live {
	t.Helper()
	sharedLive.Do(func() {
		if sharedLive.dir, sharedLive.err = os.MkdirTemp("", "adlens-live-"); sharedLive.err == nil {
			sharedLive.live, sharedLive.err = newLive(sharedLive.dir)
		}
		if sharedLive.err == nil {
			_, sharedLive.err = sharedLive.serve()
		}
	})
	house.Need(t, sharedLive.err)
	return sharedLive.live
}

func closeLive() error {
	if sharedLive.dir == "" {
		return nil
	}
	var stopped error
	if sharedLive.live != nil {
		stopped = sharedLive.stop()
		sharedLive.platform.Close()
	}
	return errors.Join(stopped, os.RemoveAll(sharedLive.dir))
}

// ownLive gives a live program of the test's own, with some servers.
func ownLive(t *testing.T, servers int) *live {
	t.Helper()
	l, err := newLive(t.TempDir())
	house.Need(t, err)
	house.Keep(t, l.Program)
	t.Cleanup(l.platform.Close)
	t.Cleanup(func() {
		if err := l.stop(); err != nil {
			t.Error(err)
		}
	})
	for range servers {
		l.start(t)
	}
	return l
}

func newLive(dir string) (*live, error) {
	program, err := harness.New(dir)
	l := &live{Program: program, plans: map[int64]func(standin.ReportOrder) standin.JobPlan{}}
	l.platform = standin.New(standin.Config{ClientSecret: house.CanarySecret, Grants: []standin.Grant{}})
	l.platform.PlanReportsBy(l.plan)
	return l, err
}

// plan is the course of a report. Where a test has no wish, it hangs: the
// figures are not that test's business.
func (l *live) plan(o standin.ReportOrder) standin.JobPlan {
	l.mu.Lock()
	defer l.mu.Unlock()
	if plan, wished := l.plans[o.Profile]; wished {
		return plan(o)
	}
	return standin.JobPlan{Stuck: true}
}

// serve starts one more server.
func (l *live) serve() (*harness.Server, error) {
	server, err := l.Serve(house.PlatformFlags(l.platform)...)
	if err == nil {
		l.servers = append(l.servers, server)
	}
	return server, err
}

func (l *live) start(t *testing.T) *harness.Server {
	t.Helper()
	server, err := l.serve()
	house.Need(t, err)
	return server
}

// stop ends all servers and demands that they end well. The engine ends with its last
// user.
func (l *live) stop() error {
	if len(l.servers) == 0 {
		return l.StopEngine()
	}
	all := []error{l.ReleaseEngine()} // the last server waits for its end
	for _, server := range l.servers {
		all = append(all, server.Stop())
	}
	l.servers = nil
	return errors.Join(all...)
}

// kill ends all servers as a power cut would. Their engine ends after them.
func (l *live) kill(t *testing.T) {
	t.Helper()
	for _, server := range l.servers {
		server.Kill()
	}
	l.servers = nil
	house.Need(t, l.ReleaseEngine())
}

// merchant is an account with marketplaces of its own on the platform.
type merchant struct {
	*house.Tenant
	live     *live
	profiles []standin.Profile
	refresh  string // its refresh token
}

var lastProfile atomic.Int64

// merchant makes an account, and a marketplace for each country. The account is not
// connected yet.
func (l *live) merchant(t *testing.T, countries ...string) *merchant {
	t.Helper()
	m := &merchant{Tenant: &house.Tenant{Model: model.New()}, live: l}
	number := lastProfile.Add(100)
	m.Files.ID = fmt.Sprintf("merchant-%d", number)
	m.refresh = house.CanaryRefresh + "-" + m.Files.ID
	var ids []int64
	zones := wakingZones(t)
	for i, country := range countries {
		currency := map[string]string{"US": "USD", "CA": "CAD", "MX": "MXN", "BR": "BRL", "UK": "GBP"}[country]
		m.profiles = append(m.profiles, standin.Profile{ID: 3_982_475_484_000_000 + number + int64(i), Country: country, Currency: currency, TimeZone: zones[i%len(zones)]})
		ids = append(ids, m.profiles[i].ID)
	}
	l.platform.AddProfiles(m.profiles...)
	l.platform.SetGrant(standin.Grant{RefreshToken: m.refresh, Profiles: ids})
	var err error
	m.Ask.Key, err = l.Account(m.Files.ID)
	house.Need(t, err)
	if len(l.servers) > 0 {
		m.Ask.Address = l.servers[0].Address
	}
	m.Model.Load(m.profilesFile(t))
	return m
}

// wakingZones are zones where the day neither has just begun nor is about to
// end: what a test says of a marketplace's today is true for as long as it runs.
func wakingZones(t *testing.T) (waking []string) {
	t.Helper()
	for _, name := range []string{"America/Los_Angeles", "America/Sao_Paulo", "Europe/Berlin", "Asia/Kolkata", "Australia/Sydney"} {
		zone, err := time.LoadLocation(name)
		house.Need(t, err)
		if hour := time.Now().In(zone).Hour(); 1 <= hour && hour <= 21 {
			waking = append(waking, name)
		}
	}
	return waking
}

// profilesFile says of the marketplaces what the platform says.
func (m *merchant) profilesFile(t *testing.T) string {
	t.Helper()
	list := []any{}
	for _, p := range m.profiles {
		list = append(list, map[string]any{
			"profileId": p.ID, "countryCode": p.Country, "currencyCode": p.Currency, "timezone": p.TimeZone,
			"accountInfo": map[string]any{"marketplaceStringId": "A", "id": "A1", "type": "seller", "name": "x"},
		})
	}
	return house.Put(t, t.TempDir(), "profiles.json", house.Marshal(t, list))
}

func (m *merchant) connect(t *testing.T) {
	t.Helper()
	m.connectTo(t, "NA", m.refresh)
}

// connectTo connects the account to a region, with a refresh token.
func (m *merchant) connectTo(t *testing.T, region, refresh string) {
	t.Helper()
	r := house.SpeakAs(t, m.live.Program, m.live.platform, house.CanarySecret, refresh, "connect", "--account", m.Files.ID, "--region", region, "--client-id", standin.DefaultClientID)
	if r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
}

// planReports sets the course of the account's reports, before it is connected.
func (m *merchant) planReports(plan func(standin.ReportOrder) standin.JobPlan) {
	m.live.mu.Lock()
	defer m.live.mu.Unlock()
	for _, p := range m.profiles {
		m.live.plans[p.ID] = plan
	}
}

func whole(standin.ReportOrder) standin.JobPlan { return standin.JobPlan{} }

// id is a marketplace's id as text.
func (m *merchant) id(marketplace int) string { return fmt.Sprint(m.profiles[marketplace].ID) }

// log is what the servers said of this account beside their access log.
func (m *merchant) log() []string {
	var said []string
	for _, server := range m.live.servers {
		for line := range strings.Lines(server.Log()) {
			var entry struct{ Level string }
			if json.Unmarshal([]byte(line), &entry) == nil && (entry.Level == "warn" || entry.Level == "error") && strings.Contains(line, m.Files.ID) {
				said = append(said, strings.TrimSpace(line))
			}
		}
	}
	return said
}
