package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"adlens"
	"adlens/internal/made"
	"adlens/internal/platform"
)

// Totals are what a report, an account or a load adds up to.
type Totals struct {
	Rows        int64 `json:"rows"`  // rows of extracts
	Facts       int64 `json:"facts"` // rows by day, marketplace, ad product, product, campaign and ad group
	Bytes       int64 `json:"bytes"` // of unpacked downloads
	Impressions int64 `json:"impressions"`
	Clicks      int64 `json:"clicks"`
	Purchases   int64 `json:"purchases"`
	Spend       int64 `json:"spend"` // millionths of a US dollar
	Sales       int64 `json:"sales"` // likewise

	last         adPlace // of the last row
	spend, sales int64   // cents of its product's day, which are converted as one
}

func (t *Totals) addTotals(o Totals) {
	t.Rows += o.Rows
	t.Facts += o.Facts
	t.Bytes += o.Bytes
	t.Impressions += o.Impressions
	t.Clicks += o.Clicks
	t.Purchases += o.Purchases
	t.Spend += o.Spend
	t.Sales += o.Sales
}

// removeTotals takes out what a restatement replaced. What was read stays read.
func (t *Totals) removeTotals(o Totals) {
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
	s.drawRows(of, day, version, func(r *row) { t.countRow(of.kind, r, rate) })
	t.convertProduct(rate)
	return t
}

// countRow adds a row; those of one product follow each other. What of a cost stands
// behind the sixth decimal is too little to change a rounded amount: only an exact half
// could be, and that is rounded up anyway.
func (t *Totals) countRow(k *kind, r *row, rate int64) {
	if r.product != t.last.product {
		t.convertProduct(rate)
	}
	if t.Rows == 0 || r.adPlace != t.last {
		t.Facts++
	}
	t.last = r.adPlace
	t.Rows++
	t.Impressions += r.values[k.headline[0]]
	t.Clicks += r.values[k.headline[1]]
	t.Purchases += r.values[k.headline[2]]
	t.spend += r.values[k.headline[3]]
	t.sales += r.values[k.headline[4]]
}

// convertProduct converts what the last product's day adds up to.
func (t *Totals) convertProduct(rate int64) {
	t.Spend += convertCents(t.spend, rate)
	t.Sales += convertCents(t.sales, rate)
	t.spend, t.sales = 0, 0
}

// convertCents converts cents of a currency to millionths of a US dollar, rounded
// half away from zero; the rate is in millionths.
func convertCents(cents, rate int64) int64 { return (cents*rate + 50) / 100 }

// report is one report to be written.
type report struct {
	slice
	from, to  adlens.Day
	version   int
	generated time.Time
}

// writeReport writes the report's object and download.
func (s Shape) writeReport(r report, to *made.Writer) (totals Totals, err error) {
	name := fmt.Sprintf("%s-%s-%s-%s-%d", r.account.id, r.account.markets[r.market].country, r.kind.ID, r.from, r.version)
	_, err = to.WritePair(name, made.ReportEnd, func(w io.Writer) (err error) {
		totals, err = s.writeDownload(r, &to.Rows, w)
		return err
	}, func(size int) any { return r.reportObject(name, size) })
	return totals, err
}

// reportObject is the platform's report object.
func (r report) reportObject(id string, size int) made.Report {
	columns := append([]string{platform.DateColumn, "campaignId", platform.CurrencyColumn}, r.kind.measures...)
	if r.kind.ProductColumn != "" {
		columns = append(columns, "adGroupId", r.kind.ProductColumn)
	}
	o := made.NewReport(id, r.kind.ReportType, columns, r.from, r.to, r.generated, r.generated)
	o.ProfileID, o.Name, o.FileSize = json.Number(r.account.markets[r.market].profile), id, size
	return o
}

// pieceBytes is how much text is held before it is written.
const pieceBytes = 1 << 20

// writeDownload writes the rows, by day and rank.
func (s Shape) writeDownload(r report, rows *made.Rows, w io.Writer) (Totals, error) {
	var totals Totals
	var failed error
	market := r.account.markets[r.market]
	currency := made.Quote(market.currency)
	rows.Open()
	for day := r.from; day <= r.to; day++ {
		var one Totals
		rate, date := rateOf(market, day), made.Quote(day.String())
		s.drawRows(r.slice, day, r.version, func(drawn *row) {
			one.countRow(r.kind, drawn, rate)
			rows.Begin()
			rows.JSON(platform.DateColumn, date)
			rows.Count("campaignId", drawn.campaign)
			rows.JSON(platform.CurrencyColumn, currency)
			r.kind.writeRow(rows, drawn)
			rows.End()
			if len(rows.Text) > pieceBytes && failed == nil {
				failed = rows.Flush(w)
			}
		})
		one.convertProduct(rate)
		totals.addTotals(one)
	}
	size, err := rows.Close(w)
	totals.Bytes = int64(size)
	return totals, errors.Join(failed, err)
}

// writeRow adds a row's product and measures.
func (k *kind) writeRow(rows *made.Rows, r *row) {
	if r.product != nil {
		rows.Count("adGroupId", r.adGroup)
		rows.Name(k.ProductColumn)
		rows.Text = append(append(append(rows.Text, '"'), r.product.id...), '"')
	}
	for i, value := range r.values {
		if !k.money[i] {
			rows.Count(k.measures[i], value)
			continue
		}
		rows.Name(k.measures[i])
		rows.Text = appendCents(rows.Text, value)
		if r.leftover && i == k.headline[3] {
			rows.Text = append(rows.Text, "0000000000004"...)
		}
	}
}

func appendCents(to []byte, cents int64) []byte {
	to = strconv.AppendInt(to, cents/100, 10)
	return append(to, '.', '0'+byte(cents/10%10), '0'+byte(cents%10))
}

// writeBase writes what reports need before them: profiles, and rates for all days.
func (s Shape) writeBase(a *account, to *made.Writer) error {
	var profiles []made.Profile
	for _, m := range a.markets {
		profiles = append(profiles, made.Profile{
			ProfileID: json.Number(m.profile), CountryCode: m.country, CurrencyCode: m.currency, Timezone: m.zone,
			AccountInfo: made.AccountInfo{Type: "seller", Name: a.id, ID: "ENTITY" + m.profile},
		})
	}
	if _, err := to.WriteJSON(made.ProfilesFile, profiles); err != nil {
		return err
	}
	_, err := to.WriteFile(made.RatesFile, s.ratesCSV(a))
	return err
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

// ratesCSV are the rates of all days of an account's currencies.
func (s Shape) ratesCSV(a *account) []byte {
	var table made.Rates
	written := []string{"USD"}
	for _, m := range a.markets {
		if slices.Contains(written, m.currency) {
			continue
		}
		written = append(written, m.currency)
		for day := s.firstDay() - 1; day <= s.End+1; day++ {
			rate := rateOf(m, day)
			table.Add(day, m.currency, fmt.Sprintf("%d.%06d", rate/1_000_000, rate%1_000_000))
		}
	}
	return table.Bytes()
}
