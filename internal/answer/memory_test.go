package answer

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/query"
)

// takes begins to wait for memory, and says which answer got it.
func takes(ctx context.Context, m *memory, account string, bytes int, name string, got chan<- string) {
	go func() {
		ctx, done := withWaitTimeout(ctx)
		defer done()
		if err := m.reserveBytes(ctx, account, bytes); err == nil {
			got <- name
		}
	}()
	synctest.Wait()
}

func mustGet(t *testing.T, got chan string, want ...string) {
	t.Helper()
	synctest.Wait()
	for _, name := range want {
		select {
		case first := <-got:
			if first != name {
				t.Fatalf("%s got memory, want %s", first, name)
			}
		default:
			t.Fatalf("%s did not get memory", name)
		}
	}
	select {
	case more := <-got:
		t.Fatalf("%s got memory too", more)
	default:
	}
}

func TestAnswersBeyondTheMemoryWaitInTheirOrderAndNoAccountHasAllOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const mb = 1 << 20
		m, got := newMemory(80*mb), make(chan string, 10)
		takes(t.Context(), m, "a", 30*mb, "a1", got)
		mustGet(t, got, "a1")
		takes(t.Context(), m, "a", 30*mb, "a2", got) // half is 40
		takes(t.Context(), m, "b", 40*mb, "b1", got)
		mustGet(t, got, "b1") // 70 of 80, all that large ones have
		takes(t.Context(), m, "c", 5*mb, "c1", got)
		takes(t.Context(), m, "d", mb, "d1", got) // a small one passes
		mustGet(t, got, "d1")
		m.addBytes("b", -40*mb, false)
		mustGet(t, got, "c1")
		m.addBytes("a", -30*mb, false)
		mustGet(t, got, "a2")
		takes(t.Context(), m, "e", 200*mb, "e1", got) // more than there is: alone
		for account, bytes := range map[string]int{"a": 30, "c": 5, "d": 1} {
			m.addBytes(account, -bytes*mb, account == "d")
		}
		mustGet(t, got, "e1")
		m.addBytes("e", -200*mb, false)
		if m.used != (inUse{}) || len(m.accounts) != 0 || len(m.waiting) != 0 {
			t.Errorf("%v bytes, %v, %d wait", m.used, m.accounts, len(m.waiting))
		}
	})
}

// A large answer, whatever it takes, keeps no page from being answered, of its account
// neither; an account has half of what pages have for themselves.
func TestPagesHaveMemoryWhateverLargeAnswersTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const mb = 1 << 20
		m, got := newMemory(64*mb), make(chan string, 10)
		takes(t.Context(), m, "a", 2*mb, "a1", got)
		takes(t.Context(), m, "a", 200*mb, "a2", got) // more than there is, and no page keeps it waiting
		mustGet(t, got, "a1", "a2")
		m.addBytes("a", -2*mb, true)
		takes(t.Context(), m, "b", 3*mb, "b1", got)
		for _, name := range []string{"a3", "a4", "a5", "b2", "b3", "c1"} { // 8 MiB are theirs
			takes(t.Context(), m, name[:1], 2*mb, name, got)
		}
		mustGet(t, got, "a3", "a4", "b2", "b3")
		m.addBytes("a", -2*mb, true)
		mustGet(t, got, "a5")
		m.addBytes("b", -2*mb, true)
		mustGet(t, got, "c1")
		m.addBytes("a", -200*mb, false)
		mustGet(t, got, "b1")
	})
}

func TestAnAnswerThatWaitsTooLongIsRefusedAndOneThatNobodyWantsIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(1 << 20)
		m.addBytes("a", 1<<20, false)
		ctx, done := withWaitTimeout(t.Context())
		defer done()
		began := time.Now()
		err := m.reserveBytes(ctx, "b", 1<<19)
		if err != ErrOverloaded || time.Since(began) != MemoryPatience {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := m.reserveBytes(gone, "b", 1<<19); adlens.KindOf(err) != adlens.Cancelled {
			t.Errorf("a client that went away: %v", err)
		}
		if m.used != (inUse{all: 1 << 20}) || len(m.waiting) != 0 {
			t.Errorf("%v bytes, %d wait", m.used, len(m.waiting))
		}
		m.addBytes("a", -1<<20, false)
		for range 64 { // memory that is free the moment that a client goes away is given back
			if err := m.reserveBytes(gone, "b", 1<<19); err == nil {
				m.addBytes("b", -1<<19, true)
			}
		}
		if m.used != (inUse{}) || len(m.accounts) != 0 {
			t.Errorf("%v bytes are left of clients that went away", m.used)
		}
	})
}

// What several clients are sent is in memory once, until the last of them has it.
func TestABodyCountsOnceAsLongAsAnyQuestionHasIt(t *testing.T) {
	_, s := newShop()
	var questions []*Question
	used := 0
	for range 3 {
		q, err := s.Ask(t.Context(), auth.Caller{Account: adlens.Account{ID: "acme"}}, Request{Endpoint: "reports/products", Parameters: []Parameter{{"range", "this_month"}}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := q.Answer(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		questions, used = append(questions, q), cap(a.Body)
	}
	for _, q := range questions {
		if s.MemoryInUse() != used {
			t.Errorf("%d bytes are counted of one body of %d", s.MemoryInUse(), used)
		}
		q.Close()
	}
	if m := s.cache.memory; m.used != (inUse{}) || len(m.accounts) != 0 {
		t.Errorf("%v bytes are left, %v", m.used, m.accounts)
	}
}

// An answer that waited for memory and was then computed for longer than it may wait is
// written, and one whose turn does not come is refused.
func TestTheWaitForATurnBeginsAfterTheAnswerWasComputed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := newShop()
		slow := func() error {
			q := &Question{Name: rand.Text(), service: s, request: query.ListRequest{}, meaning: func() string { return "" },
				most: func(context.Context) (int, error) { return ordinaryAnswer / rowBytes, nil },
				compute: func(context.Context) (func(*writer), error) {
					time.Sleep(MemoryPatience + time.Second)
					return func(*writer) {}, nil
				}}
			defer q.Close()
			_, err := q.Answer(t.Context())
			return err
		}
		for range 20 {
			if err := slow(); err != nil {
				t.Fatalf("no other answer is being written: %v", err)
			}
		}
		for range cap(s.cache.writing) {
			s.cache.writing <- struct{}{}
		}
		began := time.Now()
		if err := s.cache.inTurn(t.Context(), ordinaryAnswer+1, nil); err != ErrOverloaded || time.Since(began) != MemoryPatience {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// Callers who have the same answer each make a copy of it: large ones take turns.
func TestLargeCopiesOfOneAnswerTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s := newShop()
		copyOf := func(bytes int) (*Question, error) {
			q := &Question{Name: "one", service: s, use: s.cache.acquireUse("a", "one")}
			return q, q.CountCopy(t.Context(), bytes)
		}
		var held []*Question
		for range cap(s.cache.copying) {
			q, err := copyOf(ordinaryAnswer + 1)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, q)
		}
		small, err := copyOf(ordinaryAnswer)
		if err != nil {
			t.Errorf("a small copy waits: %v", err)
		}
		small.Close()
		began := time.Now()
		if q, err := copyOf(ordinaryAnswer + 1); err != ErrOverloaded || time.Since(began) != MemoryPatience {
			t.Errorf("%v after %s", err, time.Since(began))
		} else {
			q.Close()
		}
		time.AfterFunc(time.Second, held[0].Close)
		q, err := copyOf(ordinaryAnswer + 1)
		if err != nil {
			t.Errorf("a place that is free again: %v", err)
		}
		for _, one := range append(held[1:], q) {
			one.Close()
		}
		if len(s.cache.copying) != 0 || s.MemoryInUse() != 0 {
			t.Errorf("%d places and %d bytes are left", len(s.cache.copying), s.MemoryInUse())
		}
	})
}

// A page that is sent from memory, and what an assistant makes of one, are no large answers,
// for which others of their size would wait; what is large is, wherever it comes from.
func TestWhatIsSentFromMemoryCountsByItsSize(t *testing.T) {
	_, s := newShop()
	for _, c := range []struct{ body, copied, large int }{
		{1 << 20, 0, 0}, {1 << 20, 1 << 20, 0}, {1 << 20, 3 << 20, 3 << 20}, {3 << 20, 1 << 20, 3 << 20},
	} {
		q := &Question{Name: rand.Text(), service: s, account: "a"}
		q.use = s.cache.acquireUse("a", q.Name)
		a := &Answer{Body: make([]byte, c.body)}
		q.use.holdBody(a, 1)
		if err := q.CountCopy(t.Context(), c.copied); err != nil {
			t.Fatal(err)
		}
		if got := s.cache.memory.used; got.large() != c.large || got.all != c.body+c.copied {
			t.Errorf("%+v: %d bytes, and %d of large answers", c, got.all, got.large())
		}
		q.use.dropBody(a)
		q.Close()
		if m := s.cache.memory; m.used != (inUse{}) || len(m.accounts) != 0 {
			t.Errorf("%+v: %v are left", c, m.used)
		}
	}
}

// longRuns is a store of a rule whose runs have so many bytes.
type longRuns struct {
	query.ListStore
	bytes   int
	gauge   func() int
	counted int // when they were read
}

func (l *longRuns) Count(_ context.Context, s query.Statement) (int, error) {
	if strings.Contains(s.SQL, "sum(length(record))") {
		return l.bytes, nil
	}
	return 1, nil
}

func (l *longRuns) Runs(context.Context, query.Statement) ([]query.RuleRun, error) {
	l.counted = l.gauge()
	return nil, nil
}

func TestRunsOfARuleCountByTheirLengthBeforeTheyAreRead(t *testing.T) {
	store := &longRuns{bytes: 3 << 20}
	s := New(Config{Figures: query.NewService(&shop{}, store), Now: func() time.Time { return now }})
	store.gauge = s.MemoryInUse
	q, err := s.Ask(t.Context(), auth.Caller{Account: adlens.Account{ID: "acme"}}, Request{Endpoint: RuleRuns, RuleID: "one"})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if a, err := q.Answer(t.Context()); err != nil || store.counted < runWeight*store.bytes || s.MemoryInUse() != cap(a.Body) {
		t.Errorf("%d bytes are counted of runs of %d, then %d: %v", store.counted, store.bytes, s.MemoryInUse(), err)
	}
}
