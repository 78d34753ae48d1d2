package freshness_test

import (
	"sync"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

func TestManyCallersServersAndRestartsBeginOneReading(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 3)
	m := l.merchant(t, "US", "CA")
	r := random(t)
	for marketplace := range 2 {
		m.hold(r, marketplace, "many", 230, 110, 105)
	}
	m.connect(t)
	began := time.Now()
	m.callAtOnce(t, 12)
	for marketplace := range 2 {
		m.read(t, marketplace, began, m.settled(t, marketplace))
	}
	m.callAtOnce(t, 4)
	m.sameOnEveryServer(t)

	// A process that starts again knows what was begun before.
	house.Need(t, l.stop())
	for range 3 {
		l.start(t)
	}
	m.callAtOnce(t, 4)
	m.sameOnEveryServer(t)
	for marketplace := range 2 {
		m.wantOneReading(t, marketplace)
	}
}

// callAtOnce asks every server for all lists, from so many callers each.
func (m *merchant) callAtOnce(t *testing.T, callers int) {
	t.Helper()
	var all sync.WaitGroup
	for _, server := range m.live.servers {
		for range callers {
			for marketplace := range m.profiles {
				for _, path := range []string{"/campaigns", "/ad-groups"} {
					all.Go(func() {
						c := harness.Client{Address: server.Address, Key: m.Ask.Key}
						a, err := c.Get("/api/v1" + path + "?marketplace_id=" + m.id(marketplace))
						if err != nil || a.Status != 200 {
							t.Errorf("%s: %v %s", path, err, a)
						}
					})
				}
			}
		}
	}
	all.Wait()
}

func (m *merchant) sameOnEveryServer(t *testing.T) {
	t.Helper()
	for _, server := range m.live.servers {
		m.Ask.Address = server.Address
		house.CheckLists(t, m.Tenant)
	}
}

func TestAServerThatIsStoppedInAReadingEndsAtOnceAndLeavesTheListAsItWas(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 1)
	m := l.merchant(t, "US")
	r := random(t)
	m.connect(t)
	m.hold(r, 0, "before", 30, 10, 10)
	m.loadOld(t, 0, time.Hour)
	m.hold(r, 0, "after", 31, 11, 11)
	gate := make(chan struct{})
	m.holdBack(0, gate)
	m.begin(t, "/campaigns", 0)
	house.Eventually(t, "the platform is asked", func() bool { return m.listCalls(0) > 0 })
	stopped := time.Now()
	house.Need(t, l.stop())
	if took := time.Since(stopped); took > 30*time.Second {
		t.Errorf("serve took %v to end", took)
	}
	close(gate)
	calls := m.listCalls(0)
	m.Ask.Address = l.start(t).Address
	m.settled(t, 0)
	house.CheckLists(t, m.Tenant)
	if now := m.listCalls(0); now != calls {
		t.Errorf("the reading was begun again within its half hour: %d calls became %d", calls, now)
	}
}

func TestAReaderThatIsKilledIsNotFollowedByAnother(t *testing.T) {
	t.Parallel()
	l := ownLive(t, 2)
	m := l.stale(t)
	gate := make(chan struct{})
	m.holdBack(0, gate)
	m.begin(t, "/campaigns", 0)
	m.Ask.Address = l.servers[1].Address
	if !listOf(t, m.Ask, "/campaigns", m.id(0)).syncing() {
		t.Error("the other server does not know that a list is being read")
	}
	l.servers[0].Kill()
	l.servers = l.servers[1:]
	close(gate)
	m.settled(t, 0)
	calls := m.listCalls(0)
	for range 3 {
		house.CheckLists(t, m.Tenant)
	}
	if now := m.listCalls(0); now != calls {
		t.Errorf("the other server began again: %d calls became %d", calls, now)
	}
}
