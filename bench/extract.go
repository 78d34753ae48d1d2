package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"adlens"

	"github.com/klauspost/compress/gzip"
)

// Totals are what a report, an account or a load adds up to.
type Totals struct {
	Rows        int64 `json:"rows"`  // rows of extracts
	Facts       int64 `json:"facts"` // rows by day, marketplace, ad product and product
	Bytes       int64 `json:"bytes"` // of unpacked downloads
	Impressions int64 `json:"impressions"`
	Clicks      int64 `json:"clicks"`
	Purchases   int64 `json:"purchases"`
	Spend       int64 `json:"spend"` // millionths of a US dollar
	Sales       int64 `json:"sales"` // likewise

	spend, sales int64 // cents of a day's campaigns, which are converted as one
}

func (t *Totals) add(o Totals) {
	t.Rows += o.Rows
	t.Facts += o.Facts
	t.Bytes += o.Bytes
	t.Impressions += o.Impressions
	t.Clicks += o.Clicks
	t.Purchases += o.Purchases
	t.Spend += o.Spend
	t.Sales += o.Sales
}

// remove takes out what a restatement replaced. What was read stays read.
func (t *Totals) remove(o Totals) {
	t.Facts -= o.Facts
	t.Impressions -= o.Impressions
	t.Clicks -= o.Clicks
	t.Purchases -= o.Purchases
	t.Spend -= o.Spend
	t.Sales -= o.Sales
}

// sumDay adds up a slice's day without writing it.
func (s Shape) sumDay(of slice, day adlens.Day, version int) Totals {
	var t Totals
	rate := rateOf(of.account.markets[of.market], day)
	s.draw(of, day, version, func(r *row) { t.count(of.kind, r, rate) })
	return t.facts(of.kind, rate)
}

// count adds a row. What of a cost stands behind the sixth decimal is too
// little to change a rounded amount: only an exact half could be, and that is
// rounded up anyway.
func (t *Totals) count(k *kind, r *row, rate int64) {
	t.Rows++
	t.Impressions += r.values[k.headline[0]]
	t.Clicks += r.values[k.headline[1]]
	t.Purchases += r.values[k.headline[2]]
	spend, sales := r.values[k.headline[3]], r.values[k.headline[4]]
	if k.product == "" {
		t.spend += spend
		t.sales += sales
		return
	}
	t.Spend += dollars(spend, rate)
	t.Sales += dollars(sales, rate)
}

// facts sets what a day's rows become: the campaigns of Sponsored Brands are
// one fact.
func (t Totals) facts(k *kind, rate int64) Totals {
	t.Facts = t.Rows
	if k.product == "" {
		t.Facts = min(1, t.Rows)
		t.Spend, t.Sales = dollars(t.spend, rate), dollars(t.sales, rate)
	}
	return t
}

// dollars converts cents of a currency to millionths of a US dollar, rounded
// half away from zero; the rate is in millionths.
func dollars(cents, rate int64) int64 { return (cents*rate + 50) / 100 }

// report is one report to be written.
type report struct {
	slice
	from, to  adlens.Day
	version   int
	generated time.Time
}

// write writes the report's object and download into a directory.
func (s Shape) write(r report, dir string) (Totals, error) {
	name := fmt.Sprintf("%s-%s-%s-%s-%d", r.account.id, r.account.markets[r.market].country, r.kind.reportID, r.from, r.version)
	stem := filepath.Join(dir, name)
	if err := os.WriteFile(stem+".report.json", r.object(name), 0o600); err != nil {
		return Totals{}, err
	}
	f, err := os.OpenFile(stem+".json.gz", os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return Totals{}, err
	}
	defer f.Close()
	packed := packers.Get().(*gzip.Writer)
	defer packers.Put(packed)
	packed.Reset(f)
	totals, err := s.download(r, packed)
	if err == nil {
		err = packed.Close()
	}
	return totals, err
}

// packers and pieces are used again: thousands of small reports are written
// while the loader, which is measured, has the same cores.
var (
	packers = sync.Pool{New: func() any {
		packed, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			panic(err) // the level is a known one
		}
		return packed
	}}
	pieces = sync.Pool{New: func() any {
		piece := make([]byte, 0, pieceBytes+4096)
		return &piece
	}}
)

// object is the platform's report object.
func (r report) object(id string) []byte {
	columns := append([]string{"date", "campaignId", "campaignBudgetCurrencyCode"}, r.kind.measures...)
	if r.kind.product != "" {
		columns = append(columns, "adGroupId", r.kind.product)
	}
	stamp := r.generated.Format("2006-01-02T15:04:05.000Z")
	text, err := json.Marshal(map[string]any{
		"reportId": id, "profileId": r.account.markets[r.market].profile, "status": "COMPLETED", "name": id,
		"startDate": r.from.String(), "endDate": r.to.String(), "createdAt": stamp, "updatedAt": stamp, "generatedAt": stamp,
		"configuration": map[string]any{
			"adProduct": r.kind.adProduct.String(), "reportTypeId": r.kind.reportID, "groupBy": []string{r.kind.groupBy},
			"timeUnit": "DAILY", "format": "GZIP_JSON", "columns": columns,
		},
	})
	if err != nil {
		panic(err) // maps of texts always marshal
	}
	return text
}

// pieceBytes is how much text is held before it is written.
const pieceBytes = 1 << 20

// download writes the rows, by day and rank.
func (s Shape) download(r report, w io.Writer) (Totals, error) {
	var totals Totals
	line := newLine(r)
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	text := append((*piece)[:0], '[')
	var failed error
	flush := func() {
		totals.Bytes += int64(len(text))
		if _, err := w.Write(text); err != nil && failed == nil {
			failed = err
		}
		text = text[:0]
	}
	first := true
	for day := r.from; day <= r.to; day++ {
		var one Totals
		line.begin(day)
		rate := rateOf(r.account.markets[r.market], day)
		s.draw(r.slice, day, r.version, func(drawn *row) {
			one.count(r.kind, drawn, rate)
			if !first {
				text = append(text, ',', '\n')
			}
			first = false
			if text = line.append(text, drawn); len(text) > pieceBytes {
				flush()
			}
		})
		totals.add(one.facts(r.kind, rate))
	}
	text = append(text, ']')
	flush()
	return totals, failed
}

// line writes rows of a report as JSON.
type line struct {
	keys   []string // `,"name":` by measure
	money  []bool   // by measure
	cost   int      // place of the spend
	middle string   // what all rows have between the date and the product
	head   string
}

func newLine(r report) *line {
	l := &line{middle: fmt.Sprintf(`,"campaignId":1441584494887%05d,"campaignBudgetCurrencyCode":"%s"`, r.market, r.account.markets[r.market].currency)}
	if r.kind.product != "" {
		l.middle += fmt.Sprintf(`,"adGroupId":7232088286150,"%s":"`, r.kind.product)
	}
	for _, name := range r.kind.measures {
		l.keys = append(l.keys, `,"`+name+`":`)
		l.money = append(l.money, r.kind.money[name])
	}
	l.cost = slices.Index(r.kind.measures, "cost")
	return l
}

func (l *line) begin(day adlens.Day) { l.head = `{"date":"` + day.String() + `"` + l.middle }

func (l *line) append(to []byte, r *row) []byte {
	to = append(to, l.head...)
	if r.product != nil {
		to = append(append(to, r.product.id...), '"')
	}
	for i, value := range r.values {
		to = append(to, l.keys[i]...)
		if !l.money[i] {
			to = strconv.AppendInt(to, value, 10)
			continue
		}
		to = appendCents(to, value)
		if r.leftover && i == l.cost {
			to = append(to, "0000000000004"...)
		}
	}
	return append(to, '}')
}

func appendCents(to []byte, cents int64) []byte {
	to = strconv.AppendInt(to, cents/100, 10)
	return append(to, '.', '0'+byte(cents/10%10), '0'+byte(cents%10))
}

// base writes what reports need before them: profiles, and rates for all days.
func (s Shape) base(a *account, dir string) error {
	var profiles []map[string]any
	for _, m := range a.markets {
		profiles = append(profiles, map[string]any{
			"profileId": m.profile, "countryCode": m.country, "currencyCode": m.currency, "timezone": m.zone,
			"accountInfo": map[string]any{"type": "seller", "name": a.id, "id": "ENTITY" + m.profile},
		})
	}
	text, err := json.Marshal(profiles)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "profiles.json"), text, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "rates.csv"), []byte(s.rates(a)), 0o600)
}

// rateOf is how many millionths of a US dollar a unit of a market's currency is
// on a day. Rates move a little from day to day.
func rateOf(m market, day adlens.Day) int64 {
	if m.currency == "USD" {
		return 1_000_000
	}
	swing := 1 + float64(int64(day)*7919%1000)/20_000
	return int64(swing / m.dollar * 1e6)
}

// rates are the rates of all days of an account's currencies.
func (s Shape) rates(a *account) string {
	var b strings.Builder
	b.WriteString("date,currency,usd\n")
	written := []string{"USD"}
	for _, m := range a.markets {
		if slices.Contains(written, m.currency) {
			continue
		}
		written = append(written, m.currency)
		for day := s.start() - 1; day <= s.End+1; day++ {
			rate := rateOf(m, day)
			fmt.Fprintf(&b, "%s,%s,%d.%06d\n", day, m.currency, rate/1_000_000, rate%1_000_000)
		}
	}
	return b.String()
}
