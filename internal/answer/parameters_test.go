package answer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/query"
)

// decode reads a query string into a parameter struct.
func decode(raw string, into any) []adlens.Fault {
	sent, faults := ReadQuery(raw)
	return append(faults, bindParameters(sent, into)...)
}

func TestWhatCannotBeReadFromAQueryStringIsAFault(t *testing.T) {
	for raw, want := range map[string]adlens.Fault{
		"range=today;timezone=UTC":      {Code: adlens.InvalidParameter},
		"range=%zz":                     {Code: adlens.InvalidParameter},
		"range=%ff":                     {Code: adlens.InvalidParameter},
		"range=to%00day":                {Code: adlens.InvalidParameter},
		"range=a&range=b":               {Code: adlens.InvalidParameter, Parameter: "range"},
		"range=":                        {Code: adlens.InvalidParameter, Parameter: "range"},
		"range":                         {Code: adlens.InvalidParameter, Parameter: "range"},
		"range=%20%20":                  {Code: adlens.InvalidParameter, Parameter: "range"},
		"marketplace=US":                {Code: adlens.UnknownParameter, Parameter: "marketplace", DidYouMean: "marketplaces"},
		"Range=today":                   {Code: adlens.UnknownParameter, Parameter: "Range", DidYouMean: "range"},
		strings.Repeat("range=a&", 101): {Code: adlens.InvalidParameter},
	} {
		var params query.SummaryParams
		faults := decode(raw, &params)
		if len(faults) == 0 {
			t.Errorf("%q was read as %+v", raw, params)
			continue
		}
		got := faults[0]
		if got.Code != want.Code || want.Parameter != "" && got.Parameter != want.Parameter || got.DidYouMean != want.DidYouMean || got.Detail == "" {
			t.Errorf("%q: %+v, want %+v", raw, got, want)
		}
	}
}

// A list in an address has room for thousands of values that may all be wrong.
func TestAnErrorListsAThousandFaultsAndCountsTheOthers(t *testing.T) {
	var sent []adlens.Fault
	for i := range 1_203 {
		sent = append(sent, adlens.Fault{Parameter: "marketplaces", Value: fmt.Sprint(i), Code: adlens.UnknownValue, Detail: "not here"})
	}
	var wrong *query.FaultsError
	if err := joinFaults(sent, &query.SummaryParams{}); !errors.As(err, &wrong) || len(wrong.Faults) != 1_000 {
		t.Fatalf("%T with %d faults", err, len(wrong.Faults))
	}
	if first, last := wrong.Faults[0], wrong.Faults[999]; first.Detail != "not here" || last.Value != "999" || last.Detail != "not here; 203 more faults are not listed" {
		t.Errorf("the first is %+v, the last %+v", first, last)
	}
}

// What follows a # is no part of an address: filters would be lost.
func TestAnAddressWithANumberSignIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"/api/v1/reports/products?search=lamp+#2&marketplaces=US": `"search=lamp+#2" has a #, which would end the request; write %23 for it`,
		"/api/v1/summary?range=today#":                            `"range=today#" has a #`,
		"/api/v1/rules/a#b/runs":                                  `"/api/v1/rules/a#b/runs" has a #`,
	} {
		for _, read := range []func(string) (Request, error){ReadAddress, ReadFeed} {
			r, err := read(text)
			var missing *NotFoundError
			if !errors.As(err, &missing) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %+v, %v; expected %s", text, r, err, want)
			}
		}
	}
	if r, err := ReadAddress("/api/v1/reports/products?search=lamp+%232&marketplaces=US"); err != nil || spelled(r) != "reports/products?search=lamp #2&marketplaces=US" {
		t.Errorf("with %%23: %s, %v", spelled(r), err)
	}
}

// Other surfaces than a query string send what it cannot hold.
func TestParametersAreText(t *testing.T) {
	for _, p := range []Parameter{{"range", "to\x00day"}, {"range", "\xff"}, {"\xff", "today"}} {
		var params query.SummaryParams
		if faults := bindParameters([]Parameter{p}, &params); len(faults) != 1 || faults[0].Code != adlens.InvalidParameter {
			t.Errorf("%q: %+v", p, faults)
		}
	}
}

func TestWhatDoesNotParseHidesNoOtherFault(t *testing.T) {
	var params query.SummaryParams
	faults := decode("range=bogus&range=today&a=%zz&zz=1&%q=2", &params)
	var got []string
	for _, f := range faults {
		got = append(got, f.Parameter+" "+string(f.Code))
	}
	want := []string{"a invalid_parameter", " invalid_parameter", "range invalid_parameter", "zz unknown_parameter"}
	if !slices.Equal(got, want) || params.Range != "bogus" {
		t.Errorf("got %q and range %q, want %q", got, params.Range, want)
	}
}

func TestListsAreTakenApartAndTrimmed(t *testing.T) {
	var params query.ProductParams
	if faults := decode("marketplaces=US,%20uk+,&sort=clicks&&page_size=5", &params); len(faults) != 0 {
		t.Fatal(faults)
	}
	if strings.Join(params.Marketplaces, "|") != "US|uk|" || params.Sort != "clicks" || params.PageSize != "5" {
		t.Errorf("read %+v", params)
	}
}

func FuzzDecodeNeverLosesAParameter(f *testing.F) {
	for _, seed := range []string{"range=today", "a=1&a=2", "range=%41&timezone=", "=", "&&", "range=x;y", "marketplaces=,,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var params query.SummaryParams
		if faults := decode(raw, &params); len(faults) > 0 {
			return
		}
		sent, _ := ReadQuery(raw)
		// Without a fault, every pair that was sent is in its field.
		for _, p := range sent {
			if p.Name == "range" && params.Range != p.Value || p.Name == "timezone" && params.TimeZone != p.Value {
				t.Fatalf("%q: %s is lost", raw, p.Name)
			}
		}
	})
}

// What another parameter has to do with a value that cannot be read, or was sent twice, is
// no fault of the other. That it was sent is known.
func TestAValueThatCannotBeReadIsTheOnlyFault(t *testing.T) {
	view := query.View{Account: "acme", Marketplaces: []query.Marketplace{{Key: 1, ID: "101", Country: "US", Currency: "USD", TimeZone: "America/Los_Angeles"},
		{Key: 2, ID: "102", Country: "DE", Currency: "EUR", TimeZone: "Europe/Berlin"}}}
	now := time.Date(2026, 4, 2, 12, 0, 0, 0, time.UTC)
	for raw, want := range map[string]string{
		"format=&separator=semicolon":                                "format invalid_parameter",
		"format=json&format=csv&separator=semicolon":                 "format invalid_parameter",
		"format=%zz&headers=names":                                   "format invalid_parameter",
		"marketplaces=&currency=local":                               "marketplaces invalid_parameter",
		"figures=sales_7d&marketplaces=US%zz":                        "marketplaces invalid_parameter",
		"figures=sales_7d&currency=":                                 "currency invalid_parameter",
		"dimensions=marketplace&sort=sales_7d&figures=%ff":           "figures invalid_parameter",
		"dimensions=&search=lamp":                                    "dimensions invalid_parameter",
		"timezone=%zz&range=today&compare=previous_period":           "timezone invalid_parameter",
		"range=&start_date=2026-04-01&end_date=%zz&compare=previous": "range invalid_parameter, range conflicting_parameters, end_date invalid_parameter, compare unknown_value",
		"range=today&start_date=%zz&end_date=%zz":                    "range conflicting_parameters, start_date invalid_parameter, end_date invalid_parameter",
		"end_date=%zz": "start_date missing_parameter, end_date invalid_parameter",
	} {
		var params query.ReportParams
		refused := decode(raw, &params)
		_, faults := query.ParseReport(params, view, now, refused...)
		if got := spelledFaults(inOrder(faults, &params)); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	for raw, want := range map[string]string{
		"marketplace_id=%zz&campaign_id=7":                    "marketplace_id invalid_parameter",
		"marketplace_id=101&marketplace_id=102&campaign_id=7": "marketplace_id invalid_parameter",
	} {
		var params query.AdGroupParams
		refused := decode(raw, &params)
		r, faults := query.ParseAdGroups(params, view, now, refused...)
		if got := spelledFaults(faults); got != want || r.Marketplace.ID != "" {
			t.Errorf("%s: %s of marketplace %q, want %s", raw, got, r.Marketplace.ID, want)
		}
	}
	var params query.TimelineParams
	refused := decode("range=this_year&range=today&timezone=Pacific/Kiritimati&granularity=day", &params)
	_, faults := query.ParseTimeline(params, view, now, refused...)
	if got, want := spelledFaults(faults), "range invalid_parameter"; got != want {
		t.Errorf("granularity: %s, want %s", got, want)
	}
}

func spelledFaults(faults []adlens.Fault) string {
	var all []string
	for _, f := range faults {
		all = append(all, f.Parameter+" "+string(f.Code))
	}
	return strings.Join(all, ", ")
}
