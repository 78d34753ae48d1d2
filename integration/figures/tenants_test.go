package figures_test

import (
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/model"
)

func TestOneAccountsProfilesAndRatesAreNotAnothers(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	landlord, lodger := house.AccountID(t)+"-a", house.AccountID(t)+"-b"
	owner, guest := h.Client(t, landlord), h.Client(t, lodger)
	rich := &house.Tenant{Model: model.New(), Ask: owner}
	rich.Files.ID = landlord
	dir := t.TempDir()
	house.ProfilesFile(t, dir, [4]string{"701", "DE", "EUR", "seller"})
	house.Put(t, dir, "rates.csv", []byte("date,currency,usd\n"+house.DaysAgo(12)+",EUR,1.1\n"))
	house.SpPair("theirs", "701", house.DaysAgo(12), 3, time.Now()).Write(t, dir)
	house.Load(t, h.Program, rich, dir)

	poor := &house.Tenant{Model: model.New(), Ask: guest}
	poor.Files.ID = lodger
	other := t.TempDir()
	house.ProfilesFile(t, other, [4]string{"702", "DE", "EUR", "seller"})
	house.SpPair("no-rate", "702", house.DaysAgo(12), 3, time.Now()).Write(t, other)
	house.SpPair("not-mine", "701", house.DaysAgo(12), 3, time.Now()).Write(t, other)
	house.Load(t, h.Program, poor, other) // both are refused, as the oracle says
	house.CheckAll(t, guest, poor.Model)
	house.CheckAll(t, owner, rich.Model)
}
