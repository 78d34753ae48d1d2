package loader_test

import (
	"fmt"
	"strconv"
	"testing"

	"adlens/internal/engine"
)

// mostStatements is how many statements, the driver's own included, a load of one report
// may cost a database that is open. Each takes the engine a few milliseconds, whatever it
// reads. A load needs some 30 of them.
const mostStatements = 34

// It is alone in the engine: tests that run in parallel begin after it.
func TestALoadOfAReportCostsFewStatements(t *testing.T) {
	d := openShared(t)
	account, dir := t.Name(), writeBase(t)
	count := func() int {
		counted := d.run(t, engine.LoaderUser, d.at.LoaderPassword, "", "SELECT toString(sum(value)) FROM system.events WHERE event = 'Query' FORMAT TSV")
		n, err := strconv.Atoi(counted[0][0])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for month := range 3 {
		day := fmt.Sprintf("2026-%02d-02", month+1)
		report := reportFile{fmt.Sprint("r-", month), profileUS, day, day, "2026-11-20T10:24:00Z", []string{row(day, "B01", "5", "1.25", "2.50")}}
		paths := []string{report.write(t, t.TempDir())}
		if month == 0 {
			paths = append(paths, dir)
		}
		before := count()
		result := load(t, d.store(), account, paths...)
		if result.Refused() > 0 {
			t.Fatalf("%+v", result)
		}
		// The count itself is a statement.
		if cost := count() - before - 1; month > 0 && cost > mostStatements {
			t.Errorf("the load of report %d cost %d statements, expected %d at most", month, cost, mostStatements)
		} else {
			t.Logf("report %d: %d statements", month, cost)
		}
	}
}
