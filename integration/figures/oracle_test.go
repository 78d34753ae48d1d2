package figures_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

func TestEveryAnswerIsTheOraclesInRandomCases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		big  bool
	}{{"everyday", false}, {"big", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			randomCase(t, house.Seed(t), c.big)
		})
	}
}

// randomCase loads several accounts into one data directory, the first part
// without a server, and asks at random all along.
func randomCase(t *testing.T, seed uint64, big bool) {
	p := house.OwnProgram(t)
	if big { // a machine whose clocks skip a midnight each year: days stay what they are
		p.Settings = append(p.Settings, "TZ=America/Santiago")
	}
	accounts, err := extracts.Write(t.TempDir(), extracts.Options{Seed: seed, Accounts: 3, Reports: house.Scaled(36), Now: time.Now(), Big: big, Legacy: true})
	house.Need(t, err)
	r := rand.New(rand.NewPCG(seed, 11))
	var tenants []*house.Tenant
	for _, a := range accounts {
		key, err := p.Account(a.ID)
		house.Need(t, err)
		tenants = append(tenants, &house.Tenant{Files: a, Model: model.New(), Ask: harness.Client{Key: key}})
	}
	house.Load(t, p, tenants[0], append(batch(r, &tenants[0].Files), accounts[0].Base)...)
	server := house.Serve(t, p)
	for i, one := range tenants {
		one.Ask.Address = server.Address
		if i > 0 {
			house.Load(t, p, one, accounts[i].Base)
		}
	}
	loadEverything(t, p, r, tenants)
	for _, one := range tenants {
		house.CheckAll(t, one.Ask, one.Model)
		askAtRandom(t, r, one, house.Scaled(120))
	}
}

// loadEverything loads what is left in random order and size, and asks a
// little after each load.
func loadEverything(t *testing.T, p *harness.Program, r *rand.Rand, tenants []*house.Tenant) {
	rates := map[*house.Tenant]int{}
	for left := tenants; len(left) > 0; {
		i := r.IntN(len(left))
		one := left[i]
		switch {
		case rates[one] == 0 && r.IntN(4) == 0:
			house.Load(t, p, one, one.Files.LateRates)
			rates[one]++
		case rates[one] == 1 && r.IntN(4) == 0:
			house.Load(t, p, one, one.Files.NewRates)
			rates[one]++
		case len(one.Files.Reports) == 0:
			left = append(append([]*house.Tenant(nil), left[:i]...), left[i+1:]...)
		default:
			house.Load(t, p, one, batch(r, &one.Files)...)
		}
		askAtRandom(t, r, one, 4)
	}
}

// batch takes some reports out of those that are left, in random order.
func batch(r *rand.Rand, a *extracts.Account) []string {
	r.Shuffle(len(a.Reports), func(i, j int) { a.Reports[i], a.Reports[j] = a.Reports[j], a.Reports[i] })
	n := min(len(a.Reports), 1+r.IntN(9))
	var paths []string
	for _, report := range a.Reports[:n] {
		paths = append(paths, report.Files()...)
	}
	a.Reports = a.Reports[n:]
	r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	return paths
}

func askAtRandom(t *testing.T, r *rand.Rand, one *house.Tenant, n int) {
	t.Helper()
	a := house.NewAsker(r, one.Model)
	for range n {
		house.Check(t, one.Ask, one.Model, a.Ask())
	}
}
