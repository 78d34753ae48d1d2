package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

// An insert is late where it takes effect after the next load of the account
// has read what is there: its loader has lost the account meanwhile, by its
// death or because it was stopped for too long. These tests hold that whatever
// lands late, the answers are those of loads that are wholly in or wholly out.

// duel is a siege of one account by two loaders at a time: the first loses the
// account while it writes, the second goes on.
type duel struct {
	*house.Siege
	owner *harness.Program // whose engine it is
	dir   string           // of the extracts
}

// openDuel makes the account with some figures, and a server that keeps the
// engine alive. The program's data are in the engine of the owner, which may be
// itself.
func openDuel(t *testing.T, p, owner *harness.Program, from uint64) *duel {
	t.Helper()
	d := &duel{&house.Siege{Program: p, Rand: rand.New(rand.NewPCG(from, 53)), Asks: func(*model.Account) []house.Question { return house.Everything() }}, owner, t.TempDir()}
	written, err := extracts.Write(t.TempDir(), extracts.Options{Seed: from, Accounts: 1, Reports: 4, Now: time.Now(), Days: 150})
	house.Need(t, err)
	d.One = &house.Tenant{Files: written[0], Model: model.New(), Ask: harness.Client{}}
	d.One.Ask.Key, err = p.Account(d.One.Files.ID)
	house.Need(t, err)
	d.Start(t)
	t.Cleanup(func() { house.Need(t, d.Server.Stop()) })
	house.Load(t, p, d.One, append(d.One.Take(4), d.One.Files.Base)...)
	return d
}

// rivals are the reports of a round's two loaders. They share marketplaces,
// years, days and products with each other and with what is held, and each has
// products that were never loaded.
func (d *duel) rivals(t *testing.T, round int) (first, second []string) {
	t.Helper()
	d.Shuffle(len(d.One.Files.Profiles), func(i, j int) {
		d.One.Files.Profiles[i], d.One.Files.Profiles[j] = d.One.Files.Profiles[j], d.One.Files.Profiles[i]
	})
	for i, profile := range d.One.Files.Profiles[:2] {
		age := time.Duration(i) * d.upToAnHour() // one is the newest of all, so there is something to write
		first = append(first, d.report(t, fmt.Sprintf("first-%d-%d", round, i), profile, age)...)
		second = append(second, d.report(t, fmt.Sprintf("second-%d-%d", round, i), profile, d.upToAnHour())...)
	}
	return first, second
}

func (d *duel) upToAnHour() time.Duration { return time.Duration(d.Int64N(int64(time.Hour))) }

func (d *duel) report(t *testing.T, stem, profile string, age time.Duration) []string {
	t.Helper()
	days := 2 + d.IntN(9)
	p := house.SpPair(stem, profile, house.DaysAgo(days+5+d.IntN(90)), days, time.Now().Add(-age))
	p.Rows = nil
	for day := range days {
		first, err := time.Parse(time.DateOnly, p.Object["startDate"].(string))
		house.Need(t, err)
		for _, asin := range []string{"B0" + stem + "-x", "B0" + stem + "-y", "B0LAMP0001"} {
			p.Rows = append(p.Rows, house.SpRow(first.AddDate(0, 0, day).Format(time.DateOnly), asin, fmt.Sprintf("%d.%02d", d.IntN(900), d.IntN(100))))
		}
	}
	return p.Write(t, d.dir)
}

// contender is a load that runs.
type contender struct {
	paths []string
	*exec.Cmd
	said  sayings
	ended chan struct{} // closed when the process is gone
}

// sayings are what a process has written so far.
type sayings struct {
	sync.Mutex
	bytes.Buffer
}

func (s *sayings) Write(p []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.Buffer.Write(p)
}

func (s *sayings) String() string {
	s.Lock()
	defer s.Unlock()
	return s.Buffer.String()
}

// begin starts a load as a program, in the background. The test ends it if it
// does not end.
func (d *duel) begin(t *testing.T, as *harness.Program, paths []string) *contender {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	c := &contender{paths: paths, Cmd: as.Command(ctx, as.LoadArgs(d.One.Files.ID, paths...)...), ended: make(chan struct{})}
	c.Stdout, c.Stderr = &c.said, &c.said
	house.Need(t, c.Start())
	go func() {
		defer cancel()
		_ = c.Wait() // how it ended is read from ProcessState
		close(c.ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-c.ended
	})
	return c
}

// send sends a signal; the load may have ended just before.
func (c *contender) send(signal syscall.Signal) {
	_ = c.Process.Signal(signal)
}

// within waits for the end of the load, but no longer than that.
func (c *contender) within(patience time.Duration) (ended bool) {
	select {
	case <-c.ended:
		return true
	case <-time.After(patience):
		return false
	}
}

// acknowledged reports whether the load has ended and said that everything is
// loaded.
func (c *contender) acknowledged() bool {
	select {
	case <-c.ended:
		return c.ProcessState.Success()
	default:
		return false
	}
}

func (c *contender) String() string {
	select {
	case <-c.ended:
		return fmt.Sprintf("%v: %s", c.ProcessState, c.said.String())
	default:
		return "not ended: " + c.said.String()
	}
}

// takeoverPatience is how long the second loader may need while the first one's
// insert is held back. One that waits for the end of that insert itself gets
// it after this time.
const takeoverPatience = 10 * time.Second

// settles waits for both loads and demands that what they leave is right and
// stays right.
func (d *duel) settles(t *testing.T, first, second *contender) {
	t.Helper()
	if !first.within(harness.Patience) || !second.within(harness.Patience) {
		t.Fatalf("the loads do not end: %s; %s", first, second)
	}
	house.Eventually(t, "the engine has done what it was sent", func() bool {
		return house.AsWriter(t, d.owner, "SELECT count() FROM system.processes WHERE query_kind = 'Insert'") == "0"
	})
	t.Logf("the first load: %v; the second: %v", first.ProcessState, second.ProcessState)
	if !second.acknowledged() {
		t.Errorf("the load that nothing befell does not succeed: %s", second)
	}
	d.ShowsOne(t, d.outcomes(first, second))
	for _, c := range []*contender{first, second} {
		done, err := d.Load(d.One.Files.ID, c.paths...)
		if err != nil || done.Code != 0 {
			t.Errorf("the repeated load does not succeed: %v %s", err, done.Result)
		}
		d.One.Model.Load(c.paths...)
	}
	d.isRight(t, d.Server)
	d.findsNothing(t)
	d.asksAnother(t)
}

// outcomes are the states that two loads may leave: each is wholly in or wholly
// out, and in where it said so.
func (d *duel) outcomes(all ...*contender) []*model.Account {
	states := []*model.Account{d.One.Model}
	for _, c := range all {
		var with []*model.Account
		for _, m := range states {
			loaded := m.Clone()
			loaded.Load(c.paths...)
			with = append(with, loaded)
		}
		if c.acknowledged() {
			states = nil
		}
		states = append(states, with...)
	}
	return states
}

// isRight demands that a server is ready with nothing to remark, and answers
// everything as the model does.
func (d *duel) isRight(t *testing.T, server *harness.Server) {
	t.Helper()
	house.CheckAll(t, harness.Client{Address: server.Address, Key: d.One.Ask.Key}, d.One.Model)
	a := house.Get(t, harness.Client{Address: server.Address}, "/readyz")
	var ready struct{ Checks map[string]string }
	house.Need(t, json.Unmarshal(a.Body, &ready))
	if a.Status != 200 || len(ready.Checks) == 0 {
		t.Errorf("readiness: %s", a)
	}
	for name, state := range ready.Checks {
		if state != "ok" && state != "off" {
			t.Errorf("readiness says of %s: %s", name, state)
		}
	}
}

// findsNothing demands that the doctor finds nothing but that a load died, how old
// figures are and what the platform's reports leave out, which is so.
func (d *duel) findsNothing(t *testing.T) {
	t.Helper()
	r := d.Run("doctor", "--json")
	var found struct{ Checks []house.Finding }
	if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil || len(found.Checks) == 0 {
		t.Errorf("doctor: %v %s", err, r)
	}
	for _, f := range found.Checks {
		if f.Status != "ok" && !f.IsOfScratch() && !slices.Contains([]string{"dead_loads", "data_age", "omissions"}, f.Check) {
			t.Errorf("the doctor finds %s %s: %s", f.Check, f.Status, f.Detail)
		}
	}
}

// asksAnother demands the same of a server that starts now, which has nothing
// in its memory and looks through what is stored.
func (d *duel) asksAnother(t *testing.T) {
	t.Helper()
	other, err := d.Serve()
	if err != nil {
		t.Errorf("a server that starts afterwards: %v", err)
		return
	}
	d.isRight(t, other)
	if err := other.Stop(); err != nil {
		t.Error(err)
	}
}

// duels fights some rounds, each its own test. After one that went wrong the
// next begins in a data directory of its own, so that each is counted for
// itself; rounds also stay few enough in one for the model to be quick.
func duels(t *testing.T, n int, kind func(round int) string, open func(t *testing.T, from uint64) *duel, fight func(t *testing.T, d *duel, round int)) {
	t.Helper()
	from := house.Seed(t)
	for round := 0; round < n; {
		t.Run(fmt.Sprint("from ", round), func(t *testing.T) {
			d := open(t, from+uint64(round))
			for last := min(n, round+25); round < last && !t.Failed(); round++ {
				t.Run(fmt.Sprintf("round %d: %s", round, kind(round)), func(t *testing.T) { fight(t, d, round) })
			}
			if !t.Failed() {
				house.Need(t, d.Server.Stop())
				d.Start(t)
				d.isRight(t, d.Server)
			}
		})
	}
}

// tableDir is the directory of a table of the running engine.
func tableDir(t *testing.T, p *harness.Program, table string) string {
	t.Helper()
	path := house.AsWriter(t, p, "SELECT data_paths[1] FROM system.tables WHERE database = 'adlens' AND name = '"+table+"' FORMAT TSVRaw")
	real, err := filepath.EvalSymlinks(path)
	house.Need(t, err)
	return strings.TrimSuffix(real, "/")
}
