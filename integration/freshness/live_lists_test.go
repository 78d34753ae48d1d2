package freshness_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/standin"
)

// listEndpoints are the platform's lists: three kinds of each ad product.
var listEndpoints = []standin.Endpoint{
	standin.SPCampaigns, standin.SPAdGroups, standin.SPAds, standin.SBCampaigns, standin.SBAdGroups, standin.SBAds,
	standin.SDCampaigns, standin.SDAdGroups, standin.SDAds,
}

// pagesAsked counts how often each page of a marketplace's lists was requested.
func (m *merchant) pagesAsked(marketplace int) map[string]int {
	pages := map[string]int{}
	for _, call := range m.live.platform.Recorded(standin.Any) {
		if call.Scope() != m.id(marketplace) || !slices.Contains(listEndpoints, call.Endpoint) {
			continue
		}
		var body struct{ NextToken string }
		_ = json.Unmarshal([]byte(call.Body), &body) // Display's calls have none
		pages[fmt.Sprintf("%s from %q", call.Endpoint, body.NextToken+call.Query.Get("startIndex"))]++
	}
	return pages
}

// listCalls counts the calls of all lists of a marketplace.
func (m *merchant) listCalls(marketplace int) int {
	calls := 0
	for _, n := range m.pagesAsked(marketplace) {
		calls += n
	}
	return calls
}

// wantOneReading demands that each page of all nine lists was requested once.
func (m *merchant) wantOneReading(t *testing.T, marketplace int) {
	t.Helper()
	pages := m.pagesAsked(marketplace)
	if len(pages) < len(listEndpoints) {
		t.Errorf("marketplace %d: not all lists were read: %v", marketplace, pages)
	}
	for page, times := range pages {
		if times != 1 {
			t.Errorf("marketplace %d: %s was requested %d times", marketplace, page, times)
		}
	}
}

// listing is an answer of /campaigns or /ad-groups.
type listing struct {
	answer harness.Answer
	Data   []json.RawMessage
	Meta   struct {
		SyncedAt *time.Time `json:"synced_at"`
		Syncing  *bool      `json:"syncing"`
	}
}

func (l listing) syncing() bool { return *l.Meta.Syncing }

func listOf(t *testing.T, c harness.Client, path, marketplace string) listing {
	t.Helper()
	l := listing{answer: house.Get(t, c, "/api/v1"+path+"?page_size=1000&marketplace_id="+marketplace)}
	if err := json.Unmarshal(l.answer.Body, &l); err != nil || l.answer.Status != 200 || l.Meta.Syncing == nil {
		t.Fatalf("%s of %s: %v %s", path, marketplace, err, l.answer)
	}
	return l
}

// settled asks for a marketplace's campaigns until they are not syncing.
func (m *merchant) settled(t *testing.T, marketplace int) listing {
	t.Helper()
	var last listing
	house.Eventually(t, "syncing ends", func() bool {
		last = listOf(t, m.Ask, "/campaigns", m.id(marketplace))
		return !last.syncing()
	})
	return last
}

// begin asks for a marketplace's list for the first time and demands that a
// reading is begun.
func (m *merchant) begin(t *testing.T, path string, marketplace int) listing {
	t.Helper()
	l := listOf(t, m.Ask, path, m.id(marketplace))
	if !l.syncing() { // as an answer that waited for the platform would not be
		t.Fatalf("%s: want syncing true, got %s", path, l.answer)
	}
	return l
}

// readAnew has the lists of the first marketplace read, and demands that they
// come to their end and are shown with their time.
func (m *merchant) readAnew(t *testing.T) {
	t.Helper()
	began := time.Now()
	m.begin(t, "/campaigns", 0)
	m.read(t, 0, began, m.settled(t, 0))
}

// read makes the model hold what the platform holds, as of the time that the
// answer states, which must be between begin and now.
func (m *merchant) read(t *testing.T, marketplace int, began time.Time, l listing) {
	t.Helper()
	if l.Meta.SyncedAt == nil {
		t.Fatalf("marketplace %d: no list was read; the log: %v", marketplace, m.log())
	}
	if at := *l.Meta.SyncedAt; at.Before(began.Truncate(time.Millisecond)) || at.After(time.Now()) {
		t.Errorf("marketplace %d: synced_at is %v, want the end of the reading, between %v and %v", marketplace, at, began, time.Now())
	}
	m.Model.Load(m.exportsAsShown(t, marketplace))
}

// exportsAsShown writes the lists that the platform now holds, without some that
// could not be read, as exports of the times that the answers state.
func (m *merchant) exportsAsShown(t *testing.T, marketplace int, without ...standin.Endpoint) string {
	t.Helper()
	times := map[string]time.Time{}
	for entity, path := range map[string]string{"campaigns": "/campaigns", "adGroups": "/ad-groups", "ads": "/ad-groups"} {
		// Where one ad product's list stays, its time is shown, and not the others'.
		times[entity] = time.Now()
		if at := listOf(t, m.Ask, path, m.id(marketplace)).Meta.SyncedAt; at != nil && time.Since(*at) < 50*time.Minute {
			times[entity] = *at
		}
	}
	return m.exportsOf(t, marketplace, times, without...)
}

// exports writes the lists that the platform now holds as exports of one time.
func (m *merchant) exports(t *testing.T, marketplace int, at time.Time) string {
	t.Helper()
	return m.exportsOf(t, marketplace, map[string]time.Time{"campaigns": at, "adGroups": at, "ads": at})
}

// exportsOf writes the lists that the platform now holds, archived entities
// included, as exports of the times of their entities, one for each ad product,
// without some.
func (m *merchant) exportsOf(t *testing.T, marketplace int, times map[string]time.Time, without ...standin.Endpoint) string {
	t.Helper()
	profile, dir := m.profiles[marketplace], t.TempDir()
	var campaigns, adGroups, ads []map[string]any
	all := m.live.platform.Entities()
	for _, c := range all.Campaigns {
		if c.Profile == profile.ID {
			campaigns = append(campaigns, campaignOf(c, profile.Currency))
		}
	}
	for _, g := range all.AdGroups {
		if g.Profile == profile.ID {
			adGroups = append(adGroups, adGroupOf(g, profile.Currency))
		}
	}
	for _, a := range all.Ads {
		if a.Profile == profile.ID {
			ads = append(ads, map[string]any{"adId": a.ID, "adGroupId": a.AdGroupID, "adProduct": a.AdProduct, "state": a.State})
		}
	}
	rowsOf := map[string][]map[string]any{"campaigns": campaigns, "adGroups": adGroups, "ads": ads}
	for i, endpoint := range listEndpoints {
		if slices.Contains(without, endpoint) {
			continue
		}
		entity, product := []string{"campaigns", "adGroups", "ads"}[i%3], house.AdProducts[i/3]
		rows := slices.DeleteFunc(slices.Clone(rowsOf[entity]), func(row map[string]any) bool { return row["adProduct"] != product })
		stem := fmt.Sprintf("%d-%d-%s", profile.ID, times[entity].UnixMilli(), endpoint)
		house.ExportPair(strings.ReplaceAll(stem, "/", "-"), fmt.Sprint(profile.ID), entity, times[entity], rows...).Narrow(product).Write(t, dir)
	}
	return dir
}

func campaignOf(c standin.Campaign, currency string) map[string]any {
	row := map[string]any{
		"campaignId": c.ID, "adProduct": c.AdProduct, "name": c.Name, "state": c.State, "startDate": c.StartDate, "endDate": nil,
		"budgetCaps": map[string]any{"recurrenceTimePeriod": c.BudgetType, "budgetType": "MONETARY", "budgetValue": map[string]any{
			"monetaryBudget": map[string]any{"currencyCode": currency, "amount": json.Number(c.Budget)},
		}},
	}
	if c.EndDate != "" {
		row["endDate"] = c.EndDate
	}
	if c.AdProduct != standin.SponsoredBrands {
		row["targetingSettings"] = c.Targeting
	} else {
		row["isMultiAdGroupsEnabled"] = !c.Legacy
	}
	return row
}

func adGroupOf(g standin.AdGroup, currency string) map[string]any {
	row := map[string]any{"adGroupId": g.ID, "campaignId": g.CampaignID, "adProduct": g.AdProduct, "name": g.Name, "state": g.State}
	if g.AdProduct != standin.SponsoredBrands {
		row["bid"] = map[string]any{"defaultBid": json.Number(g.DefaultBid), "currencyCode": currency}
	}
	return row
}

// structure is a random tree of so many campaigns of each ad product, each with
// an ad group or two and their ads; some of all kinds are archived, and some
// ad groups are of a campaign that is not there.
func structure(r *rand.Rand, profile int64, word string, sp, sb, sd int) standin.Entities {
	var e standin.Entities
	id := 144_158_449_488_000_000 + profile%100_000*1_000_000
	next := func() string { id++; return fmt.Sprint(id) }
	state := func() string { return []string{"ENABLED", "ENABLED", "PAUSED", "ARCHIVED"}[r.IntN(4)] }
	for n, product := range house.AdProducts {
		for i := range []int{sp, sb, sd}[n] {
			c := standin.Campaign{
				Profile: profile, AdProduct: product, ID: next(), Name: fmt.Sprintf("%s %s %d", word, []string{"Lämpchen", "lamp", "ランプ"}[r.IntN(3)], i/2),
				State: state(), Targeting: []string{"AUTO", "MANUAL"}[r.IntN(2)], Budget: fmt.Sprintf("%d.%02d", 1+r.IntN(500), r.IntN(100)),
				BudgetType: "DAILY", StartDate: fmt.Sprintf("2026-%02d-05", 1+r.IntN(9)),
			}
			if product == standin.SponsoredDisplay {
				c.Targeting = "T00020"
			}
			if r.IntN(3) == 0 {
				c.EndDate = "2027-03-31"
			}
			e.Campaigns = append(e.Campaigns, c)
			for range 1 + r.IntN(2) {
				g := standin.AdGroup{Profile: profile, AdProduct: product, ID: next(), CampaignID: c.ID, Name: "Group of " + c.Name, State: state()}
				if r.IntN(20) == 0 {
					g.CampaignID = "1"
				}
				if product != standin.SponsoredBrands {
					g.DefaultBid = fmt.Sprintf("0.%02d", 2+r.IntN(98))
				}
				e.AdGroups = append(e.AdGroups, g)
				e.Ads = append(e.Ads, standin.Ad{Profile: profile, AdProduct: product, ID: next(), AdGroupID: g.ID, CampaignID: c.ID, Name: "Ad", State: state(), Products: []string{"B0TEST0001"}})
			}
		}
	}
	return e
}

// hold gives a marketplace a structure on the platform.
func (m *merchant) hold(r *rand.Rand, marketplace int, word string, sp, sb, sd int) {
	id := m.profiles[marketplace].ID
	m.live.platform.SetEntitiesOf(id, structure(r, id, word, sp, sb, sd))
}

// loadOld loads what the platform holds as exports that are so old.
func (m *merchant) loadOld(t *testing.T, marketplace int, age time.Duration) {
	t.Helper()
	house.Load(t, m.live.Program, m.Tenant, m.exports(t, marketplace, time.Now().Add(-age)))
}

// holdBack lets no call of a marketplace's lists through until the gate is
// closed.
func (m *merchant) holdBack(marketplace int, gate <-chan struct{}) {
	for _, endpoint := range listEndpoints {
		m.fault(marketplace, standin.Fault{On: endpoint, Times: -1, Do: standin.Effected(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			select {
			case <-gate:
				next.ServeHTTP(w, r)
			case <-r.Context().Done():
			}
		})})
	}
}

// fault makes a list of a marketplace go wrong.
func (m *merchant) fault(marketplace int, fault standin.Fault) {
	fault.Profile = m.profiles[marketplace].ID
	m.live.platform.Inject(fault)
}
