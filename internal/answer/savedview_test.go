package answer

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/query"
)

func TestAViewIsReadFromAnAddressOfThePage(t *testing.T) {
	for text, want := range map[string]string{
		"#/products?range=last_7_days&marketplaces=US":            "#/products?range=last_7_days&marketplaces=US",
		"https://figures.example.com/#/products?search=a+%26+b":   "#/products?search=a+%26+b",
		"/overview?measure=roas&granularity=month":                "#/overview?measure=roas&granularity=month",
		"rules?range=today&marketplaces=UK&page_size=50":          "#/rules?page_size=50", // the filters are of other views
		"https://figures.example.com/":                            "#/overview",
		"#/products?search=a#b&marketplaces=US":                   "#/products?search=a%23b&marketplaces=US",
		"#":                                                       "#/overview",
		"#/runs?rule_id=rule%2Flow+stock":                         "#/runs?rule_id=rule%2Flow+stock",
		"#/campaigns?marketplace_id=101&states=ENABLED&sort=acos": "#/campaigns?marketplace_id=101&states=ENABLED",
	} {
		v, err := ParseView(text)
		if err != nil || v.String() != want {
			t.Errorf("%s: %s, %v; expected %s", text, v, err, want)
		}
		if again, err := ParseView(v.String()); err != nil || again.String() != want {
			t.Errorf("%s: read again as %s, %v", text, again, err)
		}
	}
	for text, want := range map[string]string{
		"":                                           "the view is empty",
		"#/product":                                  `"product" is no view that can be shared; did you mean products?; expected one of activity, ad-group-figures,`,
		"#/apps":                                     `"apps" is no view that can be shared`,
		"#/overview?marketplace=US":                  `"marketplace" is no name in an address of the page; did you mean marketplaces?`,
		"#/overview?format=csv":                      `"format" is no name in an address of the page`,
		"#/products?headers=labels":                  `"headers" is no name in an address of the page`,
		"#/products?dimensions=date":                 `"dimensions" is no name in an address of the page`,
		"#/overview?stack=campaign":                  `stack is "campaign", expected one of marketplace, ad_product`,
		"#/products?range=":                          "range is empty; give it a value or leave it out",
		"#/products?range=today&range=all_time":      `range was given twice, then as "all_time"; expected it once`,
		"#/products?range=%zz":                       "the query string does not parse",
		"https://figures.example.com/products":       `"https://figures.example.com/products" is no address of the page`,
		"https://figures.example.com/docs#/products": "is no address of the page",
		"/products?marketplaces=US&search=#":         `"/products?marketplaces=US&search=#" is no address of the page; expected https://figures.example.com/#/products, or what follows #; write %23`,
		"products?marketplaces=US&search=a#/rules":   "is no address of the page",
		"https://figures.example.com?search=a#/":     "is no address of the page",
	} {
		if v, err := ParseView(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; expected %s", text, v, err, want)
		}
	}
}

// spelled writes what would be asked.
func spelled(r Request) string {
	text := r.Endpoint
	if r.RuleID != "" {
		text += "(" + r.RuleID + ")"
	}
	for i, p := range r.Parameters {
		text += map[bool]string{true: "?", false: "&"}[i == 0] + p.Name + "=" + p.Value
	}
	return text
}

// What a reader sends only arranges rows; all else is as it was saved.
func TestALinkAsksWhatItsViewIsMadeOf(t *testing.T) {
	const products = "#/products?range=last_7_days&marketplaces=US&compare=previous_year&sort=sales&page=2"
	for _, c := range []struct{ view, sent, want string }{
		{products, "/api/v1/reports/products", "reports/products?range=last_7_days&marketplaces=US&compare=previous_year"},
		{products, "/api/v1/reports/products?page=3&order=asc", "reports/products?range=last_7_days&marketplaces=US&compare=previous_year&page=3&order=asc"},
		{products, "/api/v1/reports/products?compare=none", "reports/products?range=last_7_days&marketplaces=US&compare=none"},
		{"#/products?search=lamp&figures=spend", "/api/v1/report?dimensions=product", "report?dimensions=product&search=lamp&figures=spend"},
		{"#/overview?measure=roas&granularity=week&campaign_ids=7", "/api/v1/summary", "summary?campaign_ids=7"},
		{"#/overview?measure=roas&granularity=week&campaign_ids=7", "/api/v1/timeline", "timeline?granularity=week&campaign_ids=7"},
		{"#/overview?granularity=day&figures=spend&search=lamp&second=acos", "/api/v1/report?dimensions=date&page_size=all", "report?dimensions=date&page_size=all"},
		{"#/overview?stack=marketplace&granularity=week", "/api/v1/report?dimensions=week,marketplace", "report?dimensions=week,marketplace"},
		{"#/overview?stack=ad_product", "/api/v1/report?dimensions=month,ad_product", "report?dimensions=month,ad_product"},
		{"#/products?currency=local&range=today", "/api/v1/report?dimensions=product,marketplace", "report?dimensions=product,marketplace&currency=local&range=today"},
		{"#/campaign-figures", "/api/v1/report?dimensions=campaign,marketplace&page_size=all", "report?dimensions=campaign,marketplace&page_size=all"},
		{"#/runs?rule_id=a%2Fb", "/api/v1/rules/a/b/runs", "rules/runs(a/b)"},
	} {
		v, err := ParseView(c.view)
		if err != nil {
			t.Fatal(err)
		}
		path, raw, _ := strings.Cut(c.sent, "?")
		sent, faults := ReadQuery(raw)
		if r, err := v.Request(path, sent, faults); err != nil || spelled(r) != c.want {
			t.Errorf("%s, requested %s: %s, %v; expected %s", c.view, c.sent, spelled(r), err, c.want)
		}
	}
}

func TestALinkKnowsNothingElse(t *testing.T) {
	for view, addresses := range map[string][]string{
		"#/products?range=last_7_days&marketplaces=US": {
			"/api/v1/reports/products?marketplaces=DE", "/api/v1/reports/products?marketplaces=US", "/api/v1/reports/products?range=all_time",
			"/api/v1/reports/products?start_date=2020-01-01&end_date=2026-01-01", "/api/v1/reports/products?currency=local", "/api/v1/reports/products?format=csv",
			"/api/v1/reports/products?compare=previous_year", "/api/v1/reports/products?product_ids=B0", "/api/v1/reports/products?nonsense=1",
			"/api/v1/report", "/api/v1/report?dimensions=campaign", "/api/v1/report?dimensions=product,campaign", "/api/v1/report?dimensions=product&dimensions=campaign",
			"/api/v1/report?dimensions=product&figures=spend", "/api/v1/report?dimensions=product&search=lamp",
			"/api/v1/summary", "/api/v1/timeline", "/api/v1/account", "/api/v1/marketplaces", "/api/v1/campaigns?marketplace_id=1", "/api/v1/rules", "/api/v1/activity",
			"/api/v1/report?dimensions=product", "/api/v1/reports/products/", "/api/v1/../v1/reports/products", "/reports/products", "reports/products", "/", "", "/apps", "/api/v1/rules/runs", "/api/v1/rules//runs",
		},
		// Without the search, products would be more than the view.
		"#/products?search=lamp":                        {"/api/v1/reports/products"},
		"#/products?currency=local":                     {"/api/v1/reports/products", "/api/v1/report?dimensions=product"},
		"#/overview":                                    {"/api/v1/report", "/api/v1/report?dimensions=date", "/api/v1/report?dimensions=month,marketplace", "/api/v1/reports/products"},
		"#/overview?granularity=day":                    {"/api/v1/timeline", "/api/v1/report?dimensions=month", "/api/v1/report?dimensions=date,marketplace"},
		"#/overview?stack=ad_product&granularity=month": {"/api/v1/report?dimensions=date,ad_product", "/api/v1/report?dimensions=month,marketplace", "/api/v1/report?dimensions=month", "/api/v1/report?dimensions=month,ad_product&figures=spend"},
		"#/products?figures=acos":                       {"/api/v1/reports/products"},
		"#/runs?rule_id=one":                            {"/api/v1/rules/two/runs", "/api/v1/rules", "/api/v1/rules/one/runs?rule_id=two"},
		"#/campaigns?marketplace_id=1":                  {"/api/v1/campaigns?marketplace_id=2", "/api/v1/campaigns?search=lamp", "/api/v1/ad-groups?marketplace_id=1"},
	} {
		v, err := ParseView(view)
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range addresses {
			path, raw, _ := strings.Cut(address, "?")
			sent, faults := ReadQuery(raw)
			r, err := v.Request(path, sent, faults)
			var missing *NotFoundError
			if !errors.As(err, &missing) {
				t.Errorf("%s, requested %s: %s, %v; expected a thing that does not exist", view, address, spelled(r), err)
			}
		}
	}
}

// Messages about what was saved may name what else the account has.
func TestFaultsOfWhatWasSavedAreNotExplained(t *testing.T) {
	for _, c := range []struct {
		parameters []string
		explained  bool
	}{
		{[]string{"sort"}, true}, {[]string{"compare"}, true}, {[]string{"granularity", "page"}, true},
		{[]string{"marketplaces"}, false}, {[]string{"sort", "campaign_ids"}, false}, {[]string{"currency"}, false},
	} {
		wrong := &query.FaultsError{}
		for _, name := range c.parameters {
			wrong.Faults = append(wrong.Faults, adlens.Fault{Parameter: name, Detail: "the account has DE and FR"})
		}
		hidden := hideSaved(true, wrong)
		if explained := strings.Contains(hidden.Error(), "FR"); explained != c.explained {
			t.Errorf("%v: %v, expected to be explained: %t", c.parameters, hidden, c.explained)
		}
		if hideSaved(false, wrong) != error(wrong) {
			t.Errorf("%v: hidden from who asks with a key", c.parameters)
		}
	}
	if other := errors.New("the store fails"); hideSaved(true, other) != other || hideSaved(true, nil) != nil {
		t.Error("another error was changed")
	}
}

// On the first day of a month, which is also the first that the shop holds.
func TestAComparisonIsSavedIfItComesWithLaterDays(t *testing.T) {
	store := &shop{}
	first := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := New(Config{Figures: query.NewService(store, nil), Connections: store, Cache: 1 << 20, Memory: 1 << 20, Now: func() time.Time { return first }})
	for period, later := range map[string]bool{
		"range=this_month": true, "range=This_Month": true, "range=all_time": true,
		"range=today": false, "range=+Today+": false,
		"start_date=2026-03-01&end_date=2026-03-31": false, // which is not over yet
		"start_date=2026-04-01&end_date=2026-04-30": false,
		"start_date=0001-01-01&end_date=0001-01-31": false,
		"range=this_month&marketplaces=ZA":          false,
		"range=this_month&timezone=Mars":            false,
		"range=nonsense":                            false,
	} {
		for _, way := range []string{"previous_period", "previous_year"} {
			v, err := ParseView("#/products?" + period + "&compare=" + way)
			if err != nil {
				t.Fatal(err)
			}
			request := v.Requests()[0]
			if _, err := s.Ask(t.Context(), auth.Caller{}, request); err == nil || request.ComparesLater(err) != later {
				t.Errorf("%s: %v, expected to come later: %t", v, err, later)
			}
			if !later {
				continue
			}
			question, err := s.Ask(t.Context(), auth.Caller{}, request.WithoutComparison())
			if err != nil {
				t.Errorf("%s without its comparison: %v", v, err)
				continue
			}
			question.Close()
		}
	}
	if request := (Request{Endpoint: "summary", Parameters: []Parameter{{"range", "this_month"}}}); request.ComparesLater(nil) || request.ComparesLater(errors.New("the store fails")) {
		t.Error("another error is of a comparison")
	}
}

// FuzzSavedViews holds that no address below a link changes what was saved: a
// request of it has each saved filter as it is, whatever is sent.
func FuzzSavedViews(f *testing.F) {
	f.Add("#/products?marketplaces=US&search=lamp", "/api/v1/report", "dimensions=product&page=2")
	f.Add("#/overview?range=today&campaign_ids=7", "/api/v1/summary", "campaign_ids=8")
	f.Add("#/runs?rule_id=a", "/api/v1/rules/a/runs", "rule_id=b")
	f.Fuzz(func(t *testing.T, text, path, raw string) {
		v, err := ParseView(text)
		if err != nil {
			return
		}
		sent, faults := ReadQuery(raw)
		r, err := v.Request(path, sent, faults)
		if err != nil {
			return
		}
		values := map[string][]string{}
		for _, p := range r.Parameters {
			values[p.Name] = append(values[p.Name], p.Value)
		}
		for _, p := range v.saved {
			_, takes := catalogueOf(r.Endpoint).Parameter(p.Name)
			free := slices.Contains(arranging, p.Name) || p.Name == "compare" && slices.Equal(values["compare"], []string{"none"})
			if takes && !free && !slices.Equal(values[p.Name], []string{p.Value}) {
				t.Fatalf("%s: %s has %s=%q", v, spelled(r), p.Name, values[p.Name])
			}
			delete(values, p.Name)
		}
		for name := range values {
			if !slices.Contains(append([]string{"dimensions", "compare"}, arranging...), name) {
				t.Fatalf("%s: %s has %s, which was not saved", v, spelled(r), name)
			}
		}
	})
}

// The views know endpoints and parameters of the catalogue alone.
func TestViewsAreMadeOfEndpoints(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(views)) {
		requests := SavedView{name: name}.Requests()
		if len(requests) == 0 {
			t.Errorf("%s asks nothing", name)
		}
		for _, r := range requests {
			if _, known := endpoints[r.Endpoint]; !known || catalogueOf(r.Endpoint).Operation == "" {
				t.Errorf("%s asks for %s, which does not exist", name, r.Endpoint)
			}
		}
	}
}

// A link that goes by all marketplaces may be accepted only until one with another currency
// comes: who makes it learns that.
func TestARequestThatNeedsOneCurrencyIsKnown(t *testing.T) {
	for request, want := range map[string]bool{
		"/timeline?currency=local":                 true,
		"/timeline?currency=LOCAL":                 true,
		"/timeline":                                false,
		"/timeline?currency=USD":                   false,
		"/timeline?currency=local&marketplaces=UK": false,
		"/ad-groups?currency=local&marketplace_id=101&campaign_id=3":                         false,
		"/report?currency=local&dimensions=campaign":                                         true,
		"/report?currency=local&dimensions=campaign,marketplace":                             false,
		"/report?currency=local&dimensions=marketplace&figures=spend,sales_7d":               false,
		"/report?currency=local&dimensions=marketplace&figures=spend,sales_7d&sort=sales_7d": true,
		"/report?dimensions=date&figures=spend,sales_7d":                                     true,
		"/report?dimensions=date,marketplace&figures=spend,sales_7d":                         true,
		"/report?dimensions=date&figures=spend,units_sold_clicks_7d":                         false,
	} {
		r, err := ReadAddress("/api/v1" + request)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.NeedsOneCurrency(); got != want {
			t.Errorf("%s: %t", request, got)
		}
	}
	for text, want := range map[string]bool{"#/overview?currency=local": true, "#/products?currency=local": false, "#/overview": false} {
		v, err := ParseView(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(v.Requests(), Request.NeedsOneCurrency); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
