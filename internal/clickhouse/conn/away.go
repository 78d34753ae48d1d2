package conn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// absence is that a server of others was looked for and not found. Where nothing refuses a
// connection, as where a machine is gone, that takes long: those who come in as long after it
// get its error, and need not wait as well.
type absence struct {
	mu    sync.Mutex
	err   error
	until time.Time
}

// longSearch is how long a search takes whose error others get.
const longSearch = time.Second

func (a *absence) read() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Now().Before(a.until) {
		return a.err
	}
	return nil
}

// noteAbsence notes how a search ended that began at a time. An embedded engine is started by
// the search.
func (s *Server) noteAbsence(ctx context.Context, began time.Time, err error) {
	took := time.Since(began)
	if _, ok := s.source.(Remote); !ok || took < longSearch || ctx.Err() != nil || adlens.KindOf(err) != adlens.EngineUnavailable || errors.Is(err, ErrOutdated) {
		return
	}
	s.absence.mu.Lock()
	defer s.absence.mu.Unlock()
	s.absence.err, s.absence.until = err, time.Now().Add(min(took, DialPatience))
}

// isUnanswered reports whether a server took longer to answer its first statement than it may.
func isUnanswered(ctx context.Context, err error) bool {
	return KindOf(ctx, err) == adlens.QueryTimeout || errors.Is(err, clickhouse.ErrAcquireConnTimeout)
}

// machinePatience is how long the other machine of a reading connection may take nothing and
// confirm nothing: that a statement takes long keeps no system from confirming. It leaves a
// request the time to be answered by another replica. blockPatience is that of a writing one,
// whose server may stand still before it takes a block.
const (
	machinePatience = 15 * time.Second
	blockPatience   = time.Minute
)

// suspect makes sure that the server of a session answers both users, after a statement whose
// deadline passed: one that stands still, or whose machine is gone, breaks no connection. An
// embedded engine has a watch of its own.
func (s *Server) suspect(c *Session) {
	if _, ok := s.source.(Remote); !ok || !c.suspected.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer c.suspected.Store(false)
		for _, of := range []*clickhouse.Options{c.target.Reader, c.target.Writer} {
			one := *of
			countDials(&one, &atomic.Uint64{}, machinePatience) // not the session's
			err := probeServer(context.Background(), &one)
			var exception *clickhouse.Exception
			if err != nil && !errors.As(err, &exception) {
				s.dropSession(c)
				return
			}
		}
	}()
}

// searching is the key of a context that looks for a server whatever a search before it found: a
// lock that is not renewed ends.
type searching struct{}
