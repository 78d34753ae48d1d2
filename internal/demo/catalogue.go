package demo

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"adlens"
	"adlens/internal/made"
)

const (
	places    = 200 // on the shelf
	evergreen = 165 // places whose product is always there
)

// A product is sold from its first to its last day.
type product struct {
	id       string
	title    string // empty where the catalogue does not know it
	category int
	place    int
	dollars  float64 // list price
	from     adlens.Day
	until    adlens.Day
}

// makeProducts fills the shelf for a span. Most places keep their product; in the
// others a product is launched, sold off and, after a pause, succeeded by
// another. Which product stands where on a day does not depend on the span.
func makeProducts(seed uint64, s span) []*product {
	var out []*product
	for place := range places {
		if place < evergreen {
			out = append(out, newProduct(seed, place, 0, math.MinInt32, math.MaxInt32))
			continue
		}
		r := newStream(seed, "place", strconv.Itoa(place))
		cycle := adlens.Day(600 + r.IntN(600))
		phase := adlens.Day(r.IntN(int(cycle)))
		pause := adlens.Day(20 + r.IntN(100))
		for n := (s.first - phase) / cycle; phase+n*cycle <= s.last; n++ {
			from := phase + n*cycle
			if until := from + cycle - pause; until >= s.first {
				out = append(out, newProduct(seed, place, int(n), from, until))
			}
		}
	}
	return out
}

func newProduct(seed uint64, place, generation int, from, until adlens.Day) *product {
	p := &product{id: productID(place, generation), place: place, category: place % len(categories), from: from, until: until}
	r := newStream(seed, "product", p.id)
	c := &categories[p.category]
	p.dollars = min(max(c.price*jitterFactor(r, 0.5), 8), 190)
	switch {
	case place < len(oddTitles):
		p.title = oddTitles[place]
	case r.IntN(20) != 0:
		p.title = drawTitle(r, c)
	}
	return p
}

// productID writes the place and generation as ten characters of the
// platform's form. The odd factor scatters the numbers over all 32^4 tails and
// meets none twice.
func productID(place, generation int) string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	n := uint32(place+256*(generation%4096)) * 392113
	id := []byte("B0DEMO0000")
	for i := len(id) - 1; i >= len(id)-4; i-- {
		id[i] = digits[n%32]
		n /= 32
	}
	return string(id)
}

// reachShare is the share of its audience that a product reaches on a day: a
// launch takes weeks, and a sell-off fades.
func (p *product) reachShare(d adlens.Day) float64 {
	if d < p.from || d > p.until {
		return 0
	}
	launch := 0.15 + 0.85*(float64(d)-float64(p.from))/45
	fade := 0.20 + 0.80*(float64(p.until)-float64(d))/60
	return min(1, launch, fade)
}

// soldWithin reports whether the product is on the shelf within a span.
func (p *product) soldWithin(s span) bool { return p.from <= s.last && s.first <= p.until }

// demandRanks orders the places that a market sells by their demand: what sells well
// in one market mostly does in the others.
func demandRanks(seed uint64, m *market) map[int]int {
	type entry struct {
		place int
		score float64
	}
	var sold []entry
	for place := range places {
		everywhere := newStream(seed, "demand", strconv.Itoa(place)).Float64()
		here := newStream(seed, "demand", strconv.Itoa(place), m.country)
		if here.Float64() < m.share {
			sold = append(sold, entry{place, 0.6*everywhere + 0.4*here.Float64()})
		}
	}
	slices.SortFunc(sold, func(a, b entry) int { return cmp.Compare(b.score, a.score) })
	out := make(map[int]int, len(sold))
	for rank, e := range sold {
		out[e.place] = rank
	}
	return out
}

// titlesCSV lists the titles of the products that are known by one.
func titlesCSV(list []*product) ([]byte, error) {
	var rows [][]string
	for _, p := range list {
		if p.title != "" {
			rows = append(rows, []string{p.id, p.title})
		}
	}
	return made.Titles(rows)
}

// displayName is what a product is called: its title, or its id without one.
func (p *product) displayName() string { return cmp.Or(p.title, p.id) }
