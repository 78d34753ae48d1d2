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
		known:   lru.New(bytes, func(name string, f *finished) int { return answerOverhead + len(name) + len(f.body) }),
		largest: bytes / 8, // one answer with all rows does not drive out all others
	}
}

// of returns the answer of a name, which is computed once for all who ask at
// the same time, and not at all where it is remembered.
func (as *answers) of(ctx context.Context, name string, compute func(context.Context) (answer, error)) (answer, error) {
	if f, ok := as.known.Get(name); ok {
		return f, nil
	}
	f, err := as.flights.Do(ctx, name, func(ctx context.Context) (*finished, error) {
		ctx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		a, err := compute(ctx)
		if err != nil {
			return nil, err
		}
		f := finish(a)
		if len(f.body) <= as.largest {
			as.known.Put(name, f)
		}
		return f, nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}
