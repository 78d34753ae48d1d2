package recent

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

const age = 2 * time.Second

// shelf is a store whose answers take a while.
type shelf struct {
	mu     sync.Mutex
	values map[string]int
	takes  time.Duration
	err    error
	asked  int
}

func (s *shelf) read(ctx context.Context, key string) (int, bool, error) {
	s.mu.Lock()
	s.asked++
	value, found := s.values[key]
	err, takes := s.err, s.takes
	s.mu.Unlock()
	select {
	case <-time.After(takes):
		return value, found, err
	case <-ctx.Done():
		return 0, false, ctx.Err()
	}
}

// expect asks and compares, and tells how long it took.
func expect(t *testing.T, v *Values[string, int], want int) time.Duration {
	t.Helper()
	began := time.Now()
	if got, found, err := v.Get(t.Context(), "a", began); got != want || !found || err != nil {
		t.Fatalf("got %d, %t, %v; expected %d", got, found, err, want)
	}
	return time.Since(began)
}

func TestAStreamOfRequestsNeverWaitsAndNothingIsOlderThanItsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{values: map[string]int{"a": 0}, takes: 300 * time.Millisecond}
		v := New(age, 10, s.read)
		if took := expect(t, v, 0); took != s.takes {
			t.Errorf("the first waited for %s", took)
		}
		changed := time.Now()
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			s.mu.Lock()
			s.values["a"] = int(time.Since(changed) / time.Millisecond)
			s.mu.Unlock()
			now := time.Now()
			got, found, err := v.Get(t.Context(), "a", now)
			if old := int(now.Sub(changed)/time.Millisecond) - got; !found || err != nil || !time.Now().Equal(now) || old >= int(age/time.Millisecond)+300 {
				t.Fatalf("after %s: %d, %t, %v, %d ms old, waited %s", now.Sub(changed), got, found, err, old, time.Since(now))
			}
		}
		synctest.Wait()
		if s.asked < 8 || s.asked > 11 {
			t.Errorf("ten seconds took %d questions", s.asked)
		}
	})
}

func TestManyWhoWaitShareOneQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{values: map[string]int{"a": 7}, takes: time.Second}
		v := New(age, 10, s.read)
		for range 50 {
			go func() { expect(t, v, 7) }()
		}
		time.Sleep(s.takes)
		synctest.Wait()
		// A value that is half its age is requested once, however many find it so.
		time.Sleep(age/2 + time.Millisecond - s.takes)
		for range 50 {
			go func() { expect(t, v, 7) }()
		}
		synctest.Wait()
		if s.asked != 2 {
			t.Errorf("%d questions", s.asked)
		}
		time.Sleep(s.takes)
		synctest.Wait()
	})
}

// A question whose answer never comes holds up those alone who ask while it is waited for.
func TestAQuestionThatHangsIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{values: map[string]int{"a": 7}, takes: time.Hour}
		v := New(age, 10, s.read)
		began := time.Now()
		go v.Get(t.Context(), "a", began)
		time.Sleep(time.Second)
		s.mu.Lock()
		s.takes = 0 // of the next
		s.mu.Unlock()
		for ; time.Since(began) < time.Minute; time.Sleep(10 * time.Second) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			_, found, _ := v.Get(ctx, "a", time.Now())
			cancel()
			if found {
				break
			}
		}
		if took := time.Since(began); took > 35*time.Second {
			t.Errorf("it was answered after %s", took)
		}
	})
}

// Who joins a question hears nothing that was true before it asked.
func TestAnAnswerThatWasLongOnItsWayIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{values: map[string]int{"a": 7}, takes: 15 * time.Second}
		v := New(age, 10, s.read)
		go v.Get(t.Context(), "a", time.Now())
		time.Sleep(time.Second)
		s.mu.Lock()
		delete(s.values, "a")
		s.mu.Unlock()
		time.Sleep(10 * time.Second)
		if got, found, err := v.Get(t.Context(), "a", time.Now()); found || err != nil {
			t.Errorf("what was withdrawn ten seconds ago is %d, %v", got, err)
		}
	})
}

func TestWhatTheStoreHasNoMoreIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{values: map[string]int{"a": 7}}
		v := New(age, 10, s.read)
		expect(t, v, 7)
		delete(s.values, "a")
		time.Sleep(age / 2)
		expect(t, v, 7) // and has it read again
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if _, found, err := v.Get(t.Context(), "a", time.Now()); found || err != nil {
			t.Errorf("found is %t, %v", found, err)
		}
		for range 3 {
			v.Get(t.Context(), "b", time.Now())
		}
		if len(v.young)+len(v.old) != 0 {
			t.Error("what there is not is kept")
		}
	})
}

func TestAStoreThatFailsIsHeardWhenTheValueIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{values: map[string]int{"a": 7}}
		v := New(age, 10, s.read)
		expect(t, v, 7)
		s.err = errors.New("no server there")
		for range 3 {
			time.Sleep(age / 4)
			expect(t, v, 7)
			synctest.Wait()
		}
		time.Sleep(age / 4)
		if _, _, err := v.Get(t.Context(), "a", time.Now()); !errors.Is(err, s.err) {
			t.Errorf("got %v", err)
		}
		s.err = nil
		expect(t, v, 7)
	})
}

func TestAStoreThatHangsHoldsNobodyUpBeforeTheValueIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{values: map[string]int{"a": 7}}
		v := New(age, 10, s.read)
		expect(t, v, 7)
		s.takes = time.Hour
		time.Sleep(age / 2)
		if took := expect(t, v, 7); took != 0 {
			t.Errorf("waited for %s", took)
		}
		time.Sleep(age) // the question is given up
		synctest.Wait()
		s.takes = 0
		expect(t, v, 7)
		if s.asked != 3 {
			t.Errorf("%d questions", s.asked)
		}
	})
}

func TestThereAreNeverMoreThanTheMost(t *testing.T) {
	const most = 1000
	now := time.Now()
	v := New[int, int](age, most, nil)
	for i := range 3 * most {
		v.put(i, answer[int]{value: i, found: true}, now)
	}
	if n := len(v.young) + len(v.old); n > most {
		t.Errorf("%d values", n)
	}
	if _, found, _ := v.get(3*most-1, now); !found {
		t.Error("the newest value is gone")
	}
	for _, after := range []time.Duration{age, 2 * age} {
		v.put(0, answer[int]{value: 0, found: true}, now.Add(after))
	}
	if n := len(v.young) + len(v.old); n > 2 {
		t.Errorf("%d values are left of old times", n)
	}
}

// A value is not read while the mark is the same, however long ago it was requested,
// but for one reading in the background each half minute.
func TestAMarkThatIsTheSameSavesReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{values: map[string]int{"a": 7}, takes: 300 * time.Millisecond}
		mark, settled := uint64(2), true
		v := New(age, 10, s.read)
		v.Trust(func() (uint64, bool) { return mark, settled })
		expect(t, v, 7)
		follow := func(what string, pause time.Duration, want, asked int, waits bool) {
			t.Helper()
			before := s.asked
			time.Sleep(pause)
			took := expect(t, v, want)
			synctest.Wait()
			time.Sleep(s.takes)
			synctest.Wait()
			if s.asked-before != asked || (took > 0) != waits {
				t.Errorf("%s: %d questions, it waited for %s", what, s.asked-before, took)
			}
		}
		for range 6 {
			follow("unchanged", 4*time.Second, 7, 0, false)
		}
		s.values["a"] = 8
		follow("unchanged for more than half a minute", time.Minute, 7, 1, false)
		follow("read in the background", time.Second, 8, 0, false)
		follow("unchanged for very long", LongestTrust, 8, 1, true)
		s.values["a"] = 9
		mark++
		follow("changed", 4*time.Second, 9, 1, true)
		s.values["a"], settled = 10, false
		follow("under way", 4*time.Second, 10, 1, true)
		s.values["a"], settled = 11, true
		follow("read while it was under way", 4*time.Second, 11, 1, true)
		s.err = errors.New("no server there")
		follow("a store that is away", 4*time.Second, 11, 0, false)
	})
}

// A change that comes while a value is read, too late for it, is not taken for read.
func TestAMarkThatChangesDuringAReadingSavesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{values: map[string]int{"a": 7}, takes: time.Second}
		var mark atomic.Uint64
		v := New(age, 10, s.read)
		v.Trust(func() (uint64, bool) { return mark.Load(), true })
		go func() {
			time.Sleep(s.takes / 2)
			s.mu.Lock()
			s.values["a"] = 8
			s.mu.Unlock()
			mark.Store(1)
		}()
		expect(t, v, 7)
		time.Sleep(age)
		expect(t, v, 8)
	})
}

// The monotonic clock of a machine that is suspended does not go on.
func TestAValueIsNotBelievedAfterTheMachineWasSuspended(t *testing.T) {
	s := &shelf{values: map[string]int{"a": 1}}
	v := New(age, 10, s.read)
	expect(t, v, 1)
	s.values["a"] = 2
	expect(t, v, 1)
	for _, kept := range v.young {
		suspended := (*uint64)(unsafe.Pointer(&kept.confirmed)) // its first word: seconds above 30 bits of nanoseconds
		*suspended -= uint64(time.Hour/time.Second) << 30
	}
	expect(t, v, 2)
}
