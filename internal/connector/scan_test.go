package connector

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
	"adlens/loader"
)

// scanned counts how often connections are read.
type scanned struct {
	wall
	reads int
}

func (s *scanned) Connections(context.Context, string) ([]adlens.Connection, error) {
	s.reads++
	return make([]adlens.Connection, s.reads), nil
}

func TestConnectionsAreReadWhereTheMarkSaysThatTheyChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &scanned{}
		mark, settled := uint64(2), true
		d := &Daily{Connector: New(Config{Store: store})}
		var known scan
		for _, c := range []struct {
			what  string
			do    func()
			reads int
		}{
			{"first", func() {}, 1},
			{"without a mark", func() {}, 2},
			{"with one", func() { d.Mark = func() (uint64, bool) { return mark, settled } }, 3},
			{"unchanged", func() {}, 3},
			{"changed", func() { mark = 4 }, 4},
			{"changing", func() { settled = false }, 5},
			{"still changing", func() {}, 6},
			{"settled", func() { mark, settled = 6, true }, 7},
			{"soon after", func() { time.Sleep(scanEvery) }, 7},
			{"a minute later", func() { time.Sleep(scanAgain) }, 8},
		} {
			c.do()
			connections, err := d.scanConnections(t.Context(), &known)
			if err != nil || store.reads != c.reads || len(connections) != c.reads {
				t.Errorf("%s: %d connections after %d reads, expected %d: %v", c.what, len(connections), store.reads, c.reads, err)
			}
		}
	})
}

// mixed has accounts of all kinds, of which some are connected.
type mixed struct{ *memory }

func (mixed) Accounts(context.Context) ([]adlens.Account, error) {
	return []adlens.Account{{ID: "connected"}, {ID: "by-hand"}, {ID: "demo", IsDemo: true}}, nil
}

func (mixed) Connections(context.Context, string) ([]adlens.Connection, error) {
	return []adlens.Connection{{Account: "connected", Name: "NA"}}, nil
}

// Where there is a bank, accounts that are not connected are looked at for its rates,
// demonstrations aside.
func TestAccountsWithoutAConnectionAreScannedForTheirRates(t *testing.T) {
	for want, bank := range map[string]Bank{"connected/NA": nil, "connected/NA by-hand/": &published{}} {
		d := &Daily{Connector: New(Config{Store: mixed{}, Bank: bank})}
		all, err := d.scanConnections(t.Context(), &scan{})
		var keys []string
		for _, c := range all {
			keys = append(keys, lookKey(c))
		}
		if got := strings.Join(keys, " "); err != nil || got != want {
			t.Errorf("%q are looked at, expected %q: %v", got, want, err)
		}
	}
}

// The look at an account that is not connected fetches its rates and asks nothing of a
// connection.
func TestTheLookAtAnAccountWithoutAConnectionFetchesItsRates(t *testing.T) {
	b := &published{}
	b.publish("2026-01-01", "2026-11-20")
	s := &rateStore{memory: newMemory(), currency: "EUR"}
	d := &Daily{Dir: t.TempDir(), Connector: New(Config{Store: s, Loader: s, Locks: s, Bank: b, Notice: func(_, text string) { t.Error(text) },
		Now: func() time.Time { return time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC) }})}
	one := adlens.Connection{Account: "by-hand"}
	pause, err := d.lookAfter(t.Context(), one)
	waiting, counting := d.countWaiting(t.Context(), one)
	if err != nil || counting != nil || pause != lookAgain || waiting != 0 || b.daily != 1 || s.loads != 1 {
		t.Errorf("the next look is in %s, %d reports wait, after %d calls and %d loads: %v, %v", pause, waiting, b.daily, s.loads, err, counting)
	}
}

// unread has connections that cannot be read in some scans.
type unread struct {
	*memory
	scans int
	away  map[int]bool // by scan, from 1
}

func (u *unread) Connections(context.Context, string) ([]adlens.Connection, error) {
	if u.scans++; u.away[u.scans] {
		return nil, errors.New("away")
	}
	return nil, nil
}

// A database that is away is told of once, and is no refresh that failed.
func TestConnectionsThatCannotBeReadAreToldOfOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, told := &unread{memory: newMemory(), away: map[int]bool{2: true, 3: true, 5: true}}, 0
		d := &Daily{Connector: New(Config{Store: store}), Unread: func(error) { told++ },
			Report: func(string, string, loader.Result, time.Duration, error) { t.Error("a refresh is reported") }}
		ctx, stop := context.WithTimeout(t.Context(), 6*scanEvery-time.Second)
		defer stop()
		if d.Run(ctx); store.scans != 6 || told != 2 {
			t.Errorf("%d scans, and %d times told; expected 6 and 2", store.scans, told)
		}
	})
}
