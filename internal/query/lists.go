package query

import (
	"context"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/records"
)

// ListStore runs the statements of lists.
type ListStore interface {
	Count(ctx context.Context, s Statement) (int, error)
	ListCounts(ctx context.Context, s Statement) ([]ListCount, error)
	Campaigns(ctx context.Context, s Statement) ([]Campaign, error)
	AdGroups(ctx context.Context, s Statement) ([]AdGroup, error)
	RulesWithRuns(ctx context.Context, s Statement) ([]Rule, error)
	Runs(ctx context.Context, s Statement) ([]RuleRun, error)
	Entries(ctx context.Context, s Statement) ([]records.Activity, error)
}

// Campaign is a campaign as it is shown.
type Campaign struct {
	platform.Campaign
	Provenance string // created, changed, untouched: by the service
}

// AdGroup is an ad group as it is shown.
type AdGroup = platform.AdGroup

// Rule is a rule with its last run that was no test.
type Rule struct {
	records.Rule
	LastRun *RuleRun
}

// RuleRun is a run of a rule as it is shown.
type RuleRun struct {
	records.RuleRun
	// LookedAtUnknown and ChangedUnknown are set where the run's counts are of
	// marketplaces, too, that the view does not have.
	LookedAtUnknown bool `json:"-"`
	ChangedUnknown  bool `json:"-"`
}

// ListCount is how many of a kind of list a marketplace has.
type ListCount struct {
	Marketplace uint16
	Kind        manifest.Kind
	Count       int
}

// Page is a page of a list.
type Page[T any] struct {
	Request ListRequest
	Rows    []T
	Total   int // of all pages
	// SyncedAt is the time of the list; nil where none is held, or for lists
	// that are not read from the platform.
	SyncedAt *time.Time
}

// Truncated reports whether the cap of an answer with all rows left some out.
func (p *Page[T]) Truncated() bool { return p.Request.All && p.Total > MaxRows }

// MarketplaceInfo is a marketplace with what is held of it.
type MarketplaceInfo struct {
	Marketplace
	Counts              map[manifest.Kind]int // kinds whose list was read
	FirstDate, LastDate *adlens.Day
}

// Marketplaces lists the account's marketplaces by country and id.
func (s *Service) Marketplaces(ctx context.Context, v View) ([]MarketplaceInfo, error) {
	counts, err := s.counts.getCounts(ctx, v)
	if err != nil {
		return nil, err
	}
	infos := make([]MarketplaceInfo, len(v.Marketplaces))
	for i, m := range v.Marketplaces {
		infos[i] = MarketplaceInfo{Marketplace: m, Counts: map[manifest.Kind]int{}}
		for _, kind := range []manifest.Kind{manifest.Campaigns, manifest.AdGroups, manifest.Ads} {
			if v.SyncedAt(kind, m) != nil {
				infos[i].Counts[kind] = 0
			}
		}
		for _, c := range counts {
			if c.Marketplace == m.Key {
				infos[i].Counts[c.Kind] = c.Count
			}
		}
		if first, last, held := v.Manifest.HeldDays(ofMarketplace(m)); held {
			infos[i].FirstDate, infos[i].LastDate = &first, &last
		}
	}
	return infos, nil
}

// Campaigns answers a page of a marketplace's campaigns.
func (s *Service) Campaigns(ctx context.Context, v View, r ListRequest) (*Page[Campaign], error) {
	return listPage(ctx, s, v, r, "campaigns", s.lists.Campaigns, v.SyncedAt(manifest.Campaigns, r.Marketplace))
}

// AdGroups answers a page of a marketplace's ad groups. The error is a
// *FaultsError where the campaign is not in the list.
func (s *Service) AdGroups(ctx context.Context, v View, r ListRequest) (*Page[AdGroup], error) {
	if faults, err := s.UnlistedCampaign(ctx, v, r); err != nil || faults != nil {
		if err == nil {
			err = &FaultsError{faults}
		}
		return nil, err
	}
	return listPage(ctx, s, v, r, "ad_groups", s.lists.AdGroups, v.SyncedAt(manifest.AdGroups, r.Marketplace))
}

// UnlistedCampaign returns a fault where the campaign that ad groups are requested of is
// not in the list.
func (s *Service) UnlistedCampaign(ctx context.Context, v View, r ListRequest) ([]adlens.Fault, error) {
	if r.CampaignID == "" || v.SyncedAt(manifest.Campaigns, r.Marketplace) == nil {
		return nil, nil
	}
	n, err := s.lists.Count(ctx, v.listStatement("campaign_listed", r))
	if err != nil || n > 0 {
		return nil, err
	}
	return []adlens.Fault{unknownCampaign(r.CampaignID, r.Marketplace)}, nil
}

// Rules answers a page of the rules, the most recently edited first.
func (s *Service) Rules(ctx context.Context, v View, r ListRequest) (*Page[Rule], error) {
	if v.isPart() {
		return s.limitedRulePage(ctx, v, r)
	}
	return listPage(ctx, s, v, r, "rules", s.lists.RulesWithRuns, nil)
}

// Activity answers a page of the activity, newest first. Each entry names the
// country that its marketplace is of now, as every other list does.
func (s *Service) Activity(ctx context.Context, v View, r ListRequest) (*Page[records.Activity], error) {
	p, err := listPage(ctx, s, v, r, "activity", s.lists.Entries, nil)
	if err != nil {
		return nil, err
	}
	for i := range p.Rows {
		if at := slices.IndexFunc(v.Marketplaces, func(m Marketplace) bool { return m.ID == string(p.Rows[i].MarketplaceID) }); at >= 0 {
			p.Rows[i].Marketplace = v.Marketplaces[at].Country
		}
	}
	return p, nil
}

// RuleRuns answers the last runs of a rule, newest first, tests left out; found
// is false where the account has no such rule.
func (s *Service) RuleRuns(ctx context.Context, v View, rule string) (runs []RuleRun, found bool, err error) {
	r := lastRunsOf(rule)
	if v.isPart() {
		return s.limitedRuleRuns(ctx, v, r)
	}
	n, err := s.lists.Count(ctx, v.listStatement("rule_exists", r))
	if err != nil || n == 0 {
		return nil, false, err
	}
	runs, err = s.lists.Runs(ctx, v.listStatement("rule_runs", r))
	return runs, true, err
}

// RunBytes is how many bytes the records of the runs have that RuleRuns reads: each may
// list thousands of changes.
func (s *Service) RunBytes(ctx context.Context, v View, rule string) (int, error) {
	return s.lists.Count(ctx, v.listStatement("rule_runs_bytes", lastRunsOf(rule)))
}

func lastRunsOf(rule string) ListRequest {
	return ListRequest{RuleID: rule, Paging: Paging{Page: 1, PageSize: LastRuns}}
}

// MostListed is how many rows a page of an endpoint's list has at most. Only for all
// rows they are counted.
func (s *Service) MostListed(ctx context.Context, v View, r ListRequest, endpoint string) (int, error) {
	if !r.All {
		return r.PageSize, nil
	}
	total, err := s.lists.Count(ctx, v.listStatement(strings.ReplaceAll(endpoint, "-", "_")+"_count", r))
	return min(total, r.PageSize), err
}

// listPage reads a page and how many rows there are in all.
func listPage[T any](ctx context.Context, s *Service, v View, r ListRequest, name string,
	read func(context.Context, Statement) ([]T, error), synced *time.Time) (*Page[T], error) {
	total, err := s.lists.Count(ctx, v.listStatement(name+"_count", r))
	if err != nil {
		return nil, err
	}
	p := &Page[T]{Request: r, Total: total, SyncedAt: synced}
	if r.isPastAll() || r.rowsBefore() >= total {
		return p, nil
	}
	p.Rows, err = read(ctx, v.listStatement(name, r))
	return p, err
}
