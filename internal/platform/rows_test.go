package platform_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/platform"

	"github.com/google/go-cmp/cmp"
)

// spReport is a Sponsored Products report of January 2026, with one column
// that need not be in every row.
func spReport() *platform.Report {
	t, _ := platform.FindReportType("spAdvertisedProduct")
	return &platform.Report{ID: "r", ProfileID: "1", Type: t,
		Start: adlens.Date(2026, time.January, 1), End: adlens.Date(2026, time.January, 31),
		Columns: []string{"date", "advertisedAsin", "impressions", "clicks", "cost", "purchases7d", "sales7d", "unitsSoldClicks7d", "sales30d"}}
}

func newRows(text string) *platform.RowReader {
	return platform.NewRowReader(strings.NewReader(text), spReport(), "impressions", "clicks", "purchases7d", "cost", "sales7d")
}

// readRows writes out every row that is accepted.
func readRows(text string) (rows []string, err error) {
	reader := newRows(text)
	err = reader.Each(func(r *platform.Row) error {
		rows = append(rows, fmt.Sprint(r.Number, " ", r.Day, " ", r.Product, " ", r.Currency, r.Counts, r.Amounts))
		return nil
	})
	return rows, err
}

const good = `"date":"2026-01-02","advertisedAsin":"B0A","impressions":10,"clicks":2,"cost":1.5,"purchases7d":1,"sales7d":3`

// with is the good row with one value replaced.
func with(name, value string) string {
	members := strings.Split(good, ",")
	for i, m := range members {
		if strings.HasPrefix(m, `"`+name+`":`) {
			members[i] = `"` + name + `":` + value
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func without(name string) string {
	var kept []string
	for _, m := range strings.Split(good, ",") {
		if !strings.HasPrefix(m, `"`+name+`":`) {
			kept = append(kept, m)
		}
	}
	return "{" + strings.Join(kept, ",") + "}"
}

func TestGoodRowsAreReadExactly(t *testing.T) {
	for text, want := range map[string]string{
		"{" + good + "}":                                       "1 2026-01-02 B0A [10 2 1 0] [1.5 3 0]",
		with("impressions", "1e3"):                             "1 2026-01-02 B0A [1000 2 1 0] [1.5 3 0]",
		with("impressions", "10.0"):                            "1 2026-01-02 B0A [10 2 1 0] [1.5 3 0]",
		with("impressions", "null"):                            "1 2026-01-02 B0A [0 2 1 0] [1.5 3 0]",
		with("cost", "null"):                                   "1 2026-01-02 B0A [10 2 1 0] [0 3 0]",
		with("impressions", "-0"):                              "1 2026-01-02 B0A [0 2 1 0] [1.5 3 0]",
		with("clicks", "9007199254740993"):                     "1 2026-01-02 B0A [10 9007199254740993 1 0] [1.5 3 0]",
		with("clicks", "9223372036854775807"):                  "1 2026-01-02 B0A [10 9223372036854775807 1 0] [1.5 3 0]",
		with("cost", "59.980000000000004"):                     "1 2026-01-02 B0A [10 2 1 0] [59.980000000000004 3 0]",
		with("cost", "999999999999.99999999999999999999"):      "1 2026-01-02 B0A [10 2 1 0] [999999999999.99999999999999999999 3 0]",
		with("cost", "1E-20"):                                  "1 2026-01-02 B0A [10 2 1 0] [0.00000000000000000001 3 0]",
		with("advertisedAsin", "null"):                         "1 2026-01-02  [10 2 1 0] [1.5 3 0]",
		with("advertisedAsin", `""`):                           "1 2026-01-02  [10 2 1 0] [1.5 3 0]",
		with("advertisedAsin", "12345678901234567890"):         "1 2026-01-02 12345678901234567890 [10 2 1 0] [1.5 3 0]",
		with("advertisedAsin", `"\u0042\u0030\u00e9"`):         "1 2026-01-02 B0é [10 2 1 0] [1.5 3 0]",
		"{" + good + `,"campaignBudgetCurrencyCode":"EUR"}`:    "1 2026-01-02 B0A EUR[10 2 1 0] [1.5 3 0]",
		"{" + good + `,"campaignBudgetCurrencyCode":null}`:     "1 2026-01-02 B0A [10 2 1 0] [1.5 3 0]",
		"{" + good + `,"unitsSoldClicks7d":7,"sales30d":0.25}`: "1 2026-01-02 B0A [10 2 1 7] [1.5 3 0.25]",
		"{" + good + `,"unitsSoldClicks7d":null}`:              "1 2026-01-02 B0A [10 2 1 0] [1.5 3 0]",
		// Columns that were not requested or are not known say nothing.
		"{" + good + `,"purchases30d":"x","other":{"date":[1,{"clicks":-1}]},"":null}`: "1 2026-01-02 B0A [10 2 1 0] [1.5 3 0]",
		strings.ReplaceAll("{"+good+"}", `"clicks"`, `"\u0063licks"`):                  "1 2026-01-02 B0A [10 2 1 0] [1.5 3 0]",
		strings.ReplaceAll("{"+good+"}", `,`, "\r\n\t , "):                             "1 2026-01-02 B0A [10 2 1 0] [1.5 3 0]",
	} {
		rows, err := readRows(" [" + text + "] \n")
		if diff := cmp.Diff([]string{want}, rows); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	if rows, err := readRows("[]"); err != nil || rows != nil {
		t.Errorf("an empty report has rows %v: %v", rows, err)
	}
	// What one row says never shows in the next.
	rows, err := readRows("[{" + good + `,"unitsSoldClicks7d":7,"sales30d":1,"campaignBudgetCurrencyCode":"EUR"},` + with("advertisedAsin", "null") + "]")
	if want := "2 2026-01-02  [10 2 1 0] [1.5 3 0]"; err != nil || len(rows) != 2 || rows[1] != want {
		t.Errorf("the second row is %v, expected %s: %v", rows, want, err)
	}
}

func TestAFaultyValueIsNamedWithItsRowFieldAndWhatWasExpected(t *testing.T) {
	const (
		wholeNumber = "expected a whole number from 0 to 9223372036854775807"
		amount      = "expected an amount from 0 to below 1000000000000 with at most 20 decimals"
		product     = "expected a product's id of at most 64 characters, or null"
		rangeText   = "expected a day of the report's range 2026-01-01 to 2026-01-31"
	)
	long := strings.Repeat("x", 65)
	for text, want := range map[string]string{
		with("date", `"2025-12-31"`):                    `date is "2025-12-31", ` + rangeText,
		with("date", `"2026-02-01"`):                    `date is "2026-02-01", ` + rangeText,
		with("date", `"2026-01-32"`):                    `date is "2026-01-32", expected a day written "YYYY-MM-DD" that exists`,
		with("date", `"2026-1-2"`):                      `date is "2026-1-2", expected a day written "YYYY-MM-DD" that exists`,
		with("date", "null"):                            `date is null, expected a day written "YYYY-MM-DD"`,
		with("date", "20260102"):                        `date is 20260102, expected a day written "YYYY-MM-DD"`,
		without("date"):                                 "date is missing, expected a value in every row",
		without("advertisedAsin"):                       "advertisedAsin is missing, expected a value in every row",
		without("impressions"):                          "impressions is missing, expected a value in every row",
		without("clicks"):                               "clicks is missing, expected a value in every row",
		without("cost"):                                 "cost is missing, expected a value in every row",
		without("purchases7d"):                          "purchases7d is missing, expected a value in every row",
		without("sales7d"):                              "sales7d is missing, expected a value in every row",
		"{}":                                            "date is missing, expected a value in every row",
		with("impressions", "-1"):                       "impressions is -1, " + wholeNumber,
		with("impressions", "1.5"):                      "impressions is 1.5, " + wholeNumber,
		with("impressions", "9223372036854775808"):      "impressions is 9223372036854775808, " + wholeNumber,
		with("impressions", "1e99"):                     "impressions is 1e99, " + wholeNumber,
		with("impressions", "1e999999999999999999999"):  "impressions is 1e999999999999999999999, " + wholeNumber,
		with("impressions", `"10"`):                     `impressions is "10", expected a whole number`,
		with("clicks", "true"):                          "clicks is true, expected a whole number",
		with("cost", "-0.01"):                           "cost is -0.01, " + amount,
		with("cost", "1000000000000"):                   "cost is 1000000000000, " + amount,
		with("cost", "1e12"):                            "cost is 1e12, " + amount,
		with("cost", "1e-21"):                           "cost is 1e-21, " + amount,
		with("cost", `"1.5"`):                           `cost is "1.5", expected a number`,
		with("sales7d", "[1]"):                          "sales7d is [1], expected a number",
		with("advertisedAsin", "1.5"):                   "advertisedAsin is 1.5, " + product,
		with("advertisedAsin", "-1"):                    "advertisedAsin is -1, " + product,
		with("advertisedAsin", `{}`):                    "advertisedAsin is {}, " + product,
		with("advertisedAsin", `"`+long+`"`):            `advertisedAsin is "` + long[:63] + "..., " + product,
		with("advertisedAsin", `"B\u0000"`):             `advertisedAsin is "B\u0000", ` + product,
		"{" + good + `,"campaignBudgetCurrencyCode":1}`: "campaignBudgetCurrencyCode is 1, expected a currency's code",
		"{" + good + `,"unitsSoldClicks7d":"7"}`:        `unitsSoldClicks7d is "7", expected a whole number`,
	} {
		rows, err := readRows("[{" + good + "},{" + good + "}," + text + "]")
		if err == nil || err.Error() != "row 3: "+want {
			t.Errorf("%s:\n got: %v\nwant: row 3: %s", text, err, want)
		}
		if len(rows) != 2 {
			t.Errorf("%s: %d rows were accepted before the fault, expected 2", text, len(rows))
		}
	}
}

func TestADamagedFileIsNeverTakenForAWholeOne(t *testing.T) {
	row := "{" + good + "}"
	for text, want := range map[string]string{
		"":                                   "expected a JSON array of rows, but the file is empty",
		"[" + row:                            "the file ends in the middle, after row 1: it is half-written or damaged",
		"<html>":                             "row 1: it begins like HTML or XML, expected JSON in UTF-8",
		"\xff\xfe[\x00":                      "row 1: it begins like text in UTF-16, expected JSON in UTF-8",
		"{}":                                 "row 1: is {, expected a JSON array of rows",
		"null":                               "row 1: is null, expected a JSON array of rows",
		"[null]":                             "row 1: is null, expected a row in braces, or the array's end",
		"[" + row + ",3]":                    "row 2: is number, expected a row in braces, or the array's end",
		"[" + row + "] []":                   "expected the file's end after the array of rows, but more follows",
		"[" + row + "]" + row:                "expected the file's end after the array of rows, but more follows",
		"[" + row + "]]":                     "after row 1: damaged JSON at byte",
		"[" + row + ",]":                     "after row 1: damaged JSON at byte",
		"[" + row + row + "]":                "after row 1: damaged JSON at byte",
		"[" + row + "]\x00":                  "after row 1: damaged JSON at byte",
		"[{" + good + `,"clicks":1}]`:        "row 1: clicks: damaged JSON at byte 112: duplicate object member name",
		"[{" + good + `,"\u0063licks":1}]`:   "row 1: clicks: damaged JSON at byte 112: duplicate object member name",
		"[{" + good + `,"x":{"a":1,"a":2}}]`: "row 1: a: damaged JSON at byte 123: duplicate object member name",
		"[" + with("advertisedAsin", "\"B\xff\"") + "]": "row 1: advertisedAsin: damaged JSON at byte 41: invalid UTF-8",
		"[{" + good + ",\"\xff\":1}]":                   "row 1: damaged JSON at byte 113: invalid UTF-8",
		"[" + with("advertisedAsin", `"\ud800"`) + "]":  "row 1: advertisedAsin: damaged JSON at byte 40: invalid",
		"[" + with("clicks", "01") + "]":                "row 1: damaged JSON at byte",
		"[" + with("clicks", "NaN") + "]":               "row 1: clicks: damaged JSON at byte 71: invalid character 'N' at start of value",
	} {
		if _, err := readRows(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n got: %v\nwant: %s", text, err, want)
		}
	}
}

func TestAFileCutOffAnywhereIsRefused(t *testing.T) {
	whole := "[{" + good + `,"campaignBudgetCurrencyCode":"EUR","other":{"é":[1,"\u00e9\""]}},` + "\n" + with("advertisedAsin", "null") + ",{" + good + "}]"
	if rows, err := readRows(whole); err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	for cut := 1; cut < len(whole); cut++ {
		rows, err := readRows(whole[:cut])
		if err == nil {
			t.Errorf("cut off after %d bytes, the file is taken for whole with %d rows", cut, len(rows))
			continue
		}
		if !strings.Contains(err.Error(), "the file ends in the middle") {
			t.Errorf("cut off after %d bytes: %v", cut, err)
		}
	}
}

func TestNoRowTakesUnboundedMemory(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	if _, err := readRows("[{" + good + `,"x":` + deep); err == nil || !strings.Contains(err.Error(), "exceeded max depth") {
		t.Errorf("a row of endless depth: %.200v", err)
	}
	for name, text := range map[string]string{
		"text":      "[{" + good + `,"x":"` + strings.Repeat("x", 16<<20),
		"members":   "[{" + good + strings.Repeat(`,"x":[]`, 1) + strings.Repeat(" ", 16<<20),
		"nothing":   "[" + strings.Repeat(" ", 16<<20),
		"in a list": "[{" + good + `},{"x":[` + strings.Repeat("1,", 8<<20),
	} {
		source := &counting{r: strings.NewReader(text)}
		err := platform.NewRowReader(source, spReport(), "impressions", "clicks", "purchases7d", "cost", "sales7d").Each(func(*platform.Row) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "a row of more than 1048576 bytes") {
			t.Errorf("%s without end: %.200v", name, err)
		}
		if source.n > 8<<20 {
			t.Errorf("%s without end: %d bytes were read first", name, source.n)
		}
	}
	// A row of half the bound is none of this.
	if rows, err := readRows("[{" + good + `,"x":"` + strings.Repeat("x", 512<<10) + `"},{` + good + "}]"); err != nil || len(rows) != 2 {
		t.Errorf("a long row is refused: %.200v", err)
	}
}

type counting struct {
	r *strings.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

func TestNullsAreCountedOncePerRowAndColumn(t *testing.T) {
	null := with("cost", "null")
	text := "[" + null + "," + null + "," + strings.Replace(with("clicks", "null"), "{", `{"x":[],`, 1) + ",{" + good + `,"sales30d":null},{` + good + "}]"
	reader := platform.NewRowReader(strings.NewReader(text), spReport(), "impressions", "clicks", "purchases7d", "cost", "sales7d")
	if err := reader.Each(func(*platform.Row) error { return nil }); err != nil {
		t.Fatal(err)
	}
	want := []platform.Nulls{{Column: "clicks", Rows: 1}, {Column: "cost", Rows: 2}, {Column: "sales30d", Rows: 1}}
	if diff := cmp.Diff(want, reader.Nulls()); diff != "" {
		t.Error(diff)
	}
}
