package adlens

import "fmt"

// AdProduct is one of the platform's kinds of advertising.
type AdProduct uint8

// The ad products that figures are kept for. The numbers are stored.
const (
	SponsoredProducts AdProduct = iota + 1
	SponsoredBrands
	SponsoredDisplay
)

// AdProducts lists all ad products in the order of their names' use.
var AdProducts = []AdProduct{SponsoredProducts, SponsoredBrands, SponsoredDisplay}

var adProductNames = map[AdProduct]string{
	SponsoredProducts: "SPONSORED_PRODUCTS",
	SponsoredBrands:   "SPONSORED_BRANDS",
	SponsoredDisplay:  "SPONSORED_DISPLAY",
}

// String returns the platform's name of the ad product.
func (p AdProduct) String() string {
	if name, ok := adProductNames[p]; ok {
		return name
	}
	return fmt.Sprintf("AdProduct(%d)", uint8(p))
}

// ParseAdProduct returns the ad product of a platform name.
func ParseAdProduct(name string) (AdProduct, bool) {
	for _, p := range AdProducts {
		if p.String() == name {
			return p, true
		}
	}
	return 0, false
}
