package loads_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/loads"
	"adlens/internal/engine"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/loader"
)

func TestMain(m *testing.M) {
	engine.RunIfAsked("test")
	os.Exit(m.Run())
}

// open opens a database of its own for a test.
func open(t *testing.T) *clickhouse.Database {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e, err := engine.Open(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d, err := clickhouse.Open(ctx, conn.Embedded{Engine: e})
	if err != nil {
		t.Fatal(errors.Join(err, e.Close()))
	}
	t.Cleanup(func() {
		if err := errors.Join(d.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// What a load does with the rows of a month looks into no part of another month,
// however many of those there are.
func TestALoadLooksIntoTheMonthsOfItsOwn(t *testing.T) {
	d := open(t)
	account := t.Name()
	var months []manifest.Entry
	for i := range 12 {
		month := adlens.Date(2025, time.January, 1).AddMonths(i)
		// Two accounts are in each part: where the rows of one end and those of the
		// next begin, the index alone does not say which generations there are.
		err := d.Cluster.Home().Exec(t.Context(), `INSERT INTO facts (account_id, generation, day, clicks)
SELECT arrayJoin([{account:String}, concat({account:String}, ' beside')]), {generation:UInt32}, {month:Date}, 5`,
			conn.Params{"account": query.Text(account), "generation": conn.Number(uint32(1 + i)), "month": month.String()})
		if err != nil {
			t.Fatal(err)
		}
		months = append(months, manifest.Entry{Unit: manifest.Unit{Kind: manifest.Month, Start: month}, Generation: uint32(1 + i)})
	}
	some := months[3:5]
	copied := []loader.Copy{{Month: some[0].Start, From: some[0].Generation, To: 99, Days: 1}, {Month: some[1].Start, From: some[1].Generation, To: 99, Days: 1}}
	for filter, params := range map[string]conn.Params{loads.OfMonths: loads.MonthParams(account, some), loads.CopiedDays: loads.CopyParams(account, copied)} {
		var parts uint64
		err := d.Cluster.Home().ReadAsOwner(t.Context(), "SELECT sum(parts) FROM (EXPLAIN ESTIMATE SELECT sum(clicks) FROM facts WHERE "+filter+")", params, conn.ScanInto(&parts))
		if err != nil || parts != uint64(len(some)) {
			t.Errorf("%d parts are read for %d months: %v\n%s", parts, len(some), err, filter)
		}
	}
}
