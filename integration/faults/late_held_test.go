package faults_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// holder passes statements on to a server, and holds one of them back when it
// is told to. It has all of it by then, as a server has that is
// about to run it: what becomes of the one who sent it makes no difference.
type holder struct {
	next http.Handler
	mu   sync.Mutex
	what string        // how the statement begins; "" for none
	held chan struct{} // closed when it is there
	free chan struct{} // closed when it may go on
	gone chan struct{} // closed when the server has answered it
}

// hold holds the next statement back that begins so.
func (h *holder) hold(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.what, h.held, h.free, h.gone = what, make(chan struct{}), make(chan struct{}), make(chan struct{})
}

func (h *holder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the loader is gone
	}
	statement := strings.Join(strings.Fields(r.URL.Query().Get("query")+" "+string(body[:min(len(body), 300)])), " ")
	h.mu.Lock()
	held := h.what != "" && strings.HasPrefix(statement, h.what)
	free, gone := h.free, h.gone
	if held {
		h.what = ""
		close(h.held)
	}
	h.mu.Unlock()
	// The end of the one who asked does not end what the server does.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	if held {
		defer close(gone)
		<-free
	}
	on := r.Clone(ctx)
	on.Body = io.NopCloser(bytes.NewReader(body))
	on.ContentLength = int64(len(body))
	h.next.ServeHTTP(w, on)
}

// sharedDuel is a duel on a server that several machines could share.
type sharedDuel struct {
	*duel
	*holder
	through *harness.Program // which reaches the server through the holder
}

func openSharedDuel(t *testing.T, from uint64) *sharedDuel {
	t.Helper()
	owner := house.OwnProgram(t)
	house.Serve(t, owner)
	direct, through := house.AsServer(t, owner), house.AsServer(t, owner)
	h := &holder{next: through.Config.Handler}
	through.Config.Handler = h
	var programs []*harness.Program
	for _, way := range []*house.ForeignServer{direct, through} {
		p, err := harness.NewAt(t.TempDir(), "ADLENS_CLICKHOUSE="+way.Loader(way.Password))
		house.Need(t, err)
		programs = append(programs, p)
	}
	return &sharedDuel{openDuel(t, programs[0], owner, from), h, programs[1]}
}

// expire lets the claims of a loader that does not renew them die. That takes a
// minute, for which one round in sixteen waits, of such as make hundreds; the
// others write what is so after that minute.
func (d *sharedDuel) expire(t *testing.T, round int) {
	t.Helper()
	if round%16 == 15 {
		house.Eventually(t, "the claims are dead", func() bool {
			return house.AsWriter(t, d.owner, `SELECT count() FROM (SELECT 1 FROM leases WHERE account_id = '`+d.One.Files.ID+`' GROUP BY token HAVING argMax(expires_at, beat) > now64(3))`) == "0"
		})
		return
	}
	house.AsWriter(t, d.owner, `INSERT INTO leases (account_id, token, holder, expires_at, beat)
SELECT account_id, token, argMax(holder, leases.beat), now64(3) - INTERVAL 1 SECOND, now64(9)
FROM leases WHERE account_id = '`+d.One.Files.ID+`' GROUP BY account_id, token`)
}

// late is how a statement comes late: what it is, and what befalls the loader
// that has sent it.
type late struct {
	statement string
	befalls   syscall.Signal
}

func (l late) String() string { return l.befalls.String() + " at " + l.statement }

// Statements of a load that change what the next load builds on, the visible
// act first.
var lates = []late{
	{"INSERT INTO commits ", syscall.SIGKILL},
	{"INSERT INTO commits ", syscall.SIGTERM},
	{"INSERT INTO commits ", syscall.SIGSTOP},
	{"INSERT INTO commit_units", syscall.SIGKILL},
	{"INSERT INTO commit_units", syscall.SIGSTOP},
	{"INSERT INTO products", syscall.SIGKILL},
	{"INSERT INTO products", syscall.SIGTERM},
	{"INSERT INTO seals", syscall.SIGKILL},
	{"INSERT INTO number_blocks", syscall.SIGKILL},
	{"INSERT INTO products", syscall.SIGSTOP},
	{"INSERT INTO seals", syscall.SIGSTOP},
	{"INSERT INTO number_blocks", syscall.SIGSTOP},
	{"INSERT INTO facts", syscall.SIGKILL},
	{"INSERT INTO facts", syscall.SIGSTOP},
	{"INSERT INTO ledger", syscall.SIGKILL},
	{"INSERT INTO dead_generations", syscall.SIGKILL},
}

// On a server that machines share, nothing but the server itself can refuse
// what a loader sends that has lost the account.
func TestAnInsertThatIsHeldBackSpoilsNoLaterLoad(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	kind := func(round int) string { return lates[round%len(lates)].String() }
	var ground *sharedDuel
	open := func(t *testing.T, from uint64) *duel {
		ground = openSharedDuel(t, from)
		return ground.duel
	}
	duels(t, house.Scaled(8), kind, open, func(t *testing.T, _ *duel, round int) { ground.fight(t, round, lates[round%len(lates)]) })
}

func (d *sharedDuel) fight(t *testing.T, round int, l late) {
	paths, others := d.rivals(t, round)
	d.hold(l.statement)
	letGo := sync.OnceFunc(func() { close(d.free) })
	defer letGo()
	first := d.begin(t, d.through, paths)
	select {
	case <-d.held:
	case <-first.ended:
		t.Fatalf("a load sends no %s any more: %s", l.statement, first)
	}
	first.send(l.befalls)
	// A loader that ends in good order is alive until then, and keeps its claim.
	if l.befalls != syscall.SIGTERM || first.within(takeoverPatience) {
		d.expire(t, round)
	}
	second := d.begin(t, d.Program, others)
	if !second.within(takeoverPatience) {
		t.Logf("the second load waits for the statement that is held back: %s", second)
	}
	letGo()
	<-d.gone
	if l.befalls == syscall.SIGSTOP {
		first.send(syscall.SIGCONT)
	}
	d.settles(t, first, second)
}
