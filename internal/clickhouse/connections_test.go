package clickhouse

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	migrations "adlens/internal/clickhouse/schema"
	"adlens/internal/query"
)

func connectionNamed(t *testing.T, name string) adlens.Connection {
	return adlens.Connection{Account: t.Name(), Name: name, Region: "NA", ClientID: "app", Sealed: "sealed " + name,
		ConnectedAt: time.Date(2026, 11, 1, 12, 0, 0, 5e6, time.UTC), Accepted: true,
		Choice: adlens.Choice{Countries: []string{"CA", "US"}}, Profiles: []string{"1", "22"}, Untaken: []string{"333"}}
}

func namesAndSeals(all []adlens.Connection) (texts []string) {
	for _, c := range all {
		texts = append(texts, c.Name+": "+c.Sealed)
	}
	return texts
}

func wantConnections(t *testing.T, d *database, want ...string) {
	t.Helper()
	all, err := d.Connections.Connections(t.Context(), t.Name())
	if got := namesAndSeals(all); err != nil || !slices.Equal(got, want) {
		t.Errorf("the connections are %q, want %q: %v", got, want, err)
	}
	isLost(t, "meanwhile", d.Database, t.Name(), "")
}

func TestEachConnectionOfAnAccountIsARowOfItsOwn(t *testing.T) {
	d := openShared(t)
	one, two := connectionNamed(t, "NA"), connectionNamed(t, "brand")
	two.Choice = adlens.Choice{Profiles: []string{"7"}}
	for _, c := range []adlens.Connection{two, one} {
		if err := d.Connections.PutConnection(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	all, err := d.Connections.Connections(t.Context(), t.Name())
	if err != nil || len(all) != 2 {
		t.Fatalf("%d connections: %v", len(all), err)
	}
	for i, want := range []adlens.Connection{one, two} {
		got := all[i]
		if !slices.Equal(got.Choice.Profiles, want.Choice.Profiles) || !slices.Equal(got.Choice.Countries, want.Choice.Countries) ||
			!slices.Equal(got.Profiles, want.Profiles) || !slices.Equal(got.Untaken, want.Untaken) || !got.ConnectedAt.Equal(want.ConnectedAt) || !got.Accepted || got.Removed {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	one.Sealed, one.Removed = "", true
	if err := d.Connections.PutConnection(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	wantConnections(t, d, "brand: sealed brand")
	if all, err := d.Connections.AllConnections(t.Context(), t.Name()); err != nil || len(all) != 2 || !all[0].Removed {
		t.Errorf("with the removed one they are %+v: %v", all, err)
	}
	// One of several that is lost is missed.
	lose(t, d.Database, "connections", "account_id = {account:String} AND name = 'brand'")
	isLost(t, "the second", d.Database, t.Name(), "connections")
	if err := d.Inspector.MendDirectory(t.Context(), t.Name(), unheard); err != nil {
		t.Fatal(err)
	}
}

// Also one through which nothing was ever read waits for a refresh, since it was connected.
func TestTheConnectionThatWaitsLongestIsFound(t *testing.T) {
	d := openShared(t)
	one := connectionNamed(t, "NA")
	one.ConnectedAt = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC) // before all of other tests
	put := func() {
		t.Helper()
		if err := d.Connections.PutConnection(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
	waits := func(when string, want bool) {
		t.Helper()
		ages, err := d.Audit.Ages(t.Context())
		if got := ages.OldestRefresh.Equal(one.ConnectedAt); err != nil || got != want {
			t.Errorf("%s the last refresh that is waited for longest is of %s: %v", when, ages.OldestRefresh, err)
		}
	}
	put()
	waits("before any", true)
	read := adlens.Refreshed{Account: t.Name(), MarketplaceID: "333", ReportType: "spAdvertisedProduct", Through: adlens.Date(2026, 11, 1), DeepThrough: adlens.Date(2026, 11, 1)}
	note := func() {
		t.Helper()
		if err := d.Connections.PutRefreshed(t.Context(), []adlens.Refreshed{read}); err != nil {
			t.Fatal(err)
		}
	}
	note()
	waits("after one through another connection", true)
	read.MarketplaceID = "22"
	note()
	waits("after its own", false)
	one.Profiles = []string{"4444"}
	put()
	waits("with another profile", true)
	one.Removed = true
	put()
	waits("after its end", false)
}

// The first server knows what accounts are, and each has the loads and rates of its own.
func TestAgesAreOfNewestLoadsAndOfAccountsThatAreKeptFresh(t *testing.T) {
	t.Parallel()
	db := pair(t, &asShard{startEngine(t, t.TempDir())}, &asShard{startEngine(t, t.TempDir())})
	accounts := onEach(t, db)
	day := func(n int) time.Time { return time.Date(2020, 1, n, 0, 0, 0, 0, time.UTC) }
	commit := func(account string, number uint32, at time.Time) {
		t.Helper()
		for _, sql := range []string{
			"INSERT INTO commits (account_id, number, committed_at) VALUES ({account:String}, {number:UInt32}, toDateTime64({at:String}, 3, 'UTC'))",
			"INSERT INTO commit_units (account_id, number, kind, start, report_days) VALUES ({account:String}, {number:UInt32}, 1, toStartOfMonth(toDate({at:String})), [bitShiftLeft(1, toDayOfMonth(toDate({at:String})) - 1)])",
			"INSERT INTO rates (account_id, generation, currency, day, usd, fetched) VALUES ({account:String}, {number:UInt32}, 'EUR', toDate({at:String}), 1, true)",
		} {
			if err := db.Cluster.Exec(t.Context(), sql, conn.Params{"account": query.Text(account), "number": fmt.Sprint(number), "at": at.Format(time.DateOnly)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(when string, newest, oldest time.Time) {
		t.Helper()
		ages, err := db.Audit.Ages(t.Context())
		if err != nil || !ages.NewestLoad.Equal(newest) || !ages.OldestLoad.Equal(oldest) || !ages.OldestRate.Equal(oldest) {
			t.Errorf("%s the newest load is of %s, the oldest of %s, the oldest rate of %s, expected %s and %s: %v",
				when, ages.NewestLoad, ages.OldestLoad, ages.OldestRate, newest, oldest, err)
		}
		if !ages.NewestDay.Equal(newest) || !ages.OldestDay.Equal(oldest) {
			t.Errorf("%s the newest day is %s, the oldest %s, expected %s and %s", when, ages.NewestDay, ages.OldestDay, newest, oldest)
		}
	}
	put := func(account string, demo bool, subscription string) {
		t.Helper()
		if err := db.Accounts.PutAccount(t.Context(), adlens.Account{ID: account, Name: account, IsDemo: demo, Subscription: subscription, CreatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	for _, account := range accounts {
		commit(account, 8, day(1))
	}
	commit(accounts[0], 9, day(2))
	commit(accounts[1], 9, day(3))
	want("at first", day(3), day(2))
	if err := db.Cluster.Exec(t.Context(), "INSERT INTO commits (account_id, number, base) VALUES ({account:String}, 10, 9)", conn.Params{"account": query.Text(accounts[0])}); err != nil {
		t.Fatal(err)
	}
	want("after the end of a writer that had died", day(3), day(2))
	put(accounts[0], false, adlens.Canceled)
	want("without a canceled account", day(3), day(3))
	put(accounts[1], true, "active")
	want("without any that is kept fresh", day(3), time.Time{})
	put(accounts[0], false, "active")
	want("without a demonstration", day(3), day(2))
	put(accounts[1], false, "active")
	if err := db.Cluster.Everywhere(t.Context(), func(s *cluster.Shard) error {
		return s.Exec(t.Context(), "INSERT INTO commits (account_id, number, committed_at) SELECT account_id, 7, now64(3) + INTERVAL 1 DAY FROM commits WHERE number = 8", nil)
	}); err != nil {
		t.Fatal(err)
	}
	want("after an older load that was dated ahead", day(3), day(2))
}

// A connection from before connections had names is the one that is named by its
// region, and what it replaced stays replaced.
func TestAConnectionOfTheSchemaBeforeIsNamedByItsRegion(t *testing.T) {
	dir := t.TempDir()
	old := before(t, dir, connectionsStep)
	for _, sql := range []string{
		"INSERT INTO connections (account_id, region, client_id, sealed, connected_at, accepted, updated_at) SELECT {account:String}, 'EU', 'app', 'replaced', now64(3), true, now64(9) - 10",
		"INSERT INTO connections (account_id, region, client_id, sealed, connected_at, accepted, updated_at) SELECT {account:String}, 'NA', 'app', 'landed', now64(3), true, now64(9)",
		"INSERT INTO directory_seals (account_id, table_name, key, revision) SELECT account_id, 'connections', account_id, toUInt64(toUnixTimestamp64Nano(max(updated_at))) FROM connections GROUP BY account_id",
	} {
		if err := old.Cluster.Home().Exec(t.Context(), sql, conn.Params{"account": t.Name()}); err != nil {
			t.Fatal(err)
		}
	}
	d := upgrade(t, old, dir)
	wantConnections(t, d, "NA: landed")
	if err := d.Cluster.Home().Exec(t.Context(), "DELETE FROM migrations WHERE number >= 24", nil); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Migrate(t.Context(), d.Cluster.Home().Server); err != nil { // as after a kill in its middle
		t.Error(err)
	}
	wantConnections(t, d, "NA: landed")
	for _, put := range []adlens.Connection{connectionNamed(t, "NA"), connectionNamed(t, "EU")} {
		if err := d.Connections.PutConnection(t.Context(), put); err != nil {
			t.Fatal(err)
		}
	}
	wantConnections(t, d, "EU: sealed EU", "NA: sealed NA")
	if err := d.Cluster.Home().Exec(t.Context(), "OPTIMIZE TABLE connections FINAL", nil); err != nil {
		t.Fatal(err)
	}
	wantConnections(t, d, "EU: sealed EU", "NA: sealed NA")
	removed := connectionNamed(t, "NA")
	removed.Removed = true
	if err := d.Connections.PutConnection(t.Context(), removed); err != nil {
		t.Fatal(err)
	}
	wantConnections(t, d, "EU: sealed EU")
	lose(t, d.Database, "connections", "account_id = {account:String} AND name = ''") // the landed row itself is still sealed
	isLost(t, "the landed row", d.Database, t.Name(), "connections")
}
