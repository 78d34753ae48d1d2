package main

import (
	"context"
	"fmt"
	"time"
)

// reply is what a contestant answered. lines brings it into the form that is
// compared; nil where there is nothing to compare. body is the answer as it
// came, where it came as bytes.
type reply struct {
	took  time.Duration
	body  []byte
	lines func() ([]string, error)
}

// contestant answers questions in its own way.
type contestant interface {
	contestantName() string
	askQuestion(ctx context.Context, q *question) (reply, error)
	close() error
}

// Times are the measured times of one contestant for one question.
type Times struct {
	Contestant string    `json:"contestant"`
	Median     float64   `json:"median_ms"`
	P99        float64   `json:"p99_ms"`
	First      float64   `json:"first_ms"` // before the rounds, with cold caches of its own
	All        []float64 `json:"all_ms"`   // in the order of the rounds
}

// Measured is one question with all contestants' times.
type Measured struct {
	Question string  `json:"question"`
	Account  string  `json:"account"`
	Address  string  `json:"request"`
	Rows     int     `json:"rows"` // lines of the answer
	Times    []Times `json:"times"`
}

// timesOf finds a contestant's times.
func (m *Measured) timesOf(name string) *Times {
	for i := range m.Times {
		if m.Times[i].Contestant == name {
			return &m.Times[i]
		}
	}
	return nil
}

// pace bounds the rounds of a question. Who has used the budget up sits out,
// after three rounds at least, one where a single answer took four times it.
// The first answer, for which caches are cold, counts only where it took ten
// times the budget.
type pace struct {
	rounds int
	budget time.Duration
}

func (p pace) enoughRounds(rounds int, spent time.Duration) bool {
	switch {
	case rounds == 0:
		return false
	case spent > 4*p.budget:
		return true
	case spent > p.budget:
		return rounds >= 3
	}
	return rounds >= p.rounds
}

// measureQuestion asks all contestants the same question, once to compare the answers
// and then in rounds, each of which begins with another of them. Every answer
// is compared with the right one before its time counts.
func measureQuestion(ctx context.Context, q *question, right expected, all []contestant, p pace) (*Measured, error) {
	m := &Measured{Question: q.name, Account: q.account.id, Address: q.requestURL(""), Rows: len(right.shown), Times: make([]Times, len(all))}
	spent := make([]time.Duration, len(all))
	for i, c := range all {
		times, err := askChecked(ctx, q, right, c, 1)
		if err != nil {
			return nil, err
		}
		first := toMilliseconds(times[0])
		m.Times[i] = Times{Contestant: c.contestantName(), First: first}
		if times[0] > 10*p.budget {
			m.Times[i].All, spent[i] = []float64{first}, times[0]
		}
	}
	for round, asked := 0, true; asked; round++ {
		asked = false
		for k := range all {
			i := (k + round) % len(all)
			if p.enoughRounds(len(m.Times[i].All), spent[i]) {
				continue
			}
			asked = true
			times, err := askChecked(ctx, q, right, all[i], inARow(all[i]))
			if err != nil {
				return nil, err
			}
			for _, took := range times {
				spent[i] += took
				m.Times[i].All = append(m.Times[i].All, toMilliseconds(took))
			}
		}
	}
	for i := range m.Times {
		t := &m.Times[i]
		t.Median, t.P99 = percentileOf(t.All, 50), percentileOf(t.All, 99)
	}
	return m, nil
}

// repetitions is how often "the same request again" is asked without a pause,
// as a spreadsheet does that has one formula in many cells.
const repetitions = 3

// inARow is how often a contestant is asked in a round.
func inARow(c contestant) int {
	if c.contestantName() == nameRepeated {
		return repetitions
	}
	return 1
}

// askChecked asks some times in a row, and compares all answers afterwards.
func askChecked(ctx context.Context, q *question, right expected, c contestant, often int) ([]time.Duration, error) {
	replies, times := make([]reply, often), make([]time.Duration, often)
	for i := range replies {
		var err error
		if replies[i], err = c.askQuestion(ctx, q); err != nil {
			return nil, fmt.Errorf("%s, asked %q: %w", c.contestantName(), q.name, err)
		}
	}
	for i, r := range replies {
		if err := r.compareExpected(q, right, c); err != nil {
			return nil, err
		}
		times[i] = r.took
	}
	return times, nil
}

// compareExpected tells what is wrong with an answer.
func (r reply) compareExpected(q *question, right expected, c contestant) error {
	if r.lines == nil {
		return nil
	}
	got, err := r.lines()
	if err != nil {
		return fmt.Errorf("%s, asked %q: %w", c.contestantName(), q.name, err)
	}
	want := right.sums
	if _, ours := c.(*api); ours {
		want = right.shown
	}
	if err := firstDifference(want, got); err != nil {
		return fmt.Errorf("%s answers %q wrongly: %s: %w", c.contestantName(), q.name, q.requestURL(""), err)
	}
	return nil
}

func toMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
