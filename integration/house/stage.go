package house

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/model"
)

// Stage is a row of states that one account goes through, with what every
// question answers in each.
type Stage struct {
	Client       harness.Client
	Questions    []Question
	answers      [][]any      // question, then state
	acknowledged atomic.Int64 // the newest state whose load has ended well
	reached      atomic.Int64 // the newest state whose load was begun
}

// Play loads one state after the other while every question is asked.
func (s *Stage) Play(t *testing.T, h *House, account string, steps [][]string) {
	t.Helper()
	// The first state is there before the first request.
	s.load(t, h, account, 0, steps[0])
	done := make(chan struct{})
	var readers sync.WaitGroup
	for i := range s.Questions {
		readers.Go(func() { s.read(t, i, done) })
	}
	for state, paths := range steps[1:] {
		s.load(t, h, account, int64(state+1), paths)
	}
	close(done)
	readers.Wait()
}

// FixedQuestions ask for one period that no day changes.
func FixedQuestions() []Question {
	period := url.Values{"start_date": {DaysAgo(80)}, "end_date": {DaysAgo(20)}}
	paged := url.Values{"start_date": {DaysAgo(80)}, "end_date": {DaysAgo(20)}, "page_size": {"all"}, "sort": {"product_id"}}
	return []Question{{"/summary", period}, {"/timeline", period}, {"/reports/products", paged}}
}

// Restatements are loads of one large report each: values change, products
// come and go, and one of them is empty.
func Restatements(t *testing.T, n int) [][]string {
	const days, products = 31, 120
	dir := t.TempDir()
	var steps [][]string
	for k := range n {
		p := SpPair(fmt.Sprintf("state-%02d", k), "101", DaysAgo(60), days, time.Now().AddDate(0, 0, -20).Add(time.Duration(k)*time.Minute))
		p.Rows = []map[string]any{}
		for day := range days {
			for product := k; product < products && k%5 != 4; product++ {
				row := SpRow(DaysAgo(60-day), fmt.Sprintf("P%03d", product), fmt.Sprintf("%d.%02d", k+1, product))
				row["sales7d"] = json.Number(fmt.Sprintf("%d", 10+k))
				p.Rows = append(p.Rows, row)
			}
		}
		steps = append(steps, p.Write(t, dir))
	}
	return steps
}

// Breath is how long a reader waits after the same answer as before: without it, readers
// would take the cores that the load needs.
const Breath = 5 * time.Millisecond

func (s *Stage) Remember(t *testing.T, m *model.Account) {
	t.Helper()
	if s.answers == nil {
		s.answers = make([][]any, len(s.Questions))
	}
	for i, q := range s.Questions {
		want, err := Expected(m, q, time.Now())
		Need(t, err)
		s.answers[i] = append(s.answers[i], want)
	}
}

func (s *Stage) load(t *testing.T, h *House, account string, state int64, paths []string) {
	t.Helper()
	s.reached.Store(state)
	done, err := h.Load(account, paths...)
	if err != nil || done.Code != 0 {
		t.Errorf("load of state %d: %v %s", state, err, done.Result)
		return
	}
	s.acknowledged.Store(state)
}

// read asks one question again and again. No answer may come from before what
// this reader has seen, or from before a load that had ended when it asked.
func (s *Stage) read(t *testing.T, i int, done <-chan struct{}) {
	seen, answers := int64(0), 0
	var before []byte
	for last := false; !last; answers++ {
		select {
		case <-done:
			last = true
		default:
		}
		floor := max(seen, s.acknowledged.Load())
		answer, err := s.Client.Get("/api/v1" + s.Questions[i].String())
		if err != nil || answer.Status != 200 {
			t.Errorf("%s: %v %.300s", s.Questions[i], err, answer)
			return
		}
		state, why := s.stateOf(i, answer.Body, floor, s.reached.Load())
		if state < 0 {
			t.Errorf("%s: the answer is none of states %d to %d\n  %s", s.Questions[i], floor, s.reached.Load(), why)
			return
		}
		seen = state
		if bytes.Equal(answer.Body, before) {
			time.Sleep(Breath)
		}
		before = answer.Body
	}
	t.Logf("%s: %d answers", s.Questions[i].Path, answers)
}

// stateOf finds the state that an answer shows, or why it is not the newest.
func (s *Stage) stateOf(i int, body []byte, from, to int64) (int64, string) {
	got, err := model.Decode(body)
	if err != nil {
		return -1, err.Error()
	}
	var lines []string
	for state := from; state <= to; state++ {
		if lines = model.Diff(s.answers[i][state], got); len(lines) == 0 {
			return state, ""
		}
	}
	return -1, strings.Join(lines[:min(len(lines), 8)], "\n  ")
}
