package simulation

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adlens"
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
	asOf     adlens.Day         // the newest day of a file of the bank
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
	rates, newest := map[rateKey]uint64{}, adlens.Day(0)
	text := "Date,USD,JPY,\n"
	for day := lastDay; day > firstDay-8; day-- {
		if version > 0 && b.random.IntN(8) > 0 {
			continue
		}
		rate := uint64(15_000 + b.random.IntN(5000))
		newest = max(newest, day)
		rates[rateKey{"EUR", true, day}] = rate
		rates[rateKey{"AED", true, day}], rates[rateKey{"SAR", true, day}] = 2722, 2666 // cut to ten-thousandths
		text += fmt.Sprintf("%s,%d.%04d,N/A,\n", day, rate/10_000, rate%10_000)
	}
	b.add(&extract{kind: "bank rates", rates: rates, asOf: newest}, map[string]string{name: text}, name)
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
