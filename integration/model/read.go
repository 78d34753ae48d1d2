package model

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"slices"
	"strings"
	"time"
)

func (a *Account) takeProfiles(file string) (*report, string, error) {
	var list []struct {
		ProfileID    any    `json:"profileId"`
		CountryCode  string `json:"countryCode"`
		CurrencyCode string `json:"currencyCode"`
		Timezone     string
		AccountInfo  struct{ Type string }
	}
	if err := readJSON(file, &list); err != nil {
		return nil, "", err
	}
	for _, p := range list {
		if p.AccountInfo.Type != "seller" && p.AccountInfo.Type != "vendor" {
			continue
		}
		id := fmt.Sprint(p.ProfileID)
		a.profiles[id] = profile{id, canonicalCountry(p.CountryCode), p.CurrencyCode, p.Timezone, p.AccountInfo.Type == "vendor"}
	}
	return nil, Loaded, nil
}

func (a *Account) takeRates(file string) (*report, string, error) {
	lines, err := readCSV(file)
	if err != nil {
		return nil, "", err
	}
	for _, line := range lines {
		usd, ok := new(big.Rat).SetString(line[2])
		if !ok {
			return nil, "", fmt.Errorf("%s: not a rate: %q", file, line[2])
		}
		if a.rates[line[1]] == nil {
			a.rates[line[1]] = map[string]*big.Rat{}
		}
		a.rates[line[1]][line[0]] = usd
	}
	return nil, Loaded, nil
}

func (a *Account) takeProducts(file string) (*report, string, error) {
	lines, err := readCSV(file)
	for _, line := range lines {
		a.titles[line[0]] = line[1]
	}
	return nil, Loaded, err
}

type description struct {
	ReportID, StartDate, EndDate, GeneratedAt string
	RecordType, ReportDate                    string // of version 2 alone
	ProfileID                                 any
	Configuration                             struct {
		AdProduct string
		Columns   []string
	}
}

func (a *Account) takeReport(file string) (*report, string, error) {
	var d description
	if err := readJSON(file, &d); err != nil {
		return nil, "", err
	}
	if d.RecordType+d.ReportDate != "" {
		return nil, "", errNotItsTurn
	}
	generated, err := time.Parse(time.RFC3339Nano, d.GeneratedAt)
	if err != nil {
		return nil, "", err
	}
	r := &report{
		id: d.ReportID, profile: fmt.Sprint(d.ProfileID), adProduct: d.Configuration.AdProduct,
		start: d.StartDate, end: d.EndDate, generated: generated, columns: d.Configuration.Columns,
	}
	p, known := a.profiles[r.profile]
	if !known {
		return nil, "", fmt.Errorf("%s: unknown profile %s", file, r.profile)
	}
	if r.rows, err = readRows(downloadPath(file), d.Configuration.Columns, r.adProduct, p.vendor); err != nil {
		return nil, "", err
	}
	return a.keepReport(file, r)
}

// keepReport takes a report whose rows were read.
func (a *Account) keepReport(file string, r *report) (*report, string, error) {
	currency := a.profiles[r.profile].currency
	for _, line := range r.rows {
		if a.rateOn(currency, line.day) == nil {
			return nil, "", fmt.Errorf("%s: no rate for %s on %s", file, currency, line.day)
		}
	}
	if held := a.reports[r.reportKey()]; held != nil {
		return held, Unchanged, nil
	}
	status := Loaded
	if a.isSuperseded(r) {
		status = Unchanged
	}
	a.keepNames(r)
	a.reports[r.reportKey()] = r
	return r, status, nil
}

// downloadPath is the file that a report or export object speaks of.
func downloadPath(object string) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(object, ".report.json"), ".export.json")
	if _, err := os.Stat(stem + ".json.gz"); err == nil {
		return stem + ".json.gz"
	}
	return stem + ".json"
}

func readRows(file string, columns []string, adProduct string, vendor bool) ([]row, error) {
	var lines []map[string]any
	if err := readJSON(file, &lines); err != nil {
		return nil, err
	}
	product, purchases, sales := headlineColumns(adProduct, vendor)
	rows := make([]row, len(lines))
	for i, line := range lines {
		// What the report was not asked for does not count, even where it is there.
		asked := func(column string) string {
			if !slices.Contains(columns, column) {
				return ""
			}
			return textOf(line[column])
		}
		rows[i] = row{
			day: line["date"].(string), product: textOf(line[product]),
			impressions: parseInteger(line["impressions"]), clicks: parseInteger(line["clicks"]),
			purchases: parseInteger(line[purchases]),
			cost:      parseDecimal(line["cost"]), sales: parseDecimal(line[sales]),
			further:      readFurther(line, columns, adProduct),
			holder:       holder{asked("campaignId"), asked("adGroupId")},
			campaignName: asked("campaignName"), adGroupName: asked("adGroupName"),
		}
	}
	return rows, nil
}

// headlineColumns names the columns that the figures come from.
func headlineColumns(adProduct string, vendor bool) (product, purchases, sales string) {
	switch {
	case adProduct == "SPONSORED_BRANDS":
		return "", "purchases", "sales"
	case adProduct == "SPONSORED_DISPLAY":
		return "promotedAsin", "purchases", "sales"
	case vendor:
		return "advertisedAsin", "purchases14d", "sales14d"
	default:
		return "advertisedAsin", "purchases7d", "sales7d"
	}
}

func textOf(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// parseInteger reads a count; null is 0.
func parseInteger(value any) *big.Int {
	if value == nil {
		return new(big.Int)
	}
	n, ok := new(big.Int).SetString(textOf(value), 10)
	if !ok {
		panic(fmt.Sprintf("model: not a count: %v", value))
	}
	return n
}

// parseDecimal reads an amount; null is 0.
func parseDecimal(value any) *big.Rat {
	if value == nil {
		return new(big.Rat)
	}
	r, ok := new(big.Rat).SetString(textOf(value))
	if !ok {
		panic(fmt.Sprintf("model: not an amount: %v", value))
	}
	return r
}

func readJSON(file string, into any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return err
		}
		if content, err = io.ReadAll(unpacked); err != nil {
			return err
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return decoder.Decode(into)
}

func readCSV(file string) ([][]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(f).ReadAll()
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, &fs.PathError{Op: "read", Path: file, Err: io.ErrUnexpectedEOF}
	}
	return lines[1:], nil
}
