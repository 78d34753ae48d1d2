package lru

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func length(_ int, value string) int { return len(value) }

// The cache against a list that is searched from its end: the same keys are
// there, the weight is never above the limit.
func TestACacheKeepsWhatWasUsedLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		c := New(limit, length)
		var model []int // keys, the last used last
		values := map[int]string{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			key := rapid.IntRange(0, 5).Draw(t, "key")
			value, ok := c.Get(key)
			if at := slices.Index(model, key); ok != (at >= 0) || value != values[key] {
				t.Fatalf("%d: got %q, %v; want %q", key, value, ok, values[key])
			} else if ok {
				model = append(slices.Delete(model, at, at+1), key)
			}
			if rapid.Bool().Draw(t, "put") {
				value = fmt.Sprintf("%0*d", rapid.IntRange(1, 12).Draw(t, "weight"), key)
				c.Put(key, value)
				model = put(model, values, limit, key, value)
			}
		}
	})
}

func put(model []int, values map[int]string, limit, key int, value string) []int {
	model = slices.DeleteFunc(model, func(k int) bool { return k == key })
	delete(values, key)
	if len(value) > limit {
		return model
	}
	model, values[key] = append(model, key), value
	weight := func() (sum int) {
		for _, v := range values {
			sum += len(v)
		}
		return sum
	}
	for weight() > limit {
		delete(values, model[0])
		model = model[1:]
	}
	return model
}

// Meaningful with -race.
func TestManyCanUseACacheAtOnce(t *testing.T) {
	c := New(10, length)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 1000 {
				c.Put(i%7, "xx")
				if value, ok := c.Get(i % 5); ok && value != "xx" {
					t.Errorf("got %q", value)
				}
			}
		})
	}
	all.Wait()
}

func TestLookingWhetherAValueIsThereIsNoUse(t *testing.T) {
	c := New(2, func(string, int) int { return 1 })
	c.Put("a", 1)
	c.Put("b", 2)
	if !has(c, "a") || has(c, "c") || c.Weight() != 2 {
		t.Errorf("a is there: %v, c is there: %v, weight %d", has(c, "a"), has(c, "c"), c.Weight())
	}
	c.Put("c", 3)
	if has(c, "a") || !has(c, "b") || c.Weight() != 2 {
		t.Errorf("a is there: %v, b is there: %v, weight %d", has(c, "a"), has(c, "b"), c.Weight())
	}
}

func TestWhatIsForgottenTakesNoRoom(t *testing.T) {
	c := New(3, func(string, int) int { return 1 })
	for i, key := range []string{"a", "b", "c"} {
		c.Put(key, i)
	}
	c.Forget(func(key string) bool { return key != "b" })
	if has(c, "a") || !has(c, "b") || has(c, "c") || c.Weight() != 1 || c.Stats().Dropped != 0 {
		t.Errorf("what is left: %+v", c.Stats())
	}
}

func has(c *Cache[string, int], key string) bool {
	_, ok := c.Peek(key)
	return ok
}
