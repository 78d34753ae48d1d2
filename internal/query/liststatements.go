package query

import (
	"fmt"
	"strings"

	"adlens/internal/catalogue"
	"adlens/internal/manifest"
)

// LastRuns is how many runs of a rule are answered.
const LastRuns = 20

// listParams are the parameters that lists share; a statement takes what it
// names.
func (v View) listParams(r ListRequest) map[string]string {
	ofList := ofMarketplace(r.Marketplace)
	if r.Marketplace.ID == "" {
		ofList = manifest.Any
	}
	return map[string]string{
		"account":     Text(v.Account),
		"marketplace": Text(r.Marketplace.ID),
		"campaign":    Text(r.CampaignID),
		"search":      Text(r.Search),
		"rule":        Text(r.RuleID),
		"campaigns":   Numbers(v.listGenerations(manifest.Campaigns, ofList)),
		"ad_groups":   Numbers(v.listGenerations(manifest.AdGroups, ofList)),
		"ads":         Numbers(v.listGenerations(manifest.Ads, ofList)),
		"rules":       fmt.Sprint(v.Manifest.Generation(manifest.Unit{Kind: manifest.Rules})),
		"runs":        fmt.Sprint(v.Manifest.Generation(manifest.Unit{Kind: manifest.RuleRuns})),
		"activity":    fmt.Sprint(v.Manifest.Generation(manifest.Unit{Kind: manifest.Activity})),
		"states":      textArray(orAll(r.States, catalogue.States)),
		"tools":       textArray(orAll(r.Tools, catalogue.Tools)),
		"limit":       fmt.Sprint(r.PageSize),
		"offset":      fmt.Sprint(r.rowsBefore()),
	}
}

// listStatement takes a template and of the parameters those that it names.
func (v View) listStatement(name string, r ListRequest) Statement {
	slots := append([]string{"/*where*/\n", readTemplate("ad_groups_where")}, v.limitedSlots()...)
	text := strings.NewReplacer(slots...).Replace(readTemplate(name))
	params := v.listParams(r)
	if v.isPart() {
		params["countries"], params["marketplaces"] = textList(v.Limited.Countries), textList(v.Limited.Marketplaces)
	}
	for parameter := range params {
		if !strings.Contains(text, "{"+parameter+":") {
			delete(params, parameter)
		}
	}
	return Statement{text, params}
}

func orAll(chosen, all []string) []string {
	if chosen == nil {
		return all
	}
	return chosen
}

// textArray is an Array(String) parameter of words from closed sets.
func textArray(words []string) string {
	return "['" + strings.Join(words, "','") + "']"
}
