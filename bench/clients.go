package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"adlens"
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

// known are a contestant's answers. The first to each question is compared with
// the right one; of the same data the same answer comes, to the byte.
type known struct {
	right map[*question]expected

	mu     sync.Mutex
	bodies map[*question][]byte
}

// rightAnswers are those that many clients will be given.
func (b *bench) rightAnswers(ctx context.Context, all []*question) (map[*question]expected, error) {
	right := map[*question]expected{}
	for _, q := range all {
		var err error
		if right[q], err = b.cachedExpected(ctx, q); err != nil {
			return nil, err
		}
	}
	return right, nil
}

// checkReply tells what is wrong with an answer.
func (k *known) checkReply(q *question, r reply, c contestant) error {
	k.mu.Lock()
	before, ok := k.bodies[q]
	k.mu.Unlock()
	if ok {
		if !bytes.Equal(r.body, before) {
			return fmt.Errorf("%s, asked %q among others, answers another thing than before: %.300s", c.contestantName(), q.name, r.body)
		}
		return nil
	}
	if err := r.compareExpected(q, k.right[q], c); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bodies[q] = r.body
	return nil
}

// runCrowd lets so many clients ask for a while, each one question after the
// other in an order of its own. Requests that were begun are waited for, and
// count towards the time. A wrong answer ends the run.
func runCrowd(ctx context.Context, c contestant, all []*question, answers *known, clients int, lasting time.Duration) (Crowd, error) {
	result := Crowd{Contestant: c.contestantName(), Clients: clients, Errors: map[string]int{}}
	var mu sync.Mutex
	var times []float64
	var wrong error
	note := func(q *question, r reply, err error) {
		var fault error
		if err == nil {
			fault = answers.checkReply(q, r, c)
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			result.Errors[errorName(err)]++
		case fault != nil:
			wrong = fault
		default:
			times = append(times, toMilliseconds(r.took))
		}
	}
	var running sync.WaitGroup
	began := time.Now()
	for n := range clients {
		running.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(n), uint64(clients)))
			for time.Since(began) < lasting && ctx.Err() == nil {
				q := all[rng.IntN(len(all))]
				r, err := c.askQuestion(ctx, q)
				note(q, r, err)
			}
		})
	}
	running.Wait()
	result.Seconds = time.Since(began).Seconds()
	result.Answered = len(times)
	result.PerSecond = float64(len(times)) / result.Seconds
	if len(times) > 0 {
		result.Median, result.P99 = percentileOf(times, 50), percentileOf(times, 99)
	}
	return result, errors.Join(wrong, ctx.Err())
}

func errorName(err error) string {
	var status statusError
	if errors.As(err, &status) {
		return fmt.Sprintf("%d %s", int(status), http.StatusText(int(status)))
	}
	var refused *engineError
	if errors.As(err, &refused) {
		return "engine's code " + refused.code
	}
	return err.Error()
}

// measureCrowds measures adlens and raw with so many clients, one after the other.
// Answers that are never cached are requested, and those that every client gets.
func (b *bench) measureCrowds(ctx context.Context, numbers []int, lasting time.Duration) error {
	all := allQuestions(b.shape, b.accounts, b.state.Keys, b.now)
	right, err := b.rightAnswers(ctx, all)
	if err != nil {
		return err
	}
	for _, who := range []contestant{newAPI(nameAPI, b.server.address), newAPI(nameRepeated, b.caching.address), b.raw} {
		answers := &known{right: right, bodies: map[*question][]byte{}}
		for _, n := range numbers {
			c, err := runCrowd(ctx, who, all, answers, n, lasting)
			if err != nil {
				return err
			}
			pid := b.server.processID()
			if c.Contestant == nameRepeated {
				pid = b.caching.processID()
			}
			c.ServeRSS, _ = residentMemory(pid)
			c.EngineRSS, _ = residentMemory(b.engine.at.PID)
			b.results.Crowds = append(b.results.Crowds, c)
			b.say("%d clients of %s: %.1f answers/s", n, c.Contestant, c.PerSecond)
		}
	}
	return nil
}

// Cancelled is what became of requests whose clients went away.
type Cancelled struct {
	Requests int     `json:"requests"`
	Running  int64   `json:"queries_before"` // in the engine, when they were cut
	Freed    float64 `json:"freed_ms"`       // until none was left
}

// cancelling is how many requests are cut.
const cancelling = 32

// cancelRequests cuts requests in the middle and watches their queries end. Every one
// has a window of its own, so that no two can be one.
func (b *bench) cancelRequests(ctx context.Context) error {
	a := &asker{shape: b.shape, today: adlens.DayOf(b.now.UTC()), account: &b.accounts[0], key: b.state.Keys[heavyID]}
	for i := range cancelling {
		a.addQuestion(products, a.customPeriod("cut", b.shape.firstDay()+adlens.Day(3+i), b.shape.End-adlens.Day(3+i)))
	}
	cut, stop := context.WithCancel(ctx)
	defer stop()
	who := newAPI(nameAPI, b.server.address)
	var running sync.WaitGroup
	for _, q := range a.all {
		running.Go(func() { who.askQuestion(cut, q) }) // its fate is not ours
	}
	c := Cancelled{Requests: cancelling}
	var err error
	for waiting := time.Now(); c.Running < 3 && err == nil && time.Since(waiting) < time.Second; {
		c.Running, err = b.engine.runningStatements(ctx)
	}
	stop()
	began := time.Now()
	for left := c.Running; err == nil && left > 0 && time.Since(began) < time.Minute; {
		left, err = b.engine.runningStatements(ctx)
	}
	c.Freed = toMilliseconds(time.Since(began))
	running.Wait()
	b.results.Cancelled = &c
	return errors.Join(err, who.close())
}

// runningStatements is how many statements the engine has in hand, this one left out.
func (e *embedded) runningStatements(ctx context.Context) (int64, error) {
	return e.queryNumber(ctx, "SELECT value - 1 FROM system.metrics WHERE metric = 'Query'")
}
