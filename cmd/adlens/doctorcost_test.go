package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"adlens/internal/clickhouse/conn"
)

// mostForAccount is how many statements an account more may cost doctor. Each takes the engine
// a few milliseconds, whatever it reads. It needs 43; each table that is counted or read
// for one account at a time adds one.
const mostForAccount = 43

func TestDoctorCountsAndReadsTheTablesOfManyAccountsTogether(t *testing.T) {
	d, o := home(t)
	const day = `{"date":"2026-11-02","advertisedAsin":"LAMP","campaignId":1,"campaignName":"C","adGroupId":2,"adGroupName":"G","impressions":10,"clicks":1,"cost":1,"purchases7d":1,"sales7d":2}`
	add := func(n int) {
		t.Helper()
		dir, id := t.TempDir(), fmt.Sprint("acme", n)
		var err error
		for name, text := range map[string]string{
			"profiles.json": fmt.Sprintf(`[{"profileId":%d,"countryCode":"US","currencyCode":"USD","timezone":"UTC","accountInfo":{"type":"seller"}}]`, n),
			"products.csv":  "product_id,title\nLAMP,Lamp\n",
			"r.report.json": fmt.Sprintf(`{"reportId":"r","profileId":%d,"status":"COMPLETED","startDate":"2026-11-02","endDate":"2026-11-02","generatedAt":"2026-11-04T08:00:00Z","configuration":{"adProduct":"SPONSORED_PRODUCTS","reportTypeId":"spAdvertisedProduct","timeUnit":"DAILY","groupBy":["advertiser"],"columns":["date","advertisedAsin","campaignId","campaignName","adGroupId","adGroupName","impressions","clicks","cost","purchases7d","sales7d"]}}`, n),
			"r.json":        "[" + day + "]",
		} {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		for _, command := range [][]string{{"account", "add", id, "--name", id}, {"key", "create", "--account", id, "--name", "sheet"}, {"load", "--account", id, dir}} {
			if out, failed := run(o, command...); failed != nil || err != nil {
				t.Fatal(out, failed, err)
			}
		}
	}
	cost := func() int {
		t.Helper()
		var before, after uint64
		count := func(into *uint64) error {
			return d.Cluster.Home().ReadAsOwner(t.Context(), "SELECT toUInt64(sum(value)) FROM system.events WHERE event = 'Query'", nil, conn.ScanInto(into))
		}
		err := count(&before)
		out, failed := run(o, "doctor")
		if err = errors.Join(err, failed, count(&after)); err != nil {
			t.Fatal(out, err)
		}
		return int(after - before)
	}
	add(1)
	add(2)
	few := cost()
	for n := range 2 {
		add(3 + n)
	}
	if more := (cost() - few) / 2; more > mostForAccount {
		t.Errorf("an account more costs %d statements, expected %d at most", more, mostForAccount)
	} else {
		t.Logf("an account more costs %d statements", more)
	}
}
