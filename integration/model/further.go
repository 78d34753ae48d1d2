package model

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strings"
)

// furtherMeasure is a measure that reports have beside those of the headline.
type furtherMeasure struct {
	kind       kind
	column     string   // the platform's name
	AdProducts []string // whose reports have it
}

// IsMoney reports whether the measure is an amount in the marketplace's own currency.
func (m furtherMeasure) IsMoney() bool { return m.kind == money }

var (
	ofProducts         = []string{"SPONSORED_PRODUCTS"}
	ofBrandsAndDisplay = []string{"SPONSORED_BRANDS", "SPONSORED_DISPLAY"}
)

// FurtherMeasures are those that extracts have, and one that none has, by the names
// that the contract gives them.
var FurtherMeasures = map[string]furtherMeasure{
	"purchases_7d":          {counted, "purchases7d", ofProducts},
	"purchases_14d":         {counted, "purchases14d", ofProducts},
	"sales_7d":              {money, "sales7d", ofProducts},
	"sales_14d":             {money, "sales14d", ofProducts},
	"units_sold_clicks_7d":  {counted, "unitsSoldClicks7d", ofProducts},
	"units_sold_clicks_14d": {counted, "unitsSoldClicks14d", ofProducts},
	"purchases_clicks":      {counted, "purchasesClicks", ofBrandsAndDisplay},
	"sales_clicks":          {money, "salesClicks", ofBrandsAndDisplay},
	"units_sold":            {counted, "unitsSold", ofBrandsAndDisplay},
	"video_unmutes":         {counted, "videoUnmutes", ofBrandsAndDisplay},
}

// readFurther reads the further measures of a row of a report that was asked for them.
func readFurther(line map[string]any, columns []string, adProduct string) map[string]*big.Rat {
	read := map[string]*big.Rat{}
	for name, m := range FurtherMeasures {
		if slices.Contains(columns, m.column) && slices.Contains(m.AdProducts, adProduct) {
			read[name] = parseDecimal(line[m.column])
		}
	}
	return read
}

// shareFurther are the further measures of a product's day, by holder: counts as they
// are, amounts in millionths.
func shareFurther(parts []*own) []map[string]*big.Rat {
	shares := make([]map[string]*big.Rat, len(parts))
	for i := range parts {
		shares[i] = map[string]*big.Rat{}
	}
	for name, m := range FurtherMeasures {
		var amounts []*big.Rat
		var has []int // which parts have it: those of one report
		for i, part := range parts {
			if amount := part.further[name]; amount != nil {
				amounts, has = append(amounts, amount), append(has, i)
			}
		}
		micros := shareMicros(amounts, big.NewRat(1, 1))
		for n, i := range has {
			if shares[i][name] = microsToDollars(micros[n]); m.kind == counted {
				shares[i][name] = amounts[n]
			}
		}
	}
	return shares
}

// Currencies are those of the marketplaces that a request is about, sorted.
func (a *Account) Currencies(q url.Values) (all []string) {
	wanted := listParam(q, "marketplaces")
	for _, p := range a.profiles {
		if passesFilter(wanted, p.country) || passesFilter(wanted, p.id) {
			all = append(all, p.currency)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// setCurrency finds out in what amounts are, and puts it into an answer.
func (a *Account) setCurrency(r *request, q url.Values) error {
	currencies := a.Currencies(q)
	r.currency, r.local = "USD", choiceParam(q, "currency", "usd") == "local"
	if !r.local {
		return nil
	}
	r.currency = ""
	switch {
	case len(currencies) == 1:
		r.currency = currencies[0]
	case len(currencies) > 1:
		if r.isMixed = slices.Contains(wordsParam(q, "dimensions"), "marketplace"); !r.isMixed {
			return fmt.Errorf("model: amounts of %s have no sum", strings.Join(currencies, ", "))
		}
	}
	return nil
}

// setLacks puts into a meta what figures of a request are not of: whose reports of the
// period leave out campaigns or lack a further measure, and which days are not held.
func (a *Account) setLacks(meta map[string]any, r request) {
	var incomplete, notHeld []any
	var profiles []profile
	for _, p := range a.profiles {
		profiles = append(profiles, p)
	}
	slices.SortFunc(profiles, func(x, y profile) int { return cmp.Or(cmp.Compare(x.country, y.country), cmp.Compare(x.id, y.id)) })
	for _, p := range profiles {
		for _, adProduct := range []string{"SPONSORED_BRANDS", "SPONSORED_DISPLAY", "SPONSORED_PRODUCTS"} {
			if !passesFilter(r.adProducts, adProduct) || !passesFilter(r.marketplaces, p.country) && !passesFilter(r.marketplaces, p.id) {
				continue
			}
			part := map[string]any{"marketplace": p.country, "marketplace_id": p.id, "ad_product": adProduct}
			if days := a.notHeld(r, p.id, adProduct); days != nil {
				one := maps.Clone(part)
				one["start_date"], one["end_date"], one["days"] = days[0], days[len(days)-1], jsonCount(len(days))
				notHeld = append(notHeld, one)
			}
			if left := a.leftOut(r, p.id, adProduct); left != nil {
				one := maps.Clone(part)
				one["reason"], one["campaign_count"], one["campaigns"] = "legacy_sponsored_brands", jsonCount(len(left)), left[:min(len(left), 10)]
				incomplete = append(incomplete, one)
			}
			if lacking := a.lackedBy(r, p.id, adProduct); lacking != nil {
				part["reason"], part["figures"] = "measure_not_reported", textsOrEmpty(lacking)
				incomplete = append(incomplete, part)
			}
		}
	}
	if incomplete != nil {
		meta["incomplete"] = incomplete
	}
	if notHeld != nil {
		meta["not_held"] = notHeld
	}
}

// notHeld are the days of the period and of the one that it is compared with that no
// report of an ad product in a marketplace covers, though one covers an earlier day, and one
// of any a later day or that one.
func (a *Account) notHeld(r request, profile, adProduct string) (days []string) {
	all := slices.Collect(maps.Values(a.reports))
	isIn := func(p Period, day string) bool { return p.Start <= day && day <= p.End }
	oldest, newest := a.Held()
	for day := oldest; oldest != "" && day <= newest; day = AddDays(day, 1) {
		if !isIn(r.period, day) && (r.compare == nil || !isIn(r.compare.Period, day)) {
			continue
		}
		has := func(covers func(*report) bool) bool {
			return slices.ContainsFunc(all, func(one *report) bool {
				return one.profile == profile && one.adProduct == adProduct && !one.legacy && covers(one)
			})
		}
		if has(func(one *report) bool { return one.start < day }) && !has(func(one *report) bool { return one.start <= day && day <= one.end }) {
			days = append(days, day)
		}
	}
	return days
}

// leftOut are the listed campaigns of Sponsored Brands that its reports leave out, by
// name and id: of the form with one ad group, and with a day of the period, from
// their first to their last, for which a report speaks; and those of which no list says
// the form, and a legacy report has figures that the v3 report does not have. With a
// search they are those alone whose names contain its text, where it looks in names of
// campaigns.
func (a *Account) leftOut(r request, profile, adProduct string) (all []any) {
	isFound := r.search == "" || slices.Contains(r.dimensions, "campaign")
	if adProduct != "SPONSORED_BRANDS" || r.ids["ad_group"] != nil || r.ids["product"] != nil || !isFound {
		return nil
	}
	periods := []Period{r.period}
	if r.compare != nil {
		periods = append(periods, r.compare.Period)
	}
	list := a.currentExport(profile, "campaigns", adProduct)
	rows := a.unsaidIn(periods, profile, list, r.ids["campaign"])
	if list == nil {
		list = &export{}
	}
	for _, row := range list.rows {
		id := row.memberText("campaignId")
		several, said := row["isMultiAdGroupsEnabled"].(bool)
		if !said { // then any other list counts
			one, _ := a.formOf(profile, id)
			several = !one
		}
		if several || row.memberText("adProduct") != adProduct || !passesFilter(r.ids["campaign"], id) {
			continue
		}
		ran := func(p Period) bool {
			first, last := max(p.Start, row.memberText("startDate")), p.End
			if end := row.memberText("endDate"); end != "" {
				last = min(last, end)
			}
			for day := first; day <= last; day = AddDays(day, 1) {
				if a.speaksFor(profile, adProduct, day, false) != nil && !a.hasLegacy(profile, day) {
					return true
				}
			}
			return false
		}
		if slices.ContainsFunc(periods, ran) {
			rows = append(rows, map[string]any{"name": row.memberText("name"), "campaign_id": id})
		}
	}
	byName(rows, "campaign_id")
	for _, row := range rows {
		if contains(row["name"].(string), r.search) {
			all = append(all, map[string]any{"campaign_id": row["campaign_id"], "campaign_name": row["name"]})
		}
	}
	return all
}

// lackedBy are the further measures that a report lacks which speaks for a day.
func (a *Account) lackedBy(r request, profile, adProduct string) (lacking []string) {
	speaking := map[*report]bool{}
	for _, one := range a.reports {
		if one.profile != profile || one.adProduct != adProduct {
			continue
		}
		periods := []Period{r.period}
		if r.compare != nil {
			periods = append(periods, r.compare.Period)
		}
		for _, p := range periods {
			for day := max(one.start, p.Start); day <= min(one.end, p.End); day = AddDays(day, 1) {
				if a.currentReport(one, day) == one && (!one.legacy || a.hasLegacy(profile, day)) {
					speaking[one] = true
				}
			}
		}
	}
	for _, name := range r.further {
		for one := range speaking {
			if !slices.Contains(one.columns, FurtherMeasures[name].column) && !slices.Contains(lacking, name) {
				lacking = append(lacking, name)
			}
		}
	}
	return lacking
}
