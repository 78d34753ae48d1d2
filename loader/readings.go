package loader

import (
	"context"
	"sync"
)

// readings read the downloads of a load ahead of the one whose turn it is, so
// that no core idles. What comes of them is taken in the order of the load,
// and nothing of a load hangs on which was ready first.
type readings struct {
	session *session
	ctx     context.Context
	cancel  context.CancelFunc
	begun   map[string]*reading // by the file's shown name
	running sync.WaitGroup
}

// readAhead is how many downloads are read beside the one whose turn it is.
const readAhead = 2

// reading is a download on its way into memory.
type reading struct {
	turn chan struct{} // closed when it is the load's next
	done chan struct{}

	download *download
	keys     []LedgerKey
	known    bool // the very file was loaded before
	content  *content
	err      error
}

func (s *session) newReadings(ctx context.Context) *readings {
	ctx, cancel := context.WithCancel(ctx)
	return &readings{session: s, ctx: ctx, cancel: cancel, begun: map[string]*reading{}}
}

// stopReadings ends all readings.
func (r *readings) stopReadings() {
	r.cancel()
	r.running.Wait()
}

// awaitFirst waits for the first of some reports, while the next ones are read too.
func (r *readings) awaitFirst(next []pending) *reading {
	alone := len(next) == 1
	for _, p := range next[:min(len(next), 1+readAhead)] {
		if r.begun[p.file.shown] == nil {
			r.beginReading(p, alone)
		}
	}
	first := r.begun[next[0].file.shown]
	delete(r.begun, next[0].file.shown)
	close(first.turn)
	<-first.done
	return first
}

func (r *readings) beginReading(p pending, alone bool) {
	started := &reading{turn: make(chan struct{}), done: make(chan struct{})}
	started.download = &download{pending: p, forms: r.session.forms, progress: r.session.progress, turn: started.turn, alone: alone}
	r.begun[p.file.shown] = started
	r.running.Go(func() {
		defer close(started.done)
		started.readDownload(r.ctx, r.session)
	})
}

// readDownload reads a download, unless the very file was loaded before: then nothing
// of it can change anything, and it need not be read in full.
func (r *reading) readDownload(ctx context.Context, s *session) {
	d := r.download
	if s.loadedReports[d.report.ID] {
		sum, err := d.hashDownload(ctx)
		r.keys = d.ledgerKeys(sum)
		r.known, r.err = s.ledger[r.keys[0]] && !s.formerReports[d.report.ID], err
		if r.known || err != nil {
			return
		}
	}
	if r.content, r.err = d.readContent(ctx); r.err == nil {
		r.keys = d.ledgerKeys(r.content.sha256)
	}
}
