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
	weight int
	order  *list.List // of *entry[K, V], the last used first
	places map[K]*list.Element
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
		return value, false
	}
	c.order.MoveToFront(place)
	return place.Value.(*entry[K, V]).value, true
}

// Has tells whether there is a value under a key. That is no use of it.
func (c *Cache[K, V]) Has(key K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.places[key]
	return ok
}

// Weight is that of all values together.
func (c *Cache[K, V]) Weight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.weight
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
	for c.weight += weight; c.weight > c.limit; {
		c.drop(c.order.Back())
	}
}

func (c *Cache[K, V]) drop(place *list.Element) {
	e := c.order.Remove(place).(*entry[K, V])
	delete(c.places, e.key)
	c.weight -= e.weight
}
