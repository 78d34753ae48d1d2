package integration_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/model"
)

func TestOneAccountsProfilesAndRatesAreNotAnothers(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	landlord, lodger := name(t)+"-a", name(t)+"-b"
	owner, guest := h.account(t, landlord), h.account(t, lodger)
	rich := &tenant{model: model.New(), ask: owner}
	rich.files.ID = landlord
	dir := t.TempDir()
	profilesFile(t, dir, [4]string{"701", "DE", "EUR", "seller"})
	put(t, dir, "rates.csv", []byte("date,currency,usd\n"+daysAgo(12)+",EUR,1.1\n"))
	spPair("theirs", "701", daysAgo(12), 3, time.Now()).write(t, dir)
	load(t, h.Program, rich, dir)

	poor := &tenant{model: model.New(), ask: guest}
	poor.files.ID = lodger
	other := t.TempDir()
	profilesFile(t, other, [4]string{"702", "DE", "EUR", "seller"})
	spPair("no-rate", "702", daysAgo(12), 3, time.Now()).write(t, other)
	spPair("not-mine", "701", daysAgo(12), 3, time.Now()).write(t, other)
	load(t, h.Program, poor, other) // both are refused, as the oracle says
	checkAll(t, guest, poor.model)
	checkAll(t, owner, rich.model)
}

func TestAnothersIdsAreAnsweredLikeUnknownOnes(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	accounts := map[string]harness.Client{}
	for _, profile := range []string{"701", "702"} {
		one := &tenant{model: model.New()}
		one.files.ID = name(t) + profile
		one.ask = h.account(t, one.files.ID)
		accounts[profile] = one.ask
		dir := t.TempDir()
		profilesFile(t, dir, [4]string{profile, "DE", "EUR", "seller"})
		row := campaignRow("9"+profile, "Lamp", "EUR")
		exportPair("lists", profile, "campaigns", time.Now(), row).write(t, dir)
		put(t, dir, "rules.ndjson", lines(t, ruleLine("rule"+profile)))
		load(t, h.Program, one, dir)
	}
	for _, c := range []struct {
		path, id, unknown string
		status            int
		code              string
	}{
		{"/campaigns?marketplace_id=ID", "701", "709", 400, "unknown_value"},
		{"/ad-groups?marketplace_id=ID", "701", "709", 400, "unknown_value"},
		{"/ad-groups?marketplace_id=702&campaign_id=ID", "9701", "9709", 400, "unknown_value"},
		{"/rules/ID/runs", "rule701", "rule709", 404, "not_found"},
	} {
		shape := func(id string) string {
			a := get(t, accounts["702"], "/api/v1"+strings.Replace(c.path, "ID", id, 1))
			p := problemOf(t, a, c.status, c.code)
			text, err := json.Marshal(p.Errors)
			need(t, err)
			if !strings.Contains(p.Detail, id) {
				t.Errorf("%s: want the detail to name %s, got %q", c.path, id, p.Detail)
			}
			return strings.ReplaceAll(p.Title+p.Detail+string(text), id, "ID")
		}
		if theirs, unknown := shape(c.id), shape(c.unknown); theirs != unknown {
			t.Errorf("%s: another account's id is told apart:\n  %s\n  %s", c.path, theirs, unknown)
		}
	}
}
