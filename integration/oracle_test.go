package integration_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
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
			randomCase(t, seed(t), c.big)
		})
	}
}

// tenant is one account with its oracle.
type tenant struct {
	files extracts.Account
	model *model.Account
	ask   harness.Client
}

// randomCase loads several accounts into one data directory, the first part
// without a server, and asks at random all along.
func randomCase(t *testing.T, seed uint64, big bool) {
	p := ownProgram(t)
	accounts, err := extracts.Write(t.TempDir(), extracts.Options{Seed: seed, Accounts: 3, Reports: scaled(36), Now: time.Now(), Big: big})
	need(t, err)
	r := rand.New(rand.NewPCG(seed, 11))
	var tenants []*tenant
	for _, a := range accounts {
		key, err := p.Account(a.ID)
		need(t, err)
		tenants = append(tenants, &tenant{a, model.New(), harness.Client{Key: key}})
	}
	load(t, p, tenants[0], append(batch(r, &tenants[0].files), accounts[0].Base)...)
	server := serve(t, p)
	for i, one := range tenants {
		one.ask.Address = server.Address
		if i > 0 {
			load(t, p, one, accounts[i].Base)
		}
	}
	loadEverything(t, p, r, tenants)
	for _, one := range tenants {
		checkAll(t, one.ask, one.model)
		askAtRandom(t, r, one, scaled(120))
	}
}

// loadEverything loads what is left in random order and size, and asks a
// little after each load.
func loadEverything(t *testing.T, p *harness.Program, r *rand.Rand, tenants []*tenant) {
	rates := map[*tenant]int{}
	for left := tenants; len(left) > 0; {
		i := r.IntN(len(left))
		one := left[i]
		switch {
		case rates[one] == 0 && r.IntN(4) == 0:
			load(t, p, one, one.files.LateRates)
			rates[one]++
		case rates[one] == 1 && r.IntN(4) == 0:
			load(t, p, one, one.files.NewRates)
			rates[one]++
		case len(one.files.Reports) == 0:
			left = append(append([]*tenant(nil), left[:i]...), left[i+1:]...)
		default:
			load(t, p, one, batch(r, &one.files)...)
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

func askAtRandom(t *testing.T, r *rand.Rand, one *tenant, n int) {
	t.Helper()
	oldest, _ := one.model.Held()
	a := asker{r, one.model.Codes(), oldest}
	for range n {
		check(t, one.ask, one.model, a.ask())
	}
}
