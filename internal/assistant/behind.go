package assistant

import (
	"fmt"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/query"

	"github.com/go-json-experiment/json/jsontext"
)

// lastDay is the newest day that is held of an ad product in a marketplace, and the oldest.
type lastDay struct {
	marketplace query.Marketplace
	product     adlens.AdProduct
	first, day  adlens.Day
}

// lastDays returns those of the call's marketplaces and ad products, and the newest one.
func (c call) lastDays() (all []lastDay, newest adlens.Day) {
	for _, m := range c.moment.Marketplaces {
		for _, p := range adlens.AdProducts {
			if first, day, held := c.moment.HeldDays(m.ID, p); held && c.namesMarketplace(m) && c.namesAdProduct(p) {
				all, newest = append(all, lastDay{m, p, first, day}), max(newest, day)
			}
		}
	}
	return all, newest
}

// maxLag is how many days behind the newest one the last day of what goes on may be. What is
// further behind is as good as ended: no period moves into the past for it.
const maxLag = 2

func (l lastDay) hasEnded(newest adlens.Day) bool { return l.day < newest-maxLag }

// lastHeldTogether returns the newest day up to a last one that is held of all the call's
// marketplaces and ad products that go on: the last one itself where nothing is held.
func (c call) lastHeldTogether(last adlens.Day) adlens.Day {
	all, newest := c.lastDays()
	for _, one := range all {
		if !one.hasEnded(newest) {
			last = min(last, one.day)
		}
	}
	return last
}

// setBehind says which marketplaces of the call, and which ad products of the others,
// have their last day before the period's end and the newest day held: what follows is
// not held there, and is no fall.
func (c call) setBehind(f *frame) error {
	_, end, err := daysOf(f.Period)
	if err != nil {
		return err
	}
	_, newest, held := c.moment.HeldSpan()
	if !held {
		return nil
	}
	end = min(end, newest)
	all, _ := c.lastDays()
	for _, m := range c.moment.Marketplaces {
		if !c.namesMarketplace(m) {
			continue
		}
		add := func(product, last jsontext.Value) {
			f.Behind = append(f.Behind, []jsontext.Value{textValue(m.Country), textValue(m.ID), product, last})
		}
		days := daysIn(all, m)
		hasOthers := slices.ContainsFunc(adlens.AdProducts, func(p adlens.AdProduct) bool {
			_, _, held := c.moment.HeldDays(m.ID, p)
			return held && !c.namesAdProduct(p)
		})
		if null := jsontext.Value("null"); len(days) == 0 && !hasOthers { // nothing is held
			add(null, null)
			continue
		} else if last := newestOf(days); last < end && !hasOthers {
			add(null, textValue(last.String()))
			continue
		}
		for _, one := range days {
			if one.day < end {
				add(textValue(one.product.String()), textValue(one.day.String()))
			}
		}
	}
	return nil
}

// daysIn returns the last days in a marketplace.
func daysIn(all []lastDay, m query.Marketplace) (some []lastDay) {
	for _, one := range all {
		if one.marketplace.ID == m.ID {
			some = append(some, one)
		}
	}
	return some
}

func newestOf(all []lastDay) (newest adlens.Day) {
	for _, one := range all {
		newest = max(newest, one.day)
	}
	return newest
}

// explainBehind says of which marketplaces and ad products days are not held that would be
// a fall: those that are behind, and had or could have had figures in the earlier period.
// What has ended is to be left out; of the rest an earlier period can be explained, in which
// no other days are missing. "" where there are none.
func (c call) explainBehind(f frame) (string, error) {
	start, end, err := comparedDays(f)
	if err != nil {
		return "", err
	}
	_, newestHeld, _ := c.moment.HeldSpan()
	all, newest := c.lastDays()
	missing := func(hasEnded bool) (some []lastDay) {
		for _, one := range all {
			if start <= one.day && one.day < min(end, newestHeld) && one.hasEnded(newest) == hasEnded {
				some = append(some, one)
			}
		}
		return some
	}
	behind, together := missing(false), c.lastHeldTogether(end)
	if len(behind) > 0 {
		start -= end - together // of a period as long that ends on that day
	}
	var clauses []string
	if ended := missing(true); len(ended) > 0 {
		names, areMarketplaces := nameBehind(ended, all, start)
		others := "marketplaces or ad_products"
		if areMarketplaces {
			others = "marketplaces"
		}
		clauses = append(clauses, "days of "+names+" are not held, and are no fall; send the others as "+others)
	}
	if len(behind) > 0 {
		names, _ := nameBehind(behind, all, start)
		clauses = append(clauses, fmt.Sprintf("days of %s are not held, and are no fall; send start_date and an end_date up to %s, or choose others by marketplaces or ad_products", names, together))
	}
	return strings.Join(clauses, "; also, "), nil
}

// comparedDays returns the earlier period's first day and the period's last one.
func comparedDays(f frame) (start, end adlens.Day, err error) {
	start, _, err = daysOf(f.ComparedWith)
	if err == nil {
		_, end, err = daysOf(f.Period)
	}
	return start, end, err
}

// explainBegun says of which marketplaces and ad products the first day that is held is in
// one of the periods, after the earlier one's first: the days before it would be a rise. ""
// where there are none.
func (c call) explainBegun(f frame) (string, error) {
	start, end, err := comparedDays(f)
	if err != nil {
		return "", err
	}
	var names []string
	all, _ := c.lastDays()
	for _, one := range all {
		if start < one.first && one.first <= end {
			names = append(names, fmt.Sprintf("%s (%s) %s before %s", one.marketplace.Country, one.marketplace.ID, one.product, one.first))
		}
	}
	if names == nil {
		return "", nil
	}
	return "days of " + strings.Join(names, ", ") + " are not held, and are no rise; send start_date and end_date of a period whose earlier one begins then or later, or choose others by marketplaces or ad_products", nil
}

// missingPart is an ad product of a marketplace of which days of the periods are not held, as
// the API's answer has it.
type missingPart struct {
	Country       string         `json:"marketplace"`
	MarketplaceID string         `json:"marketplace_id"`
	AdProduct     string         `json:"ad_product"`
	Reason        string         `json:"reason"`
	Start         string         `json:"start_date"`
	End           string         `json:"end_date"`
	Days          jsontext.Value `json:"days"`
}

// betweenHeld returns the parts of which days are missing before others that are held; what is
// behind is told otherwise.
func (c call) betweenHeld(missing []missingPart) []missingPart {
	all, _ := c.lastDays()
	return slices.DeleteFunc(missing, func(part missingPart) bool {
		return !slices.ContainsFunc(all, func(one lastDay) bool {
			return one.marketplace.ID == part.MarketplaceID && one.product.String() == part.AdProduct && part.Start < one.day.String()
		})
	})
}

// explainMissing says of which marketplaces and ad products days of the periods are not held
// between others: they would be a fall or a rise. "" where there are none.
func explainMissing(missing []missingPart) string {
	if len(missing) == 0 {
		return ""
	}
	names := make([]string, len(missing))
	for i, part := range missing {
		names[i] = fmt.Sprintf("%s (%s) %s (%s from %s to %s)", part.Country, part.MarketplaceID, part.AdProduct, part.Days, part.Start, part.End)
	}
	return "days of " + strings.Join(names, ", ") + " are not held, and are no fall and no rise; send start_date and end_date of a period without them, also in the earlier one, or choose others by marketplaces or ad_products"
}

// nameBehind names last days by marketplace, with the ad product where the marketplace has
// others in a period from a day on; areMarketplaces is whether it has none anywhere.
func nameBehind(behind, all []lastDay, start adlens.Day) (names string, areMarketplaces bool) {
	var parts []string
	areMarketplaces = true
	for i, one := range behind {
		inPeriod := slices.DeleteFunc(daysIn(all, one.marketplace), func(l lastDay) bool { return l.day < start })
		these := daysIn(behind, one.marketplace)
		name := one.marketplace.Country + " (" + one.marketplace.ID + ")"
		switch {
		case len(these) < len(inPeriod):
			name += " " + one.product.String()
			areMarketplaces = false
		case i > 0 && behind[i-1].marketplace.ID == one.marketplace.ID: // it is named
			continue
		default:
			one.day = newestOf(these)
		}
		parts = append(parts, name+" after "+one.day.String())
	}
	return strings.Join(parts, ", "), areMarketplaces
}

// namesAdProduct reports whether an ad product is one of the call's, which are all where
// it names none.
func (c call) namesAdProduct(p adlens.AdProduct) bool {
	named := strings.ToUpper(strings.Join(c.args["ad_products"], ","))
	return strings.Trim(named, ", ") == "" || strings.Contains(named, p.String())
}

// namesMarketplace reports whether a marketplace is one of the call's, which are all
// where it names none.
func (c call) namesMarketplace(m query.Marketplace) bool {
	named := strings.Split(strings.Join(c.args["marketplaces"], ","), ",")
	return slices.ContainsFunc(named, func(name string) bool { return strings.TrimSpace(name) == "" || isNameOf(name, m.ID, m.Country) })
}

// isMarketplace reports whether a name is that of a marketplace in an answer.
func isMarketplace(m object, name string) bool {
	return isNameOf(name, textOf(m.values["marketplace_id"]), textOf(m.values["country_code"]))
}

// isNameOf reports whether a name is a marketplace's id or country, as the API reads them.
func isNameOf(name, id, country string) bool {
	name = strings.TrimSpace(name)
	return name == id || adlens.CanonicalCountry(strings.ToUpper(name)) == country
}
