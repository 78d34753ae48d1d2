package query

import (
	"context"
	"slices"
)

// level is the one dimension of ids that memory divides a report by, beside that of
// time.
type level uint8

const (
	byProduct level = iota
	byCampaign
	byAdGroup
	byNothing // the sums of all that filters leave
)

// levels are the dimensions of the levels.
var levels = func() (all [byAdGroup + 1]identifiedDimension) {
	for _, d := range identified {
		all[map[string]level{dimProduct: byProduct, dimCampaign: byCampaign, dimAdGroup: byAdGroup}[d.name]] = d
	}
	return all
}()

// key is the column of stored rows that a level divides by.
func (by level) key() string {
	if by == byNothing {
		return "toUInt32(0)"
	}
	return levels[by].key
}

// level is that of a report that memory can answer: by one dimension of ids, with the
// usual sums. It may be divided by time too, where rows do not go by that: then few
// days are read for a page.
func (r Request) level() (by level, ok bool) {
	if r.sumsMore() || r.TimeDimension() != "" && (r.Compared() || r.isByDate()) {
		return 0, false
	}
	for _, dimension := range r.Dimensions {
		at := slices.IndexFunc(levels[:], func(d identifiedDimension) bool { return d.name == dimension })
		switch {
		case at >= 0 && !ok:
			by, ok = level(at), true
		case granularities[dimension] == "":
			return 0, false
		}
	}
	return by, ok
}

// mostOf is how many rows a report of a level has at most.
func (by level) mostOf(v View) uint64 { return levels[by].mostOf(v, &Request{}) }

// rowNames are the ids and names of the rows of a level.
type rowNames interface {
	// idRank is where the id of a number is in the order of ids, noID for none.
	idRank(key uint32) uint32
	putOn(row *Row, key uint32)
}

func (n *productNames) putOn(row *Row, key uint32) {
	row.ID = n.ids[key]
	row.Title = n.titles[row.ID]
}

// entityRows name the rows of campaigns, or of ad groups.
type entityRows struct {
	entityNames
	of level
}

func (n *entityRows) putOn(row *Row, key uint32) {
	if n.of == byCampaign {
		row.Campaign = n.entity(key)
		return
	}
	row.AdGroup = n.entity(key)
}

// cachedNames returns the names of a level's rows that are in memory; ok is false
// where some have to be read.
func (s *Service) cachedNames(v View, by level) (names rowNames, ok bool) {
	if by == byProduct {
		names, ok := s.directory.cachedNames(v)
		return &names, ok
	}
	entities, ok := s.directory.cachedEntities(v)
	return &entityRows{entities, by}, ok
}

func (s *Service) readNames(ctx context.Context, v View, by level) (rowNames, error) {
	if by == byProduct {
		names, err := s.directory.getNames(ctx, v)
		return &names, err
	}
	entities, err := s.directory.getEntities(ctx, v)
	return &entityRows{entities, by}, err
}
