package query

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/manifest"
)

// CampaignParams are the parameters of the campaign list.
type CampaignParams struct {
	MarketplaceID string   `query:"marketplace_id"`
	States        []string `query:"states"`
	Search        string   `query:"search"`
	PagingParams
	FormatParams
}

// AdGroupParams are the parameters of the ad-group list.
type AdGroupParams struct {
	MarketplaceID string `query:"marketplace_id"`
	CampaignID    string `query:"campaign_id"`
	Search        string `query:"search"`
	PagingParams
	FormatParams
}

// RulesParams are the parameters of the rules.
type RulesParams struct {
	PagingParams
	FormatParams
}

// ActivityParams are the parameters of the activity.
type ActivityParams struct {
	Tools []string `query:"tool"`
	PagingParams
	FormatParams
}

// ListRequest is a question about a list with every default filled in.
type ListRequest struct {
	Marketplace Marketplace // campaigns, ad groups
	States      []string    // nil is no filter: all of them
	CampaignID  string
	Search      string   // what a name contains; "" is no filter
	Tools       []string // nil is no filter
	RuleID      string
	Paging
	Format
	Syncing bool // the list is being read again from the platform
}

// RowWeight is that of a row of figures.
func (ListRequest) RowWeight() int { return 1 }

// ParseCampaigns makes a request of the campaign list's parameters.
func ParseCampaigns(params CampaignParams, v View, now time.Time, refused ...adlens.Fault) (ListRequest, []adlens.Fault) {
	p := newParser(catalogue.Campaigns, params, v, now, refused)
	r := ListRequest{Marketplace: p.parseMarketplaceID(params.MarketplaceID), Search: params.Search, Paging: p.parsePaging(params.PagingParams),
		Format: p.parseFormat(params.FormatParams)}
	r.States = chosenWords(params.States, catalogue.States)
	return r, p.faults
}

// ParseAdGroups makes a request of the ad-group list's parameters. Whether
// the campaign is there is for the store to say.
func ParseAdGroups(params AdGroupParams, v View, now time.Time, refused ...adlens.Fault) (ListRequest, []adlens.Fault) {
	p := newParser(catalogue.AdGroups, params, v, now, refused)
	r := ListRequest{Marketplace: p.parseMarketplaceID(params.MarketplaceID), CampaignID: params.CampaignID, Search: params.Search,
		Paging: p.parsePaging(params.PagingParams), Format: p.parseFormat(params.FormatParams)}
	return r, p.faults
}

// ParseRules makes a request of the rules' parameters.
func ParseRules(params RulesParams, v View, now time.Time, refused ...adlens.Fault) (ListRequest, []adlens.Fault) {
	p := newParser(catalogue.Rules, params, v, now, refused)
	r := ListRequest{Paging: p.parsePaging(params.PagingParams), Format: p.parseFormat(params.FormatParams)}
	return r, p.faults
}

// ParseActivity makes a request of the activity's parameters.
func ParseActivity(params ActivityParams, v View, now time.Time, refused ...adlens.Fault) (ListRequest, []adlens.Fault) {
	p := newParser(catalogue.Activity, params, v, now, refused)
	r := ListRequest{Paging: p.parsePaging(params.PagingParams), Format: p.parseFormat(params.FormatParams)}
	r.Tools = chosenWords(params.Tools, catalogue.Tools)
	return r, p.faults
}

// chosenWords are words of a closed set in canonical form, sorted. All of them are
// no filter, like none: the answer is the same, and so is its name.
func chosenWords(texts, all []string) (words []string) {
	for _, text := range texts {
		if word, ok := canonicalValue(text, all); ok && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if len(words) == len(all) {
		return nil
	}
	slices.Sort(words)
	return words
}

// ParsePlain checks the parameters of a list that has none of its own.
func ParsePlain(params FormatParams, v View, now time.Time, refused ...adlens.Fault) (ListRequest, []adlens.Fault) {
	p := newParser(catalogue.Marketplaces, params, v, now, refused)
	r := ListRequest{Format: p.parseFormat(params)}
	return r, p.faults
}

// parseMarketplaceID finds a marketplace of the account. Another account's is as
// unknown as one that never was.
func (p *parser) parseMarketplaceID(id string) Marketplace {
	if !p.isUnrefused("marketplace_id") {
		return Marketplace{}
	}
	if id == "" {
		p.addFault("marketplace_id", adlens.Fault{Code: adlens.MissingParameter, Allowed: p.allowedIDs(),
			Detail: "marketplace_id is missing; expected the id of one of the account's marketplaces: " + p.marketplaceIDs()})
		return Marketplace{}
	}
	m, ok := p.view.marketplaceByID(id)
	if !ok {
		p.addFault("marketplace_id", adlens.Fault{Value: id, Code: adlens.UnknownValue, Allowed: p.allowedIDs(),
			Detail: fmt.Sprintf("%q is no marketplace of this account; expected one of its ids: %s", id, p.marketplaceIDs())})
	}
	return m
}

func (p *parser) allowedIDs() []string {
	ids := make([]string, len(p.view.Marketplaces))
	for i, m := range p.view.Marketplaces {
		ids[i] = m.ID
	}
	return ids
}

func (p *parser) marketplaceIDs() string {
	if len(p.view.Marketplaces) == 0 {
		return "it has none"
	}
	named := make([]string, len(p.view.Marketplaces))
	for i, m := range p.view.Marketplaces {
		named[i] = fmt.Sprintf("%s (%s)", m.ID, m.Country)
	}
	return strings.Join(named, ", ")
}

// unknownCampaign is the fault of a campaign that is not in the list.
func unknownCampaign(id string, m Marketplace) adlens.Fault {
	return adlens.Fault{Parameter: "campaign_id", Value: id, Code: adlens.UnknownValue,
		Detail: fmt.Sprintf("%q is no campaign in the list of marketplace %s; archived campaigns are never listed", id, m.ID)}
}

// listGenerations are the live generations of a kind of list of a marketplace.
func (v View) listGenerations(kind manifest.Kind, match func(manifest.Slice) bool) []uint32 {
	var generations []uint32
	for _, e := range v.Manifest.Of(kind) {
		if match(e.Slice) {
			generations = append(generations, e.Generation)
		}
	}
	return generations
}

func ofMarketplace(m Marketplace) func(manifest.Slice) bool {
	return func(s manifest.Slice) bool { return s.Marketplace == m.Key }
}

// SyncedAt is the time of a marketplace's list: of its ad products, which are listed
// apart, the oldest; nil where none is held.
func (v View) SyncedAt(kind manifest.Kind, m Marketplace) *time.Time {
	var oldest *time.Time
	for _, e := range v.Manifest.Of(kind) {
		if e.Slice.Marketplace != m.Key || len(e.Sources) == 0 {
			continue
		}
		if at := e.Sources[0].GeneratedAt; oldest == nil || at.Before(*oldest) {
			oldest = &at
		}
	}
	return oldest
}
