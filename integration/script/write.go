package script

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// files collects what the next load takes.
type files struct {
	dir     string
	reports int
}

func (f *files) writeFile(name, content string) error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o644)
}

// writeProfiles takes lines of: id country currency seller|vendor.
func (f *files) writeProfiles(block []string) error {
	var list []string
	for _, line := range block {
		w := strings.Fields(line)
		if len(w) != 4 {
			return fmt.Errorf("a profile is: id country currency type, not %q", line)
		}
		list = append(list, fmt.Sprintf(`{"profileId":%s,"countryCode":%q,"currencyCode":%q,"timezone":"UTC",`+
			`"accountInfo":{"marketplaceStringId":"A","id":"A1","type":%q,"name":"x"}}`, w[0], w[1], w[2], w[3]))
	}
	return f.writeFile("profiles.json", "["+strings.Join(list, ",\n")+"]\n")
}

// writeRates takes lines of: date currency usd.
func (f *files) writeRates(block []string) error {
	text := "date,currency,usd\n"
	for _, line := range block {
		text += strings.Join(strings.Fields(line), ",") + "\n"
	}
	return f.writeFile("rates.csv", text)
}

// writeBankRates takes the lines of a file of the European Central Bank, with spaces.
func (f *files) writeBankRates(block []string) error {
	text := ""
	for _, line := range block {
		text += strings.Join(strings.Fields(line), ",") + ",\n"
	}
	return f.writeFile("eurofxref-hist.csv", text)
}

// writeTitles takes lines of: product_id title, the title may hold spaces.
func (f *files) writeTitles(block []string) error {
	text := "product_id,title\n"
	for _, line := range block {
		id, title, _ := strings.Cut(line, " ")
		text += fmt.Sprintf("%s,\"%s\"\n", id, strings.ReplaceAll(strings.TrimSpace(title), `"`, `""`))
	}
	return f.writeFile("products.csv", text)
}

type reportKind struct{ typeID, adProduct, groupBy, asin string }

var reportKinds = map[string]reportKind{
	"sp": {"spAdvertisedProduct", "SPONSORED_PRODUCTS", "advertiser", "advertisedAsin"},
	"sb": {"sbCampaigns", "SPONSORED_BRANDS", "campaign", ""},
	"sd": {"sdAdvertisedProduct", "SPONSORED_DISPLAY", "advertiser", "promotedAsin"},
}

// writeReport takes: sp|sb|sd PROFILE FROM..TO GENERATED REPORTID, and lines of:
// date asin impressions clicks cost purchases sales. For sp the last two may
// be pairs, 7-day/14-day. An asin of - is null; sb has - throughout.
func (f *files) writeReport(args, block []string) error {
	if len(args) != 5 || reportKinds[args[0]].typeID == "" {
		return fmt.Errorf("a report is: sp|sb|sd profile from..to generated id, not %q", args)
	}
	kind := reportKinds[args[0]]
	from, to, ok := strings.Cut(args[2], "..")
	if !ok {
		return fmt.Errorf("a range is from..to, not %q", args[2])
	}
	var rows []string
	for _, line := range block {
		row, err := kind.rowObject(line)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	columns, err := json.Marshal(kind.columnNames())
	if err != nil {
		return err
	}
	object := fmt.Sprintf(`{"reportId":%q,"profileId":%s,"status":"COMPLETED","startDate":%q,"endDate":%q,"generatedAt":%q,`+
		`"configuration":{"adProduct":%q,"reportTypeId":%q,"groupBy":[%q],"columns":%s,"timeUnit":"DAILY","format":"GZIP_JSON","filters":null}}`,
		args[4], args[1], from, to, args[3]+":00.000Z", kind.adProduct, kind.typeID, kind.groupBy, columns)
	f.reports++
	stem := fmt.Sprintf("%s-%03d", args[0], f.reports)
	if err := f.writeFile(stem+".report.json", object); err != nil {
		return err
	}
	return f.writeFile(stem+".json", "["+strings.Join(rows, ",\n")+"]")
}

func (k reportKind) columnNames() []string {
	names := []string{"date", "impressions", "clicks", "cost"}
	if k.asin != "" {
		names = append(names, k.asin)
	}
	if k.typeID == "spAdvertisedProduct" {
		return append(names, "purchases7d", "sales7d", "purchases14d", "sales14d")
	}
	return append(names, "purchases", "sales")
}

func (k reportKind) rowObject(line string) (string, error) {
	w := strings.Fields(line)
	if len(w) != 7 {
		return "", fmt.Errorf("a row is: date asin impressions clicks cost purchases sales, not %q", line)
	}
	text := fmt.Sprintf(`{"date":%q,"impressions":%s,"clicks":%s,"cost":%s`, w[0], w[2], w[3], w[4])
	if k.asin != "" {
		asin := fmt.Sprintf("%q", w[1])
		if w[1] == "-" {
			asin = "null"
		}
		text += fmt.Sprintf(`,%q:%s`, k.asin, asin)
	}
	if k.typeID != "spAdvertisedProduct" {
		return text + fmt.Sprintf(`,"purchases":%s,"sales":%s}`, w[5], w[6]), nil
	}
	orders7, orders14 := splitPair(w[5])
	sales7, sales14 := splitPair(w[6])
	return text + fmt.Sprintf(`,"purchases7d":%s,"sales7d":%s,"purchases14d":%s,"sales14d":%s}`, orders7, sales7, orders14, sales14), nil
}

func splitPair(text string) (week, fortnight string) {
	week, fortnight, both := strings.Cut(text, "/")
	if !both {
		fortnight = week
	}
	return week, fortnight
}
