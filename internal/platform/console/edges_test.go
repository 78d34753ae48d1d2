package console

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"adlens/internal/platform"

	"github.com/google/go-cmp/cmp"
)

// One column that only reports of one ad product have is enough to tell them apart; a
// file without any, or with those of two, is none of them.
func TestOneColumnTellsAReportApart(t *testing.T) {
	const asin, group = ",Advertised ASIN", ",Ad Group Name"
	for columns, want := range map[string]string{
		asin + ",7 Day Total Sales":                                        "spAdvertisedProduct",
		asin + ",7 Day Total Orders (#)":                                   "spAdvertisedProduct",
		asin + ",14 Day Advertised ASIN Units (#)":                         "spAdvertisedProduct",
		asin + ",Viewable Impressions":                                     "sdAdvertisedProduct",
		asin + ",14 Day Total Sales - (Click)":                             "sdAdvertisedProduct",
		asin + ",14 Day Detail Page Views (DPV)":                           "sdAdvertisedProduct",
		",5 Second Views":                                                  "sbCampaigns",
		",14 Day % of Orders New-to-brand":                                 "sbCampaigns",
		asin + ",7 Day Total Sales,Viewable Impressions":                   "its columns could be those of Sponsored Products or of Sponsored Display",
		asin + ",5 Second Views":                                           "its columns could be those of Sponsored Products or of Sponsored Display",
		group + ",5 Second Views":                                          "its columns are not those of a report that figures come from",
		",7 Day Total Sales,14 Day % of Orders New-to-brand":               "its columns are not those of a report that figures come from",
		",Placement,14 Day % of Orders New-to-brand":                       "the column Placement shows a report that figures do not come from",
		",Targeting,5 Second Views":                                        "the column Targeting shows a report that figures do not come from",
		",Start Time,5 Second Views":                                       "the column Start Time shows a report that figures do not come from",
		",Start Date,5 Second Views":                                       "sbCampaigns",
		strings.Repeat(",Portfolio name", 3) + ",5 Second Views":           "sbCampaigns", // columns that nothing is taken of
		",5 Second Views,14 Day Total Sales ($),14 day  total sales (US$)": "row 1: 14 day  total sales (US$) is there twice",
	} {
		text := "Date,Campaign Name,Impressions,Clicks,Spend" + columns + "\n2026-09-01,C,1,1,1" + strings.Repeat(",", strings.Count(columns, ",")) + "\n"
		f, err := Open(strings.NewReader(text), int64(len(text)), false)
		if err == nil && f.Type.ID != want || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %+v, %v; expected %s", columns, f, err, want)
		}
	}
	for _, header := range []string{"Campaign Name", "Impressions", "Clicks", "Spend"} {
		if _, err := readAll([]byte(strings.Replace(english+oneRow, header, "Other", 1)), false); !errors.Is(err, ErrUnknown) {
			t.Errorf("a table without %s: %v", header, err)
		}
	}
}

// A header is the same in another case, with wide brackets or with any currency.
func TestHeadersAreComparedWithoutTheirCurrency(t *testing.T) {
	for _, header := range []string{"Spend", "SPEND ", "Spend (€)", "Spend(USD)", "Spend (US$)", "Spend (R$)", "Spend (kr)", "Spend (zł)", "Spend (TL)", "Spend（￥）", "\u00a0Spend\u00a0(CA$)"} {
		if columnOf[normalHeader(header)] != spendColumn {
			t.Errorf("%q is not the column of the spend", header)
		}
	}
	for _, header := range []string{"Spend (#)", "Spend - (Click)", "Spend (usd)", "Spend USD"} {
		if columnOf[normalHeader(header)] != nil {
			t.Errorf("%q is taken for the column of the spend", header)
		}
	}
}

// A month in the wrong place would put figures on days that they are not of.
func TestDaysAreThoseThatAreWritten(t *testing.T) {
	for language, months := range map[string]string{
		"English": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
		"German":  "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
		"Spanish": "ene feb mar abr may jun jul ago sept oct nov dic",
		"Italian": "gen feb mar apr mag giu lug ago set ott nov dic",
	} {
		for i, name := range strings.Fields(months) {
			if day, ok := (cell{text: name + " 09, 2026"}).day(); !ok || day.String() != fmt.Sprintf("2026-%02d-09", i+1) {
				t.Errorf("%s in %s is in %s, %v", name, language, day, ok)
			}
		}
	}
	for _, test := range []struct {
		c    cell
		want string
	}{
		{cell{text: "2026/09/01"}, "2026-09-01"},
		{cell{text: " 2026-09-01T00:00:00.000Z "}, "2026-09-01"},
		{cell{text: "2026-09-01T00:00:00"}, "2026-09-01"},
		{cell{text: "2026-09-01T12:00:00"}, ""}, // another zone may be meant
		{cell{text: "2026年10月11日"}, "2026-10-11"},
		{cell{text: "46266.0", number: true}, "2026-09-01"},
		{cell{text: "46266"}, ""},                // a number in text
		{cell{text: "Foo 01, 2026"}, ""},         // a month of another language
		{cell{text: "Sep 31, 2026"}, ""},         // no day
		{cell{text: "Sep 00, 2026"}, ""},         // likewise
		{cell{text: "2026-00-01"}, ""},           // no month
		{cell{text: "2026-13-01"}, ""},           // likewise
		{cell{text: "09/01/2026"}, ""},           // of September or January
		{cell{text: "1 Sep, 2026"}, ""},          // not the console's
		{cell{text: "100001", number: true}, ""}, // beyond what is a day
	} {
		if day, ok := test.c.day(); ok != (test.want != "") || ok && day.String() != test.want {
			t.Errorf("%+v is %s, %v; expected %q", test.c, day, ok, test.want)
		}
	}
}

// A report speaks for the days from the first to the last of its rows, in whatever order
// they come; days before 1970 could not be stored.
func TestRowsOfAnyOrderAreOfAllTheirDays(t *testing.T) {
	row := func(day string) string { return day + ",,USD,C,G,B,1,1,1,1,1\n" }
	got, err := readAll([]byte(english+row("2026-09-02")+row("2026-09-01")+row("2026-09-04")+row("2026-09-03")), false)
	if err != nil || got[0] != `spAdvertisedProduct 2026-09-01 2026-09-04 "USD" ""` {
		t.Errorf("%v %v", got, err)
	}
	for _, day := range []string{"1970-01-01", "2149-06-06"} {
		if _, err := readAll([]byte(english+row(day)), false); err != nil {
			t.Errorf("%s: %v", day, err)
		}
	}
	for _, day := range []string{"1969-12-31", "2149-06-07"} {
		if _, err := readAll([]byte(english+row(day)), false); err == nil || !strings.HasPrefix(err.Error(), "row 2: Date is "+day) {
			t.Errorf("%s: %v", day, err)
		}
	}
}

// What a column says of the whole file, each row has to say.
func TestRowsOfTwoMarketplacesAreRefused(t *testing.T) {
	for rows, want := range map[string]string{
		"USD,Mexico USD,Canada": "row 3: Country is Canada, expected Mexico as in the rows before",
		"USD,Mexico USD,":       "row 3: Country is empty, expected Mexico as in the rows before",
		"USD,Mexico ,Mexico":    "row 3: Currency is empty, expected USD as in the rows before",
		",Mexico USD,Mexico":    "row 3: Currency is USD, expected empty as in the rows before",
		"USD,Mexico CAD,Mexico": "row 3: Currency is CAD, expected USD as in the rows before",
	} {
		text := strings.Replace(english, "Portfolio name,Currency", "Currency,Country", 1)
		for _, values := range strings.Split(rows, " ") {
			text += "2026-09-01," + values + ",C,G,B,1,1,1,1,1\n"
		}
		if _, err := readAll([]byte(text), false); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", rows, err, want)
		}
	}
}

// readIDs returns the ids of the first row of a file, or its fault.
func readIDs(t *testing.T, file []byte, isWorkbook bool) (ids string) {
	f, err := Open(bytes.NewReader(file), int64(len(file)), isWorkbook)
	if err != nil {
		t.Fatal(err)
	}
	err = f.Rows().Each(func(row *platform.Row) error {
		ids = fmt.Sprintf("%q %q %q", row.Campaign, row.AdGroup, row.Product)
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return ids
}

// Ids are digits as they are written; a workbook's number may have lost some.
func TestIdsAreKeptExactly(t *testing.T) {
	long := strings.Repeat("9", 64)
	for ids, want := range map[string]string{
		"144158449488730001,144158449488730002,B0A": `"144158449488730001" "144158449488730002" "B0A"`,
		"-, ,-":           `"" "" ""`, // nothing that applies
		long + ",1,B0A":   `"` + long + `" "1" "B0A"`,
		"1," + long + "9": "row 2: Ad Group ID is 9999999999999999999999999999999999999999999999999999999999999999..., expected an id of at most 64 bytes",
		"1.44E+17,1,B0A":  "row 2: Campaign ID is 1.44E+17, expected an id in digits",
		"1,-2,B0A":        "row 2: Ad Group ID is -2, expected an id in digits",
		"1,2," + long:     `"1" "2" "` + long + `"`,
	} {
		text := "Date,Campaign Name,Campaign ID,Ad Group ID,Advertised ASIN,Impressions,Clicks,Spend,7 Day Total Sales\n2026-09-01,C," + ids + ",1,1,1,1\n"
		if strings.Count(ids, ",") == 1 {
			text = strings.Replace(text, ",1,1,1,1\n", ",B0A,1,1,1,1\n", 1)
		}
		if got := readIDs(t, []byte(text), false); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, expected %s", ids, got, want)
		}
	}
	header := []string{`"Date"`, `"Campaign Name"`, `"Campaign ID"`, `"Ad Group ID"`, `"Advertised ASIN"`, `"Impressions"`, `"Clicks"`, `"Spend"`, `"7 Day Total Sales"`}
	for _, test := range []struct{ campaign, group, asin, want string }{
		{`"144158449488730001"`, "144158449488730", `"B0A"`, `"144158449488730001" "144158449488730" "B0A"`},
		{"1441584494887300", "1", `"B0A"`, "row 2: Campaign ID is 1441584494887300, expected an id in digits, which a workbook keeps exactly as text or with 15 digits at most"},
		{"1", "1.5", `"B0A"`, "row 2: Ad Group ID is 1.5, expected an id in digits"},
		{"1", "2", "1306406152", `"1" "2" "1306406152"`}, // all ten digits of a book's number
		{"1", "2", `<c r="E2" t="b"><v>1</v></c>`, "row 2: Advertised ASIN is 1, expected a product's id as text"},
	} {
		if got := readIDs(t, book(t, header, []string{"46266", `"C"`, test.campaign, test.group, test.asin, "1", "1", "1", "1"}), true); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s, %s, %s: %s, expected %s", test.campaign, test.group, test.asin, got, test.want)
		}
	}
}

func TestNamesAreBounded(t *testing.T) {
	name := strings.Repeat("x", 10_000)
	for row, want := range map[string]string{
		name + ",G": "", "C," + name: "",
		name + "x,G": "expected a campaign's name of at most 10000 bytes", "C," + name + "x": "expected an ad group's name of at most 10000 bytes",
	} {
		_, err := readAll([]byte(english+"2026-09-01,,USD,"+row+",B,1,1,1,1,1\n"), false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%.20s: %.200v, expected %s", row, err, want)
		}
	}
}

// Only a row is bounded: a file may have as many as it likes.
func TestLongFilesAreRead(t *testing.T) {
	const rows = 22_000 // of 54 bytes and more
	text := []byte(english + strings.Repeat(oneRow, rows))
	cells := [][]string{{`"Date"`, `"Campaign Name"`, `"Advertised ASIN"`, `"Impressions"`, `"Clicks"`, `"Spend"`, `"7 Day Total Sales"`}}
	for range rows {
		cells = append(cells, []string{"46266", `"C"`, `"B0A"`, "1", "1", "1", "1"})
	}
	for name, test := range map[string]struct {
		file       []byte
		isWorkbook bool
	}{"text": {text, false}, "workbook": {book(t, cells...), true}} {
		if got, err := readAll(test.file, test.isWorkbook); err != nil || len(got) != rows+2 {
			t.Errorf("%s: %d rows, %v", name, len(got)-2, err)
		}
	}
	wide := strings.Repeat(",x", 1_024-11)
	if _, err := readAll([]byte(strings.TrimSuffix(english, "\n")+wide+"\n"+strings.TrimSuffix(oneRow, "\n")+wide+"\n"), false); err != nil {
		t.Errorf("1024 columns: %v", err)
	}
	if _, err := readAll([]byte(strings.Repeat(",", 1_024)+"\n"+english+oneRow), false); !errors.Is(err, ErrUnknown) {
		t.Errorf("1025 columns: %v", err)
	}
}

// The header may be in the tenth row, and a value in several lines; a row's number is that
// of its first line.
func TestTitlesAndLongValuesAreRead(t *testing.T) {
	blank := " , ,,,,,,,,,\n" // as programs write empty cells
	got, err := readAll([]byte(strings.Repeat("Title\n", 9)+english+blank+strings.Replace(oneRow, "Camp", "\"two\nlines\"", 1)+oneRow), false)
	want := []string{`12 2026-09-01 "B0A" "two\nlines" "Group" [10 2 1] [1.5 3]`, `14 2026-09-01 "B0A" "Camp" "Group" [10 2 1] [1.5 3]`}
	if err != nil || len(got) < 2 {
		t.Fatal(got, err)
	}
	if diff := cmp.Diff(want, got[2:]); diff != "" {
		t.Error(diff)
	}
	if _, err := readAll([]byte(strings.Repeat("Title\n", 10)+english+oneRow), false); !errors.Is(err, ErrUnknown) {
		t.Errorf("after ten titles: %v", err)
	}
	var odd []byte // text in UTF-16 that ends in the middle of a letter
	for _, unit := range utf16.Encode([]rune("\ufeff" + english + oneRow)) {
		odd = append(odd, byte(unit), byte(unit>>8))
	}
	if _, err := readAll(append(odd, 'x'), false); err == nil || !strings.Contains(err.Error(), "is in UTF-16") {
		t.Errorf("with half a letter: %v", err)
	}
}

// Separators of thousands are not taken for decimals, nor the other way round.
func TestGroupsOfDigitsAreThreeOrTwo(t *testing.T) {
	for row, want := range map[string]string{
		`"1,2345",1,1,1,1`:        "Impressions is 1,2345, expected a",
		`"1,2,345",1,1,1,1`:       "Impressions is 1,2,345, expected a",
		`1,1,"1500,000",1.5,1`:    "7 Day Total Sales is 1.5, expected a number written as 1500,000 in row 2 is",
		`1,1,"1,5,000.00",1,1`:    "Spend is 1,5,000.00, expected an amount",
		`1,1,"1,,000.00",1,1`:     "Spend is 1,,000.00, expected an amount",
		`1,1,"1,234.567.890",1,1`: "Spend is 1,234.567.890, expected a",
		`1,1,1.,1,1`:              "Spend is 1., expected an amount",
		`1,1,U1.50S$,1,1`:         "Spend is U1.50S$, expected an amount",
	} {
		if got, err := readAll([]byte(english+"2026-09-01,,USD,C,G,B,"+row+"\n"), false); err == nil || !strings.HasPrefix(err.Error(), "row 2: "+want) {
			t.Errorf("%s: %v %v, expected %s", row, got, err, want)
		}
	}
	if _, err := openMarked("12 kr,3 $", false); err == nil || !strings.Contains(err.Error(), "expected an amount in the currency of 12 kr in row 2") {
		t.Errorf("two marks of several currencies: %v", err)
	}
}
