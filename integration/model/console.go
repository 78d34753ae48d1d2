package model

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// consoleHeaders are the columns of the console's reports that the model reads, in
// the languages in which extracts write them, by what they are.
var consoleHeaders = map[string]string{
	"Date": "date", "Datum": "date", "Fecha": "date", "日期": "date", "Currency": "currency", "Währung": "currency", "Divisa": "currency", "货币": "currency",
	"Advertised ASIN": "asin", "Beworbene ASIN": "asin", "ASIN anunciado": "asin", "广告ASIN": "asin",
	"Impressions": "impressions", "Impressionen": "impressions", "Impresiones": "impressions", "展示量": "impressions",
	"Clicks": "clicks", "Klicks": "clicks", "Clics": "clicks", "点击量": "clicks", "Spend": "cost", "Ausgaben": "cost", "Gasto": "cost", "花费": "cost",
	"7 Day Total Sales ": "sales7d", "7 Tage, Umsatz gesamt (€)": "sales7d", "Ventas totales de 7 días (€)": "sales7d", "7天总销售额": "sales7d",
	"7 Day Total Orders (#)": "purchases7d", "7 Tage, Aufträge gesamt (#)": "purchases7d", "Pedidos totales de 7 días (#)": "purchases7d", "7天总订单数(#)": "purchases7d",
	"7 Day Total Units (#)": "unitsSoldClicks7d", "7 Tage, Einheiten gesamt (#)": "unitsSoldClicks7d", "Unidades totales de 7 días (#)": "unitsSoldClicks7d", "7天总销售量(#)": "unitsSoldClicks7d",
	"14 Day Total Sales ": "sales", "14 Day Total Sales ($)": "sales14d", "14 Day Total Orders (#)": "purchases", "14 Day Total Units (#)": "unitsSold",
}

// vendorColumns are what columns of 14 days are in Sponsored Products of vendors.
var vendorColumns = map[string]string{"purchases": "purchases14d", "unitsSold": "unitsSoldClicks14d"}

// monthNames are those of the console's days, by month.
var monthNames = []string{"jan ene", "feb", "mar mär", "apr abr", "may mai", "jun", "jul", "aug ago", "sep", "oct okt", "nov", "dec dez dic"}

// takeConsole takes a report of the console. Its profile is the only one of its
// currency; it is as old as a workbook says, or as the file is.
func (a *Account) takeConsole(file string) (*report, string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, "", err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, "", err
	}
	r := &report{id: fmt.Sprintf("console-sha256:%x", sha256.Sum256(content)), generated: info.ModTime().UTC().Truncate(time.Millisecond)}
	for _, held := range a.reports {
		if held.id == r.id {
			return held, Unchanged, nil // whenever it was copied
		}
	}
	var lines [][]string
	isBook := filepath.Ext(file) == ".xlsx"
	if isBook {
		if lines, r.generated, err = readBook(content); err != nil {
			return nil, "", err
		}
	} else {
		lines = readText(content)
	}
	for len(lines) > 0 && !slices.ContainsFunc(lines[0], func(header string) bool { return consoleHeaders[header] == "clicks" }) {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return nil, "", fmt.Errorf("%s is no report of the console", file)
	}
	if err := a.readConsole(r, lines[0], lines[1:], isBook); err != nil {
		return nil, "", err
	}
	status := Loaded
	if a.isSuperseded(r) {
		status = Unchanged
	}
	a.reports[r.reportKey()] = r
	return r, status, nil
}

func (a *Account) readConsole(r *report, headers []string, lines [][]string, isBook bool) error {
	has := func(header string) bool { return slices.Contains(headers, header) }
	r.adProduct = "SPONSORED_PRODUCTS"
	switch {
	case has("Viewable Impressions"):
		r.adProduct = "SPONSORED_DISPLAY"
	case has("14 Day % of Orders New-to-brand"):
		r.adProduct = "SPONSORED_BRANDS"
	}
	vendor := has("14 Day Advertised ASIN Units (#)")
	for _, header := range headers {
		name := consoleHeaders[header]
		if vendors, ok := vendorColumns[name]; ok && vendor {
			name = vendors
		}
		r.columns = append(r.columns, name)
	}
	comma := '.'
	if isBook {
		comma = 0
	} else if has("Ausgaben") || has("Gasto") {
		comma = ','
	}
	_, purchases, sales := headlineColumns(r.adProduct, vendor)
	for _, values := range lines {
		line := map[string]any{}
		for i, name := range r.columns {
			switch {
			case name == "date":
				line[name] = consoleDay(values[i])
			case name == "asin" || name == "currency":
				line[name] = values[i]
			case name != "":
				line[name] = consoleNumber(values[i], comma)
			}
		}
		for id, p := range a.profiles {
			if p.currency == line["currency"] {
				r.profile = id
			}
		}
		day := line["date"].(string)
		if r.start == "" || day < r.start {
			r.start = day
		}
		r.end = max(r.end, day)
		r.rows = append(r.rows, row{
			day: day, product: textOf(line["asin"]), impressions: parseInteger(line["impressions"]), clicks: parseInteger(line["clicks"]),
			purchases: parseInteger(line[purchases]), cost: parseDecimal(line["cost"]), sales: parseDecimal(line[sales]),
			further: readFurther(line, r.columns, r.adProduct),
		})
		if a.rateOn(a.profiles[r.profile].currency, day) == nil {
			return fmt.Errorf("no rate for %s on %s", line["currency"], day)
		}
	}
	return nil
}

func readText(content []byte) [][]string {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	// The separator is what the first lines have most of.
	separator, most := ',', 0
	for _, sign := range ",;\t" {
		if n := strings.Count(string(content[:min(len(content), 400)]), string(sign)); n > most {
			separator, most = sign, n
		}
	}
	reader := csv.NewReader(bytes.NewReader(content))
	reader.Comma, reader.FieldsPerRecord = separator, -1
	lines, err := reader.ReadAll()
	if err != nil {
		panic(fmt.Sprintf("model: %v", err))
	}
	return lines
}

// readBook reads a workbook with texts in its cells, and when it was made.
func readBook(content []byte) (lines [][]string, created time.Time, err error) {
	var sheet struct {
		Rows []struct {
			Cells []struct {
				Place string `xml:"r,attr"`
				Value string `xml:"v"`
				Text  string `xml:"is>t"`
			} `xml:"c"`
		} `xml:"sheetData>row"`
	}
	var core struct {
		Created time.Time `xml:"created"`
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, created, err
	}
	for name, into := range map[string]any{"xl/worksheets/sheet1.xml": &sheet, "docProps/core.xml": &core} {
		part, err := archive.Open(name)
		if err != nil {
			return nil, created, err
		}
		text, err := io.ReadAll(part)
		if err == nil {
			err = xml.Unmarshal(text, into)
		}
		if err != nil {
			return nil, created, err
		}
	}
	for _, r := range sheet.Rows {
		line := make([]string, 26)
		for _, c := range r.Cells {
			line[c.Place[0]-'A'] = c.Value + c.Text
		}
		lines = append(lines, line)
	}
	return lines, core.Created.UTC(), nil
}

func consoleDay(text string) string {
	if n, ok := new(big.Int).SetString(text, 10); ok {
		return time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(n.Int64())).Format(time.DateOnly)
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return text
	}
	words := strings.Fields(strings.ReplaceAll(text, ",", ""))
	month := slices.IndexFunc(monthNames, func(names string) bool { return slices.Contains(strings.Fields(names), strings.ToLower(words[0])) })
	return fmt.Sprintf("%s-%02d-%s", words[2], month+1, words[1])
}

// consoleNumber is a number as a decimal of two places, nil for none; comma is what
// separates its decimals, or 0 for the float of a workbook. Extracts write no more
// places, but for what floats leave behind.
func consoleNumber(text string, comma rune) any {
	text = strings.TrimLeft(text, "$€£ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	switch {
	case text == "":
		return nil
	case comma == ',':
		text = strings.ReplaceAll(strings.ReplaceAll(text, ".", ""), ",", ".")
	case comma == '.':
		text = strings.ReplaceAll(text, ",", "")
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(fmt.Sprintf("model: not a number: %q", text))
	}
	return strings.TrimSuffix(n.FloatString(2), ".00")
}
