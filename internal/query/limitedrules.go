package query

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"adlens/internal/records"
)

// Rules and their runs are of the account, and name countries and campaigns. A view of
// some marketplaces shows what is of those alone.

// limitedSlots are the ends of conditions in statements of lists that narrow records
// to a view; they are empty for the whole account. Its last runs are read without their
// changes, which are not shown and may be megabytes; a limited view counts its own. Of
// entries no view shows the campaigns that they list.
func (v View) limitedSlots() []string {
	runs, entries, last := "", "", readTemplate("rules_last_run")
	if v.isPart() {
		last = "l.record\n"
		runs = "\n      AND hasAny(JSONExtract(rule_runs.record, 'marketplaces', 'Array(String)'), JSONExtract({countries:String}, 'Array(String)'))"
		entries = "\n  AND has(JSONExtract({marketplaces:String}, 'Array(String)'), marketplace_id)"
	}
	return []string{"/*limited runs*/", runs, "/*limited entries*/", entries, "/*last run*/\n", last, "/*entry*/\n", readTemplate("activity_entry")}
}

// textList is a list of any texts as a String parameter, in JSON.
func textList(texts []string) string {
	encoded, err := json.Marshal(append([]string{}, texts...))
	if err != nil {
		panic(err) // texts can always be encoded
	}
	return Text(string(encoded))
}

// limitedRules are all rules of a limited view, in the order of the list. Which
// campaigns are of the view only their names in memory say, so that no statement can
// cut the page.
func (s *Service) limitedRules(ctx context.Context, v View) ([]Rule, error) {
	all, err := s.lists.RulesWithRuns(ctx, v.listStatement("rules", ListRequest{Paging: Paging{Page: 1, PageSize: math.MaxInt32}}))
	if err != nil {
		return nil, err
	}
	var named []string
	for _, rule := range all {
		if rule.Scope.CampaignIDs != nil {
			for _, id := range *rule.Scope.CampaignIDs {
				named = append(named, string(id))
			}
		}
	}
	known, err := s.knownIDs(ctx, v, levels[byCampaign], named)
	var shown []Rule
	for _, rule := range all {
		if rule, acts := v.limitRule(rule, known); acts {
			shown = append(shown, rule)
		}
	}
	return shown, err
}

// limitedRulePage is a page of them.
func (s *Service) limitedRulePage(ctx context.Context, v View, r ListRequest) (*Page[Rule], error) {
	all, err := s.limitedRules(ctx, v)
	return &Page[Rule]{Request: r, Total: len(all), Rows: cutPage(all, r.Paging)}, err
}

// limitedRuleRuns are the last runs of a rule in a limited view.
func (s *Service) limitedRuleRuns(ctx context.Context, v View, r ListRequest) (runs []RuleRun, found bool, err error) {
	all, err := s.limitedRules(ctx, v)
	if err != nil || !slices.ContainsFunc(all, func(rule Rule) bool { return string(rule.ID) == r.RuleID }) {
		return nil, false, err
	}
	runs, err = s.lists.Runs(ctx, v.listStatement("rule_runs", r))
	for i := range runs {
		runs[i] = v.limitRun(runs[i])
	}
	return runs, true, err
}

// limitRule cuts where a rule acts to the view; acts is false where it does not act
// there at all.
func (v View) limitRule(rule Rule, known map[string]bool) (limited Rule, acts bool) {
	countries, written := v.connectedCountries(), rule.Scope.Marketplaces
	rule.Scope.Marketplaces, acts = cutScope(rule.Scope.Marketplaces, func(country string) bool { return slices.Contains(countries, country) })
	if acts = acts && len(v.Marketplaces) > 0; !acts {
		return rule, false
	}
	// A rule that acts in countries of which the view has all marketplaces has campaigns of
	// nowhere else, whether a list or a figure has them or not.
	if written == nil || len(*written) == 0 || slices.ContainsFunc(*written, v.isElsewhere) {
		rule.Scope.CampaignIDs, acts = cutScope(rule.Scope.CampaignIDs, func(id records.ID) bool { return known[string(id)] })
	}
	if rule.LastRun != nil {
		rule.LastRun = new(v.limitRun(*rule.LastRun))
	}
	return rule, acts
}

// isElsewhere reports whether what is of a country may be of a marketplace that a limited
// view lacks.
func (v View) isElsewhere(country string) bool { return !slices.Contains(v.Limited.Countries, country) }

// cutScope keeps some values of a scope, of which nil is all. some is false where the
// scope has values and none of them is kept.
func cutScope[T any](scope *[]T, keep func(T) bool) (cut *[]T, some bool) {
	if scope == nil || len(*scope) == 0 {
		return scope, true
	}
	kept := slices.DeleteFunc(slices.Clone(*scope), func(value T) bool { return !keep(value) })
	return &kept, len(kept) > 0
}

// limitRun cuts a run to the view. Its counts are of all marketplaces that it ran in:
// where it ran in others too, what it looked at is not known, and how much it changed
// only if it lists all its changes.
func (v View) limitRun(run RuleRun) RuleRun {
	changes := slices.DeleteFunc(slices.Clone(run.Changes), func(c records.Change) bool { return v.isElsewhere(c.Marketplace) })
	if !slices.ContainsFunc(run.Marketplaces, v.isElsewhere) && len(changes) == len(run.Changes) {
		return run
	}
	run.LookedAtUnknown, run.ChangedUnknown = true, uint64(len(run.Changes)) != run.Changed
	run.Marketplaces = slices.DeleteFunc(slices.Clone(run.Marketplaces), v.isElsewhere)
	run.Changes, run.Changed = changes, uint64(len(changes))
	return run
}
