package standin

import (
	"slices"
	"strconv"
	"sync"
)

// data is all that the platform knows of its advertisers.
type data struct {
	mu       sync.Mutex
	profiles []Profile
	facts    []Fact
	entities Entities
	lists    ListPlan
}

func (d *data) applyConfig(config Config) {
	for _, profile := range config.Profiles {
		d.profiles = append(d.profiles, profile.withDefaults())
	}
	for _, fact := range config.Facts {
		fact.checkAmounts()
	}
	d.facts = slices.Clone(config.Facts)
	d.entities = config.Entities.cloneEntities()
	d.lists = config.Lists
}

func (d *data) findProfile(id int64) (Profile, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.IndexFunc(d.profiles, func(p Profile) bool { return p.ID == id })
	if at < 0 {
		return Profile{}, false
	}
	return d.profiles[at], true
}

func (d *data) allProfiles() []Profile {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.profiles)
}

// SetProfiles replaces the profiles.
func (p *Platform) SetProfiles(profiles ...Profile) {
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	p.data.profiles = nil
	for _, profile := range profiles {
		p.data.profiles = append(p.data.profiles, profile.withDefaults())
	}
}

// AddProfiles adds profiles to those that there are.
func (p *Platform) AddProfiles(profiles ...Profile) {
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	for _, profile := range profiles {
		p.data.profiles = append(p.data.profiles, profile.withDefaults())
	}
}

// Change changes a profile.
func (p *Platform) Change(profile int64, how func(*Profile)) {
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	for i := range p.data.profiles {
		if p.data.profiles[i].ID == profile {
			how(&p.data.profiles[i])
		}
	}
}

// Restate adds facts, each in the place of the one with the same profile, day
// and ids, if there is one. Reports that are completed from now on show it.
func (p *Platform) Restate(facts ...Fact) {
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	for _, fact := range facts {
		fact.checkAmounts()
		p.data.facts = slices.DeleteFunc(p.data.facts, func(old Fact) bool { return old.uniqueKey() == fact.uniqueKey() })
		p.data.facts = append(p.data.facts, fact)
	}
}

// Withdraw takes facts back.
func (p *Platform) Withdraw(which func(Fact) bool) {
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	p.data.facts = slices.DeleteFunc(p.data.facts, which)
}

// Facts lists what the platform now holds as true.
func (p *Platform) Facts() []Fact {
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	return slices.Clone(p.data.facts)
}

// SetEntities replaces campaigns, ad groups and ads.
func (p *Platform) SetEntities(entities Entities) {
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	p.data.entities = entities.cloneEntities()
}

// SetEntitiesOf replaces the campaigns, ad groups and ads of one profile.
func (p *Platform) SetEntitiesOf(profile int64, entities Entities) {
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	p.data.entities = p.data.entities.filterProfiles(func(owner int64) bool { return owner != profile })
	p.data.entities.Campaigns = append(p.data.entities.Campaigns, entities.Campaigns...)
	p.data.entities.AdGroups = append(p.data.entities.AdGroups, entities.AdGroups...)
	p.data.entities.Ads = append(p.data.entities.Ads, entities.Ads...)
}

// Entities lists the campaigns, ad groups and ads.
func (p *Platform) Entities() Entities {
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	return p.data.entities.cloneEntities()
}

// isLegacy reports whether a Brands campaign is one that reports leave out.
func (d *data) isLegacy(profile int64, campaign uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := strconv.FormatUint(campaign, 10)
	return slices.ContainsFunc(d.entities.Campaigns, func(c Campaign) bool {
		return c.Legacy && c.AdProduct == SponsoredBrands && c.Profile == profile && c.ID == id
	})
}
