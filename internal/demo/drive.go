package demo

import (
	"slices"
	"strconv"
	"time"
)

// A promotion returns every year: for some months, ads of a category move from
// their ordinary campaigns, which rest, to one of that season.
type promotion struct {
	name, german string
	category     int
	from         time.Month
	months       int
	adTypes      []adType
}

// One promotion or another is always on.
var promotions = [...]promotion{
	{"New Year", "Neujahr", 2, time.January, 2, []adType{sponsored, brands}},
	{"Spring", "Frühling", 3, time.March, 3, []adType{sponsored, brands}},
	{"Summer", "Sommer", 4, time.June, 3, []adType{sponsored, brands}},
	{"Autumn", "Herbst", 5, time.September, 2, []adType{sponsored, brands}},
	{"Holiday", "Weihnachten", 0, time.November, 2, []adType{sponsored, brands, display}},
}

// A drive is the promotion of one year.
type drive struct {
	*promotion
	span
}

// drives lists those of a category that were planned within the span and had
// not ended before it.
func drives(t adType, category int, s span) []drive {
	var out []drive
	firstYear, _, _ := s.first.civil()
	lastYear, _, _ := s.last.civil()
	for i := range promotions {
		p := &promotions[i]
		if p.category != category || !slices.Contains(p.adTypes, t) {
			continue
		}
		for year := firstYear - 1; year <= lastYear+1; year++ {
			d := drive{p, span{civil(year, p.from, 1), civil(year, p.from+time.Month(p.months), 1) - 1}}
			if d.planned() <= s.last && d.last >= s.first {
				out = append(out, d)
			}
		}
	}
	return out
}

func (d drive) label(german bool) string {
	name := d.name
	if german {
		name = d.german
	}
	year, _, _ := d.first.civil()
	return name + " " + strconv.Itoa(year)
}

// planned is the day on which its campaigns are made.
func (d drive) planned() day { return d.first - 6 }

// state is how its campaigns stand on a day: they are put away some days after
// the end.
func (d drive) state(on day) string {
	switch {
	case on <= d.last:
		return enabled
	case on <= d.last+10:
		return paused
	}
	return archived
}

func (s span) has(d day) bool { return s.first <= d && d <= s.last }
