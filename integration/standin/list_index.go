package standin

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// indexListing is one of Display's lists, paged by startIndex and count.
type indexListing struct {
	endpoint Endpoint
	path     string
	kind     kind
	filters  []string
}

var indexLists = []indexListing{
	{SDCampaigns, "/sd/campaigns", campaigns, []string{"campaignIdFilter", "portfolioIdFilter"}},
	{SDAdGroups, "/sd/adGroups", adGroups, []string{"campaignIdFilter", "adGroupIdFilter"}},
	{SDAds, "/sd/productAds", ads, []string{"campaignIdFilter", "adGroupIdFilter", "adIdFilter"}},
}

// The largest count is not documented; a known client asks for 100. More is
// refused rather than cut down, since a short page ends a list.
const largestCount = 100

func (p *Platform) indexList(of indexListing, extended bool) handler {
	return func(q *query) reply {
		parameters := q.URL.Query()
		start, size, filters, fault := readIndexRequest(parameters, of)
		if fault != "" {
			return refuseCall(http.StatusBadRequest, Details, "%s", fault)
		}
		if q.quirk.kind == repeatPage {
			start = max(0, start-size)
		}
		items := filters.filterItems(p.data.listItems(q.profile.ID, SponsoredDisplay, of.kind, sdShapes))
		return reply{status: http.StatusOK, body: cutPage(q.quirk.shownItems(items), start, size, extended)}
	}
}

func readIndexRequest(parameters url.Values, of indexListing) (start, size int, filters listRequest, fault string) {
	size = largestCount
	for name, value := range parameters {
		var err error
		switch {
		case name == "startIndex":
			start, err = strconv.Atoi(value[0])
		case name == "count":
			size, err = strconv.Atoi(value[0])
		case name == "name":
			filters.NameFilter = &nameFilter{value, "EXACT_MATCH"}
		case name == "stateFilter":
			filters.StateFilter, err = sdStates(value[0])
		case slices.Contains(of.filters, name):
			*filters.idFilter(name) = &include{commaList(value[0])}
		default:
			return 0, 0, filters, "Unknown parameter: " + name
		}
		if err != nil {
			return 0, 0, filters, fmt.Sprintf("Invalid value of %s: %v", name, err)
		}
	}
	if start < 0 || size < 1 || size > largestCount {
		return 0, 0, filters, fmt.Sprintf("startIndex must not be negative and count must be between 1 and %d", largestCount)
	}
	return start, size, filters, ""
}

func (l *listRequest) idFilter(name string) **include {
	return map[string]**include{
		"campaignIdFilter": &l.CampaignIDFilter, "adGroupIdFilter": &l.AdGroupIDFilter,
		"adIdFilter": &l.AdIDFilter, "portfolioIdFilter": &l.PortfolioIDFilter,
	}[name]
}

// sdStates reads the lower-case states; entities keep them in capitals.
func sdStates(text string) (*include, error) {
	var states include
	for _, state := range commaList(text) {
		if !slices.Contains([]string{"enabled", "paused", "archived"}, state) {
			return nil, fmt.Errorf("no such state: %q", state)
		}
		states.Include = append(states.Include, strings.ToUpper(state))
	}
	return &states, nil
}
