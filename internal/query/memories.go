package query

import "adlens/internal/lru"

// Memories are what a service remembers, for those who watch it.
type Memories struct {
	DayTotals lru.Stats
	Figures   lru.Stats // zero where none are remembered
}

// Memories returns what is remembered now.
func (s *Service) Memories() Memories {
	m := Memories{DayTotals: s.days.known.Stats()}
	if s.memory != nil {
		m.Figures = s.memory.units.Stats()
	}
	return m
}
