package integration_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
)

// putRight restores an account in its place.
func (c copied) putRight(t *testing.T, account string) {
	t.Helper()
	if r := c.Run("restore", "--from", c.place, "--account", account); r.Code != 0 {
		t.Fatalf("restore in its place: %s", r)
	}
}

// isAnsweredAgain waits until a server has noticed that an account is whole.
func (w *ward) isAnsweredAgain(t *testing.T, one *tenant) {
	t.Helper()
	eventually(t, time.Minute, "the account is answered again", func() bool {
		a := get(t, one.ask, "/api/v1"+products.String())
		one.isRightIfAnswered(t, products, a)
		return a.Status == 200
	})
	checkAll(t, one.ask, one.model)
}

// Damage of some accounts keeps a server from no other, and each of them is put
// right where it is, under the running server.
func TestADamagedAccountIsRestoredInItsPlaceUnderARunningServer(t *testing.T) {
	t.Parallel()
	needEngine(t)
	w := openWard(t, t.TempDir(), 2)
	bystander, err := w.Account("bystander")
	need(t, err)
	loaded, err := w.Load("bystander", put(t, t.TempDir(), "products.csv", []byte("product_id,title\nB0A,Lamp\n")))
	if err != nil || loaded.Code != 0 {
		t.Fatalf("%v %s", err, loaded.Result)
	}
	place := copied{w.Program, t.TempDir(), nil}
	place.backup(t)
	first, second := w.tenants[0], w.tenants[1]
	younger, err := w.Key(first.files.ID) // than the backup
	need(t, err)
	w.start(t)
	w.isWhole(t)
	mustRefuse(t, "an account that is whole", place.Run("restore", "--from", place.place, "--account", first.files.ID), first.files.ID, "is there already, and whole")

	for _, part := range w.partsOf(t, "spend_local_rest") {
		need(t, os.RemoveAll(part))
	}
	need(t, w.KillEngine())
	w.stop(t)
	w.start(t)
	if r := w.ready(t); r.http != 200 || !strings.Contains(r.Checks["data"], "adlens restore --from PLACE --account ID") {
		t.Errorf("readiness is %+v", r)
	}
	other := harness.Client{Address: w.server.Address, Key: bystander}
	for _, one := range w.tenants {
		w.refuses(t, one, products)
		if log := w.server.Log(); !strings.Contains(log, `"account":"`+one.files.ID+`"`) {
			t.Errorf("the log does not name %s: %s", one.files.ID, log)
		}
		if r := w.Run("doctor", "--account", one.files.ID, "--quick"); r.Code == 0 || !strings.Contains(r.Stdout, "adlens restore --from PLACE --account ID") {
			t.Errorf("doctor: %s", r)
		}
	}
	if a := get(t, other, "/api/v1/summary"); a.Status != 200 {
		t.Errorf("the account that is whole is answered %s", a)
	}

	place.putRight(t, first.files.ID)
	w.isAnsweredAgain(t, first)
	checkAll(t, harness.Client{Address: w.server.Address, Key: younger}, first.model)
	w.refuses(t, second, products)

	// A restore that is killed leaves the account refused, and is repeated.
	killed(t, w.Program, 10*time.Second, "restore", "--from", place.place, "--account", second.files.ID)
	w.refuses(t, second, products)
	done, err := w.Load(second.files.ID, second.files.Reports[0].Files()...)
	if err != nil || done.Code == 0 || !strings.Contains(done.Stderr, "stored data is damaged") {
		t.Errorf("a load into an account that is half restored: %v %s", err, done.Result)
	}
	if r := w.Run("doctor", "--quick"); r.Code == 0 || !strings.Contains(r.Stdout, "it is being restored") || !strings.Contains(r.Stdout, second.files.ID) {
		t.Errorf("doctor of an account that is half restored: %s", r)
	}
	w.stop(t)
	w.start(t)
	w.refuses(t, second, products)
	place.putRight(t, second.files.ID)
	w.isAnsweredAgain(t, second)
	w.awaits(t, "")
	eventually(t, time.Minute, "readiness has nothing to say", func() bool { return w.ready(t).Checks["data"] == "ok" })
	w.isWhole(t)
	for _, one := range w.tenants {
		load(t, w.Program, one, one.take(2)...)
	}
	w.isWhole(t)
	if r := w.Run("doctor"); r.Code != 0 {
		t.Errorf("doctor of accounts that were restored: %s", r)
	}
	w.stop(t)
	w.start(t)
	w.isWhole(t)
	w.stop(t)
}
