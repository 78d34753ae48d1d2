package freshness_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/standin"
)

func random(t *testing.T) *rand.Rand { return rand.New(rand.NewPCG(house.Seed(t), 23)) }

func TestTheFirstCallIsEmptyAndThenTheListIsWhole(t *testing.T) {
	t.Parallel()
	m := liveHouse(t).merchant(t, "US", "MX", "CA")
	r := random(t)
	m.hold(r, 0, "big", 1_500, 500, 345)
	m.hold(r, 1, "small", 3, 2, 1)
	m.connect(t)

	began := time.Now()
	if first := m.begin(t, "/campaigns", 0); len(first.Data) != 0 || first.Meta.SyncedAt != nil {
		t.Errorf("want an empty list that was never read, got %s", first.answer)
	}
	m.read(t, 0, began, m.settled(t, 0))
	for _, path := range []string{"/campaigns", "/ad-groups"} {
		q := house.NewQuestion(path, "marketplace_id="+m.id(0))
		house.CheckPages(t, m.Tenant, q, 1000, house.RowsOf(t, m.Model, q))
	}
	house.Check(t, m.Ask, m.Model, house.NewQuestion("/marketplaces", "")) // the others are null
	m.wantOneReading(t, 0)

	// The other endpoint begins a reading just as well, of its marketplace only.
	began = time.Now()
	if first := m.begin(t, "/ad-groups", 1); len(first.Data) != 0 {
		t.Errorf("want an empty list, got %s", first.answer)
	}
	m.read(t, 1, began, m.settled(t, 1))
	for _, q := range house.NarrowedLists(m.Model) {
		if !strings.Contains(q.Query.Get("marketplace_id"), m.id(2)) {
			house.Check(t, m.Ask, m.Model, q)
		}
	}
	m.wantOneReading(t, 0)
	m.wantOneReading(t, 1)
	if n := m.listCalls(2); n != 0 {
		t.Errorf("a marketplace that was not requested was read with %d calls", n)
	}
}

func TestAMarketplaceWithoutCampaignsHasAListThatIsEmpty(t *testing.T) {
	t.Parallel()
	m := liveHouse(t).merchant(t, "BR")
	m.connect(t)
	m.readAnew(t)
	house.CheckLists(t, m.Tenant)
	m.wantOneReading(t, 0)
}

func TestAnOldListIsReplacedAndAYoungOneIsNotTouched(t *testing.T) {
	t.Parallel()
	m := liveHouse(t).merchant(t, "US", "CA")
	r := random(t)
	m.connect(t)
	for marketplace, age := range []time.Duration{31 * time.Minute, 25 * time.Minute} {
		m.hold(r, marketplace, "before", 40, 20, 10)
		m.loadOld(t, marketplace, age)
		m.hold(r, marketplace, "after", 41, 21, 11)
	}
	held := listOf(t, m.Ask, "/campaigns", m.id(1))
	if held.syncing() {
		t.Errorf("a list of 25 minutes is reported to be syncing")
	}
	began := time.Now()
	old := m.begin(t, "/campaigns", 0)
	if rows := house.RowsOf(t, m.Model, house.NewQuestion("/campaigns", "marketplace_id="+m.id(0))); len(old.Data) != rows {
		t.Errorf("want the %d campaigns held while they are read again, got %d", rows, len(old.Data))
	}
	m.read(t, 0, began, m.settled(t, 0))
	house.CheckLists(t, m.Tenant)
	m.wantOneReading(t, 0)
	if n := m.listCalls(1); n != 0 {
		t.Errorf("a list of 25 minutes was read again with %d calls", n)
	}
}

// Lists have amounts without a currency. Those of a profile that the platform lists in
// another one, and whose reports are therefore left out, stay as they are held.
func TestListsOfAProfileInAnotherCurrencyStayAsTheyAre(t *testing.T) {
	t.Parallel()
	m := liveHouse(t).merchant(t, "US")
	r := random(t)
	m.connect(t)
	m.hold(r, 0, "in dollars", 4, 4, 4)
	m.loadOld(t, 0, time.Hour)
	m.live.platform.Change(m.profiles[0].ID, func(p *standin.Profile) { p.Currency = "EUR" })
	m.hold(r, 0, "in euros", 5, 5, 5)
	m.begin(t, "/campaigns", 0)
	m.settled(t, 0)
	house.CheckLists(t, m.Tenant)
	if said := strings.Join(m.log(), "\n"); !strings.Contains(said, "the platform lists it in EUR, expected USD") {
		t.Errorf("the log: %s", said)
	}
	if d := m.live.Run("doctor", "--account", m.Files.ID); !strings.Contains(d.Stdout, "the lists of US "+m.id(0)+" could not be read") {
		t.Errorf("the doctor: %s", d)
	}
}

func TestAListOfTheFutureIsReadAnew(t *testing.T) {
	t.Parallel()
	m := liveHouse(t).merchant(t, "US")
	r := random(t)
	m.connect(t)
	m.hold(r, 0, "dated by a wrong clock", 4, 4, 4)
	if done, err := m.live.Load(m.Files.ID, m.exports(t, 0, time.Now().Add(20*time.Hour))); err != nil || done.Code != 0 {
		t.Fatalf("loading it: %v %s", err, done.Result)
	}
	m.hold(r, 0, "true", 5, 5, 5)
	m.readAnew(t)
	house.CheckLists(t, m.Tenant)
}

func TestAListWithoutAConnectionNeverSyncs(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	r := random(t)
	alone, connected := l.merchant(t, "US"), l.merchant(t, "US")
	alone.hold(r, 0, "alone", 5, 5, 5)
	connected.hold(r, 0, "connected", 5, 5, 5)
	house.Load(t, l.Program, alone.Tenant, alone.profilesFile(t))
	alone.loadOld(t, 0, time.Hour)
	connected.connect(t)
	for range 3 {
		house.CheckLists(t, alone.Tenant) // the model says syncing false
	}
	// The marketplace that is requested first is read first: by then the other would be.
	connected.begin(t, "/campaigns", 0)
	connected.settled(t, 0)
	house.CheckLists(t, alone.Tenant)
	if n := alone.listCalls(0); n != 0 {
		t.Errorf("an account without a connection was read with %d calls", n)
	}
}

func TestCallsThatAreRefusedStartNothing(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	r := random(t)
	m, other := l.merchant(t, "US", "CA"), l.merchant(t, "US")
	for marketplace := range 2 {
		m.hold(r, marketplace, "mine", 4, 4, 4)
	}
	m.connect(t)
	other.connect(t)
	for _, c := range []struct {
		ask    harness.Client
		query  string
		status int
	}{
		{other.Ask, "marketplace_id=" + m.id(0), 400},
		{m.Ask, "marketplace_id=" + other.id(0), 400},
		{m.Ask, "marketplace_id=" + m.id(0) + "&page_size=0", 400},
		{m.Ask, "marketplace_id=" + m.id(0) + "&colour=blue", 400},
		{harness.Client{Address: m.Ask.Address}, "marketplace_id=" + m.id(0), 401},
	} {
		for _, path := range []string{"/campaigns?", "/ad-groups?"} {
			if a := house.Get(t, c.ask, "/api/v1"+path+c.query); a.Status != c.status {
				t.Errorf("%s%s: want %d, got %s", path, c.query, c.status, a)
			}
		}
	}
	m.begin(t, "/campaigns", 1)
	m.settled(t, 1)
	if mine, theirs := m.listCalls(0), other.listCalls(0); mine != 0 || theirs != 0 {
		t.Errorf("refused calls began a reading: %d and %d calls", mine, theirs)
	}
	house.WantMembers(t, other.Ask, "/campaigns?marketplace_id="+other.id(0), "name")
}

func TestATagTellsSyncingFromSettled(t *testing.T) {
	t.Parallel()
	m := liveHouse(t).merchant(t, "US")
	m.hold(random(t), 0, "tagged", 5, 5, 5)
	m.connect(t)
	m.loadOld(t, 0, time.Hour)
	gate := make(chan struct{})
	m.holdBack(0, gate)
	path := "/api/v1/campaigns?page_size=1000&marketplace_id=" + m.id(0)
	tag := m.begin(t, "/campaigns", 0).answer.Header.Get("ETag")
	if again := house.Get(t, m.Ask, path, "If-None-Match", tag); again.Status != 304 {
		t.Errorf("want 304 while the reading goes on, got %s", again)
	}
	marketplaces := house.Get(t, m.Ask, "/api/v1/marketplaces")
	close(gate)
	began := time.Now()
	// For a moment the new list may be there and said to be syncing.
	house.Eventually(t, "the tag changes", func() bool {
		return house.Get(t, m.Ask, path, "If-None-Match", tag).Status == 200
	})
	done := m.settled(t, 0)
	m.read(t, 0, began, done)
	house.CheckLists(t, m.Tenant)
	if a := house.Get(t, m.Ask, path, "If-None-Match", done.answer.Header.Get("ETag")); a.Status != 304 {
		t.Errorf("want 304 for a list that is held, got %s", a)
	}
	now := house.Get(t, m.Ask, "/api/v1/marketplaces")
	a := house.Get(t, m.Ask, "/api/v1/marketplaces", "If-None-Match", marketplaces.Header.Get("ETag"))
	if same := bytes.Equal(marketplaces.Body, now.Body); same != (a.Status == 304) {
		t.Errorf("the counts of marketplaces after a reading: the same is %t, and who holds those of before gets %s", same, a)
	}
}
