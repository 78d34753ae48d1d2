package standin

import "slices"

// Entities are the campaigns, ad groups and ads of all profiles, archived ones
// included. Ids are texts, since some have 18 digits.
type Entities struct {
	Campaigns []Campaign
	AdGroups  []AdGroup
	Ads       []Ad
}

func (e Entities) cloneEntities() Entities {
	return Entities{slices.Clone(e.Campaigns), slices.Clone(e.AdGroups), slices.Clone(e.Ads)}
}

// filterProfiles keeps the entities of some profiles.
func (e Entities) filterProfiles(keep func(profile int64) bool) Entities {
	return Entities{
		slices.DeleteFunc(slices.Clone(e.Campaigns), func(c Campaign) bool { return !keep(c.Profile) }),
		slices.DeleteFunc(slices.Clone(e.AdGroups), func(g AdGroup) bool { return !keep(g.Profile) }),
		slices.DeleteFunc(slices.Clone(e.Ads), func(a Ad) bool { return !keep(a.Profile) }),
	}
}

// Campaign is one campaign. State is ENABLED, PAUSED or ARCHIVED, or another
// that Sponsored Products know; ENABLED where empty.
type Campaign struct {
	Profile   int64
	AdProduct string
	ID, Name  string
	State     string
	// Targeting is AUTO or MANUAL for Sponsored Products, the tactic for
	// Display (T00020 where empty), and means nothing for Brands.
	Targeting          string
	Budget             string // a decimal, "" for 10
	BudgetType         string // DAILY where empty
	StartDate, EndDate string // YYYY-MM-DD; the start is 2026-01-01 where empty
	Portfolio          string
	// Legacy marks a Brands campaign that can have one ad group only: reports
	// leave it out without a word.
	Legacy bool
	// Extra adds members to the answer, or replaces them; Absent leaves one out.
	Extra map[string]any
}

// AdGroup is one ad group.
type AdGroup struct {
	Profile        int64
	AdProduct      string
	ID, CampaignID string
	Name, State    string
	DefaultBid     string // a decimal; Brands have none
	Extra          map[string]any
}

// Ad is one ad. A Brands ad without an ID is one of a legacy campaign: the
// answer has neither its id nor its name.
type Ad struct {
	Profile                   int64
	AdProduct                 string
	ID, AdGroupID, CampaignID string
	Name, State               string
	SKU                       string
	Products                  []string // ASINs; only Brands have more than one
	Extra                     map[string]any
}

func (a Ad) firstASIN() string {
	if len(a.Products) == 0 {
		return ""
	}
	return a.Products[0]
}

// kind tells campaigns, ad groups and ads apart.
type kind int

const (
	campaigns kind = iota
	adGroups
	ads
)

// item is an entity on its way into a list: what the filters look at, and what
// the answer shows.
type item struct {
	id, campaign, adGroup, portfolio string
	name, state, targeting           string
	object                           object
	extended                         object
}

type object = map[string]any

// shapes tells how an ad product, or the exports, spell the three kinds.
type shapes struct {
	campaign func(Campaign) (shown, extended object)
	adGroup  func(AdGroup) (shown, extended object)
	ad       func(Ad) (shown, extended object)
}

// listItems lists one kind of entity of a profile in the spelling of a list.
func (d *data) listItems(profile int64, adProduct string, what kind, in shapes) []item {
	d.mu.Lock()
	defer d.mu.Unlock()
	mine := func(owner int64, product string) bool { return owner == profile && product == adProduct }
	var list []item
	for _, c := range d.entities.Campaigns {
		if what == campaigns && mine(c.Profile, c.AdProduct) {
			c.State, c.Budget = orDefault(c.State, "ENABLED"), orDefault(c.Budget, "10")
			c.BudgetType, c.StartDate = orDefault(c.BudgetType, "DAILY"), orDefault(c.StartDate, "2026-01-01")
			shown, extended := in.campaign(c)
			list = append(list, item{c.ID, c.ID, "", c.Portfolio, c.Name, c.State, c.Targeting, overlayMembers(shown, c.Extra), extended})
		}
	}
	for _, g := range d.entities.AdGroups {
		if what == adGroups && mine(g.Profile, g.AdProduct) {
			g.State = orDefault(g.State, "ENABLED")
			shown, extended := in.adGroup(g)
			list = append(list, item{g.ID, g.CampaignID, g.ID, "", g.Name, g.State, "", overlayMembers(shown, g.Extra), extended})
		}
	}
	for _, a := range d.entities.Ads {
		if what == ads && mine(a.Profile, a.AdProduct) {
			a.State = orDefault(a.State, "ENABLED")
			shown, extended := in.ad(a)
			list = append(list, item{a.ID, a.CampaignID, a.AdGroupID, "", a.Name, a.State, "", overlayMembers(shown, a.Extra), extended})
		}
	}
	return list
}

// overlayMembers puts extra members over an object, and takes absent ones out.
func overlayMembers(shown, extra object) object {
	for name, value := range extra {
		if value == Absent {
			delete(shown, name)
			continue
		}
		shown[name] = value
	}
	return shown
}

// putNonEmpty adds a member unless it is empty.
func putNonEmpty(o object, name, text string) {
	if text != "" {
		o[name] = text
	}
}
