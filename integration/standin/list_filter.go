package standin

import (
	"fmt"
	"slices"
	"strings"
)

// include is the form of most filters.
type include struct {
	Include []string `json:"include"`
}

type nameFilter struct {
	Include            []string `json:"include"`
	QueryTermMatchType string   `json:"queryTermMatchType"`
}

// listRequest is the body of the lists that have tokens.
type listRequest struct {
	MaxResults                  *int        `json:"maxResults"`
	NextToken                   string      `json:"nextToken"`
	StateFilter                 *include    `json:"stateFilter"`
	NameFilter                  *nameFilter `json:"nameFilter"`
	IncludeExtendedDataFields   bool        `json:"includeExtendedDataFields"`
	CampaignIDFilter            *include    `json:"campaignIdFilter"`
	AdGroupIDFilter             *include    `json:"adGroupIdFilter"`
	AdIDFilter                  *include    `json:"adIdFilter"`
	PortfolioIDFilter           *include    `json:"portfolioIdFilter"`
	CampaignTargetingTypeFilter string      `json:"campaignTargetingTypeFilter"`
}

// idFilters pairs the id filters that were sent with what they look at.
func (l listRequest) idFilters() map[string]*include {
	sent := map[string]*include{
		"campaignIdFilter": l.CampaignIDFilter, "adGroupIdFilter": l.AdGroupIDFilter,
		"adIdFilter": l.AdIDFilter, "portfolioIdFilter": l.PortfolioIDFilter,
	}
	for name, filter := range sent {
		if filter == nil {
			delete(sent, name)
		}
	}
	return sent
}

// requestFault finds the first thing that the list would refuse.
func (l listRequest) requestFault(of tokenListing) string {
	if l.MaxResults != nil && (*l.MaxResults < 1 || *l.MaxResults > of.largestPage) {
		return fmt.Sprintf("maxResults must be between 1 and %d", of.largestPage)
	}
	if l.StateFilter != nil {
		for _, state := range l.StateFilter.Include {
			if !slices.Contains(of.states, state) {
				return fmt.Sprintf("stateFilter includes an invalid value %q", state)
			}
		}
	}
	for name, filter := range l.idFilters() {
		most, known := of.idFilters[name]
		if !known {
			return name + " is not supported here"
		}
		if len(filter.Include) > most {
			return fmt.Sprintf("%s must not have more than %d ids", name, most)
		}
	}
	if l.CampaignTargetingTypeFilter != "" && of.endpoint != SPAdGroups {
		return "campaignTargetingTypeFilter is not supported here"
	}
	return ""
}

// filterItems applies the filters.
func (l listRequest) filterItems(items []item) []item {
	return slices.DeleteFunc(items, func(i item) bool {
		return !l.StateFilter.matchesText(i.state) || !l.NameFilter.matchesName(i.name) || !l.CampaignIDFilter.matchesText(i.campaign) ||
			!l.AdGroupIDFilter.matchesText(i.adGroup) || !l.AdIDFilter.matchesText(i.id) || !l.PortfolioIDFilter.matchesText(i.portfolio) ||
			l.CampaignTargetingTypeFilter != "" && l.CampaignTargetingTypeFilter != i.targeting
	})
}

func (f *include) matchesText(text string) bool { return f == nil || slices.Contains(f.Include, text) }

// matchesName compares names whole, or under BROAD_MATCH by a part, without case.
func (f *nameFilter) matchesName(name string) bool {
	if f == nil {
		return true
	}
	return slices.ContainsFunc(f.Include, func(part string) bool {
		if f.QueryTermMatchType == "EXACT_MATCH" {
			return name == part
		}
		return strings.Contains(strings.ToLower(name), strings.ToLower(part))
	})
}
