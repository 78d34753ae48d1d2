package requests_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"adlens/docs"
	"adlens/integration/harness"
	"adlens/integration/house"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const novemberWeek = "start_date=2026-11-01&end_date=2026-11-08"

// documentExamples are the answers that the API's document shows, all about the
// account of testdata/example.
var documentExamples = []struct{ name, summary, path string }{
	{"account", "An account with a key that was used before", "/api/v1/account"},
	{"marketplaces", "Two marketplaces, of which one has lists", "/api/v1/marketplaces"},
	{"summary", "Eight days of two marketplaces", "/api/v1/summary?" + novemberWeek},
	{"summary_filtered", "Sponsored Products in Germany alone", "/api/v1/summary?" + novemberWeek + "&marketplaces=DE&ad_products=SPONSORED_PRODUCTS"},
	{"summary_without_figures", "A period before the history held: zeros, and ratios without their base", "/api/v1/summary?start_date=2025-01-01&end_date=2025-01-31"},
	{"timeline_days", "By day; days without figures are left out", "/api/v1/timeline?" + novemberWeek},
	{"timeline_months", "By month; October has its days from the 15th", "/api/v1/timeline?start_date=2026-10-15&end_date=2026-11-08&granularity=month"},
	{"products", "The first two of three rows, by sales", "/api/v1/reports/products?" + novemberWeek + "&sort=sales&page_size=2"},
	{"summary_compared", "Four days beside the four before them", "/api/v1/summary?start_date=2026-11-05&end_date=2026-11-08&compare=previous_period"},
	{"timeline_compared", "Days beside those before them", "/api/v1/timeline?start_date=2026-11-03&end_date=2026-11-04&compare=previous_period"},
	{"products_compared", "Products of a week beside the week before", "/api/v1/reports/products?" + novemberWeek + "&compare=previous_period&page_size=2"},
	{"report_months", "Months by marketplace, spend and ACOS alone", "/api/v1/report?dimensions=month,marketplace&figures=spend,acos&start_date=2026-10-15&end_date=2026-11-08"},
	{"report_campaigns", "Campaigns, the one that cost most first", "/api/v1/report?dimensions=campaign&figures=spend,sales,acos&" + novemberWeek + "&page_size=3"},
	{"report_products", "Each product's days, whose title has a word", "/api/v1/report?dimensions=product,date&figures=sales,purchases&search=lamp&" + novemberWeek + "&page_size=3"},
	{"campaigns", "A marketplace's campaigns", "/api/v1/campaigns?marketplace_id=4471209935518602"},
	{"ad_groups", "A campaign's ad groups", "/api/v1/ad-groups?marketplace_id=4471209935518602&campaign_id=276748589410145"},
	{"rules", "A rule that runs, and one that is off", "/api/v1/rules"},
	{"rule_runs", "Two runs of a rule", "/api/v1/rules/rule-acos/runs"},
	{"activity", "What a rule did, and a campaign created", "/api/v1/activity"},
	{"healthz", "It lives", "/healthz"},
	{"readyz", "It is ready", "/readyz"},
}

// The parts of an answer that are another each time.
var changing = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`"start":"key_live_[^"]*"`), `"start":"key_live_Qm3x"`},
	{regexp.MustCompile(`"created_at":"[^"]*"`), `"created_at":"2026-10-01T08:30:00.000Z"`},
	{regexp.MustCompile(`"newest_load":[0-9nul]+`), `"newest_load":5400`},
	{regexp.MustCompile(`"oldest_load":[0-9nul]+`), `"oldest_load":93600`},
	{regexp.MustCompile(`"oldest_refresh":[0-9nul]+`), `"oldest_refresh":34000`},
	{regexp.MustCompile(`"last_used_at":"[^"]*"`), `"last_used_at":"2026-11-08T07:15:30.250Z"`},
}

func TestTheExamplesOfTheDocumentAreRealAnswers(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	if r := h.Run("account", "add", "acme", "--name", "Acme Ltd"); r.Code != 0 {
		t.Fatal(r)
	}
	r := h.Run("key", "create", "--account", "acme", "--name", "sheet")
	c := harness.Client{Address: h.Server.Address, Key: r.Stdout[:len(r.Stdout)-1]}
	loaded, err := h.Load("acme", filepath.Join("integration", "requests", "testdata", "example"))
	house.Need(t, err)
	if loaded.Code != 0 {
		t.Fatal(loaded.Result)
	}
	house.Get(t, c, "/api/v1/account") // so that the key was used before
	for _, e := range documentExamples {
		body := string(house.Get(t, c, e.path).Body)
		for _, part := range changing {
			body = part.pattern.ReplaceAllString(body, part.shown)
		}
		checkExample(t, e.name, docs.Example{Summary: e.summary, Request: "GET " + e.path, Value: jsontext.Value(body)})
	}
}

// checkExample holds an example against its file, or writes it again.
func checkExample(t *testing.T, name string, e docs.Example) {
	t.Helper()
	text, err := json.Marshal(e, jsontext.WithIndent("  "), json.Deterministic(true))
	house.Need(t, err)
	text = append(text, '\n')
	path := filepath.Join(harness.Root(), "docs", "examples", name+".json")
	if *house.Update {
		house.Need(t, os.WriteFile(path, text, 0o644))
	}
	want, err := os.ReadFile(path)
	house.Need(t, err)
	if string(want) != string(text) {
		t.Errorf("%s is not what is answered (go test ./integration/requests -run Examples -update):\ngot  %s\nwant %s", path, text, want)
	}
}
