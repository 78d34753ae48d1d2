package loader_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"adlens/loader"
)

// Files of one kind that are put over one another are one load, in their order: loading
// the folder again publishes none of what a later file replaced, also with a bad one
// among them.
func TestFilesThatReplaceOneAnotherAreOneLoad(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	dir := t.TempDir()
	market := func(zone string) string {
		return `[{"profileId": 2001, "countryCode": "GB", "currencyCode": "GBP", "timezone": "` + zone + `", "accountInfo": {"type": "seller", "name": "More"}}]`
	}
	bank := "Date,USD,GBP,\n2026-01-05,1.1,0."
	for name, texts := range map[string][3]string{
		"profiles.json":      {market("Europe/London"), market("of Mars"), market("UTC")},
		"rates.csv":          {"date,currency,usd\n2026-01-05,EUR,1.10\n2026-01-04,EUR,1.2\n", "date,currency,usd\n2026-01-05,EUR,-1\n", "date,currency,usd\n2026-01-05,EUR,1.12\n"},
		"eurofxref-hist.csv": {bank + "8,\n", bank + "x,\n", bank + "9,\n"},
		"products.csv":       {"product_id,title\nA,One\nB,Two\n", "product_id,title\nA,Bad\n,x\n", "product_id,title\nA,Three\n"},
		"rules.ndjson":       {`{"rule_id":1,"status":"on","edited_at":"2026-05-01T08:00:00Z"}` + "\n" + `{"rule_id":2,"status":"on","edited_at":"2026-05-01T08:00:00Z"}`, "{", `{"rule_id":2,"deleted":true}`},
		"rule_runs.ndjson":   {`{"rule_run_id":"one","rule_id":"1","started_at":"2026-05-01T08:00:00Z"}`, "{", `{"rule_run_id":"one","rule_id":"1","started_at":"2026-05-01T09:00:00Z"}`},
		"activity.ndjson":    {`{"activity_id":"one","occurred_at":"2026-05-01T07:00:00Z","tool":"undo","marketplace":"US"}`, "{", `{"activity_id":"one","occurred_at":"2026-05-01T08:00:00Z","tool":"undo","marketplace":"US"}`},
	} {
		for i, text := range texts {
			writeFile(t, filepath.Join(dir, []string{"2026-10", "2026-11", "2026-12"}[i], name), text)
		}
	}
	mustLoad(t, d.store(), t.Name(), writeBase(t))
	mustLoad(t, d.store(), t.Name(), reportFile{"r", profileDE, "2026-01-05", "2026-01-05", "2026-01-12T04:00:00Z", nil}.write(t, t.TempDir()))
	commits := func() string {
		return d.query(t, t.Name(), "SELECT count() FROM commits WHERE account_id = {account:String}")[0][0]
	}
	before := commits()
	for i, want := range []struct {
		status  loader.Status
		commits string
	}{{loader.Loaded, "9"}, {loader.Unchanged, "9"}} {
		result := load(t, d.store(), t.Name(), dir)
		if len(result.Files) != 21 || result.Refused() != 7 {
			t.Errorf("load %d: %d files, of which %d are refused; expected 21 and 7", i+1, len(result.Files), result.Refused())
		}
		for _, f := range result.Files {
			if f.Status != loader.Refused && f.Status != want.status {
				t.Errorf("load %d: %s is %s, expected %s", i+1, f.File, f.Status, want.status)
			}
		}
		if got := commits(); got != want.commits {
			t.Errorf("after load %d there are %s commits, %s before, expected %s", i+1, got, before, want.commits)
		}
	}
	const own = " WHERE account_id = {account:String} AND generation IN " + live
	got := fmt.Sprint(d.query(t, t.Name(), `SELECT * FROM (SELECT concat('EUR by hand ', toString(day)), toString(usd) FROM rates`+own+` AND currency = 'EUR' AND NOT fetched
UNION ALL SELECT 'GBP', toString(usd) FROM rates`+own+` AND currency = 'GBP'
UNION ALL SELECT marketplace_id, timezone FROM marketplaces`+own+` AND marketplace_id = '2001'
UNION ALL SELECT product_id, title FROM product_titles`+own+`) ORDER BY ALL`))
	if want := "[[2001 UTC] [A Three] [B Two] [EUR by hand 2026-01-04 1.2] [EUR by hand 2026-01-05 1.12] [GBP 1.2222222222]]"; got != want {
		t.Errorf("held is %s, expected %s", got, want)
	}
}
