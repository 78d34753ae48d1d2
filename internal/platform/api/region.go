package api

import (
	"fmt"
	"slices"
	"strings"

	"adlens/internal/platform"
)

// Region is one of the platform's three groups of countries. A profile is
// listed and usable only in its own region.
type Region string

// The regions.
const (
	NA Region = "NA" // US CA MX BR
	EU Region = "EU" // Europe, Middle East, Africa, India
	FE Region = "FE" // JP AU SG
)

// countries are those of each region (the API overview of the platform, API hosts).
var countries = map[Region][]string{
	NA: {"US", "CA", "MX", "BR"},
	EU: {"UK", "FR", "IT", "ES", "DE", "NL", "AE", "PL", "TR", "EG", "SA", "SE", "BE", "IN", "ZA", "IE"},
	FE: {"JP", "AU", "SG"},
}

// RegionOf returns the region of a country, by the platform's code for it.
func RegionOf(country string) (Region, bool) {
	for region, all := range countries {
		if slices.Contains(all, country) {
			return region, true
		}
	}
	return "", false
}

// addresses are where a region's API is reached, where its access tokens are
// issued, and where people consent.
var addresses = map[Region]struct{ base, token, consent string }{
	NA: {"https://advertising-api.amazon.com", "https://api.amazon.com/auth/o2/token", "https://www.amazon.com/ap/oa"},
	EU: {"https://advertising-api-eu.amazon.com", "https://api.amazon.co.uk/auth/o2/token", "https://eu.account.amazon.com/ap/oa"},
	FE: {"https://advertising-api-fe.amazon.com", "https://api.amazon.co.jp/auth/o2/token", "https://apac.account.amazon.com/ap/oa"},
}

// ParseRegion reads NA, EU or FE in any case.
func ParseRegion(text string) (Region, error) {
	region := Region(strings.ToUpper(text))
	if _, ok := addresses[region]; !ok {
		return "", &Error{Kind: Invalid, Reason: fmt.Sprintf("the region is %q, expected NA, EU or FE", platform.ClipText(text, 40))}
	}
	return region, nil
}
