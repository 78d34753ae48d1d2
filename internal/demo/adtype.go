package demo

// An adType is one of the platform's ad products, by the report that the
// figures come from.
type adType int

const (
	sponsored adType = iota // Sponsored Products
	brands
	display
)

var adTypes = [...]struct{ slug, short, adProduct, reportType, groupBy string }{
	sponsored: {"sponsored-products", "SP", "SPONSORED_PRODUCTS", "spAdvertisedProduct", "advertiser"},
	brands:    {"sponsored-brands", "SB", "SPONSORED_BRANDS", "sbCampaigns", "campaign"},
	display:   {"sponsored-display", "SD", "SPONSORED_DISPLAY", "sdAdvertisedProduct", "advertiser"},
}

func (t adType) slug() string  { return adTypes[t].slug }
func (t adType) short() string { return adTypes[t].short }

// A teller tells the figures of one market and ad type. It is shared by all
// workers and only read.
type teller interface {
	columns() []string
	// tell adds the rows of a day.
	tell(a *array, s *scene)
	// listed are the campaigns that the rows are of.
	listed() []*campaign
}

func newTeller(s *setup, list []*product) teller {
	switch s.adType {
	case sponsored:
		return newProductAds(s, list)
	case brands:
		return newBrandAds(s, list)
	default:
		return newDisplayAds(s, list)
	}
}
