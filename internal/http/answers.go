package http

import (
	"context"
	"runtime"
	"sync"

	"adlens/internal/flight"
	"adlens/internal/lru"
)

// answers remembers answers by their names. A name stands for the endpoint,
// the account, the version of its data and the meaning of the request, so
// what is remembered never becomes wrong: it is only no longer asked for.
type answers struct {
	known   *lru.Cache[string, *finished]
	flights flight.Group[string, *finished]
	largest int // bytes of an answer that is still remembered
	memory  *answerMemory
	writing chan struct{} // has a value for each large answer that is being written or compressed

	mu   sync.Mutex
	uses map[string]*use // of answers that are being made or sent, by name
}

// answerOverhead is about what an answer takes beside its name and body.
const answerOverhead = 400

// newAnswers returns a memory of so many bytes, for answers that together have
// others while they are made and sent.
func newAnswers(bytes, underWay int) *answers {
	return &answers{
		known:   lru.New(bytes, func(name string, f *finished) int { return answerOverhead + len(name) + len(f.file) + len(f.body) }),
		largest: bytes / 8, // one answer with all rows does not drive out all others
		memory:  newAnswerMemory(underWay),
		writing: make(chan struct{}, runtime.GOMAXPROCS(0)),
		uses:    map[string]*use{},
	}
}

// RememberedAnswers is what the server remembers of answers, for those who
// watch it.
func (s *Server) RememberedAnswers() lru.Stats { return s.answers.known.Stats() }

// remembered returns the answer of a name where it is remembered.
func (as *answers) remembered(name string) (answer, bool) {
	f, ok := as.known.Get(name)
	return f, ok
}

// of computes the answer of a use, once for all who ask at the same time, and
// remembers it as it is written. weigh is about what it takes meanwhile.
func (as *answers) of(ctx context.Context, u *use, m meaning, weigh func(context.Context) (int, error), compute func(context.Context) (answer, error)) (answer, error) {
	f, err := as.flights.Do(ctx, u.name, func(ctx context.Context) (f *finished, err error) {
		ctx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		defer as.hold(u.account, u.name).end() // when all that waited have gone, too
		waiting, done := patiently(ctx)
		defer done()
		bytes, err := weigh(ctx)
		if err != nil {
			return nil, err
		}
		if err := u.reserve(waiting, bytes); err != nil {
			return nil, err
		}
		defer func() {
			if f != nil {
				bytes -= cap(f.body)
			}
			u.change(-bytes)
		}()
		a, err := compute(ctx)
		if err != nil {
			return nil, err
		}
		err = as.inTurn(waiting, bytes, func() (err error) {
			f, err = finish(a, m.question.Written(), m.address())
			return err
		})
		if err != nil {
			return nil, err
		}
		f.name, f.file = u.name, m.fileName()
		as.remember(u.name, f)
		return f, nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// inTurn writes an answer, a large one in its turn: more at once than there are
// cores would only take more memory, and all would be late. The context is one
// of patiently.
func (as *answers) inTurn(ctx context.Context, bytes int, write func() error) error {
	if bytes > ordinaryAnswer {
		select {
		case as.writing <- struct{}{}:
			defer func() { <-as.writing }()
		case <-ctx.Done():
			return waitingError(ctx)
		}
	}
	return write()
}

func (as *answers) remember(name string, f *finished) {
	if len(f.body) <= as.largest {
		as.known.Put(name, f)
	}
}
