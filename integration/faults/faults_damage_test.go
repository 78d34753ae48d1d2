package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// partsOf are the directories of the parts of a table, told by a column that
// it alone has.
func (w *ward) partsOf(t *testing.T, column string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(w.DataDir, "engine", "store", "store", "*", "*", "*_*_*", "columns.txt"))
	house.Need(t, err)
	var parts []string
	for _, path := range found {
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue // it was merged meanwhile
		}
		house.Need(t, err)
		if bytes.Contains(text, []byte("`"+column+"`")) {
			parts = append(parts, filepath.Dir(path))
		}
	}
	if len(parts) == 0 {
		t.Fatalf("no part has the column %s", column)
	}
	return parts
}

// isWithheld demands that nothing of any account is answered, and that
// readiness says why.
func (w *ward) isWithheld(t *testing.T) {
	t.Helper()
	r := w.awaits(t, "damaged")
	if !strings.Contains(r.Checks["data"], "restore a backup") || r.Checks["engine"] != "ok" {
		t.Errorf("readiness says %+v", r)
	}
	for _, one := range w.tenants {
		if strings.Contains(r.Reason, one.Files.ID) {
			t.Errorf("readiness names an account: %s", r.Reason)
		}
		for _, q := range house.Everything() {
			w.refuses(t, one, q)
		}
	}
}

// refusesLoads demands that nothing is built on what is left.
func (w *ward) refusesLoads(t *testing.T) {
	t.Helper()
	for _, one := range w.tenants {
		done, err := w.Load(one.Files.ID, one.Files.Reports[0].Files()...)
		if err != nil || done.Code == 0 || !strings.Contains(done.Stderr, "stored data is damaged") {
			t.Errorf("a load into damaged data: %v %s", err, done.Result)
		}
	}
}

// refuses waits out the seconds for which an account's record is believed:
// until then, right answers may come from memory.
func (w *ward) refuses(t *testing.T, one *house.Tenant, q house.Question) {
	t.Helper()
	for until := time.Now().Add(harness.Patience); ; <-time.After(100 * time.Millisecond) {
		a := house.Get(t, one.Ask, "/api/v1"+q.String())
		one.IsRightIfAnswered(t, q, a)
		if a.Status == 503 && strings.Contains(string(a.Body), "rather than a wrong figure") {
			if p := house.ProblemOf(t, a, 503, "engine_unavailable"); strings.Contains(p.Detail, "generation") || a.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %s", q, a)
			}
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s is still answered: %.300s", q, a)
		}
	}
}

// Parts that vanish under a running server are missed by no engine that starts
// afterwards.
func TestPartsThatVanishUnderARunningServerAreNoticed(t *testing.T) {
	house.NeedEngine(t)
	for _, column := range []string{"purchases_30d", "report_days", "month"} {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			w := openWard(t, t.TempDir(), 1)
			w.start(t)
			w.isWhole(t)
			aside := t.TempDir()
			for _, part := range w.partsOf(t, column) {
				house.Need(t, os.CopyFS(filepath.Join(aside, part), os.DirFS(part)))
				house.Need(t, os.RemoveAll(part))
			}
			house.Need(t, w.KillEngine())
			w.isWithheld(t)
			w.refusesLoads(t)
			house.Eventually(t, "the log says what is missing", func() bool {
				return strings.Contains(w.server.Log(), "the data of an account is damaged; nothing of it is answered until it is restored from a backup")
			})
			w.stop(t)
			w.start(t)
			w.isWithheld(t)
			w.stop(t)
			// With the parts put back, all is as it was.
			house.Need(t, os.CopyFS("/", os.DirFS(aside)))
			w.start(t)
			w.isWhole(t)
			w.stop(t)
		})
	}
}

// Servers behind a balancer all see the same damage: it must not take them away
// from accounts that are whole.
func TestDamageOfOneAccountTakesTheServerFromNoOther(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 1)
	askBystander := w.addBystander(t)
	w.start(t)
	for _, part := range w.partsOf(t, "purchases_30d") {
		house.Need(t, os.RemoveAll(part))
	}
	house.Need(t, w.KillEngine())
	w.refuses(t, w.tenants[0], products)
	var r readiness
	house.Eventually(t, "readiness says what is wrong", func() bool {
		r = w.ready(t)
		return strings.Contains(r.Checks["data"], "restore a backup")
	})
	if r.http != 200 || r.Status != "ready" {
		t.Errorf("readiness is %+v", r)
	}
	askBystander()
	w.stop(t)
}

// spoilBystander adds an account of which something cannot be read, and starts a server
// that knows it.
func (w *ward) spoilBystander(t *testing.T) {
	t.Helper()
	w.addBystander(t)
	titles := w.partsOf(t, "title")
	flipBits(t, filepath.Join(titles[len(titles)-1], "data.bin")) // the newest part, of the newest account
	w.start(t, withoutMemory...)
	house.Eventually(t, "what cannot be read is found", func() bool { return strings.Contains(w.server.Log(), `"account":"bystander"`) })
}

// What cannot be read of one account hides nothing that another one lost: that is passed
// over by the engine without a word.
func TestDamageOfOneAccountHidesNoLossOfAnother(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 1)
	ended, err := w.Key(w.tenants[0].Files.ID)
	house.Need(t, err)
	w.spoilBystander(t)
	var keys struct {
		Data []struct {
			ID string `json:"key_id"`
		}
	}
	house.Need(t, json.Unmarshal([]byte(w.Run("key", "list", "--json", "--account", w.tenants[0].Files.ID).Stdout), &keys))
	if r := w.Run("key", "revoke", keys.Data[len(keys.Data)-1].ID); r.Code != 0 {
		t.Fatal(r)
	}
	parts := w.partsOf(t, "successor")
	revoked := parts[len(parts)-1]
	house.Check(t, w.tenants[0].Ask, w.tenants[0].Model, products)
	house.Need(t, os.RemoveAll(revoked))
	house.Need(t, w.KillEngine())
	house.Eventually(t, "the loss of a revocation is found", func() bool {
		a := house.Get(t, harness.Client{Address: w.server.Address, Key: ended}, "/api/v1/account")
		if a.Status == 200 {
			t.Errorf("a key that was revoked is answered")
		}
		return a.Status == 503
	})
	w.refuses(t, w.tenants[0], products)
	w.stop(t)
}

// Nor does it hide lost rows of figures.
func TestDamageOfOneAccountHidesNoLostFigures(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 1)
	w.spoilBystander(t)
	house.Check(t, w.tenants[0].Ask, w.tenants[0].Model, products)
	for _, column := range []string{"month", "year"} {
		for _, part := range w.partsOf(t, column) {
			house.Need(t, os.RemoveAll(part))
		}
	}
	house.Need(t, w.KillEngine())
	w.refuses(t, w.tenants[0], products)
	w.stop(t)
}

// addBystander adds an account that has figures of no part that is damaged. The function
// demands that it is answered.
func (w *ward) addBystander(t *testing.T) (ask func()) {
	t.Helper()
	key, err := w.Account("bystander")
	house.Need(t, err)
	loaded, err := w.Load("bystander", house.Put(t, t.TempDir(), "products.csv", []byte("product_id,title\nB0A,Lamp\n")))
	if err != nil || loaded.Code != 0 {
		t.Fatalf("%v %s", err, loaded.Result)
	}
	return func() {
		if a := house.Get(t, harness.Client{Address: w.server.Address, Key: key}, "/api/v1/summary"); a.Status != 200 {
			t.Errorf("the account that is whole is answered %s", a)
		}
	}
}

// Bytes that change under a running server are met by the next answer that
// needs them, which is none.
func TestBytesThatChangeUnderARunningServerAreNeverAnswered(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 1)
	w.start(t, withoutMemory...)
	for _, column := range []string{"month", "year"} {
		for _, part := range w.partsOf(t, column) {
			flipBits(t, filepath.Join(part, "data.bin"))
		}
	}
	w.meetsDamage(t)
	w.isWithheld(t)
	w.stop(t)
}

// A part that has fewer rows than were stored is read without an error.
func TestCountsThatChangeUnderARunningServerAreNeverAnswered(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 1)
	askBystander := w.addBystander(t)
	w.start(t, withoutMemory...)
	w.changeCount(t, "purchases_30d")
	house.Need(t, w.KillEngine())
	w.meetsDamage(t)
	for _, q := range house.Everything() {
		w.refuses(t, w.tenants[0], q)
	}
	askBystander()
	w.stop(t)
}

// meetsDamage asks until the account is refused; no answer is wrong.
func (w *ward) meetsDamage(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(harness.Patience); ; <-time.After(200 * time.Millisecond) {
		a := house.Get(t, w.tenants[0].Ask, "/api/v1"+products.String())
		w.tenants[0].IsRightIfAnswered(t, products, a)
		if a.Status == 503 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("spoilt bytes are not met: %.300s", a)
		}
	}
}

// changeCount changes the first digit of the number of rows of a table's largest part:
// 1 to 0, 2 to 3. It returns what puts it back.
func (w *ward) changeCount(t *testing.T, column string) (what string, putBack func()) {
	t.Helper()
	path := filepath.Join(w.largestPart(t, column), "count.txt")
	rows, err := os.ReadFile(path)
	house.Need(t, err)
	changed := append([]byte(nil), rows...)
	changed[0] ^= 1
	house.Need(t, os.WriteFile(path, changed, 0o600))
	return fmt.Sprintf("%s rows in a part with %s, which had %s", changed, column, rows), func() { house.Need(t, os.WriteFile(path, rows, 0o600)) }
}

// Commands that answer without a server withhold the same. A part's number of rows is a
// file of its own that no sum protects: a changed digit takes rows from the part, or has
// the engine read more than there are.
func TestCommandsNeverAnswerFromChangedCounts(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 1)
	one := w.tenants[0]
	w.engineEnds(t)
	w.KeepEngine()
	for _, column := range []string{"purchases_30d", "day", "month", "year", "report_days"} {
		what, putBack := w.changeCount(t, column)
		for _, q := range house.Everything() {
			done := w.Run("figures", "--account", one.Files.ID, "--format", "json", q.String())
			if done.Code == 0 {
				one.IsRightIfAnswered(t, q, harness.Answer{Status: 200, Body: []byte(done.Stdout)})
			} else if !strings.Contains(done.Stderr, "damaged") {
				t.Errorf("with %s, %s ends with %s", what, q, done)
			}
		}
		house.Need(t, w.StopEngine())
		putBack()
	}
	for _, part := range w.partsOf(t, "purchases_30d") {
		house.Need(t, os.RemoveAll(part))
	}
	for _, command := range [][]string{{"figures"}, {"mcp"}} {
		if done := w.Run(append(command, "--account", one.Files.ID)...); done.Code == 0 || !strings.Contains(done.Stderr, "stored data of account") {
			t.Errorf("without the parts of facts, %s ends with %s", command[0], done)
		}
	}
	house.Need(t, w.StopEngine())
}

// largestPart is the part that has most rows, of those that the engine still reads.
func (w *ward) largestPart(t *testing.T, column string) (largest string) {
	t.Helper()
	most := 0
	for _, part := range w.partsOf(t, column) {
		text, err := os.ReadFile(filepath.Join(part, "count.txt"))
		house.Need(t, err)
		rows, err := strconv.Atoi(string(text))
		house.Need(t, err)
		if rows > most {
			largest, most = part, rows
		}
	}
	return largest
}

// flipBits changes a bit of each sixteenth of a file, so that each of a part's
// larger columns has one.
func flipBits(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	house.Need(t, err)
	for i := range 16 {
		content[(len(content)-1)*i/16] ^= 4
	}
	house.Need(t, os.WriteFile(path, content, 0o600))
}

// A record of commits that cannot be read of one account keeps no other from a backup.
func TestABackupIsMadeOfWhatCanBeRead(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 1)
	w.addBystander(t)
	units := w.partsOf(t, "report_days")
	flipBits(t, filepath.Join(units[len(units)-1], "data.bin")) // the newest part, of the newest account
	place := house.Copied{Program: w.Program, Place: t.TempDir()}
	if r := w.Run("backup", "--to", place.Place); r.Code == 0 || !strings.Contains(r.Stderr, "account bystander") {
		t.Errorf("a backup of which one account cannot be read: %s", r)
	}
	place.Restore(t, "--account", w.tenants[0].Files.ID)
	w.engineEnds(t)
}
