package demo

// A listing is an ad as the platform lists it, in one ad group.
type listing struct {
	id       int64 // 0 where the platform gave none, as for old brand campaigns
	group    *adGroup
	form     string
	product  *product // that it is for, or nil
	products []string // that its creative shows
}

func (l *listing) firstProduct() string {
	if len(l.products) == 0 {
		return ""
	}
	return l.products[0]
}

// productListing is the listing of an ad for one product.
func productListing(id int64, p *product) listing {
	return listing{id: id, form: "PRODUCT_AD", product: p, products: []string{p.id}}
}

// stations are where an ad stands: at home, or for a while in a drive.
type stations struct {
	home *listing
	away []station
}

type station struct {
	span
	*listing
}

// on finds where the ad stands on a day.
func (s *stations) on(d day) *listing {
	for i := range s.away {
		if s.away[i].has(d) {
			return s.away[i].listing
		}
	}
	return s.home
}
