package integration_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/model"
)

func TestTheOrderOfLoadingMakesNoDifference(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	from := seed(t)
	accounts, err := extracts.Write(t.TempDir(), extracts.Options{Seed: from, Accounts: 1, Reports: 24, Now: time.Now(), Days: 200})
	need(t, err)
	files := accounts[0]
	r := rand.New(rand.NewPCG(from, 13))
	orders := []func(*testing.T, *tenant){
		func(t *testing.T, one *tenant) { loadAtOnce(t, h, one) },
		func(t *testing.T, one *tenant) { loadInParts(t, h, one, 1) },
		func(t *testing.T, one *tenant) {
			r.Shuffle(len(one.files.Reports), func(i, j int) {
				one.files.Reports[i], one.files.Reports[j] = one.files.Reports[j], one.files.Reports[i]
			})
			loadInParts(t, h, one, 7)
		},
	}
	var tenants []*tenant
	for i, order := range orders {
		one := &tenant{files: files, model: model.New()}
		one.files.ID = fmt.Sprintf("order-%d-%d", from, i)
		one.files.Reports = slices.Clone(files.Reports)
		one.ask = h.account(t, one.files.ID)
		order(t, one)
		tenants = append(tenants, one)
	}
	oldest, _ := tenants[0].model.Held()
	a := asker{r, tenants[0].model.Codes(), oldest}
	for _, q := range everything() {
		sameAnswers(t, tenants, q)
	}
	for range scaled(60) {
		sameAnswers(t, tenants, a.ask())
	}
}

func loadAtOnce(t *testing.T, h *house, one *tenant) {
	paths := []string{one.files.LateRates}
	for _, report := range one.files.Reports {
		paths = append(paths, report.Files()...)
	}
	load(t, h.Program, one, append(paths, one.files.Base)...)
}

// loadInParts loads the reports from the last to the first, the late rates in
// their midst.
func loadInParts(t *testing.T, h *house, one *tenant, size int) {
	load(t, h.Program, one, one.files.Base)
	slices.Reverse(one.files.Reports)
	for n, part := range slices.Collect(slices.Chunk(one.files.Reports, size)) {
		var paths []string
		for _, report := range part {
			paths = append(paths, report.Files()...)
		}
		load(t, h.Program, one, paths...)
		if n == 2 {
			load(t, h.Program, one, one.files.LateRates)
		}
	}
}

func sameAnswers(t *testing.T, tenants []*tenant, q question) {
	t.Helper()
	check(t, tenants[0].ask, tenants[0].model, q)
	first := decodedAnswer(t, tenants[0].ask, q)
	for _, other := range tenants[1:] {
		for _, line := range model.Diff(first, decodedAnswer(t, other.ask, q)) {
			t.Errorf("%s: another order of loading: %s", q, line)
		}
	}
}

func decodedAnswer(t *testing.T, c harness.Client, q question) any {
	t.Helper()
	answer, err := c.Get("/api/v1" + q.String())
	need(t, err)
	value, err := model.Decode(answer.Body)
	if err != nil || answer.Status != 200 {
		t.Fatalf("%s: %s: %v", q, answer, err)
	}
	return value
}
