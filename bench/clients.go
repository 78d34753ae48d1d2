package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Crowd is what many clients at once were answered.
type Crowd struct {
	Contestant string         `json:"contestant"`
	Clients    int            `json:"clients"`
	Seconds    float64        `json:"seconds"`
	Answered   int            `json:"answered"`
	PerSecond  float64        `json:"per_second"`
	Median     float64        `json:"median_ms"`
	P99        float64        `json:"p99_ms"`
	Errors     map[string]int `json:"errors"` // by status or text
	ServeRSS   int64          `json:"serve_rss"`
	EngineRSS  int64          `json:"engine_rss"`
}

// statusError is an answer other than 200.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// crowd lets so many clients ask for a while, each one question after the
// other in an order of its own. Requests that were begun are waited for, and
// count towards the time.
func crowd(ctx context.Context, c contestant, all []*question, clients int, lasting time.Duration) Crowd {
	result := Crowd{Contestant: c.name(), Clients: clients, Errors: map[string]int{}}
	var mu sync.Mutex
	var times []float64
	var running sync.WaitGroup
	began := time.Now()
	for n := range clients {
		running.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(n), uint64(clients)))
			for time.Since(began) < lasting && ctx.Err() == nil {
				r, err := c.ask(ctx, all[rng.IntN(len(all))])
				mu.Lock()
				if err != nil {
					result.Errors[errorName(err)]++
				} else {
					times = append(times, milliseconds(r.took))
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	result.Seconds = time.Since(began).Seconds()
	result.Answered = len(times)
	result.PerSecond = float64(len(times)) / result.Seconds
	if len(times) > 0 {
		result.Median, result.P99 = percentile(times, 50), percentile(times, 99)
	}
	return result
}

func errorName(err error) string {
	var status statusError
	if errors.As(err, &status) {
		return fmt.Sprintf("%d %s", int(status), http.StatusText(int(status)))
	}
	return err.Error()
}
