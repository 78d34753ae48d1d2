package integration_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/model"
)

// victim is who dies in a round.
type victim int

const (
	loaderBesideServer victim = iota
	server
	engine
	loaderAlone
	victims
)

func (v victim) String() string {
	return [...]string{"the loader beside a server", "the server", "the engine", "the loader alone"}[v]
}

// siege is one data directory under kills.
type siege struct {
	*harness.Program
	*rand.Rand
	one    *tenant
	server *harness.Server
	usual  time.Duration // how long a load takes when nobody dies
	asks   func(*model.Account) []question
}

func TestNoKillLosesOrTearsALoad(t *testing.T) {
	t.Parallel()
	from, rounds := seed(t), scaled(12)
	accounts, err := extracts.Write(t.TempDir(), extracts.Options{Seed: from, Accounts: 1, Reports: 2*rounds + 4, Now: time.Now(), Days: 150})
	need(t, err)
	besiege(t, from, rounds, accounts[0], func(*model.Account) []question { return everything() })
}

func TestNoKillLosesOrTearsAList(t *testing.T) {
	t.Parallel()
	from, rounds := seed(t), scaled(8)
	written, err := extracts.WriteLists(t.TempDir(), extracts.ListOptions{Seed: from, Accounts: 1, Exports: 2*rounds + 4, Campaigns: 1_500, Now: time.Now()})
	need(t, err)
	files := extracts.Account{ID: written[0].ID, Base: written[0].Base, Reports: written[0].Exports}
	besiege(t, from, rounds, files, allLists)
}

// besiege loads two reports or exports a round, while somebody dies.
func besiege(t *testing.T, from uint64, rounds int, files extracts.Account, asks func(*model.Account) []question) {
	t.Helper()
	s := &siege{Program: aloneProgram(t), Rand: rand.New(rand.NewPCG(from, 17)), one: &tenant{files, model.New(), harness.Client{}}, asks: asks}
	var err error
	s.one.ask.Key, err = s.Account(files.ID)
	need(t, err)
	s.start(t)
	t.Cleanup(func() {
		if s.server != nil {
			s.server.Kill()
		}
	})
	load(t, s.Program, s.one, files.Base)
	began := time.Now()
	load(t, s.Program, s.one, s.take(4)...)
	s.usual = time.Since(began)
	for round := range rounds {
		who := victim(round) % victims
		s.round(t, who)
		if t.Failed() {
			t.Fatalf("round %d, killed %s; the server's log:\n%s", round, who, s.server.Log())
		}
	}
	need(t, s.server.Stop())
	s.server = nil
}

func (s *siege) start(t *testing.T) {
	t.Helper()
	var err error
	s.server, err = s.Serve()
	need(t, err)
	s.one.ask.Address = s.server.Address
}

func (s *siege) take(n int) []string {
	var paths []string
	for _, report := range s.one.files.Reports[:n] {
		paths = append(paths, report.Files()...)
	}
	s.one.files.Reports = s.one.files.Reports[n:]
	return paths
}

// round kills while two reports are loading, looks at what is left, repeats
// the load and compares again.
func (s *siege) round(t *testing.T, who victim) {
	t.Helper()
	paths := s.take(2)
	states := s.possible(paths)
	if who == loaderAlone {
		need(t, s.server.Stop())
	}
	acknowledged := s.loadAndKill(t, who, paths)
	if who == server || who == loaderAlone {
		s.start(t)
	}
	if acknowledged {
		// Both reports were said to be loaded: only that state will do.
		states = states[len(states)-1:]
	}
	s.showsOne(t, states)
	done, err := s.Load(s.one.files.ID, paths...)
	if err != nil || done.Code != 0 {
		t.Errorf("the load does not succeed after killing %s: %v %s", who, err, done.Result)
		return
	}
	s.one.model.Load(paths...)
	s.showsOne(t, []*model.Account{s.one.model})
}

// possible are the states in which a crash may leave two reports: a file is
// loaded whole or not at all.
func (s *siege) possible(paths []string) []*model.Account {
	var states []*model.Account
	for _, loaded := range [][]string{nil, paths[:2], paths[2:], paths} {
		m := s.one.model.Clone()
		m.Load(loaded...)
		states = append(states, m)
	}
	return states
}

// loadAndKill kills somewhere within a load's usual time and tells whether the
// loader had said before, by exit code 0, that everything is loaded.
func (s *siege) loadAndKill(t *testing.T, who victim, paths []string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	loader := s.Command(ctx, s.LoadArgs(s.one.files.ID, paths...)...)
	need(t, loader.Start())
	window := s.usual * 5 / 4
	if who == loaderAlone {
		window += 2 * time.Second // it has an engine to start and to stop
	}
	<-time.After(time.Duration(s.Int64N(int64(window) + 1)))
	switch who {
	case server:
		s.server.Kill()
	case engine:
		if err := s.KillEngine(); err != nil {
			t.Errorf("kill of the engine: %v", err)
		}
	default:
		// It may have ended just before; then there is nothing to kill.
		_ = loader.Process.Kill()
	}
	return loader.Wait() == nil
}

// showsOne demands that the answers together are those of one state. An engine
// that was just killed may be away for a moment, which is said with 503.
func (s *siege) showsOne(t *testing.T, states []*model.Account) {
	t.Helper()
	s.answersAgain(t)
	var why []string
	for _, m := range states {
		why = nil
		for _, q := range s.asks(m) {
			why = append(why, differences(s.one.ask, m, q)...)
		}
		if len(why) == 0 {
			return
		}
	}
	t.Errorf("the answers are those of none of %d possible states; against the last:\n  %s", len(states), strings.Join(why[:min(len(why), 12)], "\n  "))
}

func (s *siege) answersAgain(t *testing.T) {
	t.Helper()
	until := time.Now().Add(30 * time.Second)
	for {
		answer, err := s.one.ask.Get("/api/v1/summary")
		if err == nil && answer.Status == 200 {
			return
		}
		if err != nil || answer.Status != 503 || answer.Header.Get("Retry-After") == "" || time.Now().After(until) {
			t.Errorf("want 200, or 503 with Retry-After for a while, got %s %v", answer, err)
			return
		}
		<-time.After(200 * time.Millisecond)
	}
}

func TestTwoLoadersAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	from := seed(t)
	accounts, err := extracts.Write(t.TempDir(), extracts.Options{Seed: from, Accounts: 1, Reports: 16, Now: time.Now(), Days: 120})
	need(t, err)
	one := &tenant{accounts[0], model.New(), h.account(t, accounts[0].ID)}
	load(t, h.Program, one, one.files.Base)
	var all [2][]string
	for i, report := range one.files.Reports {
		all[i%2] = append(all[i%2], report.Files()...)
	}
	ends := make(chan int, 2)
	for _, paths := range all {
		go func() { ends <- h.Run(h.LoadArgs(one.files.ID, paths...)...).Code }()
	}
	// One may be told to wait its turn: not a success, but no harm either.
	codes := []int{<-ends, <-ends}
	t.Logf("exit codes of two loaders at once: %v", codes)
	for _, paths := range all {
		one.model.Load(paths...)
		done, err := h.Load(one.files.ID, paths...)
		if err != nil || done.Code != 0 {
			t.Errorf("repeated load: %v %s", err, done.Result)
		}
	}
	checkAll(t, one.ask, one.model)
}
