package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/loader"
)

// figureKey names a figure: its level (fact, day, month or year, and in capitals
// month or year by ad group), slice, time, and what it is of.
type figureKey struct {
	level   string // the table
	profile string
	product adlens.AdProduct
	start   adlens.Day

	asin, campaign, adGroup string
}

// answers is all that can be asked of an account.
type answers struct {
	figures map[figureKey][summed]uint64
	texts   map[string]string
}

// expected computes, in the plainest way, what is to be answered once files
// were loaded in this order. Lists have the times at which they were read.
func (u *universe) expected(loaded []loadedFile) *answers {
	a := &answers{map[figureKey][summed]uint64{}, map[string]string{}}
	rates, asOf, currencies := map[rateKey]uint64{}, map[rateKey]adlens.Day{}, map[string]string{"US": "USD"}
	var reports []*report
	lists := map[[3]string]loadedFile{} // by table, profile and ad product
	for _, l := range loaded {
		f := u.files[l.file]
		for _, p := range f.profiles {
			currencies[p.id] = p.currency
			a.texts["profile "+p.id] = p.name
		}
		for key, rate := range f.rates {
			if f.asOf >= asOf[key] {
				rates[key], asOf[key] = rate, f.asOf
			}
		}
		for id, text := range f.texts {
			if a.texts[f.kind+" "+id] = text; text == "" {
				delete(a.texts, f.kind+" "+id)
			}
		}
		switch {
		case f.report != nil && !slices.Contains(reports, f.report):
			reports = append(reports, f.report)
		case f.list != nil:
			for _, table := range f.list.tables() {
				name := [3]string{table, f.list.profile, fmt.Sprint(f.list.brands)}
				if held, ok := lists[name]; !ok || !l.at.Before(held.at) && (l.at.After(held.at) || f.list.version > u.files[held.file].list.version) {
					lists[name] = l
				}
			}
		}
	}
	for key, rate := range rates {
		a.texts[key.text()] = fmt.Sprint(rate)
	}
	for name, l := range lists {
		u.files[l.file].list.answer(a, name[0])
	}
	for _, r := range reports {
		r.holdDays(a, reports)
	}
	for day, places := range placesOfDays(reports) {
		a.addDay(day, places, rateOn(rates, currencies[day.profile], day.start))
	}
	return a
}

// loadedFile is a file that counts as loaded; at is when its list was made.
type loadedFile struct {
	file int
	at   time.Time
}

// settled leaves out loads that change nothing: all but the last of a file, or of a list
// as of a time, and reports that speak on no day. What is left is in the order of kinds,
// which do not touch each other, and reports in that of files, since the newest speaks,
// whenever it was loaded. So states with equal answers mostly have one form.
func (u *universe) settled(loaded []loadedFile) (settled []loadedFile) {
	var reports []*report
	for _, l := range slices.Backward(loaded) {
		f := u.files[l.file]
		if f.list == nil {
			l.at = time.Time{}
		}
		if slices.Contains(settled, l) {
			continue
		}
		if settled = append(settled, l); f.report != nil {
			reports = append(reports, f.report)
		}
	}
	settled = slices.DeleteFunc(settled, func(l loadedFile) bool {
		r := u.files[l.file].report
		return r != nil && !slices.ContainsFunc(r.days(), func(day adlens.Day) bool { return r.speaksOn(day, reports) })
	})
	slices.Reverse(settled)
	slices.SortStableFunc(settled, func(x, y loadedFile) int {
		if kinds := cmp.Compare(u.files[x.file].kind, u.files[y.file].kind); kinds != 0 || u.files[x.file].report == nil {
			return kinds
		}
		return cmp.Compare(x.file, y.file)
	})
	return settled
}

// readLists are the lists that a reading brought: the second one failed to read the
// campaigns, and all that are empty.
func (l *list) readLists() []loader.ListName {
	return slices.DeleteFunc(loader.ListNames(), func(n loader.ListName) bool {
		return l.version == 1 && (n.Entity == platform.Campaigns || n.AdProduct != adlens.SponsoredProducts)
	})
}

// tables are those with rows of the list.
func (l *list) tables() (all []string) {
	if l.entity == "campaigns" {
		return []string{"campaigns"}
	}
	for _, name := range l.readLists() {
		if name.AdProduct == adlens.SponsoredProducts {
			all = append(all, tableOfEntity[name.Entity])
		}
	}
	return all
}

var tableOfEntity = map[platform.Entity]string{platform.Campaigns: "campaigns", platform.AdGroups: "ad_groups", platform.Ads: "ads"}

// answer adds the list's rows of one table.
func (l *list) answer(a *answers, table string) {
	if l.brands {
		for id, legacy := range brandsCampaigns {
			a.texts[fmt.Sprintf("campaigns %s 2 %s", l.profile, id)] = map[bool]string{true: "v" + legacyMark, false: "v"}[legacy]
		}
		return
	}
	if l.entity == "campaigns" {
		for i := range 2 + l.version {
			a.texts[fmt.Sprintf("campaigns %s 1 c%d", l.profile, i)] = fmt.Sprint("v", l.version)
		}
		return
	}
	for i := range 2 + l.version%2 {
		text := fmt.Sprint("v", l.version)
		if table == "campaigns" && i == 0 {
			text += legacyMark
		}
		a.texts[fmt.Sprintf("%s %s 1 x%d", table, l.profile, i)] = text
	}
}

// holdDays adds of which report each day is held: no other report of its slice that
// covers the day is newer.
func (r *report) holdDays(a *answers, all []*report) {
	for _, day := range r.days() {
		if r.speaksOn(day, all) {
			a.texts[heldKey(r.profile, r.productReported(), day)] = r.id
		}
	}
}

func (r *report) days() (days []adlens.Day) {
	for day := r.start; day <= r.end; day++ {
		days = append(days, day)
	}
	return days
}

// heldKey names a day of which a report is held, with rows or without.
func heldKey(profile string, product adlens.AdProduct, day adlens.Day) string {
	return fmt.Sprintf("held %s %d %s", profile, product, day)
}

// rateOn is in ten-thousandths of a dollar: the nearest rate of the last seven days
// that was loaded by hand, else the nearest that was fetched.
func rateOn(rates map[rateKey]uint64, currency string, day adlens.Day) uint64 {
	for _, fetched := range []bool{false, true} {
		for back := range adlens.Day(8) {
			if rate, ok := rates[rateKey{currency, fetched, day - back}]; ok {
				return rate
			}
		}
	}
	return 10_000
}

func (a *answers) add(key figureKey, sums [summed]uint64) {
	total := a.figures[key]
	for i := range sums {
		total[i] += sums[i]
	}
	a.figures[key] = total
}

func (r *report) beats(other *report, day adlens.Day) bool {
	if r.profile != other.profile || r.product != other.product || r.legacy != other.legacy || day < r.start || day > r.end {
		return false
	}
	if r.id == other.id {
		return r.adGroups && !other.adGroups
	}
	return r.generated.After(other.generated) || r.generated.Equal(other.generated) && r.id > other.id
}
