package platform_test

import (
	"strings"
	"testing"

	"adlens/internal/platform"

	"github.com/google/go-cmp/cmp"
)

const (
	sellerText = `{"profileId":9007199254740993,"countryCode":"GB","currencyCode":"GBP","timezone":"Europe/London","dailyBudget":9.5,"accountInfo":{"type":"seller","name":"Lädchen","id":"E1"}}`
	vendorText = `{"profileId":"22","countryCode":"US","currencyCode":"USD","timezone":"America/Los_Angeles","accountInfo":{"type":"vendor"}}`
)

func TestSellersAndVendorsAreReadAndOthersNoticed(t *testing.T) {
	agency := strings.NewReplacer("vendor", "agency", `"22"`, "5", "USD", "?").Replace(vendorText)
	profiles, notices, err := platform.DecodeProfiles(strings.NewReader("\xef\xbb\xbf[" + sellerText + "," + agency + "," + vendorText + "]"))
	want := []platform.Profile{
		{ID: "9007199254740993", Country: "UK", Currency: "GBP", TimeZone: "Europe/London", Name: "Lädchen", Advertiser: "E1"},
		{ID: "22", Country: "US", Currency: "USD", TimeZone: "America/Los_Angeles", Vendor: true},
	}
	if diff := cmp.Diff(want, profiles); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{`profile 5 is skipped: its type is "agency", not seller or vendor`}, notices); diff != "" {
		t.Error(diff)
	}
	if profiles, notices, err := platform.DecodeProfiles(strings.NewReader("[]")); err != nil || profiles != nil || notices != nil {
		t.Errorf("no profiles: %v, %v, %v", profiles, notices, err)
	}
}

func TestAFaultyProfileIsNamedWithItsRow(t *testing.T) {
	for change, want := range map[[2]string]string{
		{`"22"`, `""`}:                             "row 2: profileId is missing, expected an id",
		{`"22"`, `"a b"`}:                          "row 2: profileId is a b, expected an id",
		{`"22"`, `2.2`}:                            "row 2: profileId is 2.2, expected an id: text or a whole number",
		{`"22"`, `9007199254740993`}:               "row 2: profileId is 9007199254740993, expected an id that is not that of row 1 already",
		{`"US"`, `"us"`}:                           "row 2: countryCode is us, expected a country's code of two capital letters",
		{`"US"`, `null`}:                           "row 2: countryCode is missing, expected a country's code of two capital letters",
		{`"USD"`, `"DOLLAR"`}:                      "row 2: currencyCode is DOLLAR, expected a currency's code of three capital letters",
		{`"America/Los_Angeles"`, `"../etc/zone"`}: "row 2: timezone is ../etc/zone, expected a time zone's name like Europe/London",
		{`"US"`, `1`}:                              "row 2: countryCode is 1, expected text",
		{`"USD"`, `"USD","countryCode":"DE"`}:      "damaged JSON",
		{`}}`, `}`}:                                "damaged JSON",
		{`}}`, `}}]]`}:                             "damaged JSON",
	} {
		text := "[" + sellerText + "," + strings.Replace(vendorText, change[0], change[1], 1) + "]"
		if _, _, err := platform.DecodeProfiles(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v:\n got: %v\nwant: %s", change, err, want)
		}
	}
	for text, want := range map[string]string{"": "the file is empty", "{}": "is {}, expected a list in brackets", "[1]": "row 1: is 1, expected an object in braces", "null": "expected"} {
		if profiles, _, err := platform.DecodeProfiles(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is read as %v: %v", text, profiles, err)
		}
	}
}
