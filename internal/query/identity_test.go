package query

import (
	"slices"
	"testing"
	"time"

	"adlens/internal/catalogue"
	"adlens/internal/manifest"
)

func identityOf(t *testing.T, params ProductParams, v View, now time.Time) string {
	t.Helper()
	r, faults := ParseProducts(params, v, now)
	mustNotFail(t, faults)
	return Identity("reports/products", v, r)
}

// A client that spells a question in another way has the same answer already.
func TestTheSameMeaningHasTheSameIdentity(t *testing.T) {
	plain := identityOf(t, ProductParams{}, exampleView(), now)
	for name, params := range map[string]ProductParams{
		"defaults spelled out": {PeriodParams: PeriodParams{Range: "LAST_30_DAYS", TimeZone: "UTC"}, Sort: "Spend", Order: "DESC",
			PagingParams: PagingParams{Page: "1", PageSize: "0100"}, FormatParams: FormatParams{Format: "JSON"}, Compare: "none"},
	} {
		if got := identityOf(t, params, exampleView(), now); got != plain {
			t.Errorf("%s: %s, want %s", name, got, plain)
		}
	}
	if a, b := identityOf(t, ofLists("us,GB,UK", ""), exampleView(), now), identityOf(t, ofLists("UK,US", ""), exampleView(), now); a != b {
		t.Errorf("%s and %s for the same countries", a, b)
	}
	lists := func(states, tools []string) string {
		c, faults := ParseCampaigns(CampaignParams{MarketplaceID: "1001", States: states}, exampleView(), now)
		mustNotFail(t, faults)
		a, faults := ParseActivity(ActivityParams{Tools: tools}, exampleView(), now)
		mustNotFail(t, faults)
		return ListIdentity("campaigns", exampleView(), c) + ListIdentity("activity", exampleView(), a)
	}
	if a, b := lists(nil, nil), lists([]string{"PAUSED", "enabled"}, catalogue.Tools); a != b {
		t.Errorf("%s and %s for all states and tools", a, b)
	}
	if a, b := lists(nil, nil), lists([]string{"PAUSED"}, nil); a == b {
		t.Errorf("%s for all states, and for one", a)
	}
	report := func(figures ...string) string {
		r, faults := ParseReport(ReportParams{Dimensions: []string{"month"}, Figures: figures}, exampleView(), now)
		mustNotFail(t, faults)
		return Identity("report", exampleView(), r)
	}
	if a, b := report(), report(catalogue.FigureNames...); a != b {
		t.Errorf("%s and %s for the figures of every answer", a, b)
	}
	if a, b := report(), report(append(slices.Clone(catalogue.FigureNames[1:]), catalogue.FigureNames[0])...); a == b {
		t.Errorf("%s for figures in another order", a)
	}
	if later := identityOf(t, ProductParams{}, exampleView(), now.Add(time.Hour)); later != plain {
		t.Errorf("an hour later on the same day: %s, want %s", later, plain)
	}
}

// Whatever changes an answer changes its identity: a 304 for another answer
// would be a wrong figure.
func TestAnotherAnswerHasAnotherIdentity(t *testing.T) {
	another, loaded := exampleView(), exampleView()
	another.Account = "acct-8"
	loaded.Manifest = loaded.Manifest.With(loaded.Manifest.Version+1, manifest.Entry{Unit: manifest.Unit{Kind: manifest.Titles}, Generation: 9003})
	seen := map[string]string{identityOf(t, ProductParams{}, exampleView(), now): "the question"}
	for name, id := range map[string]string{
		"another account":            identityOf(t, ProductParams{}, another, now),
		"after a load":               identityOf(t, ProductParams{}, loaded, now),
		"the next day":               identityOf(t, ProductParams{}, exampleView(), now.AddDate(0, 0, 1)),
		"the same days as dates":     identityOf(t, ofPeriod(between("2026-10-22", "2026-11-20")), exampleView(), now),
		"one of its zones":           identityOf(t, ofPeriod(PeriodParams{TimeZone: "Etc/UTC"}), exampleView(), now),
		"all countries by name":      identityOf(t, ofLists("UK,US", ""), exampleView(), now), // the answer repeats them
		"one country":                identityOf(t, ofLists("UK", ""), exampleView(), now),
		"one ad product":             identityOf(t, ofLists("", "SPONSORED_BRANDS"), exampleView(), now),
		"by acos":                    identityOf(t, ProductParams{Sort: "acos"}, exampleView(), now),
		"ascending":                  identityOf(t, ProductParams{Order: "asc"}, exampleView(), now),
		"the second page":            identityOf(t, ProductParams{PagingParams: PagingParams{Page: "2"}}, exampleView(), now),
		"a larger page":              identityOf(t, ProductParams{PagingParams: PagingParams{PageSize: "101"}}, exampleView(), now),
		"all rows":                   identityOf(t, ProductParams{PagingParams: PagingParams{PageSize: "all"}}, exampleView(), now),
		"the summary of such a page": Identity("summary", exampleView(), mustParse(t)),
	} {
		if same, ok := seen[id]; ok {
			t.Errorf("%s has the identity of %s", name, same)
		}
		seen[id] = name
	}
}

// What a request means outlives loads, and a list that is being read again.
func TestTheMeaningOfARequestIsThatOfEveryVersion(t *testing.T) {
	v, loaded, another := exampleView(), exampleView(), exampleView()
	loaded.Manifest = loaded.Manifest.With(loaded.Manifest.Version + 1)
	another.Account = "acct-8"
	list, faults := ParseCampaigns(CampaignParams{MarketplaceID: "1001"}, v, now)
	mustNotFail(t, faults)
	syncing, paused := list, list
	syncing.Syncing, paused.States = true, []string{"PAUSED"}
	moved, elsewhere := list, list
	moved.Marketplace.TimeZone, elsewhere.Marketplace.ID = "Asia/Tokyo", "1002"
	if plain := Meaning("campaigns", v, list); Meaning("campaigns", v, moved) != plain || Meaning("campaigns", v, elsewhere) == plain {
		t.Error("the meaning of a list changes with the time zone of its marketplace, or not with its id")
	}
	if plain := Meaning("campaigns", v, list); Meaning("campaigns", loaded, syncing) != plain || ListIdentity("campaigns", loaded, list) == ListIdentity("campaigns", v, list) {
		t.Error("the meaning changes with the version, or the name does not")
	} else if Meaning("ad-groups", v, list) == plain || Meaning("campaigns", another, list) == plain || Meaning("campaigns", v, paused) == plain {
		t.Error("another meaning has the same name")
	}
	if Meaning("summary", v, mustParse(t)) != Meaning("summary", loaded, mustParse(t)) || Meaning("summary", v, mustParse(t)) == Meaning("timeline", v, mustParse(t)) {
		t.Error("figures: the meaning changes with the version, or not with the endpoint")
	}
}

// Each part of a request is in its meaning: tables and rows without figures do not show all
// of them.
func TestAnotherRequestMeansSomethingElse(t *testing.T) {
	seen := map[string]string{}
	for name, change := range map[string]func(*ReportParams, *time.Time){
		"the question":        func(*ReportParams, *time.Time) {},
		"the next day":        func(_ *ReportParams, now *time.Time) { *now = now.AddDate(0, 0, 1) },
		"the days as dates":   func(p *ReportParams, _ *time.Time) { p.PeriodParams = between("2026-10-22", "2026-11-20") },
		"another zone":        func(p *ReportParams, _ *time.Time) { p.TimeZone = "Etc/UTC" },
		"another dimension":   func(p *ReportParams, _ *time.Time) { p.Dimensions = []string{"product", "week"} },
		"dimensions in order": func(p *ReportParams, _ *time.Time) { p.Dimensions = []string{"week", "product"} },
		"some figures":        func(p *ReportParams, _ *time.Time) { p.Figures = []string{"spend", "ctr"} },
		"figures in order":    func(p *ReportParams, _ *time.Time) { p.Figures = []string{"ctr", "spend"} },
		"a marketplace":       func(p *ReportParams, _ *time.Time) { p.Marketplaces = []string{"US"} },
		"its currency":        func(p *ReportParams, _ *time.Time) { p.Marketplaces, p.Currency = []string{"US"}, "local" },
		"an ad product":       func(p *ReportParams, _ *time.Time) { p.AdProducts = []string{"SPONSORED_BRANDS"} },
		"a campaign":          func(p *ReportParams, _ *time.Time) { p.CampaignIDs = []string{"1"} },
		"an ad group":         func(p *ReportParams, _ *time.Time) { p.AdGroupIDs = []string{"1"} },
		"a product":           func(p *ReportParams, _ *time.Time) { p.ProductIDs = []string{"1"} },
		"a search":            func(p *ReportParams, _ *time.Time) { p.Search = "lamp" },
		"compared":            func(p *ReportParams, _ *time.Time) { p.Compare = "previous_period" },
		"compared otherwise":  func(p *ReportParams, _ *time.Time) { p.Compare = "previous_year" },
		"sorted":              func(p *ReportParams, _ *time.Time) { p.Sort = "clicks" },
		"ascending":           func(p *ReportParams, _ *time.Time) { p.Order = "asc" },
		"a page":              func(p *ReportParams, _ *time.Time) { p.Page = "2" },
		"a page's size":       func(p *ReportParams, _ *time.Time) { p.PageSize = "101" },
		"CSV":                 func(p *ReportParams, _ *time.Time) { p.Format = "csv" },
		"its separator":       func(p *ReportParams, _ *time.Time) { p.Format, p.Separator = "csv", "tab" },
		"its decimal":         func(p *ReportParams, _ *time.Time) { p.Format, p.Separator, p.Decimal = "csv", "tab", "comma" },
		"its headers":         func(p *ReportParams, _ *time.Time) { p.Format, p.Headers = "csv", "labels" },
	} {
		params, at := ReportParams{Dimensions: []string{"product"}}, now
		change(&params, &at)
		r, faults := ParseReport(params, exampleView(), at)
		mustNotFail(t, faults)
		meaning := Meaning("report", exampleView(), r)
		if same, ok := seen[meaning]; ok {
			t.Errorf("%s means the same as %s", name, same)
		}
		seen[meaning] = name
	}
}

// What a request means is that of its marketplaces, however the key is limited.
func TestTheMeaningOfARequestIsThatOfItsMarketplaces(t *testing.T) {
	v := exampleView()
	for _, c := range []struct {
		only []string
		same bool
	}{{[]string{"UK", "US"}, true}, {[]string{"1001", "2001", "2002"}, true}, {[]string{"UK"}, false}, {[]string{"US", "2001"}, false}, {[]string{}, false}} {
		if same := Meaning("summary", v.limitTo(c.only), mustParse(t)) == Meaning("summary", v, mustParse(t)); same != c.same {
			t.Errorf("a key for %q means the same as one for all: %t, want %t", c.only, same, c.same)
		}
	}
	if Meaning("summary", v.limitTo([]string{"US"}), mustParse(t)) == Meaning("summary", v.limitTo([]string{"UK"}), mustParse(t)) {
		t.Error("keys for two marketplaces mean the same")
	}
}

func mustParse(t *testing.T) Request {
	t.Helper()
	r, faults := ParseProducts(ProductParams{}, exampleView(), now)
	mustNotFail(t, faults)
	return r
}
