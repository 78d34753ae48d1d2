package engine

import (
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// watched is the watch of an engine that is played: a process of its own, and a server at
// its address that answers or, while it is silent, closes connections without a word.
type watched struct {
	*watch
	pid              int
	silence          atomic.Bool
	asked            atomic.Int32
	failures, others int // what the watch reported
}

func watchPlayed(t *testing.T) *watched {
	t.Helper()
	e := leaveEngine(t, 0)
	at, err := e.home.readEndpoint()
	if err != nil {
		t.Fatal(err)
	}
	p := &watched{}
	p.watch = &watch{engine: e, met: at.Gate, failed: func(error) { p.failures++ }, restarted: func() { p.others++ }}
	if p.pid, err = startProcess(t, nil, Command, e.DataDir()); err != nil {
		t.Fatal(err)
	}
	at.PID = p.pid
	p.replace(t, at)
	lines, err := (&net.ListenConfig{Control: reusePort}).Listen(t.Context(), "tcp", at.Address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		p.asked.Add(1)
		if p.silence.Load() {
			panic(http.ErrAbortHandler)
		}
	})}
	go server.Serve(lines)
	t.Cleanup(func() { server.Close() })
	return p
}

// replace has another engine say where it answers.
func (p *watched) replace(t *testing.T, at Endpoint) {
	t.Helper()
	if err := p.engine.home.writeEndpoint(at); err != nil {
		t.Fatal(err)
	}
}

// look has the watch look so often.
func (p *watched) look(t *testing.T, silent bool, times int) {
	t.Helper()
	p.silence.Store(silent)
	for range times {
		p.checkEngine(t.Context())
	}
}

// lives reports whether the engine's process lives, of which it was expected or not.
func (p *watched) lives(expected bool) bool {
	if expected {
		return alive(p.pid) && !zombie(p.pid)
	}
	return !gone(p.pid, time.Minute)
}

func TestTheWatchKillsAnEngineThatIsSilentThreeTimesInARow(t *testing.T) {
	t.Parallel()
	p := watchPlayed(t)
	for _, c := range []struct {
		silent bool
		looks  int
		asked  int32 // so far
		lives  bool
	}{
		{false, pingEvery, 1, true}, {false, pingEvery, 2, true},
		{true, pingEvery, 3, true}, {true, 1, 4, true}, {false, 1, 5, true}, // two failures, and an answer
		{true, pingEvery, 6, true}, {true, 1, 7, true}, {true, 1, 8, false},
	} {
		p.look(t, c.silent, c.looks)
		if lives := p.lives(c.lives); lives != c.lives || p.asked.Load() != c.asked {
			t.Errorf("after %d questions, expected %d, the engine lives: %v", p.asked.Load(), c.asked, lives)
		}
	}
	if p.failures != 5 || p.others != 0 {
		t.Errorf("%d failures and %d restarts are reported, expected 5 and none", p.failures, p.others)
	}
}

// Another engine that never answered may be starting. The first answer makes it the one
// that took the place of the last.
func TestTheWatchReportsAnEngineThatTookThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	p := watchPlayed(t)
	at, err := p.engine.home.readEndpoint()
	if err != nil {
		t.Fatal(err)
	}
	at.Gate = "another gate"
	p.replace(t, at)
	p.look(t, true, 3*watchFailures)
	if lives := p.lives(true); !lives || p.others != 0 || p.failures == 0 {
		t.Errorf("an engine that may be starting lives: %v; %d restarts and %d failures are reported", lives, p.others, p.failures)
	}
	p.look(t, false, 3*pingEvery)
	if lives := p.lives(true); !lives || p.others != 1 {
		t.Errorf("once it answers it lives: %v; %d restarts are reported, expected 1", lives, p.others)
	}
}

func TestAnEngineThatTookThePlaceOfAFrozenOneIsNotKilled(t *testing.T) {
	t.Parallel()
	p := watchPlayed(t)
	if err := p.engine.killFrozen(t.Context(), Endpoint{PID: p.pid, Gate: "the gate of the frozen one"}); err != nil || gone(p.pid, 100*time.Millisecond) {
		t.Errorf("process %d was killed: %v", p.pid, err)
	}
}
