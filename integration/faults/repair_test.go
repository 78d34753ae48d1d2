package faults_test

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// isAnsweredAgain waits until a server has noticed that an account is whole.
func (w *ward) isAnsweredAgain(t *testing.T, one *house.Tenant) {
	t.Helper()
	house.Eventually(t, "the account is answered again", func() bool {
		a := house.Get(t, one.Ask, "/api/v1"+products.String())
		one.IsRightIfAnswered(t, products, a)
		return a.Status == 200
	})
	house.CheckAll(t, one.Ask, one.Model)
}

// A server that is not told of a loss notices it where it adds days up, before it looks
// through all rows again, and keeps nothing of it once it is repaired.
func TestLostDaysAreNoSmallerSum(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 2)
	place := house.Copied{Program: w.Program, Place: t.TempDir(), More: nil}
	place.Backup(t)
	w.start(t)
	one, other := w.tenants[0], w.tenants[1]
	house.AsWriter(t, w.Program, "ALTER TABLE day_totals DELETE WHERE account_id = '"+one.Files.ID+"' AND day = (SELECT max(day) FROM day_totals WHERE account_id = '"+one.Files.ID+"')")
	w.refuses(t, one, house.Question{Path: "/summary", Query: url.Values{"range": {"all_time"}}})
	house.CheckAll(t, other.Ask, other.Model)
	place.PutRight(t, one.Files.ID)
	w.isAnsweredAgain(t, one)
	w.stop(t)
}

// Damage of some accounts keeps a server from no other, and each of them is put
// right where it is, under the running server.
func TestADamagedAccountIsRestoredInItsPlaceUnderARunningServer(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 2)
	bystander, err := w.Account("bystander")
	house.Need(t, err)
	loaded, err := w.Load("bystander", house.Put(t, t.TempDir(), "products.csv", []byte("product_id,title\nB0A,Lamp\n")))
	if err != nil || loaded.Code != 0 {
		t.Fatalf("%v %s", err, loaded.Result)
	}
	place := house.Copied{Program: w.Program, Place: t.TempDir(), More: nil}
	place.Backup(t)
	first, second := w.tenants[0], w.tenants[1]
	younger, err := w.Key(first.Files.ID) // than the backup
	house.Need(t, err)
	w.start(t)
	w.isWhole(t)
	house.MustRefuse(t, "an account that is whole", place.Run("restore", "--from", place.Place, "--account", first.Files.ID), first.Files.ID, "is there already, and whole")

	for _, part := range w.partsOf(t, "purchases_30d") {
		house.Need(t, os.RemoveAll(part))
	}
	house.Need(t, w.KillEngine())
	w.stop(t)
	w.start(t)
	if r := w.ready(t); r.http != 200 || !strings.Contains(r.Checks["data"], "adlens restore --from PLACE --account ID") {
		t.Errorf("readiness is %+v", r)
	}
	other := harness.Client{Address: w.server.Address, Key: bystander}
	for _, one := range w.tenants {
		w.refuses(t, one, products)
		if log := w.server.Log(); !strings.Contains(log, `"account":"`+one.Files.ID+`"`) {
			t.Errorf("the log does not name %s: %s", one.Files.ID, log)
		}
		if r := w.Run("doctor", "--account", one.Files.ID, "--quick"); r.Code == 0 || !strings.Contains(r.Stdout, "adlens restore --from PLACE --account ID") {
			t.Errorf("doctor: %s", r)
		}
	}
	if a := house.Get(t, other, "/api/v1/summary"); a.Status != 200 {
		t.Errorf("the account that is whole is answered %s", a)
	}

	place.PutRight(t, first.Files.ID)
	w.isAnsweredAgain(t, first)
	house.CheckAll(t, harness.Client{Address: w.server.Address, Key: younger}, first.Model)
	w.refuses(t, second, products)

	// A restore that is killed leaves the account refused, and is repeated.
	restore := w.Command(t.Context(), "restore", "--from", place.Place, "--account", second.Files.ID)
	atClosing(t, restore, func() { house.Need(t, restore.Process.Kill()) })
	if err := restore.Wait(); err == nil {
		t.Error("the restore came to its end before it was killed")
	}
	w.refuses(t, second, products)
	done, err := w.Load(second.Files.ID, second.Files.Reports[0].Files()...)
	if err != nil || done.Code == 0 || !strings.Contains(done.Stderr, "stored data is damaged") {
		t.Errorf("a load into an account that is half restored: %v %s", err, done.Result)
	}
	if r := w.Run("doctor", "--quick"); r.Code == 0 || !strings.Contains(r.Stdout, "it is being restored") || !strings.Contains(r.Stdout, second.Files.ID) {
		t.Errorf("doctor of an account that is half restored: %s", r)
	}
	w.stop(t)
	w.start(t)
	w.refuses(t, second, products)
	place.PutRight(t, second.Files.ID)
	w.isAnsweredAgain(t, second)
	w.awaits(t, "")
	house.Eventually(t, "readiness has nothing to say", func() bool { return w.ready(t).Checks["data"] == "ok" })
	w.isWhole(t)
	for _, one := range w.tenants {
		house.Load(t, w.Program, one, one.Take(2)...)
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

// atClosing starts a restore in place, does something once it has closed the account, and
// returns its standard error.
func atClosing(t *testing.T, restore *exec.Cmd, do func()) string {
	t.Helper()
	stderr, err := restore.StderrPipe()
	house.Need(t, err)
	house.Need(t, restore.Start())
	var text strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		text.WriteString(lines.Text())
		if strings.HasPrefix(lines.Text(), "nothing of it is answered from now on") {
			do()
		}
	}
	return text.String()
}

// spoilFacts changes bytes of all facts, which two accounts have in common parts.
func (w *ward) spoilFacts(t *testing.T) {
	t.Helper()
	for _, part := range w.partsOf(t, "purchases_30d") {
		flipBits(t, filepath.Join(part, "data.bin"))
	}
}

// Bytes that changed cannot be read, by a deletion neither: the parts that have them are
// set aside before an account is put right.
func TestAnAccountWithChangedBytesIsRestoredInItsPlace(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 1)
	place := house.Copied{Program: w.Program, Place: t.TempDir(), More: nil}
	place.Backup(t)
	w.start(t, withoutMemory...)
	w.spoilFacts(t)
	for _, column := range []string{"month", "year"} {
		for _, part := range w.partsOf(t, column) {
			flipBits(t, filepath.Join(part, "data.bin"))
		}
	}
	w.meetsDamage(t)
	one := w.tenants[0]
	place.PutRight(t, one.Files.ID)
	w.isAnsweredAgain(t, one)
	w.isWhole(t)
	w.stop(t)
}

// A ledger that cannot be read is set aside as figures are. The numbers that were given out
// are not: a restore in its place goes on with them, and says that it cannot.
func TestAnAccountWhoseBookkeepingCannotBeReadIsRestoredOrRefused(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	for table, restored := range map[string]bool{"ledger": true, "accounted": true, "dead_generations": true, "number_blocks": false} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			w := openWard(t, t.TempDir(), 1)
			place := house.Copied{Program: w.Program, Place: t.TempDir(), More: nil}
			place.Backup(t)
			w.start(t, withoutMemory...)
			// The loads may have left nothing dead. Number 1 is of the first commit, and no rows have it.
			house.AsWriter(t, w.Program, "INSERT INTO dead_generations (account_id, table_name, generation) VALUES ('"+w.tenants[0].Files.ID+"', 'facts', 1)")
			harmParts(t, w.Program, table, harm{"flipped", flipPart})
			w.stop(t)
			house.Need(t, w.StopEngine())
			one := w.tenants[0]
			if restored {
				place.PutRight(t, one.Files.ID)
				place.Backup(t)
			} else if r := w.Run("restore", "--from", place.Place, "--account", one.Files.ID); r.Code == 0 || !strings.Contains(r.Stderr, "number_blocks cannot be read") || !strings.Contains(r.Stderr, "into a new data directory or database") {
				t.Errorf("restore: %s", r)
			}
			w.start(t, withoutMemory...)
			w.isWhole(t)
			w.stop(t)
		})
	}
}

// Where other accounts have rows in a part that cannot be read, a restore in place is
// refused and the account is not left closed, also where that is found late.
func TestARestoreInPlaceTakesNoRowsOfOthers(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	w := openWard(t, t.TempDir(), 2)
	place := house.Copied{Program: w.Program, Place: t.TempDir(), More: nil}
	place.Backup(t)
	w.start(t, withoutMemory...)
	one, other := w.tenants[0].Files.ID, w.tenants[1].Files.ID
	// The two may have no month, and so no part, in common.
	house.AsWriter(t, w.Program, "INSERT INTO facts SELECT '"+other+"', facts.* EXCEPT (account_id) FROM facts WHERE account_id = '"+one+"'")
	house.AsWriter(t, w.Program, "OPTIMIZE TABLE facts FINAL")
	house.AsWriter(t, w.Program, "ALTER TABLE day_totals DELETE WHERE account_id = '"+one+"' AND day = (SELECT max(day) FROM day_totals WHERE account_id = '"+one+"')")
	for _, late := range []bool{true, false} {
		command := w.Command(t.Context(), "restore", "--from", place.Place, "--account", one)
		text := atClosing(t, command, func() {
			if late {
				w.spoilFacts(t)
			}
		})
		if err := command.Wait(); err == nil || !strings.Contains(text, "account "+one+" cannot be put right where it is") || !strings.Contains(text, "into a new data directory or database") {
			t.Errorf("late: %v; the restore ends with %v, %s", late, err, text)
		}
		if r := w.Run("doctor", "--quick"); strings.Contains(r.Stdout, "it is being restored") {
			t.Errorf("late: %v; the account is left closed: %s", late, r)
		}
	}
	w.stop(t)
}
