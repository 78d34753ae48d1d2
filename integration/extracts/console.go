package extracts

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"adlens"
	"adlens/internal/made"
)

// ConsolePair are the same facts twice: as a report of the console, and as one of the
// platform that says no ids of campaigns and ad groups.
type ConsolePair struct {
	Console  string
	Platform Report
}

// consoleFact is a row of a report of the console; amounts are in hundredths.
type consoleFact struct {
	day                                 time.Time
	asin, campaign, adGroup             string
	impressions, clicks, orders, units  int64
	cost, sales                         int64
	withoutOrders, withoutSales, isBare bool
}

// consoleKind is how the console writes a report: its headers by what they are of.
type consoleKind struct {
	language, separator, decimal string
	months                       string
	date, currency, country      string
	campaign, adGroup, asin      string
	impressions, clicks, cost    string
	sales, orders, units         string
	others                       []string // that nothing is taken of
}

var consoleKinds = map[string]consoleKind{
	"en": {",", ",", ".", "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", "Date", "Currency", "Country", "Campaign Name", "Ad Group Name", "Advertised ASIN",
		"Impressions", "Clicks", "Spend", "7 Day Total Sales ", "7 Day Total Orders (#)", "7 Day Total Units (#)", []string{"Portfolio name", "Click-Thru Rate (CTR)"}},
	"de": {";", ";", ",", "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez", "Datum", "Währung", "", "Kampagnen-Name", "Anzeigengruppenname", "Beworbene ASIN",
		"Impressionen", "Klicks", "Ausgaben", "7 Tage, Umsatz gesamt (€)", "7 Tage, Aufträge gesamt (#)", "7 Tage, Einheiten gesamt (#)", []string{"Portfolioname", "Klickrate (CTR)"}},
	"es": {";", ";", ",", "ene feb mar abr may jun jul ago sep oct nov dic", "Fecha", "Divisa", "País", "Nombre de campaña", "Nombre del grupo de anuncios", "ASIN anunciado",
		"Impresiones", "Clics", "Gasto", "Ventas totales de 7 días (€)", "Pedidos totales de 7 días (#)", "Unidades totales de 7 días (#)", []string{"Nombre de la cartera"}},
	"zh": {",", ",", ".", "", "日期", "货币", "国家/地区", "广告活动名称", "广告组名称", "广告ASIN", "展示量", "点击量", "花费", "7天总销售额", "7天总订单数(#)", "7天总销售量(#)", nil},
	"sb": {",", ",", ".", "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", "Date", "Currency", "Country", "Campaign Name", "", "",
		"Impressions", "Clicks", "Spend", "14 Day Total Sales ", "14 Day Total Orders (#)", "14 Day Total Units (#)", []string{"14 Day % of Orders New-to-brand", "Cost type"}},
	"sd": {"\t", "\t", ".", "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", "Date", "Currency", "", "Campaign Name", "Ad Group Name", "Advertised ASIN",
		"Impressions", "Clicks", "Spend", "14 Day Total Sales ", "14 Day Total Orders (#)", "14 Day Total Units (#)", []string{"Viewable Impressions", "Bid optimization"}},
	"vendor": {",", ",", ".", "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", "Date", "Currency", "", "Campaign Name", "Ad Group Name", "Advertised ASIN",
		"Impressions", "Clicks", "Spend", "14 Day Total Sales ($)", "14 Day Total Orders (#)", "14 Day Total Units (#)", []string{"14 Day Advertised ASIN Units (#)"}},
}

// consoleColumns are the platform's names of orders, sales and units, by kind.
func consoleColumns(kind string) (orders, sales, units string) {
	switch kind {
	case "sb", "sd":
		return "purchases", "sales", "unitsSold"
	case "vendor":
		return "purchases14d", "sales14d", "unitsSoldClicks14d"
	}
	return "purchases7d", "sales7d", "unitsSoldClicks7d"
}

// WriteConsole writes the same facts as reports of the console and of the platform,
// of profiles of one currency each, with profiles.json and rates below dir. Their
// ranges overlap, and some have one time.
func WriteConsole(dir string, seed uint64, now time.Time, n int) (Account, []ConsolePair, error) {
	w := &writer{Options: Options{Seed: seed, Now: now, Days: 90}, Rand: rand.New(rand.NewPCG(seed, 59)), today: midnightUTC(now)}
	account, err := w.writeAccount(filepath.Join(dir, "account"), 0)
	if err != nil {
		return Account{}, nil, err
	}
	for _, name := range []string{"console", "platform"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return Account{}, nil, err
		}
	}
	var pairs []ConsolePair
	for i := range n {
		pair, err := w.writeConsolePair(dir, i)
		if err != nil {
			return Account{}, nil, err
		}
		pairs = append(pairs, pair)
	}
	return account, pairs, nil
}

// loneProfiles are those whose currency no other profile has.
func (w *writer) loneProfiles() (lone []profile) {
	for _, p := range w.profiles {
		same := 0
		for _, other := range w.profiles {
			if other.currency == p.currency {
				same++
			}
		}
		if same == 1 {
			lone = append(lone, p)
		}
	}
	return lone
}

func (w *writer) writeConsolePair(dir string, n int) (ConsolePair, error) {
	kind, d := w.describeConsole()
	facts := w.consoleFacts(d)
	d.start, d.end = facts[0].day, facts[0].day
	for _, f := range facts {
		if f.day.Before(d.start) {
			d.start = f.day
		}
		if f.day.After(d.end) {
			d.end = f.day
		}
	}
	path, content, err := w.writeConsole(filepath.Join(dir, "console"), n, kind, d, facts)
	if err != nil {
		return ConsolePair{}, err
	}
	sum := sha256.Sum256(content)
	d.id = "console-sha256:" + hex.EncodeToString(sum[:])
	w.last = append(w.last, d)
	pair, err := w.writePair(filepath.Join(dir, "platform"), fmt.Sprintf("same-%03d", n), made.ReportEnd, consoleRows(kind, d, facts), func(size int) string { return consoleObject(kind, d, size) })
	return ConsolePair{Console: path, Platform: pair}, err
}

// writeConsoleReport writes a report of the console alone.
func (w *writer) writeConsoleReport(dir string, n int) (Report, error) {
	kind, d := w.describeConsole()
	path, _, err := w.writeConsole(dir, n, kind, d, w.consoleFacts(d))
	return Report{Object: path, Download: path}, err
}

func (w *writer) describeConsole() (kind string, d description) {
	p := pickOne(w, w.loneProfiles())
	kinds := []string{"en", "de", "es", "zh", "sb", "sd"}
	if p.kind == "vendor" {
		kinds = []string{"vendor", "sb", "sd"}
	}
	kind = pickOne(w, kinds)
	d = description{kind: "spAdvertisedProduct", profile: p}
	switch kind {
	case "sb":
		d.kind = "sbCampaigns"
	case "sd":
		d.kind = "sdAdvertisedProduct"
	}
	d.end = w.today.AddDate(0, 0, -w.IntN(min(50, w.recentDays())))
	d.start = d.end.AddDate(0, 0, -w.IntN(12))
	d.generated = w.generationTime(d).Truncate(time.Second)
	if d.generated.Before(d.end) {
		d.generated = d.end.Add(time.Hour)
	}
	return kind, d
}

func (w *writer) consoleFacts(d description) (facts []consoleFact) {
	for day := d.start; !day.After(d.end); day = day.AddDate(0, 0, 1) {
		for range w.IntN(4) {
			f := consoleFact{day: day, asin: pickOne(w, asins), campaign: pickOne(w, labels), adGroup: pickOne(w, labels), impressions: w.Int64N(9000), clicks: w.Int64N(90),
				orders: w.Int64N(9), units: w.Int64N(12), cost: w.Int64N(500_000), sales: w.Int64N(900_000_00), withoutOrders: w.percentChance(5), withoutSales: w.percentChance(5)}
			f.isBare = w.percentChance(50)
			facts = append(facts, f)
		}
	}
	if facts == nil {
		facts = []consoleFact{{day: d.end, asin: asins[0], campaign: labels[0], adGroup: labels[1], impressions: 1234, clicks: 1, cost: 99, sales: 100, orders: 1}}
	}
	w.Shuffle(len(facts), func(i, j int) { facts[i], facts[j] = facts[j], facts[i] })
	return facts
}

// writeConsole writes a file of the console, whose time is that of its generation.
func (w *writer) writeConsole(dir string, n int, kind string, d description, facts []consoleFact) (path string, content []byte, err error) {
	path = filepath.Join(dir, fmt.Sprintf("download (%d).csv", n))
	if w.percentChance(50) {
		path = filepath.Join(dir, fmt.Sprintf("Download %d.xlsx", n))
		content, err = consoleWorkbook(kind, d, facts)
	} else {
		content, err = w.consoleText(kind, d, facts)
	}
	if err == nil {
		err = os.WriteFile(path, content, 0o644)
	}
	if err == nil {
		err = os.Chtimes(path, d.generated, d.generated)
	}
	return path, content, err
}

// columns are the headers of a kind, in the file's order, and the values of a fact.
func (k consoleKind) columns(d description, value func(f consoleFact, header string) string) (headers []string, row func(consoleFact) []string) {
	for _, h := range append([]string{k.date, k.currency, k.country, k.campaign, k.adGroup, k.asin, k.impressions, k.clicks, k.cost, k.sales, k.orders, k.units}, k.others...) {
		if h != "" {
			headers = append(headers, h)
		}
	}
	return headers, func(f consoleFact) (values []string) {
		for _, h := range headers {
			values = append(values, value(f, h))
		}
		return values
	}
}

func (w *writer) consoleText(kind string, d description, facts []consoleFact) ([]byte, error) {
	k := consoleKinds[kind]
	headers, row := k.columns(d, func(f consoleFact, h string) string {
		switch h {
		case k.date:
			if k.months == "" || f.isBare {
				return f.day.Format(time.DateOnly)
			}
			return fmt.Sprintf("%s %02d, %d", strings.Fields(k.months)[f.day.Month()-1], f.day.Day(), f.day.Year())
		case k.cost:
			return k.amountText(f.cost, d.profile.currency, f.isBare)
		case k.sales:
			if f.withoutSales {
				return ""
			}
			return k.amountText(f.sales, d.profile.currency, !f.isBare)
		case k.impressions:
			return k.grouped(f.impressions)
		}
		return f.plain(k, d, h)
	})
	var b bytes.Buffer
	if w.percentChance(50) {
		b.WriteString("\ufeff")
	}
	if w.percentChance(30) {
		b.WriteString("A report\n")
	}
	table := csv.NewWriter(&b)
	table.Comma, table.UseCRLF = []rune(k.separator)[0], w.percentChance(50)
	if err := table.Write(headers); err != nil {
		return nil, err
	}
	for _, f := range facts {
		if err := table.Write(row(f)); err != nil {
			return nil, err
		}
	}
	table.Flush()
	return b.Bytes(), table.Error()
}

// plain is the value of a column that all files write alike.
func (f consoleFact) plain(k consoleKind, d description, header string) string {
	switch header {
	case k.currency:
		return d.profile.currency
	case k.country:
		return map[string]string{"UK": "United Kingdom", "JP": "Japan", "CA": "Canada"}[d.profile.country]
	case k.campaign:
		return f.campaign
	case k.adGroup:
		return f.adGroup
	case k.asin:
		return f.asin
	case k.impressions:
		return strconv.FormatInt(f.impressions, 10)
	case k.clicks:
		return strconv.FormatInt(f.clicks, 10)
	case k.units:
		return strconv.FormatInt(f.units, 10)
	case k.orders:
		if f.withoutOrders {
			return ""
		}
		return strconv.FormatInt(f.orders, 10)
	}
	if strings.Contains(header, "(CTR)") {
		return "12" + k.decimal + "3456%"
	}
	return "0"
}

// grouped writes a whole number with its thousands separated.
func (k consoleKind) grouped(n int64) string {
	text, sign := strconv.FormatInt(n, 10), ","
	if k.decimal == "," {
		sign = "."
	}
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + sign + text[at:]
	}
	return text
}

func (k consoleKind) amountText(hundredths int64, currency string, bare bool) string {
	if bare {
		return fmt.Sprintf("%d%s%02d", hundredths/100, k.decimal, hundredths%100)
	}
	mark, ok := map[string]string{"USD": "$", "CAD": "$", "EUR": "€", "GBP": "£"}[currency]
	if !ok {
		mark = currency
	}
	return fmt.Sprintf("%s%s%s%02d", mark, k.grouped(hundredths/100), k.decimal, hundredths%100)
}

// consoleRows are the same facts in the platform's own form.
func consoleRows(kind string, d description, facts []consoleFact) (rows []string) {
	orders, sales, units := consoleColumns(kind)
	for _, f := range facts {
		row := map[string]any{"date": f.day.Format(time.DateOnly), "impressions": f.impressions, "clicks": f.clicks, "cost": json.Number(fmt.Sprintf("%d.%02d", f.cost/100, f.cost%100)),
			orders: f.orders, sales: json.Number(fmt.Sprintf("%d.%02d", f.sales/100, f.sales%100)), units: f.units}
		if f.withoutOrders {
			row[orders] = nil
		}
		if f.withoutSales {
			row[sales] = nil
		}
		if asin := kinds[d.kind].asin; asin != "" {
			row[asin] = f.asin
		}
		text, err := json.Marshal(row)
		if err != nil {
			panic(err)
		}
		rows = append(rows, string(text))
	}
	return rows
}

func consoleObject(kind string, d description, size int) string {
	orders, sales, units := consoleColumns(kind)
	columns := []string{"date", "impressions", "clicks", "cost", orders, sales, units}
	if asin := kinds[d.kind].asin; asin != "" {
		columns = append(columns, asin)
	}
	switch kind { // what the console's files have beside
	case "vendor":
		columns = append(columns, "unitsSoldSameSku14d")
	case "sd":
		columns = append(columns, "impressionsViews")
	}
	o := made.NewReport(d.id, made.ReportTypeOf(kinds[d.kind].adProduct), columns, adlens.DayOf(d.start), adlens.DayOf(d.end), d.generated, d.generated)
	o.ProfileID, o.FileSize = json.Number(d.profile.id), size
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(text)
}
