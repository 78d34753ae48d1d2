package simulation

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/loader"
)

// universe is all files that are ever loaded, with what is in them as the
// plain model knows it.
type universe struct {
	files  []*extract
	single int            // of the files, those before a report's other objects
	drafts string         // a directory
	paths  map[string]int // by path
	lines  map[int][]ledgerRow
}

// linesOf are the ledger's lines of files.
func (u *universe) linesOf(files []int) (all []ledgerRow) {
	for _, f := range files {
		all = append(all, u.lines[f]...)
	}
	return all
}

// extract is one file of an extract, or lists that were read from the platform.
type extract struct {
	kind     string // profiles, rates, bank rates, titles, report, export, rules, lists
	path     string
	profiles []profile
	rates    map[rateKey]uint64 // in ten-thousandths of a dollar
	report   *report
	texts    map[string]string // titles and rules; "" for a deleted rule
	list     *list
}

type profile struct{ id, country, currency, name string }

type rateKey struct {
	currency string
	fetched  bool // not loaded by hand
	day      adlens.Day
}

func (k rateKey) text() string { return fmt.Sprint("rate ", k.currency, " ", k.fetched, " ", k.day) }

type report struct {
	id, profile string
	product     adlens.AdProduct
	legacy      bool // of version 2
	start, end  adlens.Day
	generated   time.Time
	adGroups    bool // its object has their column
	rows        []reportRow
	download    string // whose objects may be several
}

// reportRow has amounts in ten-millionths of the profile's currency, so that dollars have
// more than the six decimals that are kept.
type reportRow struct {
	day                            adlens.Day
	asin                           string
	campaign, adGroup              string // "" for none
	impressions, clicks, purchases uint64
	spend, sales                   uint64
}

// list is a whole list of one entity, or with entity "" all three, but for those
// that the platform did not give.
type list struct {
	entity, profile string
	brands          bool // of Sponsored Brands, else of Sponsored Products
	generated       time.Time
	version         int
}

// Places of files that runs begin with.
const (
	baseProfiles = iota
	baseRates
	baseBankRates
	baseBrands // which of their campaigns have one ad group
	firstOther
)

const (
	profileUS = "1001"
	profileDE = "2002"
)

// writeUniverse writes all files below a directory.
func writeUniverse(dir string) (*universe, error) {
	u := &universe{paths: map[string]int{}, drafts: dir}
	b := &builder{u: u, dir: dir, random: rand.New(rand.NewPCG(4, 2))}
	b.profiles("Lamps")
	b.ratesFile(map[rateKey]uint64{}, 0)
	b.bankFile("eurofxref-hist.csv", 0)
	b.brandsList()
	for i := range 16 {
		b.reportFile(i)
	}
	for i := range 6 {
		b.brandsReport(i)
	}
	b.ratesFile(map[rateKey]uint64{}, 1)
	b.ratesFile(map[rateKey]uint64{}, 2)
	b.bankFile("eurofxref.csv", 1)
	b.titles(map[string]string{"A1": "a lamp", "A2": "two lamps"})
	b.titles(map[string]string{"A2": "a pair of lamps", "A3": "shade"})
	b.rules("rule-1 on", "rule-2 on")
	b.rules("rule-2 off", "rule-3 on", "rule-1 deleted")
	b.profiles("Lights")
	for i := range 3 {
		b.export(i)
	}
	for i := range 3 {
		u.files = append(u.files, &extract{kind: "lists", list: &list{profile: profileDE, version: i}})
	}
	b.lesserObjects()
	for i, f := range u.files {
		if f.path != "" {
			u.paths[f.path] = i
		}
	}
	return u, b.err
}

type builder struct {
	u      *universe
	dir    string
	random *rand.Rand
	err    error
}

// add writes a file in a directory of its own.
func (b *builder) add(f *extract, contents map[string]string, name string) {
	dir := filepath.Join(b.dir, fmt.Sprintf("%02d", len(b.u.files)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.err = err
	}
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			b.err = err
		}
	}
	f.path = filepath.Join(dir, name)
	b.u.files = append(b.u.files, f)
}

func (b *builder) profiles(name string) {
	f := &extract{kind: "profiles", profiles: []profile{{profileUS, "US", "USD", name}, {profileDE, "DE", "EUR", name}}}
	var objects []string
	for _, p := range f.profiles {
		objects = append(objects, fmt.Sprintf(`{"profileId": %s, "countryCode": %q, "currencyCode": %q, "timezone": "Europe/Paris", "accountInfo": {"type": "seller", "name": %q}}`,
			p.id, p.country, p.currency, p.name))
	}
	b.add(f, map[string]string{"profiles.json": "[" + strings.Join(objects, ",") + "]"}, "profiles.json")
}

var (
	firstDay = adlens.Date(2025, time.November, 1)
	lastDay  = adlens.Date(2026, time.February, 28)
)

// bankFile writes rates of the European Central Bank for some days: later ones of
// some of them. Pegged currencies come along.
func (b *builder) bankFile(name string, version int) {
	rates := map[rateKey]uint64{}
	text := "Date,USD,JPY,\n"
	for day := lastDay; day > firstDay-8; day-- {
		if version > 0 && b.random.IntN(8) > 0 {
			continue
		}
		rate := uint64(15_000 + b.random.IntN(5000))
		rates[rateKey{"EUR", true, day}] = rate
		rates[rateKey{"AED", true, day}], rates[rateKey{"SAR", true, day}] = 2722, 2666 // cut to ten-thousandths
		text += fmt.Sprintf("%s,%d.%04d,N/A,\n", day, rate/10_000, rate%10_000)
	}
	b.add(&extract{kind: "bank rates", rates: rates}, map[string]string{name: text}, name)
}

// ratesFile writes rates of every fifth day but those of December, of which only
// later versions have some; they have some of the other days too.
func (b *builder) ratesFile(rates map[rateKey]uint64, version int) {
	text := "date,currency,usd\n"
	for day := firstDay - 5; day <= lastDay; day += 5 {
		if version == 0 && day.Time().Month() == time.December || version > 0 && b.random.IntN(4) > 0 {
			continue
		}
		rate := uint64(10_000 + b.random.IntN(5000))
		rates[rateKey{"EUR", false, day}] = rate
		text += fmt.Sprintf("%s,EUR,%d.%04d\n", day, rate/10_000, rate%10_000)
	}
	b.add(&extract{kind: "rates", rates: rates}, map[string]string{"rates.csv": text}, "rates.csv")
}

func (b *builder) reportFile(n int) {
	r := &report{id: fmt.Sprintf("r%02d", b.random.IntN(50)*20+n), profile: []string{profileUS, profileDE}[n%2],
		product: []adlens.AdProduct{adlens.SponsoredProducts, adlens.SponsoredDisplay}[n/2%4/3]}
	length := adlens.Day([]int{1, 4, 12, 45}[b.random.IntN(4)])
	r.start = firstDay + adlens.Day(b.random.IntN(int(lastDay-firstDay)))
	r.end = min(r.start+length-1, lastDay)
	r.generated = time.Date(2026, time.March, 1+b.random.IntN(3), 12, 0, 0, 0, time.UTC)
	rows, isConsole := b.random.IntN(7), n%5 == 0 && r.product == adlens.SponsoredProducts
	var text []string
	for range rows {
		row := reportRow{day: r.start + adlens.Day(b.random.IntN(int(r.end-r.start)+1)), asin: fmt.Sprintf("A%d", 1+b.random.IntN(6)),
			impressions: uint64(1 + b.random.IntN(1000)), clicks: uint64(b.random.IntN(50)), purchases: uint64(b.random.IntN(5)),
			spend: cent * uint64(b.random.IntN(10_000)), sales: cent * uint64(b.random.IntN(50_000))}
		row.campaign, row.adGroup = []string{"", "c1", "c2"}[row.clicks%3], []string{"", "g1", "g2", "g3"}[row.impressions%4]
		if !isConsole {
			row.addParts()
		}
		r.rows = append(r.rows, row)
		text = append(text, r.row(row))
	}
	if isConsole && len(r.rows) > 0 {
		b.consoleFile(r)
		return
	}
	r.adGroups, r.download = true, "["+strings.Join(text, ",")+"]"
	b.objectFile(r)
}

// consoleFile writes a report as the console does: without ids and range, and of the
// time that the file has.
func (b *builder) consoleFile(r *report) {
	text := "Date,Currency,Campaign Name,Advertised ASIN,Impressions,Clicks,Spend,7 Day Total Sales ,7 Day Total Orders (#)\n"
	r.start, r.end = r.rows[0].day, r.rows[0].day
	for i := range r.rows {
		row := &r.rows[i]
		row.campaign, row.adGroup = "", ""
		r.start, r.end = min(r.start, row.day), max(r.end, row.day)
		currency := map[string]string{profileUS: "USD", profileDE: "EUR"}[r.profile]
		text += fmt.Sprintf("%s,%s,c,%s,%d,%d,%s%s,%s,%d\n", row.day.Time().Format(`"Jan 02, 2006"`), currency, row.asin,
			row.impressions, row.clicks, currency, amountText(row.spend), amountText(row.sales), row.purchases)
	}
	r.id = fmt.Sprintf("console-sha256:%x", sha256.Sum256([]byte(text)))
	b.add(&extract{kind: "report", report: r}, map[string]string{"download.csv": text}, "download.csv")
	if err := os.Chtimes(b.u.files[len(b.u.files)-1].path, r.generated, r.generated); err != nil {
		b.err = err
	}
}

func (r *report) typeID() string {
	if r.product == adlens.SponsoredProducts {
		return "spAdvertisedProduct"
	}
	return "sdAdvertisedProduct"
}

func (r *report) columns() (asin, name, purchases, sales string) {
	if r.product == adlens.SponsoredProducts {
		return "advertisedAsin", "SPONSORED_PRODUCTS", "purchases7d", "sales7d"
	}
	return "promotedAsin", "SPONSORED_DISPLAY", "purchases", "sales"
}

func (r *report) row(row reportRow) string {
	asin, _, purchases, sales := r.columns()
	ids := ""
	for _, id := range [][2]string{{"campaignId", row.campaign}, {"adGroupId", row.adGroup}} {
		if id[1] != "" { // else the row does not say
			ids += fmt.Sprintf(",%q:%q", id[0], id[1])
		}
	}
	bought := fmt.Sprint(row.purchases)
	if row.purchases == 0 {
		bought = "null" // which is 0
	}
	return fmt.Sprintf(`{"date":%q,%q:%q%s,"impressions":%d,"clicks":%d,"cost":%s,%q:%s,%q:%s}`, row.day.String(), asin, row.asin, ids,
		row.impressions, row.clicks, amountText(row.spend), purchases, bought, sales, amountText(row.sales))
}

func (b *builder) titles(titles map[string]string) {
	f := &extract{kind: "titles", texts: map[string]string{}}
	text := "product_id,title\n"
	for _, id := range []string{"A1", "A2", "A3"} {
		if title, ok := titles[id]; ok {
			f.texts[id] = title
			text += id + "," + title + "\n"
		}
	}
	b.add(f, map[string]string{"products.csv": text}, "products.csv")
}

func (b *builder) rules(states ...string) {
	f := &extract{kind: "rules", texts: map[string]string{}}
	var text string
	for _, state := range states {
		id, status, _ := strings.Cut(state, " ")
		if status == "deleted" {
			f.texts[id] = ""
			text += fmt.Sprintf(`{"rule_id":%q,"deleted":true}`+"\n", id)
			continue
		}
		f.texts[id] = status
		text += fmt.Sprintf(`{"rule_id":%q,"name":"n","status":%q,"scope":{},"schedule":{},"edited_at":"2026-01-01T00:00:00Z"}`+"\n", id, status)
	}
	b.add(f, map[string]string{"rules.ndjson": text}, "rules.ndjson")
}

// export writes a list of campaigns of the first marketplace. Two are of one
// time.
func (b *builder) export(version int) {
	l := &list{entity: "campaigns", profile: profileUS, version: version, generated: time.Date(2026, time.March, 1+min(version, 1), 9, 0, 0, 0, time.UTC)}
	object := fmt.Sprintf(`{"exportId":"e%d","profileId":"%s","entity":"campaigns","status":"COMPLETED","generatedAt":%q,"adProductFilter":["SPONSORED_PRODUCTS"]}`,
		version, l.profile, l.generated.Format(time.RFC3339))
	rows := []string{`{"campaignId":"tv","adProduct":"SPONSORED_TELEVISION","name":"left out","state":"ENABLED"}`}
	for i := range 2 + version {
		rows = append(rows, fmt.Sprintf(`{"campaignId":"c%d","adProduct":"SPONSORED_PRODUCTS","name":"v%d","state":"ENABLED"}`, i, version))
	}
	b.add(&extract{kind: "export", list: l}, map[string]string{"x.export.json": object, "x.json": "[" + strings.Join(rows, ",") + "]"}, "x.export.json")
}

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
	rates, currencies := map[rateKey]uint64{}, map[string]string{"US": "USD"}
	var reports []*report
	lists := map[[3]string]loadedFile{} // by table, profile and ad product
	for _, l := range loaded {
		f := u.files[l.file]
		for _, p := range f.profiles {
			currencies[p.id] = p.currency
			a.texts["profile "+p.id] = p.name
		}
		for key, rate := range f.rates {
			rates[key] = rate
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
