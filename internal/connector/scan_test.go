package connector

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
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
