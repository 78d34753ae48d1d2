package standin

import (
	"fmt"
	"math/big"
	"strings"
)

// The ad products, as the platform names them.
const (
	SponsoredProducts = "SPONSORED_PRODUCTS"
	SponsoredBrands   = "SPONSORED_BRANDS"
	SponsoredDisplay  = "SPONSORED_DISPLAY"
)

// Fact is what one ad did on one day. Amounts are decimal texts, "" for 0.
//
// Sponsored Products report the windows of 7 and 14 days; Brands and Display
// know 14 days only.
type Fact struct {
	Profile                     int64
	AdProduct                   string
	Day                         string // YYYY-MM-DD
	CampaignID, AdGroupID, AdID uint64
	Product, SKU                string // Product is the ASIN, "" for none

	Impressions, Clicks       int64
	Cost                      string
	Purchases7d, Purchases14d int64
	Sales7d, Sales14d         string

	// Extra replaces columns of the rows that this fact is part of, whatever
	// they are: nil is a null, Absent leaves the key out.
	Extra map[string]any
}

// Absent, as a value in Fact.Extra, leaves the key out of the row.
var Absent = new(struct{ absent bool })

type factKey struct {
	profile                 int64
	adProduct, day          string
	campaign, adGroup, adID uint64
	product, sku            string
}

func (f Fact) uniqueKey() factKey {
	return factKey{f.Profile, f.AdProduct, f.Day, f.CampaignID, f.AdGroupID, f.AdID, f.Product, f.SKU}
}

// checkAmounts stops a test whose amounts are none, before a report has to.
func (f Fact) checkAmounts() {
	for _, amount := range []string{f.Cost, f.Sales7d, f.Sales14d} {
		parseDecimal(amount)
	}
}

// isIdle facts are in no report: the platform tells of activity only.
func (f Fact) isIdle() bool {
	return f.Impressions == 0 && f.Clicks == 0 && f.Purchases7d == 0 && f.Purchases14d == 0 &&
		parseDecimal(f.Cost).Sign() == 0 && parseDecimal(f.Sales7d).Sign() == 0 && parseDecimal(f.Sales14d).Sign() == 0
}

// addMeasures adds another fact's measures; its ids are the first one's.
func (f Fact) addMeasures(other Fact) Fact {
	f.Impressions += other.Impressions
	f.Clicks += other.Clicks
	f.Purchases7d += other.Purchases7d
	f.Purchases14d += other.Purchases14d
	f.Cost = addDecimals(f.Cost, other.Cost)
	f.Sales7d = addDecimals(f.Sales7d, other.Sales7d)
	f.Sales14d = addDecimals(f.Sales14d, other.Sales14d)
	if f.Extra == nil {
		f.Extra = other.Extra
	}
	return f
}

// parseDecimal reads an amount. A wrong one is a mistake in the test.
func parseDecimal(text string) *big.Rat {
	if text == "" {
		return new(big.Rat)
	}
	value, good := new(big.Rat).SetString(text)
	if !good {
		panic(fmt.Sprintf("standin: %q is no amount", text))
	}
	return value
}

func addDecimals(a, b string) string {
	return decimalText(new(big.Rat).Add(parseDecimal(a), parseDecimal(b)))
}

// decimalText prints as the platform does: no trailing zeros, and no point
// where nothing follows it.
func decimalText(value *big.Rat) string {
	digits, exact := value.FloatPrec()
	if !exact {
		digits = 6
	}
	text := value.FloatString(digits)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
