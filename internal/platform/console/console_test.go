package console

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"html"
	"strings"
	"testing"
	"unicode/utf16"

	"adlens"
	"adlens/internal/platform"

	"github.com/google/go-cmp/cmp"
)

// readAll opens a file and says what it is, its rows and its nulls, or its fault.
func readAll(text []byte, isWorkbook bool) (said []string, err error) {
	f, err := Open(bytes.NewReader(text), int64(len(text)), isWorkbook)
	if err != nil {
		return nil, err
	}
	said = append(said, fmt.Sprintf("%s %s %s %q %q", f.Type.ID, f.Start, f.End, f.Currency, f.Country), strings.Join(f.Columns, " "))
	r := f.Rows()
	err = r.Each(func(row *platform.Row) error {
		said = append(said, fmt.Sprintf("%d %s %q %q %q %v %v", row.Number, row.Day, row.Product, row.CampaignName, row.AdGroupName, row.Counts, row.Amounts))
		return nil
	})
	for _, n := range r.Nulls() {
		said = append(said, fmt.Sprintf("null: %s %d", n.Column, n.Rows))
	}
	return said, err
}

// sheet is the part of a workbook that has its rows, cells as they are: a number
// without quotes, a text with them.
func sheet(rows ...[]string) string {
	var b strings.Builder
	b.WriteString(`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="A1"/><sheetData>`)
	for i, row := range rows {
		fmt.Fprintf(&b, `<row r="%d">`, i+1)
		for j, value := range row {
			place := fmt.Sprintf("%c%d", 'A'+j, i+1)
			switch {
			case value == "":
			case strings.HasPrefix(value, `"`):
				fmt.Fprintf(&b, `<c r="%s" t="inlineStr"><is><t>%s</t></is></c>`, place, html.EscapeString(strings.Trim(value, `"`)))
			case strings.HasPrefix(value, "<"):
				b.WriteString(value)
			default:
				fmt.Fprintf(&b, `<c r="%s" s="3" t="n"><v>%s</v></c>`, place, value)
			}
		}
		b.WriteString("</row>")
	}
	return b.String() + "</sheetData></worksheet>"
}

const (
	bookPart  = `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId3"/></sheets></workbook>`
	relsPart  = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId3" Target="worksheets/sheet1.xml"/></Relationships>`
	corePart  = `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dcterms="http://purl.org/dc/terms/"><dcterms:created>2026-09-05T08:30:00Z</dcterms:created></cp:coreProperties>`
	textsPart = `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>plain</t></si><si><r><t>two </t></r><r><t>runs</t></r><rPh><t>said</t></rPh></si></sst>`
)

// packed is an archive of parts, one after the other with its name before it.
func packed(t testing.TB, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		part, err := w.Create(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(parts[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func book(t testing.TB, rows ...[]string) []byte {
	t.Helper()
	return packed(t, "xl/workbook.xml", bookPart, "xl/_rels/workbook.xml.rels", relsPart, "xl/sharedStrings.xml", textsPart, "docProps/core.xml", corePart,
		"xl/worksheets/sheet1.xml", sheet(rows...))
}

// numberedBook is a workbook of a header and two rows of figures, with these numbers.
func numberedBook(t testing.TB, header []string, numbers ...any) []byte {
	row := []string{"46266", `"USD"`, `"C"`, `"G"`, `"B0A"`, "1", "1", "1", "1", "1"}
	rows := strings.NewReplacer(`<row r="1">`, `<row r="%d">`, `<row r="2">`, `<row r="%d">`, `<row r="3">`, `<row r="%d">`).Replace(sheet(header, row, row))
	return packed(t, "xl/workbook.xml", bookPart, "xl/_rels/workbook.xml.rels", relsPart, "xl/worksheets/sheet1.xml", fmt.Sprintf(rows, numbers...))
}

const (
	english = "Date,Portfolio name,Currency,Campaign Name,Ad Group Name,Advertised ASIN,Impressions,Clicks,Spend,7 Day Total Sales ,7 Day Total Orders (#)\n"
	oneRow  = `"Sep 01, 2026",,USD,Camp,Group,B0A,10,2,$1.50,$3.00,1` + "\n"
)

func TestReportsAreReadInEachLanguage(t *testing.T) {
	const headline = "impressions clicks cost sales7d purchases7d"
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"English, with its title, separators of thousands and nulls": {
			"\ufeffSponsored Products Advertised Product Report,,,,\r\n" + strings.ReplaceAll(english, "\n", "\r\n") +
				`"Sep 01, 2026",-,USD,"Camp, ""A""",G,B0A,"1,204",31,$16.12,"$1,234.50",41` + "\r\n" + `"Sep 3, 2026",,USD,Camp,G,,0,0,-,,0` + "\r\n,,,,,,,,,,\r\n",
			[]string{"spAdvertisedProduct 2026-09-01 2026-09-03 \"USD\" \"\"", "date campaignBudgetCurrencyCode campaignName adGroupName advertisedAsin " + headline,
				`3 2026-09-01 "B0A" "Camp, \"A\"" "G" [1204 31 41] [16.12 1234.5]`, `4 2026-09-03 "" "Camp" "G" [0 0 0] [0 0]`, "null: Spend 1", "null: 7 Day Total Sales 1"}},
		"German": {
			"Datum;Währung;Kampagnen-Name;Anzeigengruppenname;Beworbene SKU;Beworbene ASIN;Impressionen;Klicks;Ausgaben;7 Tage, Umsatz gesamt (€);7 Tage, Aufträge gesamt (#);7 Tage, Einheiten gesamt (#);7-Tage, Andere SKU-Umsätze (€)\n" +
				"Mär 01, 2026;EUR;K;A;S;B0A;1.204;31;16,12 €;1.234,50 €;41;43;2,00 €\n",
			[]string{"spAdvertisedProduct 2026-03-01 2026-03-01 \"EUR\" \"\"", "date campaignBudgetCurrencyCode campaignName adGroupName advertisedAsin " + headline + " unitsSoldClicks7d salesOtherSku7d",
				`2 2026-03-01 "B0A" "K" "A" [1204 31 41 43] [16.12 1234.5 2]`}},
		"Spanish": {
			"Fecha;Divisa;Nombre de campaña;Nombre del grupo de anuncios;País;ASIN anunciado;Impresiones;Clics;Gasto;Ventas totales de 7 días (€);Pedidos totales de 7 días (#)\r\n" +
				"ago 20, 2026;EUR;SP;G;España;B0A;300;12;€0,4356;€1.234,56;0\r\n",
			[]string{"spAdvertisedProduct 2026-08-20 2026-08-20 \"EUR\" \"España\"", "date campaignBudgetCurrencyCode campaignName adGroupName advertisedAsin " + headline,
				`2 2026-08-20 "B0A" "SP" "G" [300 12 0] [0.4356 1234.56]`}},
		"Italian": {
			"Data\tNome campagna\tASIN pubblicizzato\tImpressioni\tClic\tSpesa\tVendite totali (€) 7 giorni\tTotale ordini (#) 7 giorni\ngen 02, 2026\tC\tB0A\t1\t1\t0,10\t0\t0\n",
			[]string{"spAdvertisedProduct 2026-01-02 2026-01-02 \"\" \"\"", "date campaignName advertisedAsin " + headline, `2 2026-01-02 "B0A" "C" "" [1 1 0] [0.1 0]`}},
		"Japanese": {
			"日付,キャンペーン名,広告グループ名,宣伝 ASIN,インプレッション,クリック,費用,広告がクリックされてから7日間の総売上高 (￥),広告がクリックされてから7日間の合計注文数\n2026年9月1日,C,G,B0A,204,3,￥120,\"￥1,500\",1\n",
			[]string{"spAdvertisedProduct 2026-09-01 2026-09-01 \"JPY\" \"\"", "date campaignName adGroupName advertisedAsin " + headline, `2 2026-09-01 "B0A" "C" "G" [204 3 1] [120 1500]`}},
		"Chinese": {
			"日期,货币,广告活动名称,广告组名称,国家/地区,广告ASIN,展示量,点击量,花费,7天总销售额,7天总订单数(#)\n2026-09-01,USD,C,G,美国,B0A,10,3,$1.20,$15.00,1\n",
			[]string{"spAdvertisedProduct 2026-09-01 2026-09-01 \"USD\" \"美国\"", "date campaignBudgetCurrencyCode campaignName adGroupName advertisedAsin " + headline, `2 2026-09-01 "B0A" "C" "G" [10 3 1] [1.2 15]`}},
		"a vendor in India, hundreds between the thousands": {
			"Date,Currency,Campaign Name,Ad Group Name,Advertised ASIN,Impressions,Clicks,Spend,14 Day Total Sales (₹),14 Day Total Orders (#),14 Day Advertised ASIN Units (#)\n" +
				`"Sep 01, 2026",INR,C,G,B0A,"1,23,456",2,"₹1,23,456.50",₹0.00,1,1` + "\n",
			[]string{"spAdvertisedProduct 2026-09-01 2026-09-01 \"INR\" \"\"", "date campaignBudgetCurrencyCode campaignName adGroupName advertisedAsin impressions clicks cost sales14d purchases14d unitsSoldSameSku14d",
				`2 2026-09-01 "B0A" "C" "G" [123456 2 1 1] [123456.5 0]`}},
		"Sponsored Display": {
			"Date,Currency,Campaign Name,Cost type,Ad Group Name,Bid optimization,Advertised ASIN,Impressions,Viewable Impressions,Clicks,Spend,14 Day Total Orders (#),14 Day Total Units (#),14 Day Total Sales ,14 Day Total Sales - (Click)\n" +
				`2026-09-01,USD,C,VCPM,G,SD_REACH,B0A,10,9,2,1.50,1,2,3.00,1.00` + "\n",
			[]string{"sdAdvertisedProduct 2026-09-01 2026-09-01 \"USD\" \"\"", "date campaignBudgetCurrencyCode campaignName adGroupName promotedAsin impressions impressionsViews clicks cost purchases unitsSold sales salesClicks",
				`2 2026-09-01 "B0A" "C" "G" [10 9 2 1 2] [1.5 3 1]`}},
		"Sponsored Brands": {
			"Date,Portfolio name,Currency,Campaign Name,Cost type,Country,Impressions,Clicks,Spend,14 Day Total Sales ,14 Day Total Orders (#),14 Day Total Units (#),5 Second Views,14 Day % of Orders New-to-brand\n" +
				`2026-09-01,P,USD,C,CPC,United States,10,2,1.50,3.00,1,2,4,50%` + "\n",
			[]string{"sbCampaigns 2026-09-01 2026-09-01 \"USD\" \"United States\"", "date campaignBudgetCurrencyCode campaignName impressions clicks cost sales purchases unitsSold video5SecondViews",
				`2 2026-09-01 "" "C" "" [10 2 1 2 4] [1.5 3]`}},
	} {
		got, err := readAll([]byte(test.text), false)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestWorkbooksAreReadAsTheirNumbersWereMeant(t *testing.T) {
	header := []string{`"Date"`, `"Currency"`, `"Campaign Name"`, `"Ad Group Name"`, `"Advertised ASIN"`, `"Impressions"`, `"Clicks"`, `"Spend"`, `"7 Day Total Sales "`, `"7 Day Total Orders (#)"`}
	file := book(t, header,
		[]string{"46266", `"USD"`, `"1.234"`, `"a <b> & c"`, `"B0A"`, "1204", "3.0", "12.340000000000001", "5E-2", "1"},
		[]string{},
		[]string{"46267", `"USD"`, `<c r="C4" t="s"><v>1</v></c>`, "", `"B0B"`, "10", "0", "0.123456789012345678", "123456789012.33999", ""},
	)
	got, err := readAll(file, true)
	want := []string{`spAdvertisedProduct 2026-09-01 2026-09-02 "USD" ""`, "date campaignBudgetCurrencyCode campaignName adGroupName advertisedAsin impressions clicks cost sales7d purchases7d",
		`2 2026-09-01 "B0A" "1.234" "a <b> & c" [1204 3 1] [12.34 0.05]`, `4 2026-09-02 "B0B" "two runs" "" [10 0 0] [0.123456789012346 123456789012.34]`, "null: 7 Day Total Orders (#) 1"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	f, err := Open(bytes.NewReader(file), int64(len(file)), true)
	if err != nil || f.CreatedAt.Format("2006-01-02T15:04") != "2026-09-05T08:30" {
		t.Errorf("the workbook was created at %s: %v", f.CreatedAt, err)
	}
	for name, test := range map[string]struct {
		file []byte
		says string
	}{
		"a number in text":   {book(t, header, []string{"46266", `"USD"`, `"C"`, `"G"`, `"B0A"`, "1", "1", `"1.234"`, "1", "1"}), "row 2: Spend is 1.234, expected a number, not text"},
		"an error":           {book(t, header, []string{"46266", `"USD"`, `"C"`, `"G"`, `"B0A"`, "1", "1", `<c r="H2" t="e"><v>#N/A</v></c>`, "1", "1"}), "row 2: Spend is #N/A, expected a number"},
		"a number of a book": {book(t, header, []string{"46266", `"USD"`, `"C"`, `"G"`, "306406152", "1", "1", "1", "1", "1"}), "row 2: Advertised ASIN is 306406152, expected a product's id as text"},
		"one in another way": {book(t, header, []string{"46266", `"USD"`, `"C"`, `"G"`, "3.064061E8", "1", "1", "1", "1", "1"}), "row 2: Advertised ASIN is 3.064061E8, expected a product's id as text"},
		"a formula":          {book(t, header, []string{"46266", `"USD"`, `"C"`, `"G"`, `"B0A"`, "1", "1", `<c r="H2"><f>G2*1.19</f></c>`, "1", "1"}), "row 2: Spend is =G2*1.19, expected a number"},
		"no product":         {book(t, header, []string{"46266", `"USD"`, `"C"`, `"G"`, `<c r="E2" t="e"><v>#N/A</v></c>`, "1", "1", "1", "1", "1"}), "row 2: Advertised ASIN is #N/A, expected a product's id"},
		"half a day":         {book(t, header, []string{"46266.5", `"USD"`, `"C"`, `"G"`, `"B0A"`, "1", "1", "1", "1", "1"}), `row 2: Date is 46266.5, expected a day`},
		"half a click":       {book(t, header, []string{"46266", `"USD"`, `"C"`, `"G"`, `"B0A"`, "1", "1.5", "1", "1", "1"}), "row 2: Clicks is 1.5, expected a whole number"},
		"two sheets": {packed(t, "xl/workbook.xml", strings.Replace(bookPart, "</sheets>", `<sheet name="T" sheetId="2" r:id="rId3"/></sheets>`, 1), "xl/_rels/workbook.xml.rels", relsPart,
			"xl/worksheets/sheet1.xml", sheet(header)), "a workbook of 2 sheets, expected one sheet"},
		"days from 1904": {packed(t, "xl/workbook.xml", strings.Replace(bookPart, "<sheets>", `<workbookPr date1904="1"/><sheets>`, 1), "xl/_rels/workbook.xml.rels", relsPart,
			"xl/worksheets/sheet1.xml", sheet(header)), "counts days from 1904"},
		"a row twice":       {numberedBook(t, header, 1, 2, 2), "the workbook is damaged: row 2 after row 2, expected rows in their order"},
		"the header's row":  {numberedBook(t, header, 5, 5, 6), "the workbook is damaged: row 5 after row 5"},
		"a row before":      {numberedBook(t, header, 5, 6, 2), "the workbook is damaged: row 2 after row 6"},
		"a row without one": {numberedBook(t, header, 1, 2, 0), "the workbook is damaged: row 0 after row 2"},
		"no archive":        {[]byte("PK"), "the workbook is damaged"},
		"cut off":           {file[:len(file)-20], "the workbook is damaged"},
		"an endless row": {packed(t, "xl/workbook.xml", bookPart, "xl/_rels/workbook.xml.rels", relsPart, "xl/worksheets/sheet1.xml",
			strings.Replace(sheet(header), "</row>", "</row><row>"+strings.Repeat("<c/>", 1<<20)+"</row>", 1)), "cell , expected those of a row"},
		"an endless text": {packed(t, "xl/workbook.xml", bookPart, "xl/_rels/workbook.xml.rels", relsPart, "xl/worksheets/sheet1.xml",
			strings.Replace(sheet(header), "</row>", "</row><row><c><v>"+strings.Repeat("1", 4<<20)+"</v></c></row>", 1)), "a row of more than 1048576 bytes"},
		"endless properties": {packed(t, "xl/workbook.xml", strings.Repeat(" ", 4<<20)+bookPart, "xl/_rels/workbook.xml.rels", relsPart, "xl/worksheets/sheet1.xml", sheet(header)), "the workbook is damaged: xl/workbook.xml"},
	} {
		if _, err := readAll(test.file, true); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %.300v, expected %s", name, err, test.says)
		}
	}
	if _, err := readAll(book(t, []string{`"Budget"`, `"2026"`}, []string{"1", "2"}), true); !errors.Is(err, ErrUnknown) {
		t.Errorf("a workbook of something else: %v", err)
	}
}

func TestWhatIsNoDailyReportOfTheThreeIsRefusedWithTheRightOne(t *testing.T) {
	replace := func(old, with string) string { return strings.Replace(english+oneRow, old, with, 1) }
	for text, says := range map[string]string{
		"date,currency,usd\n2026-09-01,EUR,1\n": "no report of the advertising console", "": "no report of the advertising console", "\x00\xff": "no report of the advertising console",
		replace("Date,", "Start Date,"): "it has no column of days: its figures are sums of a period; download it again with the time unit Daily",
		replace("Advertised ASIN", "Customer Search Term"): "the column Customer Search Term shows a report that figures do not come from, because they would count twice or are of a part; " +
			"expected the report Advertised product of Sponsored Products or Sponsored Display, or Campaign of Sponsored Brands, with the time unit Daily",
		replace("Ad Group Name,Advertised ASIN", "Portfolio,Status"):                                                          "its columns are not those of a report that figures come from; expected the report Advertised product",
		strings.Replace(replace("7 Day Total Sales ", "14 Day Total Sales "), "7 Day Total Orders", "14 Day Total Orders", 1): "its columns could be those of Sponsored Products or of Sponsored Display",
		replace("Ad Group Name", "Clicks"):                                                                                    "row 1: Clicks is there twice, expected one column of it",
		english:                                                                                                               "it has no rows, and without them it does not say of which days",
		replace("Sep 01, 2026", "01/09/2026"):                                                                                 `row 2: Date is 01/09/2026, expected a day like "Sep 01, 2026" or "2026-09-01" that exists`,
		replace("Sep 01, 2026", "Feb 30, 2026"):                                                                               "row 2: Date is Feb 30, 2026",
		replace("Sep 01, 2026", "Total"):                                                                                      "row 2: Date is Total",
		replace("Sep 01, 2026", ""):                                                                                           "row 2: Date is empty",
		replace("USD", "USD") + "2026-09-01,,EUR,Camp,Group,B0A,10,2,$1.50,$3.00,1\n":                                         "row 3: Currency is EUR, expected USD as in the rows before: one download for each marketplace",
		strings.NewReplacer("Currency,", "", "USD,", "").Replace(replace("$1.50,$3.00", "£1.50,₹3.00")): "row 2: 7 Day Total Sales is ₹3.00, expected an amount in the currency of £1.50 in row 2",
		replace("$1.50", "-$1.50"): "row 2: Spend is -$1.50, expected an amount from 0",
		replace("$1.50", "$-1.50"): "row 2: Spend is $-1.50, expected an amount from 0",
		replace("$1.50", "N/A"):    "row 2: Spend is N/A, expected an amount from 0",
		strings.NewReplacer("Currency,", "", "USD,", "").Replace(replace("$1.50", "N/A")): "row 2: Spend is N/A, expected an amount from 0",
		replace("$1.50", "1000000000000.00"):                                              "row 2: Spend is 1000000000000.00, expected an amount from 0 to below 1000000000000",
		replace("10,2", "10.5,2"):                                                         "row 2: Impressions is 10.5, expected a whole number",
		replace("10,2", "-1,2"):                                                           "row 2: Impressions is -1, expected a whole number",
		replace("10,2", "1%,2"):                                                           "row 2: Impressions is 1%, expected a whole number",
		replace("$3.00", `"$3,00"`):                                                       "row 2: 7 Day Total Sales is $3,00, expected a number written as $1.50 in row 2 is",
		replace("$3.00", `"$3,000"`) + "x":                                                `row 3: is "x", expected 11 values, one for each column, and not 1`,
		replace("$1.50,$3.00", `"$1,500",0`):                                              "row 2: Spend is $1,500, expected a number that can be read in one way",
		replace("$1.50,$3.00", `"1,50.00",0`):                                             "row 2: Spend is 1,50.00, expected an amount",
		replace(",Camp,", ",Ca\x00mp,"):                                                   `row 2: is "Ca\x00mp", expected text in UTF-8 without NUL`,
		replace(",Camp,", `,Ca"mp,`):                                                      "row 2: expected quotes around the whole of a value",
		replace("B0A", strings.Repeat("B", 65)):                                           "expected a product's id of at most 64 bytes",
		replace(",Camp,", ","+strings.Repeat("x", 2<<20)+","):                             "a row of more than 1048576 bytes",
	} {
		if _, err := readAll([]byte(text), false); err == nil || !strings.HasPrefix(err.Error(), says) && !strings.Contains(err.Error(), says) {
			t.Errorf("%.200q:\n got: %.300v\nwant: %s", text, err, says)
		}
	}
}

// An amount of thousands is not mistaken where others of the file show how numbers
// are written.
func TestOneNumberShowsHowTheOthersAreRead(t *testing.T) {
	for row, want := range map[string]string{
		`2026-09-01,,USD,C,G,B,1,1,"$1,500",0.5,1`:  "[1 1 1] [1500 0.5]",
		`2026-09-01,,USD,C,G,B,"1,500",1,1.234,0,1`: "[1500 1 1] [1.234 0]",
		`2026-09-01,,USD,C,G,B,1,1,"1,500","0,5",1`: "[1 1 1] [1.5 0.5]",
		`2026-09-01,,USD,C,G,B,1,1,0.123,"1,500",1`: "[1 1 1] [0.123 1500]",
		`2026-09-01,,USD,C,G,B,1,1,"1,500,000",0,1`: "[1 1 1] [1500000 0]",
		`2026-09-01,,USD,C,G,B,1,1,1500,20,1`:       "[1 1 1] [1500 20]",
		`2026-09-01,,SEK,C,G,B,1,1,"12,50 kr",0,1`:  "[1 1 1] [12.5 0]",
		`2026-09-01,,CAD,C,G,B,1,1,CA$12.50,0,1`:    "[1 1 1] [12.5 0]",
		`2026-09-01,,JPY,C,G,B,1,1,"1,500",20,1`:    "[1 1 1] [1500 20]",
	} {
		got, err := readAll([]byte(english+row+"\n"), false)
		if err != nil || !strings.HasSuffix(got[2], want) {
			t.Errorf("%s: %v %v, expected %s", row, got, err, want)
		}
	}
}

func TestCountriesAreKnownInTheLanguagesThatNameThem(t *testing.T) {
	for written, want := range map[string]string{"": "", "US": "US", "gb": "UK", "United Kingdom": "UK", "ESPAÑA": "ES", "Italia": "IT", "países bajos": "NL", "美国": "US", "德国": "DE", "Italien": "", "Atlantis": ""} {
		if got := (&File{Country: written}).CountryCode(); got != want {
			t.Errorf("%s: %q, expected %q", written, got, want)
		}
	}
	for _, c := range adlens.Countries {
		for _, name := range countryNames[c.Code] {
			if got := (&File{Country: name}).CountryCode(); got != c.Code {
				t.Errorf("%s is %q, expected %s", name, got, c.Code)
			}
		}
		if len(countryNames[c.Code]) < 2 {
			t.Errorf("%s has no name in Spanish or Chinese", c.Name)
		}
	}
}

// openMarked opens a file without a column of the currency, with these amounts.
func openMarked(amounts string, blank bool) (*File, error) {
	text := strings.Replace(english, "Total Sales ", "Total Sales (€)", 1)
	if blank {
		text += "2026-09-01,,,Camp,Group,B0A,10,2," + amounts + ",1\n"
	} else {
		text = strings.Replace(text, "Currency,", "", 1) + "2026-09-01,,Camp,Group,B0A,10,2," + amounts + ",1\n"
	}
	return Open(strings.NewReader(text), int64(len(text)), false)
}

// Without a column, or one that says nothing, a file is of the currency whose mark its amounts have. A mark of
// several currencies leaves it open which of them it is.
func TestTheMarkOfAmountsIsTheCurrency(t *testing.T) {
	for amounts, want := range map[string]struct{ currency, mayBe, isNot string }{
		"£1.50,£3.00":      {"GBP", "GBP", "EUR USD"},
		"£1.50,0":          {"GBP", "GBP", "EUR"},
		"1.50 zł,0":        {"PLN", "PLN", "EUR"},
		"￥150,¥300":        {"JPY", "JPY", "USD"},
		"USD 1.50,USD3.00": {"USD", "USD", "CAD EUR"},
		"1.50 €,3.00 EUR":  {"EUR", "EUR", "USD"},
		"US$1.50,US$3.00":  {"USD", "USD", "MXN EUR"},
		"US $1.50,US$3.00": {"USD", "USD", "MXN EUR"},
		"JP¥15,JP¥30":      {"JPY", "JPY", "USD CNY"},
		"$1.50,$3.00":      {"", "USD CAD MXN BRL AUD SGD", "EUR GBP JPY SEK"},
		"1.50,3.00":        {"", "USD EUR", ""},
		"12 kr,0":          {"", "SEK", "EUR"},
		"E£1.50,0":         {"EGP", "EGP", "GBP"},
	} {
		for _, blank := range []bool{false, true} {
			f, err := openMarked(amounts, blank)
			if err != nil || f.Currency != want.currency {
				t.Errorf("%s: %+v, %v; expected %q", amounts, f, err, want.currency)
				continue
			}
			for _, currency := range strings.Fields(want.mayBe + " " + want.isNot) {
				if got := f.MayBeIn(currency); got == strings.Contains(want.isNot, currency) {
					t.Errorf("%s in %s: %v", amounts, currency, got)
				}
			}
		}
	}
}

func TestAmountsOfTwoMarksAreRefused(t *testing.T) {
	for amounts, want := range map[string]string{
		"£1.50,12 kr": "row 2: 7 Day Total Sales (€) is 12 kr, expected an amount in the currency of £1.50 in row 2", "$1.50,€3.00": "currency of $1.50", "$1.50,CA$3.00": "currency of $1.50", "USD1.50,CAD3.00": "currency of USD1.50", "12 kr,3 TL": "currency of 12 kr",
	} {
		if _, err := openMarked(amounts, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", amounts, err, want)
		}
	}
}

// Letters at a number may be part of its value.
func TestNumbersHaveNoOtherLettersThanTheMarksOfCurrencies(t *testing.T) {
	const count, amount = "expected a whole number from 0 to", "expected an amount from 0 to below 1000000000000 with at most 20 decimals, alone or with the mark of a currency"
	for row, want := range map[string]string{
		"3K,2,1,1,1": "Impressions is 3K, " + count, "3万,2,1,1,1": "Impressions is 3万, " + count, "3 Tsd,2,1,1,1": "Impressions is 3 Tsd, " + count,
		"10,$2,1,1,1": "Clicks is $2, " + count, "10,2,1,1,4abc": "7 Day Total Orders (#) is 4abc, " + count, "10,USD 2,1,1,1": "Clicks is USD 2, " + count,
		"10,2,1.2K,1,1": "Spend is 1.2K, " + amount, "10,2,1,2M,1": "7 Day Total Sales is 2M, " + amount, `10,2,"1,2 Mio",1,1`: "Spend is 1,2 Mio, " + amount, "10,2,$1.2K,1,1": "Spend is $1.2K, " + amount,
		`10,2,"1,2 Mio. $",1,1`: "Spend is 1,2 Mio. $, " + amount, "10,2,3 TSD,1,1": "Spend is 3 TSD, expected an amount in USD, the file's currency", "10,2,EUR 3,1,1": "Spend is EUR 3, expected an amount in USD",
		"10,2,2 kr,3,1": "Spend is 2 kr, expected an amount in USD, the file's currency", "10,2,$2,£3,1": "7 Day Total Sales is £3, expected an amount in USD, the file's currency",
	} {
		if got, err := readAll([]byte(english+"2026-09-01,,USD,Camp,Group,B0A,"+row+"\n"), false); err == nil || !strings.Contains(err.Error(), "row 2: "+want) {
			t.Errorf("%s: %v %v, expected %s", row, got, err, want)
		}
	}
	for row, want := range map[string]string{
		"10, 2 ,$1.50,3 USD,1": "[10 2 1] [1.5 3]", "10,2,USD1.50,US$3,1": "[10 2 1] [1.5 3]", "10,2,$2,3,1": "[10 2 1] [2 3]",
	} {
		if got, err := readAll([]byte(english+"2026-09-01,,USD,Camp,Group,B0A,"+row+"\n"), false); err != nil || !strings.HasSuffix(got[2], want) {
			t.Errorf("%s: %v %v, expected %s", row, got, err, want)
		}
	}
}

// What spreadsheet programs on Windows save is named, not taken for something else.
func TestOtherEncodingsAreNamed(t *testing.T) {
	german := "Bericht über Werbung\nDatum;Währung;Kampagnen-Name;Anzeigengruppenname;Beworbene ASIN;Impressionen;Klicks;Ausgaben;7 Tage, Umsatz gesamt (\u0080);7 Tage, Aufträge gesamt (#)\n" +
		"2026-09-01;EUR;Grün;G;B0A;10;2;1,50;3,00;1\n"
	spanish := "Fecha,Nombre de campaña,ASIN anunciado,Impresiones,Clics,Gasto\n2026-09-01,C,B0A,10,2,1.50\n"
	inWindows := func(text string) (all []byte) {
		for _, r := range text {
			all = append(all, byte(r))
		}
		return all
	}
	inUTF16 := func(text string, order binary.AppendByteOrder) (all []byte) {
		for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
			all = order.AppendUint16(all, unit)
		}
		return all
	}
	for name, test := range map[string]struct {
		text []byte
		says string
	}{
		"German in Windows-1252":      {inWindows(german), "is in Windows-1252, expected text in UTF-8"},
		"Spanish in Windows-1252":     {inWindows(spanish), "is in Windows-1252, expected text in UTF-8"},
		"English in UTF-16":           {inUTF16(english+oneRow, binary.LittleEndian), "is in UTF-16, expected text in UTF-8"},
		"German in UTF-16":            {inUTF16(german, binary.BigEndian), "is in UTF-16, expected text in UTF-8"},
		"another table in UTF-16":     {inUTF16("Größe;Preis\nä;1\n", binary.LittleEndian), ErrUnknown.Error()},
		"another table":               {inWindows("Größe;Preis\nä;1\n"), ErrUnknown.Error()},
		"rows alone in Windows-1252":  {inWindows(english + strings.Replace(oneRow, "Camp", "Grün", 1)), `row 2: is "Gr\xfcn", expected text in UTF-8 without NUL`},
		"a long file that is no text": {bytes.Repeat([]byte{0xfc}, 2<<20), ErrUnknown.Error()},
	} {
		if _, err := readAll(test.text, false); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %.200v, expected %s", name, err, test.says)
		}
	}
}
