package standin

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"mime"
	"net/http"
	"strings"
)

// ListPlan settles what is open about the lists.
type ListPlan struct {
	// PageCap makes pages of SP and SB lists no longer than this, whatever
	// was requested. Display's end at a short page and are not touched.
	PageCap int
	// TotalsSkew is added to every total, so that it disagrees with the items.
	TotalsSkew int
}

// tokenListing is one of the lists that are paged by nextToken.
type tokenListing struct {
	endpoint    Endpoint
	path, media string
	adProduct   string
	kind        kind
	shapes      shapes
	key, total  string
	largestPage int
	states      []string
	idFilters   map[string]int // the most ids of each
}

var (
	spStates = []string{"ENABLED", "PAUSED", "ARCHIVED", "ENABLING", "PROPOSED", "USER_DELETED", "OTHER"}
	sbStates = []string{"ENABLED", "PAUSED", "ARCHIVED"}
)

var tokenLists = []tokenListing{
	{SPCampaigns, "/sp/campaigns/list", "application/vnd.spCampaign.v3+json", SponsoredProducts, campaigns, spShapes,
		"campaigns", "totalResults", 1000, spStates, map[string]int{"campaignIdFilter": 1000, "portfolioIdFilter": 100}},
	{SPAdGroups, "/sp/adGroups/list", "application/vnd.spAdGroup.v3+json", SponsoredProducts, adGroups, spShapes,
		"adGroups", "totalResults", 1000, spStates, map[string]int{"adGroupIdFilter": 1000, "campaignIdFilter": 100}},
	{SPAds, "/sp/productAds/list", "application/vnd.spProductAd.v3+json", SponsoredProducts, ads, spShapes,
		"productAds", "totalResults", 1000, spStates, map[string]int{"adIdFilter": 1000, "campaignIdFilter": 100, "adGroupIdFilter": 100}},
	{SBCampaigns, "/sb/v4/campaigns/list", "application/vnd.sbcampaignresource.v4+json", SponsoredBrands, campaigns, sbShapes,
		"campaigns", "totalCount", 100, sbStates, map[string]int{"campaignIdFilter": 10, "portfolioIdFilter": 10}},
	{SBAdGroups, "/sb/v4/adGroups/list", "application/vnd.sbadgroupresource.v4+json", SponsoredBrands, adGroups, sbShapes,
		"adGroups", "totalResults", 100, sbStates, map[string]int{"adGroupIdFilter": 10, "campaignIdFilter": 10}},
	{SBAds, "/sb/v4/ads/list", "application/vnd.sbadresource.v4+json", SponsoredBrands, ads, sbShapes,
		"ads", "totalResults", 100, sbStates, map[string]int{"adIdFilter": 10, "campaignIdFilter": 10, "adGroupIdFilter": 10}},
}

// SetLists changes what is open about the lists while the platform runs.
func (p *Platform) SetLists(plan ListPlan) {
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	p.data.lists = plan
}

func (p *Platform) listPlan() ListPlan {
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	return p.data.lists
}

func (p *Platform) tokenList(of tokenListing) handler {
	return func(q *query) reply {
		if answer := checkMedia(q, of.media); answer != nil {
			return *answer
		}
		if q.profile.SubType == "KDP_AUTHOR" && of.adProduct == SponsoredBrands {
			return refuseCall(http.StatusBadRequest, Details, "KDP authors do not have access to Sponsored Brands functionality")
		}
		request, fault := readListRequest(q.body, of)
		if fault != "" {
			return refuseCall(http.StatusBadRequest, Details, "%s", fault)
		}
		items := p.data.listItems(q.profile.ID, of.adProduct, of.kind, of.shapes)
		p.data.addTargeting(items, of)
		items = request.filterItems(items)
		return p.tokenPage(q, of, request, items)
	}
}

// checkMedia checks the media types of a call that needs them in both headers.
func checkMedia(q *query, media string) *reply {
	sent, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	var answer reply
	switch {
	// A call without a body needs no type for it.
	case q.Method != http.MethodGet && !strings.EqualFold(sent, media):
		answer = refuseCall(http.StatusUnsupportedMediaType, Details, "Cannot consume content type: %s", sent)
	case !strings.EqualFold(q.Header.Get("Accept"), media):
		answer = refuseCall(http.StatusNotAcceptable, Details, "Cannot produce a representation of %s", q.Header.Get("Accept"))
	default:
		return nil
	}
	return &answer
}

// A member that the list does not know is refused: it is most likely a filter
// that would silently not work.
func readListRequest(body []byte, of tokenListing) (request listRequest, fault string) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if len(bytes.TrimSpace(body)) > 0 {
		if err := decoder.Decode(&request); err != nil {
			return request, "Request body is not valid: " + err.Error()
		}
	}
	return request, request.requestFault(of)
}

// addTargeting gives ad groups the targeting of their campaign to be filtered by.
func (d *data) addTargeting(items []item, of tokenListing) {
	if of.endpoint != SPAdGroups {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	byID := map[string]string{}
	for _, c := range d.entities.Campaigns {
		byID[c.ID] = orDefault(c.Targeting, "MANUAL")
	}
	for i := range items {
		items[i].targeting = byID[items[i].campaign]
	}
}

func (p *Platform) tokenPage(q *query, of tokenListing, request listRequest, items []item) reply {
	plan := p.listPlan()
	size := of.largestPage
	if request.MaxResults != nil {
		size = *request.MaxResults
	}
	if plan.PageCap > 0 {
		size = min(size, plan.PageCap)
	}
	at, good := request.tokenOffset()
	if !good {
		return refuseCall(http.StatusBadRequest, Details, "Invalid nextToken")
	}
	items = q.quirk.shownItems(items)
	next := ""
	if at+size < len(items) || q.quirk.kind == endlessToken {
		next = request.pageToken(at + size)
	}
	if q.quirk.kind == sameToken {
		next = orDefault(request.NextToken, request.pageToken(at))
	}
	if q.quirk.kind == repeatPage {
		at = max(0, at-size)
	}
	answer := object{of.key: cutPage(items, at, size, request.IncludeExtendedDataFields), of.total: len(items) + plan.TotalsSkew}
	switch q.quirk.kind {
	case wrongTotal:
		answer[of.total] = len(items) + q.quirk.number
	case noTotal:
		delete(answer, of.total)
	}
	putNonEmpty(answer, "nextToken", next)
	return reply{status: http.StatusOK, media: of.media, body: answer}
}

// cutPage is one page. Past the end it is empty.
func cutPage(items []item, at, size int, extended bool) []object {
	page := []object{}
	for _, i := range items[min(at, len(items)):min(at+size, len(items))] {
		if extended {
			i.object = overlayMembers(i.object, i.extended)
		}
		page = append(page, i.object)
	}
	return page
}

// pageToken is good for the same filters only.
func (l listRequest) pageToken(at int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d/%x", at, l.filterHash()))
}

func (l listRequest) tokenOffset() (at int, good bool) {
	if l.NextToken == "" {
		return 0, true
	}
	text, err := base64.RawURLEncoding.DecodeString(l.NextToken)
	if err != nil {
		return 0, false
	}
	var hash uint64
	if _, err := fmt.Sscanf(string(text), "%d/%x", &at, &hash); err != nil {
		return 0, false
	}
	return at, hash == l.filterHash()
}

func (l listRequest) filterHash() uint64 {
	l.NextToken, l.MaxResults = "", nil
	text, _ := json.Marshal(l)
	hash := fnv.New64a()
	_, _ = hash.Write(text)
	return hash.Sum64()
}
