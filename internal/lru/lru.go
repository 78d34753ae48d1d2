// Package lru remembers what was used last, up to a weight in all.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps values until heavier use of others drops them. It is safe for
// concurrent use. Values are shared with everybody who gets them: they must
// not be changed.
type Cache[K comparable, V any] struct {
	limit int // of all weights
	weigh func(K, V) int

	mu     sync.Mutex
	stats  Stats
	order  *list.List // of *entry[K, V], the last used first
	places map[K]*list.Element
}

// Stats are what a cache holds and what became of it so far.
type Stats struct {
	Weight, Values        int    // now
	Hits, Misses, Dropped uint64 // of Get; values that had to make room
}

type entry[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

// New returns a cache whose values weigh no more than the limit together. With
// a limit of 0 it remembers nothing.
func New[K comparable, V any](limit int, weigh func(K, V) int) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, weigh: weigh, order: list.New(), places: map[K]*list.Element{}}
}

// Get returns what was put last under a key.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place, ok := c.places[key]
	if !ok {
		c.stats.Misses++
		return value, false
	}
	c.stats.Hits++
	c.order.MoveToFront(place)
	return place.Value.(*entry[K, V]).value, true
}

// Peek returns what was put last under a key. That is no use of it.
func (c *Cache[K, V]) Peek(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place, ok := c.places[key]
	if !ok {
		return value, false
	}
	return place.Value.(*entry[K, V]).value, true
}

// Weight is that of all values together.
func (c *Cache[K, V]) Weight() int { return c.Stats().Weight }

// Stats returns what the cache holds now, and what became of it so far.
func (c *Cache[K, V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Values = len(c.places)
	return s
}

// Put remembers a value, and drops what was not used for the longest time to
// make room. A value above the whole limit is not remembered.
func (c *Cache[K, V]) Put(key K, value V) {
	weight := c.weigh(key, value)
	c.mu.Lock()
	defer c.mu.Unlock()
	if place, ok := c.places[key]; ok {
		c.drop(place)
	}
	if weight > c.limit {
		return
	}
	c.places[key] = c.order.PushFront(&entry[K, V]{key, value, weight})
	for c.stats.Weight += weight; c.stats.Weight > c.limit; c.stats.Dropped++ {
		c.drop(c.order.Back())
	}
}

// Forget drops what was put under keys that meet a condition.
func (c *Cache[K, V]) Forget(meets func(K) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, place := range c.places {
		if meets(key) {
			c.drop(place)
		}
	}
}

func (c *Cache[K, V]) drop(place *list.Element) {
	e := c.order.Remove(place).(*entry[K, V])
	delete(c.places, e.key)
	c.stats.Weight -= e.weight
}
