package http

import (
	"context"

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
}

// answerOverhead is about what an answer takes beside its name and body.
const answerOverhead = 400

func newAnswers(bytes int) *answers {
	return &answers{
		known:   lru.New(bytes, func(name string, f *finished) int { return answerOverhead + len(name) + len(f.file) + len(f.body) }),
		largest: bytes / 8, // one answer with all rows does not drive out all others
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

// of computes the answer of a name, once for all who ask at the same time, and
// remembers it as it is written.
func (as *answers) of(ctx context.Context, name string, m meaning, compute func(context.Context) (answer, error)) (answer, error) {
	f, err := as.flights.Do(ctx, name, func(ctx context.Context) (*finished, error) {
		ctx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		a, err := compute(ctx)
		if err != nil {
			return nil, err
		}
		f, err := finish(a, m.question.Written(), m.address())
		if err != nil {
			return nil, err
		}
		f.name, f.file = name, m.fileName()
		as.remember(name, f)
		return f, nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (as *answers) remember(name string, f *finished) {
	if len(f.body) <= as.largest {
		as.known.Put(name, f)
	}
}
