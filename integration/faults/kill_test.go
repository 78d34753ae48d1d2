package faults_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

func TestNoKillLosesOrTearsALoad(t *testing.T) {
	t.Parallel()
	from, rounds := house.Seed(t), house.Scaled(12)
	accounts, err := extracts.Write(t.TempDir(), extracts.Options{Seed: from, Accounts: 1, Reports: 2*rounds + 4, Now: time.Now(), Days: 150, Legacy: true})
	house.Need(t, err)
	besiege(t, from, rounds, accounts[0], func(*model.Account) []house.Question { return house.Everything() })
}

func TestNoKillLosesOrTearsAList(t *testing.T) {
	t.Parallel()
	from, rounds := house.Seed(t), house.Scaled(8)
	written, err := extracts.WriteLists(t.TempDir(), extracts.ListOptions{Seed: from, Accounts: 1, Exports: 2*rounds + 4, Campaigns: 1_500, Now: time.Now()})
	house.Need(t, err)
	files := extracts.Account{ID: written[0].ID, Base: written[0].Base, Reports: written[0].Exports}
	besiege(t, from, rounds, files, house.AllLists)
}

// besiege loads two reports or exports a round, while a process dies.
func besiege(t *testing.T, from uint64, rounds int, files extracts.Account, asks func(*model.Account) []house.Question) {
	t.Helper()
	s := &house.Siege{Program: house.AloneProgram(t), Rand: rand.New(rand.NewPCG(from, 17)), One: &house.Tenant{Files: files, Model: model.New(), Ask: harness.Client{}}, Asks: asks}
	var err error
	s.One.Ask.Key, err = s.Account(files.ID)
	house.Need(t, err)
	s.Start(t)
	t.Cleanup(func() {
		if s.Server != nil {
			s.Server.Kill()
		}
	})
	house.Load(t, s.Program, s.One, files.Base)
	began := time.Now()
	house.Load(t, s.Program, s.One, s.One.Take(4)...)
	s.Usual = time.Since(began)
	for round := range rounds {
		who := house.Victim(round) % house.Victims
		s.Round(t, who)
		if t.Failed() {
			t.Fatalf("round %d, killed %s; the server's log:\n%s", round, who, s.Server.Log())
		}
	}
	house.Need(t, s.Server.Stop())
	s.Server = nil
}

func TestTwoLoadersAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	from := house.Seed(t)
	accounts, err := extracts.Write(t.TempDir(), extracts.Options{Seed: from, Accounts: 1, Reports: 16, Now: time.Now(), Days: 120})
	house.Need(t, err)
	one := &house.Tenant{Files: accounts[0], Model: model.New(), Ask: h.Client(t, accounts[0].ID)}
	house.Load(t, h.Program, one, one.Files.Base)
	var all [2][]string
	for i, report := range one.Files.Reports {
		all[i%2] = append(all[i%2], report.Files()...)
	}
	ends := make(chan int, 2)
	for _, paths := range all {
		go func() { ends <- h.Run(h.LoadArgs(one.Files.ID, paths...)...).Code }()
	}
	// One may be told to wait its turn: not a success, but no harm either.
	codes := []int{<-ends, <-ends}
	t.Logf("exit codes of two loaders at once: %v", codes)
	for _, paths := range all {
		one.Model.Load(paths...)
		done, err := h.Load(one.Files.ID, paths...)
		if err != nil || done.Code != 0 {
			t.Errorf("repeated load: %v %s", err, done.Result)
		}
	}
	house.CheckAll(t, one.Ask, one.Model)
}
