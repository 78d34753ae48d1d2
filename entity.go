package adlens

import "time"

// EntityType is what an entity that figures are of is. The numbers are stored.
type EntityType uint8

// The types of entities.
const (
	CampaignEntity EntityType = iota + 1
	AdGroupEntity
)

// EntityID tells an entity by what it is and its id.
type EntityID struct {
	Type EntityType
	ID   string
}

// MarketplaceName is the newest name that an entity has in a marketplace, given by its key:
// 0 where that is not known.
type MarketplaceName struct {
	Marketplace uint16
	DatedName
}

// DatedName is the name of an entity, and when a report or a list gave it.
type DatedName struct {
	Text string // "" before the first
	At   time.Time
}

// Rename takes over a name that is newer; of two of one time the greater text counts,
// so that the order in which they are met makes no difference.
func (n *DatedName) Rename(text string, at time.Time) (changed bool) {
	if text == "" || at.Before(n.At) || at.Equal(n.At) && text <= n.Text {
		return false
	}
	*n = DatedName{text, at}
	return true
}
