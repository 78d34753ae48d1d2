package answer

import (
	"errors"
	"slices"
	"strings"
	"testing"

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
