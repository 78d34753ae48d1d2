package loader

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"adlens"
	"adlens/internal/platform"
)

// Entity is a campaign or an ad group that figures are of.
type Entity struct {
	Key   uint32                   // its number in stored rows, from 1 without gaps
	Names []adlens.MarketplaceName // the newest that reports gave, or lists that are not held
}

// TakeName takes over the name that a marketplace gives, where it is newer.
func (e *Entity) TakeName(given adlens.MarketplaceName) (changed bool) {
	for i := range e.Names {
		if e.Names[i].Marketplace == given.Marketplace {
			return e.Names[i].Rename(given.Text, given.At)
		}
	}
	if given.Text != "" {
		e.Names = append(e.Names, given)
	}
	return given.Text != ""
}

func compareEntities(a, b adlens.EntityID) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID))
}

// entityNames are the names that a report's rows give: those of its newest day, and
// there of the last row.
type entityNames map[adlens.EntityID]dayName

type dayName struct {
	name string
	day  adlens.Day
}

func (n entityNames) addRow(row *platform.Row) {
	n.addName(adlens.EntityID{Type: adlens.CampaignEntity, ID: row.Campaign}, row.CampaignName, row.Day)
	n.addName(adlens.EntityID{Type: adlens.AdGroupEntity, ID: row.AdGroup}, row.AdGroupName, row.Day)
}

func (n entityNames) addName(of adlens.EntityID, name string, day adlens.Day) {
	if of.ID == "" || name == "" {
		return
	}
	if known, ok := n[of]; !ok || day > known.day || day == known.day && name != known.name {
		n[of] = dayName{name, day}
	}
}

// entityKey returns the stored number of an entity, a new one where it has none yet.
func (s *session) entityKey(of adlens.EntityID) uint32 {
	if of.ID == "" {
		return 0
	}
	return s.ensureEntity(of).Key
}

func (s *session) ensureEntity(of adlens.EntityID) *Entity {
	e, ok := s.entities[of]
	if !ok {
		e = &Entity{Key: uint32(len(s.entities) + 1)}
		s.entities[of], s.newEntities = e, true
	}
	return e
}

// nameEntities takes over the names that a report of a marketplace gives, whether it speaks
// for a day or not: what is the newest name does not hang on the order of loading.
func (s *session) nameEntities(market uint16, names entityNames, at time.Time) {
	for _, of := range slices.SortedFunc(maps.Keys(names), compareEntities) { // the same numbers in every run
		if s.ensureEntity(of).TakeName(adlens.MarketplaceName{Marketplace: market, DatedName: adlens.DatedName{Text: names[of].name, At: at}}) {
			s.newEntities = true
		}
	}
}

// keepListed keeps the names that the older of two lists has alone: readers are shown
// those of the list that is held, and what was a newest name stays known. A time that has
// not come is wrong, and would win for as long.
func (s *session) keepListed(ctx context.Context, market uint16, older, newer map[adlens.EntityID]string, at time.Time) error {
	if at.After(time.Now()) {
		return nil
	}
	names := entityNames{}
	for of, name := range older {
		if newer[of] == "" {
			names.addName(of, name, 0)
		}
	}
	if len(names) == 0 {
		return nil
	}
	if err := s.requireEntities(ctx); err != nil {
		return err
	}
	s.nameEntities(market, names, at)
	return nil
}

// entityIDs are the ids of the entities by their numbers.
func (s *session) entityIDs() []string {
	ids := make([]string, len(s.entities)+1)
	for of, e := range s.entities {
		ids[e.Key] = of.ID
	}
	return ids
}
