package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/clickhouse"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/figures"
	"adlens/internal/clickhouse/integrity"
	"adlens/internal/query"

	"go.uber.org/zap"
)

// A repair may bring rows back under the version that half of them was answered under.
func TestNothingIsKeptOfAnAccountThatWasDamaged(t *testing.T) {
	d, o := home(t)
	profiles := filepath.Join(t.TempDir(), "profiles.json")
	err := os.WriteFile(profiles, []byte(`[{"profileId": 701, "countryCode": "US", "currencyCode": "USD", "timezone": "America/Los_Angeles",
		"accountInfo": {"marketplaceStringId": "A", "id": "A1", "type": "seller", "name": "x"}}]`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"account", "add", "acme", "--name", "Acme"}, {"load", "--account", "acme", profiles}} {
		if out, err := run(o, words...); err != nil {
			t.Fatal(out, err)
		}
	}
	answers := answer.New(answer.Config{Figures: query.NewService(d.Figures, d.Lists), Connections: d.Connections, Lists: idle{}, Cache: 1 << 20, Now: time.Now})
	d.answering.Store(answers)
	ask := func(want string) {
		t.Helper()
		q, err := answers.Ask(t.Context(), auth.Caller{Account: adlens.Account{ID: "acme"}}, answer.Request{Endpoint: "marketplaces"})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		if a, err := q.Answer(t.Context()); err != nil || !strings.Contains(string(a.Body), want) {
			t.Fatalf("the answer lacks %s: %s, %v", want, a.Body, err)
		}
	}
	move := func(zone string) {
		t.Helper()
		if err := d.Cluster.Home().Exec(t.Context(), "ALTER TABLE marketplaces UPDATE timezone = '"+zone+"' WHERE true SETTINGS mutations_sync = 2", nil); err != nil {
			t.Fatal(err)
		}
	}
	ask("America/Los_Angeles")
	move("America/Denver")
	ask("America/Los_Angeles") // from memory
	i := d.newInspector(zap.NewNop())
	var then func()
	i.later = func(do func()) { then = do }
	i.Inspector.Withhold("acme", "a part is missing")
	_, err = answers.Ask(t.Context(), auth.Caller{Account: adlens.Account{ID: "acme"}}, answer.Request{Endpoint: "marketplaces"})
	if adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("what is kept of an account that is withheld: %v", err)
	}
	if err := i.returnWhole(t.Context()); err != nil || len(i.Inspector.Damage().Lost) > 0 {
		t.Fatalf("the account is withheld: %v, %v", i.Inspector.Damage().Lost, err)
	}
	ask("America/Denver")
	// An answer that was begun before may be kept now, and is forgotten too.
	move("America/Phoenix")
	ask("America/Denver")
	then()
	ask("America/Phoenix")
	// At another place an account may be that of a backup.
	move("America/Boise")
	then = nil
	if err := d.Cluster.Placements().Put(t.Context(), "acme", d.Cluster.Home()); err != nil {
		t.Fatal(err)
	}
	ask("America/Boise")
	move("America/Denver")
	then()
	ask("America/Denver")
}

// An older copy of the first shard's disk places accounts where they were before they moved.
func TestAShardThatIsMetAgainIsLookedThroughAtOnce(t *testing.T) {
	t.Parallel()
	for _, shards := range []int{1, 2} {
		c := cluster.New(cluster.Config{Name: "adlens", Sources: make([]conn.Source, shards)})
		d := &data{Database: &clickhouse.Database{Cluster: c, Figures: figures.NewStore(c, nil), Inspector: integrity.NewInspector(c, integrity.NewGuard(), nil)}}
		i := d.newInspector(zap.NewNop())
		i.later = func(func()) {}
		i.Inspector.Renew()
		if got := len(i.restarted) > 0; got != (shards > 1) {
			t.Errorf("a server of %d that is met for the first time: looked through at once is %t", shards, got)
		}
	}
}

// That one account is damaged takes a server from no other, also where nothing could be
// read of how many there are or how old what they have is.
func TestADamagedAccountIsNotAllOfThem(t *testing.T) {
	d, o := home(t)
	for _, id := range []string{"acme", "beta"} {
		if out, err := run(o, "account", "add", id, "--name", id); err != nil {
			t.Fatal(out, err)
		}
	}
	i := d.newInspector(zap.NewNop())
	i.Inspector.Withhold("acme", "a part is missing")
	if h := i.currentHealth(); h.NoData || h.Data == "" {
		t.Errorf("before the accounts are counted: %+v", h)
	}
	if err := d.Cluster.Home().Exec(t.Context(), "RENAME TABLE rates TO rates_away", nil); err != nil {
		t.Fatal(err)
	}
	i.readAges(t.Context())
	if h := i.currentHealth(); h.NoData {
		t.Errorf("one of two: %+v", h)
	}
	i.Inspector.Withhold("beta", "a part is missing")
	if h := i.currentHealth(); !h.NoData {
		t.Errorf("both: %+v", h)
	}
	if err := d.Cluster.Home().Exec(t.Context(), "RENAME TABLE rates_away TO rates", nil); err != nil {
		t.Fatal(err)
	}
}
