package loader

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"adlens"
	"adlens/internal/platform"
)

// EntityType is what an entity of figures is. The numbers are stored.
type EntityType uint8

// The types of entities.
const (
	Campaign EntityType = iota + 1
	AdGroup
)

// EntityName tells an entity by what it is and its id.
type EntityName struct {
	Type EntityType
	ID   string
}

// Entity is a campaign or an ad group that figures are of.
type Entity struct {
	Key     uint32 // its number in stored rows, from 1 without gaps
	Name    string // the newest that a report gave; "" before the first
	NamedAt time.Time
}

func compareEntities(a, b EntityName) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID))
}

// rename takes over a name that is newer; of two of one time the greater counts.
func (e *Entity) rename(name string, at time.Time) (changed bool) {
	if name == "" || at.Before(e.NamedAt) || at.Equal(e.NamedAt) && name <= e.Name {
		return false
	}
	e.Name, e.NamedAt = name, at
	return true
}

// entityNames are the names that a report's rows give: those of its newest day, and
// there of the last row.
type entityNames map[EntityName]dayName

type dayName struct {
	name string
	day  adlens.Day
}

func (n entityNames) addRow(row *platform.Row) {
	n.addName(EntityName{Campaign, row.Campaign}, row.CampaignName, row.Day)
	n.addName(EntityName{AdGroup, row.AdGroup}, row.AdGroupName, row.Day)
}

func (n entityNames) addName(of EntityName, name string, day adlens.Day) {
	if of.ID == "" || name == "" {
		return
	}
	if known, ok := n[of]; !ok || day > known.day || day == known.day && name != known.name {
		n[of] = dayName{name, day}
	}
}

// entityKey returns the stored number of an entity, a new one where it has none yet.
func (s *session) entityKey(of EntityName) uint32 {
	if of.ID == "" {
		return 0
	}
	return s.ensureEntity(of).Key
}

func (s *session) ensureEntity(of EntityName) *Entity {
	e, ok := s.entities[of]
	if !ok {
		e = &Entity{Key: uint32(len(s.entities) + 1)}
		s.entities[of], s.newEntities = e, true
	}
	return e
}

// nameEntities takes over the names that a report gives, whether it speaks for a day
// or not: what is the newest name does not hang on the order of loading.
func (s *session) nameEntities(names entityNames, at time.Time) {
	for _, of := range slices.SortedFunc(maps.Keys(names), compareEntities) { // the same numbers in every run
		if s.ensureEntity(of).rename(names[of].name, at) {
			s.newEntities = true
		}
	}
}

// entityIDs are the ids of the entities by their numbers.
func (s *session) entityIDs() []string {
	ids := make([]string, len(s.entities)+1)
	for of, e := range s.entities {
		ids[e.Key] = of.ID
	}
	return ids
}
