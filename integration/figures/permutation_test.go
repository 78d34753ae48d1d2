package figures_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/house"
	"adlens/integration/model"
)

func TestTheOrderOfLoadingMakesNoDifference(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	from := house.Seed(t)
	accounts, err := extracts.Write(t.TempDir(), extracts.Options{Seed: from, Accounts: 1, Reports: 24, Now: time.Now(), Days: 200, Legacy: true})
	house.Need(t, err)
	files := accounts[0]
	r := rand.New(rand.NewPCG(from, 13))
	orders := []func(*testing.T, *house.Tenant){
		func(t *testing.T, one *house.Tenant) { loadAtOnce(t, h, one) },
		func(t *testing.T, one *house.Tenant) { loadInParts(t, h, one, 1) },
		func(t *testing.T, one *house.Tenant) {
			r.Shuffle(len(one.Files.Reports), func(i, j int) {
				one.Files.Reports[i], one.Files.Reports[j] = one.Files.Reports[j], one.Files.Reports[i]
			})
			loadInParts(t, h, one, 7)
		},
	}
	var tenants []*house.Tenant
	for i, order := range orders {
		one := &house.Tenant{Files: files, Model: model.New()}
		one.Files.ID = fmt.Sprintf("order-%d-%d", from, i)
		one.Files.Reports = slices.Clone(files.Reports)
		one.Ask = h.Client(t, one.Files.ID)
		order(t, one)
		tenants = append(tenants, one)
	}
	a := house.NewAsker(r, tenants[0].Model)
	for _, q := range house.Everything() {
		house.SameAnswers(t, tenants, q)
	}
	for range house.Scaled(60) {
		house.SameAnswers(t, tenants, a.Ask())
	}
}

func loadAtOnce(t *testing.T, h *house.House, one *house.Tenant) {
	paths := []string{one.Files.LateRates}
	for _, report := range one.Files.Reports {
		paths = append(paths, report.Files()...)
	}
	house.Load(t, h.Program, one, append(paths, one.Files.Base)...)
}

// loadInParts loads the reports from the last to the first, the late rates in
// their midst.
func loadInParts(t *testing.T, h *house.House, one *house.Tenant, size int) {
	house.Load(t, h.Program, one, one.Files.Base)
	slices.Reverse(one.Files.Reports)
	for n, part := range slices.Collect(slices.Chunk(one.Files.Reports, size)) {
		var paths []string
		for _, report := range part {
			paths = append(paths, report.Files()...)
		}
		house.Load(t, h.Program, one, paths...)
		if n == 2 {
			house.Load(t, h.Program, one, one.Files.LateRates)
		}
	}
}
