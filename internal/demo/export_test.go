package demo

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens/internal/made"
	"adlens/internal/platform"
)

// A listing of one market, as a reader of the exports finds it.
type lists struct{ campaigns, adGroups, ads map[string]line }

func readLists(t *testing.T, dir, country string) lists {
	t.Helper()
	read := func(entity, id string) map[string]line {
		out := map[string]line{}
		for i, row := range readLines(t, filepath.Join(dir, exportsDir, country+"-"+entity+".json.gz")) {
			k := row.text(id)
			if k == "" {
				k = "none " + strconv.Itoa(i)
			}
			if out[k] != nil {
				t.Errorf("%s %s: %s twice", country, entity, k)
			}
			out[k] = row
		}
		return out
	}
	return lists{read("campaigns", "campaignId"), read("adGroups", "adGroupId"), read("ads", "adId")}
}

func TestExportObjects(t *testing.T) {
	t.Parallel()
	dir, _ := writeDemo(t, Options{Today: today, Years: 1})
	found, err := filepath.Glob(filepath.Join(dir, exportsDir, "*.export.json"))
	if err != nil || len(found) != 9 {
		t.Fatalf("%d exports, error %v", len(found), err)
	}
	ids := map[string]bool{}
	for _, path := range found {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var o made.Export
		if err := json.Unmarshal(b, &o); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(strings.TrimSuffix(path, ".export.json") + ".json.gz")
		if err != nil || info.Size() != int64(o.FileSize) {
			t.Errorf("%s: fileSize %d, error %v", path, o.FileSize, err)
		}
		if o.Status != "COMPLETED" || ids[o.ExportID] || strings.Contains(string(b), "adProductFilter") {
			t.Errorf("%s: %s", path, b)
		}
		ids[o.ExportID] = true
		if o.CreatedAt >= o.GeneratedAt || o.CreatedAt < "2026-11-20T00:00:00.000Z" || o.GeneratedAt >= "2026-11-20T00:01:00.000Z" {
			t.Errorf("%s: created %s, generated %s", path, o.CreatedAt, o.GeneratedAt)
		}
	}
}

// Whatever a report names is on the lists, under the same names.
func TestReportsAreListed(t *testing.T) {
	t.Parallel()
	dir, _ := writeDemo(t, Options{Today: today, Years: 1})
	for _, m := range markets {
		l := readLists(t, dir, m.country)
		reports, err := filepath.Glob(filepath.Join(dir, reportsDir, m.country+"-*.json.gz"))
		if err != nil || len(reports) == 0 {
			t.Fatalf("%d reports, error %v", len(reports), err)
		}
		last := map[string]string{} // day with figures, by campaign
		for _, path := range reports {
			for _, row := range readLines(t, path) {
				checkListed(t, l, row)
				id := formatID(row.count("campaignId"))
				last[id] = max(last[id], row.text("date"))
			}
			if t.Failed() {
				t.Fatal(path)
			}
		}
		checkStates(t, m, l, last)
	}
}

func checkListed(t *testing.T, l lists, row line) {
	t.Helper()
	campaign := l.campaigns[formatID(row.count("campaignId"))]
	if campaign == nil || campaign.text("name") != row.text("campaignName") || campaign.text("startDate") > row.text("date") ||
		campaign["endDate"] != nil && campaign.text("endDate") < row.text("date") {
		t.Errorf("%v: the campaign is listed as %v", row, campaign)
	}
	if row["adGroupId"] == nil {
		return
	}
	group, ad := l.adGroups[formatID(row.count("adGroupId"))], l.ads[formatID(row.count("adId"))]
	if group == nil || ad == nil || group.text("name") != row.text("adGroupName") || group.text("campaignId") != campaign.text("campaignId") ||
		ad.text("adGroupId") != group.text("adGroupId") || ad.text("adProduct") != campaign.text("adProduct") {
		t.Errorf("%v: listed as %v and %v", row, group, ad)
	}
	shown, _ := json.Marshal(ad["creative"])
	if product := row.text("advertisedAsin") + row.text("promotedAsin"); !strings.Contains(string(shown), product) {
		t.Errorf("%v: the ad shows %s", row, shown)
	}
}

// Archived campaigns have figures that lie in the past; paused ones rest now.
func checkStates(t *testing.T, m *market, l lists, last map[string]string) {
	t.Helper()
	seen := map[string]int{}
	for id, c := range l.campaigns {
		product, state := c.text("adProduct"), c.text("state")
		seen[product+" "+state]++
		seen[budgetPeriod(c)]++
		seen[c.text("targetingSettings")]++
		if day := last[id]; state != enabled && day >= "2026-11-19" || state == archived && (day == "" || day > "2026-11-01") {
			t.Errorf("%s: %s has figures on %s", m.country, c, day)
		}
		if product == "SPONSORED_BRANDS" && len(id) != 18 {
			t.Errorf("campaign %s", id)
		}
	}
	for _, want := range []string{
		"SPONSORED_PRODUCTS ARCHIVED", "SPONSORED_BRANDS ARCHIVED", "SPONSORED_PRODUCTS PAUSED", "SPONSORED_BRANDS PAUSED", "SPONSORED_DISPLAY PAUSED",
		"DAILY", "LIFETIME", "AUTO", "MANUAL", "T00020", "T00030",
	} {
		if seen[want] == 0 {
			t.Errorf("%s: no campaign is %s", m.country, want)
		}
	}
	checkBids(t, m, l)
}

func budgetPeriod(c line) string {
	caps, _ := c["budgetCaps"].(map[string]any)
	return line(caps).text("recurrenceTimePeriod")
}

func checkBids(t *testing.T, m *market, l lists) {
	t.Helper()
	for id, g := range l.adGroups {
		bid, ok := g["bid"].(map[string]any)
		if ok == (g.text("adProduct") == "SPONSORED_BRANDS") || l.campaigns[g.text("campaignId")] == nil {
			t.Errorf("%s: ad group %s: %v", m.country, id, g)
		}
		if amount := line(bid).amount("defaultBid"); ok && (amount < 20 || amount > 300 || bid["currencyCode"] != m.currency) {
			t.Errorf("%s: ad group %s: %v", m.country, id, bid)
		}
	}
	without := 0
	for id, ad := range l.ads {
		without += one(strings.HasPrefix(id, "none "))
		if l.adGroups[ad.text("adGroupId")] == nil || strings.HasPrefix(id, "none ") && ad.text("adProduct") != "SPONSORED_BRANDS" {
			t.Errorf("%s: ad %s: %v", m.country, id, ad)
		}
	}
	if without == 0 {
		t.Errorf("%s: every ad has an id", m.country)
	}
}

// Whatever the day, some campaigns are paused, and in all lists nothing but
// what has been planned lies ahead.
func TestListsOfAnyDay(t *testing.T) {
	t.Parallel()
	for month := range 12 {
		at := today.AddDate(0, month, 11)
		s, err := Options{Today: at, Years: 1}.figureSpan()
		if err != nil {
			t.Fatal(err)
		}
		o := newAccount(defaultSeed, s)
		for _, m := range markets {
			states := map[string]int{}
			for _, row := range o.campaignRows(m).([]made.Campaign) {
				states[row.State]++
				if row.CreationDateTime >= made.Instant(o.today.Time()) || row.StartDate > (o.today+6).String() {
					t.Errorf("%s, %s: %+v", at.Format(time.DateOnly), m.country, row)
				}
			}
			if states[enabled] < 30 || states[paused] == 0 || states[archived] == 0 {
				t.Errorf("%s, %s: %v", at.Format(time.DateOnly), m.country, states)
			}
		}
	}
}

// The lists of the next day bear the same file names.
func TestExportsKeepTheirNames(t *testing.T) {
	t.Parallel()
	names := func(at time.Time) (names []string, first string) {
		s, err := Options{Today: at, Years: 1}.figureSpan()
		if err != nil {
			t.Fatal(err)
		}
		dir, a := t.TempDir(), newAccount(1, s)
		if err := os.Mkdir(filepath.Join(dir, exportsDir), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, m := range markets {
			paths, err := a.writeExport(made.NewWriter(dir), m, platform.Campaigns, a.campaignRows(m))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				names = append(names, filepath.Base(path))
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, exportsDir, names[0]))
		var object made.Export
		if err == nil {
			err = json.Unmarshal(text, &object)
		}
		if err != nil {
			t.Fatal(err)
		}
		return names, object.ExportID
	}
	a, first := names(today)
	b, next := names(today.AddDate(0, 0, 1))
	if !slices.Equal(a, b) || first == next {
		t.Errorf("%v, %s; then %v, %s", a, first, b, next)
	}
}
