package clickhouse

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/clickhouse/conn"
	migrations "adlens/internal/clickhouse/schema"

	"github.com/google/go-cmp/cmp"
)

func TestAccountsServedLastComeFirst(t *testing.T) {
	d := openShared(t)
	uses := map[string]time.Time{}
	put := func(account, key string, used time.Duration) {
		if err := d.Keys.PutKey(t.Context(), auth.Record{ID: key, AccountID: account, Hash: [32]byte([]byte("served last " + key + "                    ")[:32]), CreatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if used > 0 {
			uses[key] = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC).Add(used)
		}
	}
	put("served-once", "served-1", time.Hour)
	put("served-often", "served-2", time.Minute)
	put("served-often", "served-3", 3*time.Hour)
	put("served-never", "served-4", 0)
	put("served-before", "served-5", time.Second)
	if err := d.Keys.PutKeyUses(t.Context(), uses); err != nil {
		t.Fatal(err)
	}
	got, err := d.Keys.LastServed(t.Context(), 2)
	if want := []string{"served-often", "served-once"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, expected %q", got, err, want)
	}
}

// A server whose clock was ahead noted uses, until it was set right.
func TestALastUseOfTheFutureIsNotRead(t *testing.T) {
	d := openShared(t)
	app := appNamed(t, 1)
	key, feed := recordNamed(t, 1), recordNamed(t, 2)
	key.ID, feed.ID = "k_"+t.Name(), "f_"+t.Name()
	if err := errors.Join(d.Keys.PutKey(t.Context(), key), d.Feeds.PutFeed(t.Context(), feed), d.Apps.PutApp(t.Context(), app)); err != nil {
		t.Fatal(err)
	}
	ahead := time.Now().Add(8 * time.Hour)
	if err := d.Keys.PutKeyUses(t.Context(), map[string]time.Time{key.ID: ahead, feed.ID: ahead, app.ID: ahead}); err != nil {
		t.Fatal(err)
	}
	k, _, err1 := d.Keys.KeyByID(t.Context(), key.ID)
	f, _, err2 := d.Feeds.FeedByID(t.Context(), feed.ID)
	a, _, err3 := d.Apps.AppByID(t.Context(), app.ID)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if k.LastUsedAt != nil || f.LastUsedAt != nil || a.LastUsedAt != nil {
		t.Errorf("the last uses are of a key %v, of a feed link %v, of a connection %v", k.LastUsedAt, f.LastUsedAt, a.LastUsedAt)
	}
	// Of what is merged the latest use is kept, and a true one has to outlive that.
	used := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
	if err := d.Keys.PutKeyUses(t.Context(), map[string]time.Time{key.ID: used}); err != nil {
		t.Fatal(err)
	}
	if err := d.Cluster.Home().Exec(t.Context(), "OPTIMIZE TABLE api_key_uses FINAL", nil); err != nil {
		t.Fatal(err)
	}
	if k, _, err := d.Keys.KeyByID(t.Context(), key.ID); err != nil || k.LastUsedAt == nil || !k.LastUsedAt.Equal(used) {
		t.Errorf("after a use of the future, that of %s is read as %v: %v", used, k.LastUsedAt, err)
	}
}

// Keys and feed links of before they had marketplaces are of all of them, and a
// change of one keeps what it has.
func TestKeysOfTheSchemaBeforeAreForTheWholeAccount(t *testing.T) {
	dir := t.TempDir()
	old := before(t, dir, keysStep)
	for _, sql := range []string{
		"INSERT INTO api_keys (sha256, key_id, account_id, name, start, scopes, created_at, updated_at) SELECT unhex('" + strings.Repeat("ab", 32) + "'), 'k_landed', {account:String}, 'sheet', 'key_live_abcd', ['read'], now64(3), now64(9)",
		"INSERT INTO feeds (sha256, feed_id, account_id, name, start, request, created_at, updated_at) SELECT unhex('" + strings.Repeat("cd", 32) + "'), 'f_landed', {account:String}, 'sheet', 'feed_abcd', '/api/v1/rules', now64(3), now64(9)",
		"INSERT INTO day_uses (account_id, day, server, used, updated_at) SELECT {account:String}, today(), 'before', 7, now64(9)",
	} {
		if err := old.Cluster.Home().Exec(t.Context(), sql, conn.Params{"account": t.Name()}); err != nil {
			t.Fatal(err)
		}
	}
	d := upgrade(t, old, dir)
	if err := d.Cluster.Home().Exec(t.Context(), "DELETE FROM migrations WHERE number >= {step:UInt32}", conn.Params{"step": fmt.Sprint(keysStep)}); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Migrate(t.Context(), d.Cluster.Home().Server); err != nil { // as after a kill in its middle
		t.Error(err)
	}
	k, found, err := d.Keys.KeyByID(t.Context(), "k_landed")
	if err != nil || !found || k.Marketplaces != nil || k.Limits != (auth.Quotas{}) || k.Successor != "" || !k.HasScope(auth.ScopeRead) {
		t.Fatalf("the key is %+v: %v", k, err)
	}
	f, found, err := d.Feeds.FeedByID(t.Context(), "f_landed")
	if err != nil || !found || f.Marketplaces != nil || f.Request != "/api/v1/rules" {
		t.Fatalf("the feed link is %+v: %v", f, err)
	}
	k.Marketplaces, k.Limits, k.Successor = []string{"101", "UK"}, auth.Quotas{Minute: 20, Day: 500}, "k_next"
	f.Marketplaces = []string{"US"}
	if err := errors.Join(d.Keys.PutKey(t.Context(), k), d.Feeds.PutFeed(t.Context(), f)); err != nil {
		t.Fatal(err)
	}
	again, found, err := d.Keys.KeyByHash(t.Context(), k.Hash)
	if diff := cmp.Diff(k, again); err != nil || !found || diff != "" {
		t.Errorf("the key as it was put (-want +got):\n%s%v", diff, err)
	}
	if again, _, err := d.Feeds.KeyByHash(t.Context(), f.Hash); err != nil || !slices.Equal(again.Marketplaces, f.Marketplaces) {
		t.Errorf("the feed link is %+v: %v", again, err)
	}
	// The day's count of a key is its own; that of the account stays.
	day := adlens.DayOf(time.Now().UTC()) // older counts go by themselves
	err = d.DayUses.PutDayUses(t.Context(), "now", []auth.DayUse{{Account: t.Name(), Day: day, Used: 5}, {Account: t.Name(), Key: "k_landed", Day: day, Used: 3},
		{Account: t.Name(), Day: day - 1, Used: 50}}, time.Now())
	err = errors.Join(err, d.DayUses.PutDayUses(t.Context(), "another", []auth.DayUse{{Account: t.Name(), Day: day, Used: 100}}, time.Now())) // its own
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Cluster.Home().Exec(t.Context(), "OPTIMIZE TABLE day_uses FINAL", nil); err != nil {
		t.Fatal(err)
	}
	uses, err := d.DayUses.DayUses(t.Context(), "another", day)
	slices.SortFunc(uses, func(a, b auth.DayUse) int { return strings.Compare(a.Key, b.Key) })
	want := []auth.DayUse{{Account: t.Name(), Day: day, Used: 12}, {Account: t.Name(), Key: "k_landed", Day: day, Used: 3}}
	if diff := cmp.Diff(want, uses); err != nil || diff != "" {
		t.Errorf("the day's counts (-want +got):\n%s%v", diff, err)
	}
}

func TestTheLastUseIsTheOneBeforeATime(t *testing.T) {
	d := openShared(t)
	noon := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{noon, noon.Add(time.Second)} {
		if err := d.Keys.PutKeyUses(t.Context(), map[string]time.Time{t.Name(): at}); err != nil {
			t.Fatal(err)
		}
	}
	for before, want := range map[time.Time]time.Time{noon.Add(time.Hour): noon.Add(time.Second), noon: {}} {
		if got, err := d.Keys.LastUse(t.Context(), t.Name(), before); err != nil || !got.Equal(want) {
			t.Errorf("before %s: %s, %v", before, got, err)
		}
	}
	if got, err := d.Keys.LastUse(t.Context(), "never used", noon); err != nil || !got.IsZero() {
		t.Errorf("of a key that was never used: %s, %v", got, err)
	}
}

// When a key, a link or a connection was last used decides nothing: where that cannot be read
// they are valid, it is not known, and no alarm is raised. Later uses are noted.
func TestALastUseThatCannotBeReadKeepsNoKeyFromWorking(t *testing.T) {
	t.Parallel()
	d, err := openDatabase(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}()
	key, feed, app := recordNamed(t, "key"), recordNamed(t, "feed"), appNamed(t, 1)
	token := auth.NewKey().Hash()
	app.Access = []auth.Secret{{Hash: token, ExpiresAt: time.Now().Add(time.Hour)}}
	now := time.Now()
	day := adlens.DayOf(now.UTC())
	if err := errors.Join(d.Keys.PutKey(t.Context(), key), d.Feeds.PutFeed(t.Context(), feed), d.Apps.PutApp(t.Context(), app),
		d.Keys.PutKeyUses(t.Context(), map[string]time.Time{key.ID: now, feed.ID: now, app.ID: now}),
		d.DayUses.PutDayUses(t.Context(), "here", []auth.DayUse{{Account: t.Name(), Day: day, Used: 5}}, now)); err != nil {
		t.Fatal(err)
	}
	flipParts(t, d, "api_key_uses")
	flipParts(t, d, "day_uses")
	if err := d.Inspector.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := func(what string, found bool, used *time.Time, err error) {
		if err != nil || !found || used != nil {
			t.Errorf("%s is found (%v), last used at %v: %v", what, found, used, err)
		}
	}
	k, ok, err := d.Keys.KeyByHash(t.Context(), key.Hash)
	found("a key", ok, k.LastUsedAt, err)
	k, ok, err = d.Feeds.KeyByHash(t.Context(), feed.Hash)
	found("a link", ok, k.LastUsedAt, err)
	k, ok, err = d.Apps.KeyByHash(t.Context(), token)
	found("a token", ok, k.LastUsedAt, err)
	k, ok, err = d.Keys.KeyByID(t.Context(), key.ID)
	found("a key by its id", ok, k.LastUsedAt, err)
	a, ok, err := d.Apps.AppByID(t.Context(), app.ID)
	found("a connection by its id", ok, a.LastUsedAt, err)
	links, err := d.Feeds.Feeds(t.Context(), t.Name())
	if found("the list of links", len(links) == 1, nil, err); len(links) == 1 {
		found("a link of the list", true, links[0].LastUsedAt, nil)
	}
	used, err := d.Keys.LastUse(t.Context(), key.ID, time.Now())
	found("a last use", used.IsZero(), nil, err)
	served, err := d.Keys.LastServed(t.Context(), 2)
	found("an order", len(served) == 0, nil, err)
	if _, err := d.DayUses.DayUses(t.Context(), "another", day); adlens.KindOf(err) != adlens.Damaged {
		t.Errorf("counts of the day that cannot be read: %v", err)
	}
	if err := d.Keys.PutKeyUses(t.Context(), map[string]time.Time{key.ID: now}); err != nil {
		t.Errorf("a later use is not noted: %v", err)
	}
	if damage := d.Inspector.Damage(); damage.Unread != nil || len(damage.Lost) > 0 {
		t.Errorf("an alarm is raised: %+v", damage)
	}
}
