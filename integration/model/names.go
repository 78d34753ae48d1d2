package model

import (
	"cmp"
	"slices"
	"time"
)

// entity is a campaign or an ad group: a dimension of reports, and an id.
type entity struct{ dimension, id string }

// knownName is a name of an entity, and when it had it.
type knownName struct {
	at   time.Time
	text string
}

// learnName keeps the newest name of an entity; of names of one time, the greatest.
func learnName(names map[entity]knownName, e entity, n knownName) {
	held := names[e]
	if e.id != "" && n.text != "" && cmp.Or(n.at.Compare(held.at), cmp.Compare(n.text, held.text)) > 0 {
		names[e] = n
	}
}

// reportNames are the names that a report gives: those of its latest days, and of
// the rows of one day those of the last.
func (r *report) reportNames() map[entity]knownName {
	days, names := map[entity]string{}, map[entity]knownName{}
	for _, line := range r.rows {
		for e, text := range map[entity]string{
			{"campaign", line.campaign}: line.campaignName, {"ad_group", line.adGroup}: line.adGroupName,
		} {
			if text != "" && line.day >= days[e] {
				days[e], names[e] = line.day, knownName{r.generated, text}
			}
		}
	}
	return names
}

// keepNames learns the names of a report when it is loaded. They stay known when
// other reports take its days.
func (a *Account) keepNames(r *report) {
	for e, n := range r.reportNames() {
		if a.learned[r.profile] == nil {
			a.learned[r.profile] = map[entity]knownName{}
		}
		learnName(a.learned[r.profile], e, n)
	}
}

// listNames are the lists that have names: of which dimension, and by which id.
var listNames = map[string]struct{ dimension, id string }{
	"campaigns": {"campaign", "campaignId"}, "adGroups": {"ad_group", "adGroupId"},
}

// deriveNames gives every entity its newest name among those of some profiles' reports
// and of all their lists that were loaded, archived entries included.
func (a *Account) deriveNames(of func(profile string) bool) map[entity]knownName {
	names := map[entity]knownName{}
	for profile, learned := range a.learned {
		for e, n := range learned {
			if of(profile) {
				learnName(names, e, n)
			}
		}
	}
	for _, e := range a.exports {
		from, named := listNames[e.entity]
		if !named || !of(e.profile) {
			continue
		}
		for _, row := range e.rows {
			if slices.Contains(e.speaks, row.memberText("adProduct")) {
				learnName(names, entity{from.dimension, row.memberText(from.id)}, knownName{e.generated, row.memberText("name")})
			}
		}
	}
	return names
}

// nameOf is an entity's newest known name, or empty text.
func (a *Account) nameOf(dimension, id string) string { return a.names[entity{dimension, id}].text }
