package integration_test

import (
	"testing"
	"time"

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
