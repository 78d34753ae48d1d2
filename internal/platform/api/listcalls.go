package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"adlens"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// entityList is how one ad product lists one kind of entity.
type entityList struct {
	path      string
	mediaType string // of the question and the answer; "" for a plain GET
	key       string // of the rows in the answer; "" where the answer is the rows
	pageSize  int
}

// The entities of a campaign's tree.
const (
	campaigns = "campaigns"
	adGroups  = "ad groups"
	ads       = "ads"
)

// entityLists are the platform's lists. Page sizes are the largest that are
// known to be taken: for Sponsored Products' campaigns and for Sponsored
// Display the platform states none.
var entityLists = map[adlens.AdProduct]map[string]entityList{
	adlens.SponsoredProducts: {
		campaigns: {"/sp/campaigns/list", "application/vnd.spCampaign.v3+json", "campaigns", 100},
		adGroups:  {"/sp/adGroups/list", "application/vnd.spAdGroup.v3+json", "adGroups", 1000},
		ads:       {"/sp/productAds/list", "application/vnd.spProductAd.v3+json", "productAds", 1000},
	},
	adlens.SponsoredBrands: {
		campaigns: {"/sb/v4/campaigns/list", "application/vnd.sbcampaignresource.v4+json", "campaigns", 100},
		adGroups:  {"/sb/v4/adGroups/list", "application/vnd.sbadgroupresource.v4+json", "adGroups", 100},
		ads:       {"/sb/v4/ads/list", "application/vnd.sbadresource.v4+json", "ads", 100},
	},
	adlens.SponsoredDisplay: {
		campaigns: {path: "/sd/campaigns", pageSize: 100},
		adGroups:  {path: "/sd/adGroups", pageSize: 100},
		ads:       {path: "/sd/productAds", pageSize: 100},
	},
}

// listOf reads a whole list and makes each row a T.
func listOf[T any](ctx context.Context, c *Client, profileID string, product adlens.AdProduct, entity string,
	take func(*rowReader) T, id func(T) string) (List[T], error) {
	list, known := entityLists[product][entity]
	if !known {
		return List[T]{}, &Error{Kind: Invalid, Reason: "no list of " + entity + " of " + product.String()}
	}
	if err := checkProfile(profileID); err != nil {
		return List[T]{}, err
	}
	p := pages[T]{what: fmt.Sprintf("%s of %s of profile %s", entity, product, profileID), id: id}
	p.fetch = func(ctx context.Context, cursor string) (page[T], error) {
		return fetchPage(ctx, c, list, profileID, cursor, func(rows []entityRow) ([]T, error) { return takeRows(rows, product, take) })
	}
	return readList(ctx, c, p)
}

// fetchPage reads one page. Rows that are not as they must be make it a bad
// answer, like any other damage.
func fetchPage[T any](ctx context.Context, c *Client, list entityList, profileID, cursor string,
	take func([]entityRow) ([]T, error)) (p page[T], err error) {
	r := list.pageCall(profileID, cursor)
	r.read = func(body []byte) error {
		rows, next, total, err := list.readPage(body, cursor)
		if err != nil {
			return err
		}
		p = page[T]{next: next, total: total, bytes: int64(len(body))}
		p.rows, err = take(rows)
		return err
	}
	return p, c.sendCall(ctx, r)
}

func (l entityList) pageCall(profileID, cursor string) *call {
	if l.mediaType == "" {
		return &call{
			method: http.MethodGet, path: l.path, profileID: profileID, accepts: plainJSON,
			query: url.Values{"startIndex": {strconv.Itoa(cursorOffset(cursor))}, "count": {strconv.Itoa(l.pageSize)},
				"stateFilter": {"enabled,paused,archived"}},
		}
	}
	return &call{
		method: http.MethodPost, path: l.path, profileID: profileID,
		sends: l.mediaType, accepts: l.mediaType, body: l.encodeBody(cursor),
	}
}

// encodeBody asks for all states: the default of some lists leaves archived
// entities out, and they have figures too.
func (l entityList) encodeBody(cursor string) []byte {
	q := struct {
		MaxResults  int    `json:"maxResults"`
		NextToken   string `json:"nextToken,omitempty"`
		StateFilter struct {
			Include []string `json:"include"`
		} `json:"stateFilter"`
	}{MaxResults: l.pageSize, NextToken: cursor}
	q.StateFilter.Include = []string{"ENABLED", "PAUSED", "ARCHIVED"}
	body, _ := json.Marshal(q) // the token came as JSON, so it is text
	return body
}

// readPage takes the rows, the next page's cursor and the total (-1 for none) out
// of an answer.
func (l entityList) readPage(body []byte, cursor string) (rows []entityRow, next string, total int, err error) {
	if l.mediaType == "" {
		rows, next, err = readOffsetPage(body, cursor)
		return rows, next, -1, err
	}
	var fields map[string]jsontext.Value
	if json.Unmarshal(body, &fields) != nil {
		return nil, "", 0, errors.New("it is damaged or no JSON object, expected one with " + l.key)
	}
	if total, err = readTotal(fields); err != nil {
		return nil, "", 0, err
	}
	if raw := fields["nextToken"]; len(raw) > 0 && json.Unmarshal(raw, &next) != nil {
		return nil, "", 0, errors.New("its nextToken is no text")
	}
	raw := fields[l.key]
	if isAbsent(raw) && total == 0 {
		return nil, next, total, nil
	}
	if raw.Kind() != '[' || json.Unmarshal(raw, &rows) != nil {
		return nil, "", 0, errors.New("its " + l.key + " are no array of objects as they should be")
	}
	return rows, next, total, nil
}

// readOffsetPage reads a page of a list without tokens and totals. Such a list
// ends with an empty page, not with a short one: the largest page is not
// documented, and a platform that gives less than it was asked for would cut
// the list short.
func readOffsetPage(body []byte, cursor string) (rows []entityRow, next string, err error) {
	if jsontext.Value(body).Kind() != '[' || json.Unmarshal(body, &rows) != nil {
		return nil, "", errors.New("it is no array of objects as they should be")
	}
	if len(rows) > 0 {
		next = strconv.Itoa(cursorOffset(cursor) + len(rows))
	}
	return rows, next, nil
}

// cursorOffset is the place that a cursor of ours names; the first is 0.
func cursorOffset(cursor string) int {
	n, _ := strconv.Atoi(cursor)
	return n
}

// readTotal returns the total under either of its names, or -1.
func readTotal(fields map[string]jsontext.Value) (int, error) {
	for _, name := range []string{"totalResults", "totalCount"} {
		raw := fields[name]
		if isAbsent(raw) {
			continue
		}
		n, err := adlens.ParseCount(raw)
		if err != nil || n > 1<<31-1 {
			return 0, errors.New("its " + name + " is no count")
		}
		return int(n), nil
	}
	return -1, nil
}

func isAbsent(raw jsontext.Value) bool { return len(raw) == 0 || raw.Kind() == 'n' }
