package house

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/model"
)

// Victim is who dies in a round.
type Victim int

const (
	loaderBesideServer Victim = iota
	server
	engine
	loaderAlone
	Victims
)

func (v Victim) String() string {
	return [...]string{"the loader beside a server", "the server", "the engine", "the loader alone"}[v]
}

// Siege is one data directory under kills.
type Siege struct {
	*harness.Program
	*rand.Rand
	One    *Tenant
	Server *harness.Server
	Usual  time.Duration // how long a load takes when none dies
	Asks   func(*model.Account) []Question
}

// Start starts a server and has the account ask it.
func (s *Siege) Start(t *testing.T) {
	t.Helper()
	var err error
	s.Server, err = s.Serve()
	Need(t, err)
	s.One.Ask.Address = s.Server.Address
}

// Round kills while two reports are loading, looks at what is left, repeats
// the load and compares again.
func (s *Siege) Round(t *testing.T, who Victim) {
	t.Helper()
	paths := s.One.Take(2)
	states := s.possible(paths)
	if who == loaderAlone {
		Need(t, s.Server.Stop())
	}
	acknowledged := s.loadAndKill(t, who, paths)
	if who == server || who == loaderAlone {
		s.Start(t)
	}
	if acknowledged {
		// Both reports were reported to be loaded: only that state will do.
		states = states[len(states)-1:]
	}
	s.ShowsOne(t, states)
	done, err := s.Load(s.One.Files.ID, paths...)
	if err != nil || done.Code != 0 {
		t.Errorf("the load does not succeed after killing %s: %v %s", who, err, done.Result)
		return
	}
	s.One.Model.Load(paths...)
	s.ShowsOne(t, []*model.Account{s.One.Model})
}

// possible are the states in which a crash may leave two reports: a file is
// loaded whole or not at all.
func (s *Siege) possible(paths []string) []*model.Account {
	var states []*model.Account
	for _, loaded := range [][]string{nil, paths[:2], paths[2:], paths} {
		m := s.One.Model.Clone()
		m.Load(loaded...)
		states = append(states, m)
	}
	return states
}

// loadAndKill kills somewhere within a load's usual time and reports whether the
// loader had said before, by exit code 0, that everything is loaded.
func (s *Siege) loadAndKill(t *testing.T, who Victim, paths []string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	loader := s.Command(ctx, s.LoadArgs(s.One.Files.ID, paths...)...)
	Need(t, loader.Start())
	window := s.Usual * 5 / 4
	if who == loaderAlone {
		window += 2 * time.Second // it has an engine to start and to stop
	}
	<-time.After(time.Duration(s.Int64N(int64(window) + 1)))
	switch who {
	case server:
		s.Server.Kill()
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

// ShowsOne demands that the answers together are those of one state. An engine
// that was just killed may be away for a moment, and answers 503.
func (s *Siege) ShowsOne(t *testing.T, states []*model.Account) {
	t.Helper()
	s.answersAgain(t)
	var why []string
	for _, m := range states {
		why = nil
		for _, q := range s.Asks(m) {
			why = append(why, Differences(s.One.Ask, m, q)...)
		}
		if len(why) == 0 {
			return
		}
	}
	t.Errorf("the answers are those of none of %d possible states; against the last:\n  %s", len(states), strings.Join(why[:min(len(why), 12)], "\n  "))
}

func (s *Siege) answersAgain(t *testing.T) {
	t.Helper()
	until := time.Now().Add(harness.Patience)
	for {
		answer, err := s.One.Ask.Get("/api/v1/summary")
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
