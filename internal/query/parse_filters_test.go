package query

import (
	"strings"
	"testing"

	"adlens"

	"github.com/google/go-cmp/cmp"
)

func TestListsAreAnsweredInCanonicalForm(t *testing.T) {
	sp, sb, sd := adlens.SponsoredProducts, adlens.SponsoredBrands, adlens.SponsoredDisplay
	for _, c := range []struct {
		marketplaces, adProducts string
		want                     Filters
	}{
		{"", "", Filters{}},
		{"US", "", Filters{Marketplaces: []string{"US"}}},
		{"us,uk", "", Filters{Marketplaces: []string{"UK", "US"}}},
		{"GB", "", Filters{Marketplaces: []string{"UK"}}},
		{"gb, UK ,Gb, us", "", Filters{Marketplaces: []string{"UK", "US"}}},
		{" 2002, us,2002", "", Filters{Marketplaces: []string{"2002", "US"}}},
		{"", "SPONSORED_PRODUCTS", Filters{AdProducts: []adlens.AdProduct{sp}}},
		{"", "sponsored_products, Sponsored_Brands ,SPONSORED_PRODUCTS", Filters{AdProducts: []adlens.AdProduct{sb, sp}}},
		{"", "SPONSORED_PRODUCTS,SPONSORED_DISPLAY,SPONSORED_BRANDS", Filters{AdProducts: []adlens.AdProduct{sb, sd, sp}}},
	} {
		r, faults := ParseProducts(ofLists(c.marketplaces, c.adProducts), exampleView(), now)
		mustNotFail(t, faults)
		if diff := cmp.Diff(c.want, r.Filters); diff != "" {
			t.Errorf("%q, %q (-want +got):\n%s", c.marketplaces, c.adProducts, diff)
		}
	}
}

func TestListsWithValuesThatAreNotKnownAreRefused(t *testing.T) {
	const unknown, bad = adlens.UnknownValue, adlens.InvalidParameter
	for _, c := range []struct {
		marketplaces, adProducts string
		want                     []refusal
	}{
		{"XX", "", []refusal{{"marketplaces", "XX", unknown, bothConnected, ""}}},
		{"US,usa", "", []refusal{{"marketplaces", "usa", unknown, bothConnected, "US"}}},
		{"FR,BR", "", []refusal{{"marketplaces", "FR", unknown, bothConnected, ""}, {"marketplaces", "BR", unknown, bothConnected, ""}}},
		{"US,,UK", "", []refusal{{parameter: "marketplaces", code: bad}}},
		{"US,", "", []refusal{{parameter: "marketplaces", code: bad}}},
		{",", "", []refusal{{parameter: "marketplaces", code: bad}, {parameter: "marketplaces", code: bad}}},
		{"US;UK", "", []refusal{{"marketplaces", "US;UK", unknown, bothConnected, ""}}},
		{"", "SPONSORED_PRODUCT", []refusal{{"ad_products", "SPONSORED_PRODUCT", unknown, allAdProducts, "SPONSORED_PRODUCTS"}}},
		{"", "SPONSORED_TELEVISION", []refusal{{"ad_products", "SPONSORED_TELEVISION", unknown, allAdProducts, ""}}},
		{"", "sp", []refusal{{"ad_products", "sp", unknown, allAdProducts, ""}}},
		{"", "SPONSORED_BRANDS,,TV", []refusal{{parameter: "ad_products", code: bad}, {"ad_products", "TV", unknown, allAdProducts, ""}}},
	} {
		_, faults := ParseProducts(ofLists(c.marketplaces, c.adProducts), exampleView(), now)
		mustRefuse(t, c.marketplaces+" "+c.adProducts, faults, c.want...)
	}
}

// Zeros for Germany would be read as "nothing was spent there".
func TestACountryThatIsNotConnectedIsRefusedNamingTheConnectedOnes(t *testing.T) {
	for _, text := range []string{"DE", "de", " De "} {
		_, faults := ParseSummary(SummaryParams{FilterParams: FilterParams{Marketplaces: []string{text}}}, exampleView(), now)
		if len(faults) != 1 {
			t.Fatalf("%q: %+v", text, faults)
		}
		mustMention(t, faults[0], text, "Germany", "not connected", "UK, US")
	}
}

func TestAnAccountWithoutMarketplacesSaysSo(t *testing.T) {
	_, faults := ParseSummary(SummaryParams{FilterParams: FilterParams{Marketplaces: []string{"US"}}}, View{Account: "new"}, now)
	mustRefuse(t, "US", faults, refusal{"marketplaces", "US", adlens.UnknownValue, "", ""})
	mustMention(t, faults[0], "United States", "none")
}

// Letters of which others are made by folding are no country's.
func TestALetterThatFoldsToAnotherIsNoCountry(t *testing.T) {
	_, faults := ParseSummary(SummaryParams{FilterParams: FilterParams{Marketplaces: []string{"u\u017f"}}}, exampleView(), now)
	if len(faults) != 1 || strings.Contains(faults[0].Detail, "United States") {
		t.Errorf("%+v", faults)
	}
}

// GB means UK wherever it is sent, so it is refused like UK.
func TestGBIsRefusedWhereUKIsNotConnected(t *testing.T) {
	v := exampleView()
	v.Marketplaces = v.Marketplaces[2:]
	_, faults := ParseSummary(SummaryParams{FilterParams: FilterParams{Marketplaces: []string{"GB"}}}, v, now)
	if len(faults) != 1 || faults[0].Value != "GB" {
		t.Fatalf("%+v", faults)
	}
	mustMention(t, faults[0], "United Kingdom", "US")
}

// UK is no slip of the hand for US: to suggest it would send a client to
// another country's figures.
func TestNoOtherCountryIsSuggestedForOneThatIsNotConnected(t *testing.T) {
	v := exampleView()
	v.Marketplaces = v.Marketplaces[2:]
	_, faults := ParseSummary(SummaryParams{FilterParams: FilterParams{Marketplaces: []string{"UK"}}}, v, now)
	mustRefuse(t, "UK", faults, refusal{"marketplaces", "UK", adlens.UnknownValue, "US", ""})
}

// A country that the platform opened after this was written is connected all
// the same.
func TestACountryThatIsConnectedIsKnownWhateverItsCode(t *testing.T) {
	v := exampleView()
	v.Marketplaces = append(v.Marketplaces, Marketplace{Key: 9, ID: "9", Country: "ZZ"})
	r, faults := ParseSummary(SummaryParams{FilterParams: FilterParams{Marketplaces: []string{"zz"}}}, v, now)
	mustNotFail(t, faults)
	if strings.Join(r.Filters.Marketplaces, ",") != "ZZ" {
		t.Errorf("got %q", r.Filters.Marketplaces)
	}
}

// Parsing must not write into what belongs to the caller.
func TestParametersAreLeftAsTheyWere(t *testing.T) {
	params := ofLists("us,GB", "sponsored_products,SPONSORED_BRANDS")
	ParseProducts(params, exampleView(), now)
	if diff := cmp.Diff(ofLists("us,GB", "sponsored_products,SPONSORED_BRANDS"), params); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// Letters of other scripts that fold to Latin ones are other values: the long
// s, the Kelvin sign, the dotless i.
func TestLettersThatOnlyFoldToLatinOnesAreNotTakenForThem(t *testing.T) {
	for name, params := range map[string]ProductParams{
		"range": ofPeriod(ranged("laſt_7_days")), "sort": {Sort: "ſpend"}, "clicks": {Sort: "clic\u212as"},
		"order": {Order: "deſc"}, "marketplaces": ofLists("uſ", ""), "ad_products": ofLists("", "ſPONSORED_PRODUCTS"),
		"Kelvin": ofLists("u\u212a", ""),
	} {
		if _, faults := ParseProducts(params, exampleView(), now); len(faults) != 1 {
			t.Errorf("%s: %d faults", name, len(faults))
		}
	}
}
