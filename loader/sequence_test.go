package loader_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/model"
	"adlens/loader"
)

// Whatever is loaded in whatever order: reports that overlap, restate, come
// late, are empty or come again, and rates that change under held days; after
// every step the stored figures are those of the files so far.
func TestStoredFiguresAreAFunctionOfTheLoadedFiles(t *testing.T) {
	d := openShared(t)
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			accounts, err := extracts.Write(t.TempDir(), extracts.Options{PlatformOnly: true,
				Seed: seed, Accounts: 1, Reports: 24, Days: 100, Big: seed == 1,
				Now: time.Date(2026, 2, 10, 17, 30, 0, 0, time.UTC),
			})
			if err != nil {
				t.Fatal(err)
			}
			s := sequence{t: t, database: d, account: t.Name(), extract: accounts[0], oracle: newOracle(), model: model.New(),
				random: rand.New(rand.NewPCG(seed, 1))}
			s.run()
		})
	}
}

type sequence struct {
	t        *testing.T
	database *database
	account  string
	extract  extracts.Account
	oracle   *oracle
	model    *model.Account
	random   *rand.Rand
	step     int
}

func (s *sequence) run() {
	s.oracle.addBase(s.t, s.extract.Base)
	s.load("the base", s.extract.Base)
	left := s.random.Perm(len(s.extract.Reports))
	rates := []string{s.extract.LateRates, s.extract.NewRates}
	for len(left) > 0 {
		n := min(len(left), 1+s.random.IntN(8))
		s.reports(left[:n])
		left = left[n:]
		switch dice := s.random.IntN(6); {
		case dice < 2 && len(rates) > 0:
			s.oracle.addRates(s.t, rates[0])
			s.load("rates", rates[0])
			rates = rates[1:]
		case dice < 4:
			s.reports([]int{s.random.IntN(len(s.extract.Reports))})
		}
	}
}

func (s *sequence) reports(numbers []int) {
	var paths []string
	for _, n := range numbers {
		r := s.extract.Reports[n]
		paths = append(paths, r.Files()...)
		s.oracle.addReport(s.t, r.Object, r.Download)
	}
	s.load(fmt.Sprint("reports ", numbers), paths...)
}

// load loads, and compares what is reported and what is stored.
func (s *sequence) load(what string, paths ...string) {
	s.t.Helper()
	s.step++
	got := map[string]loader.Status{}
	for _, f := range load(s.t, s.database.store(), s.account, paths...).Files {
		got[f.File] = f.Status
	}
	for _, w := range s.model.Load(paths...) {
		// Of several lists in one command the order of loading, which is the loader's
		// own, says which of them is superseded before its turn.
		isList := strings.HasSuffix(w.Path, ".export.json")
		if string(got[w.Path]) != w.Status && !w.Either && !(isList && got[w.Path] == loader.Unchanged) {
			s.t.Errorf("step %d, %s: %s is reported to be %s, expected %s", s.step, what, w.Path, got[w.Path], w.Status)
		}
	}
	s.oracle.equal(s.t, s.database, s.account)
	if s.t.Failed() {
		s.t.Fatalf("after step %d: %s", s.step, what)
	}
}
