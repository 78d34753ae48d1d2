package console

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"adlens/internal/platform"

	"github.com/google/go-cmp/cmp"
)

var bookHeader = []string{`"Date"`, `"Campaign Name"`, `"Ad Group Name"`, `"Advertised ASIN"`, `"Impressions"`, `"Clicks"`, `"Spend"`, `"7 Day Total Sales"`}

// Programs that save a workbook write the same values in other ways.
func TestCellsOfOtherProgramsAreRead(t *testing.T) {
	for name, test := range map[string]struct {
		row  []string
		want string
	}{
		"text in runs":                 {[]string{"46266", `<c r="B2" t="inlineStr"><is><r><t>two </t></r><r><t>runs</t></r></is></c>`, `"G"`, `"B"`, "1", "2", "3", "4"}, `2 2026-09-01 "B" "two runs" "G" [1 2] [3 4]`},
		"text of a formula":            {[]string{"46266", `<c r="B2" t="str"><f>A1</f><v>C</v></c>`, `"G"`, `<c r="D2" t="str"><f>A1</f><v>B</v></c>`, "1", "2", "3", "4"}, `2 2026-09-01 "B" "C" "G" [1 2] [3 4]`},
		"a day as text":                {[]string{`<c r="A2" t="d"><v>2026-09-01T00:00:00</v></c>`, `"C"`, `"G"`, `"B"`, "1", "2", "3", "4"}, `2 2026-09-01 "B" "C" "G" [1 2] [3 4]`},
		"a formula that was computed":  {[]string{"46266", `"C"`, `"G"`, `"B"`, "1", "2", `<c r="G2"><f>1+2</f><v>3</v></c>`, "4"}, `2 2026-09-01 "B" "C" "G" [1 2] [3 4]`},
		"no places, and more elements": {[]string{`<c><v>46266</v></c><c t="s"><v>0</v></c><c/><c t="inlineStr"><is><t>B</t></is></c><c><v>1</v></c><x><c><v>9</v></c></x><c><v>2</v></c><c><v>3</v></c><c><v>4</v></c>`}, `2 2026-09-01 "B" "plain" "" [1 2] [3 4]`},
		"decimals that were meant":     {[]string{"46266", `"C"`, `"G"`, `"B"`, "1", "2", "0.12340001", "0.1234000000001"}, `2 2026-09-01 "B" "C" "G" [1 2] [0.12340001 0.1234]`},
		"no text of the list":          {[]string{"46266", `<c r="B2" t="s"><v>2</v></c>`}, `row 2: the workbook is damaged: text "2" of 2`},
		"a cell twice":                 {[]string{"46266", `"C"`, `<c r="B2"><v>1</v></c>`}, "row 2: the workbook is damaged: cell B2, expected those of a row in their order"},
		"the first cell too far":       {[]string{"46266", `<c r="AMK2"><v>1</v></c>`}, "row 2: the workbook is damaged: cell AMK2, expected those of a row in their order, and at most 1024"},
		"no decimal":                   {[]string{"46266", `"C"`, `"G"`, `"B"`, "1", "2", "1/2", "4"}, "row 2: Spend is 1/2, expected an amount"},
	} {
		got, err := readAll(book(t, bookHeader, test.row), true)
		if err == nil && (len(got) < 3 || got[2] != test.want) || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %q %v, expected %s", name, got, err, test.want)
		}
	}
	last := book(t, bookHeader, []string{"46266", `"C"`, `"G"`, `"B"`, "1", "2", "3", "4", `<c r="AMJ2"><v>1</v></c>`})
	if got, err := readAll(last, true); err != nil || len(got) != 3 {
		t.Errorf("a value in the last column that a sheet has: %v %v", got, err)
	}
}

// Reports of Sponsored Brands have more columns than there are letters.
func TestColumnsBehindTheLettersAreFound(t *testing.T) {
	place := func(row int, cells map[string]string) (all string) {
		for _, column := range []string{"A", "Z", "AA", "AB", "AZ", "BA"} {
			value := `t="inlineStr"><is><t>` + cells[column] + "</t></is>"
			if strings.Trim(cells[column], "0123456789") == "" {
				value = "><v>" + cells[column] + "</v>"
			}
			all += fmt.Sprintf(`<c r="%s%d" %s</c>`, column, row, value)
		}
		return all
	}
	file := book(t, []string{place(1, map[string]string{"A": "Date", "Z": "Campaign Name", "AA": "Impressions", "AB": "Clicks", "AZ": "Spend", "BA": "5 Second Views"})},
		[]string{place(2, map[string]string{"A": "46266", "Z": "C", "AA": "10", "AB": "2", "AZ": "3", "BA": "4"})})
	f, err := Open(bytes.NewReader(file), int64(len(file)), true)
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[int]string{0: "Date", 25: "Campaign Name", 26: "Impressions", 27: "Clicks", 51: "Spend", 52: "5 Second Views"} {
		if f.fields[column] == nil || f.fields[column].header != want {
			t.Errorf("column %d is %+v, expected %s", column, f.fields[column], want)
		}
	}
}

// makeParts returns the parts of a workbook with one row of figures.
func makeParts() map[string]string {
	return map[string]string{"xl/workbook.xml": bookPart, "xl/_rels/workbook.xml.rels": relsPart, "xl/sharedStrings.xml": textsPart, "docProps/core.xml": corePart,
		"xl/worksheets/sheet1.xml": sheet(bookHeader, []string{"46266", `<c r="B2" t="s"><v>0</v></c>`, `"G"`, `"B"`, "1", "2", "3", "4"})}
}

func TestPartsOfOtherProgramsAreFound(t *testing.T) {
	const good, damaged = "", "the workbook is damaged"
	for name, test := range map[string]struct{ part, old, new, want string }{
		"a path from the archive's root": {"xl/_rels/workbook.xml.rels", `"worksheets/`, `"/xl/worksheets/`, good},
		"other parts next to the sheet":  {"xl/_rels/workbook.xml.rels", "<Relationship ", `<Relationship Id="rId1" Target="styles.xml"/><Relationship `, good},
		"a sheet that is not there":      {"xl/_rels/workbook.xml.rels", "sheet1", "sheet2", damaged + ": it lacks xl/worksheets/sheet2.xml"},
		"no sheet":                       {"xl/_rels/workbook.xml.rels", "rId3", "rId4", damaged + ": it has no sheet"},
		"days from 1904, in a word":      {"xl/workbook.xml", "<sheets>", `<workbookPr date1904="true"/><sheets>`, "the workbook counts days from 1904"},
		"days from 1900, in a word":      {"xl/workbook.xml", "<sheets>", `<workbookPr date1904="false"/><sheets>`, good},
		"space between the elements":     {"xl/sharedStrings.xml", "<t>plain</t>", "\n <t>plain</t>\n ", good},
		"a long list of texts":           {"xl/sharedStrings.xml", "</sst>", strings.Repeat("<si><t>another</t></si>", 100_000) + "</sst>", good},
		"a list that is cut off":         {"xl/sharedStrings.xml", "</sst>", "", damaged + ": xl/sharedStrings.xml"},
		"no good time":                   {"docProps/core.xml", "2026-09-05T08:30:00Z", "yesterday", good},
		"a sheet that is cut off":        {"xl/worksheets/sheet1.xml", "</sheetData></worksheet>", "", "after row 2: " + damaged},
		"a sheet without a header":       {"xl/worksheets/sheet1.xml", "<row r=\"1\">", "<row r=\"1\"></c>", "row 1: " + damaged},
		"rows without their numbers":     {"xl/worksheets/sheet1.xml", " r=\"2\"", "", good},
	} {
		var parts []string
		for part, text := range makeParts() {
			if part == test.part {
				changed := strings.Replace(text, test.old, test.new, 1)
				if changed == text {
					t.Fatalf("%s: nothing is changed", name)
				}
				text = changed
			}
			parts = append(parts, part, text)
		}
		got, err := readAll(packed(t, parts...), true)
		if test.want != good {
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%s: %q %v, expected %s", name, got, err, test.want)
			}
			continue
		}
		want := []string{`spAdvertisedProduct 2026-09-01 2026-09-01 "" ""`, "date campaignName adGroupName advertisedAsin impressions clicks cost sales7d", `2 2026-09-01 "B" "plain" "G" [1 2] [3 4]`}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// closable is a file that cannot be read any more once it is closed.
type closable struct {
	*bytes.Reader
	closed bool
}

func (c *closable) ReadAt(p []byte, at int64) (int, error) {
	if c.closed {
		return 0, errors.New("read after its end")
	}
	return c.Reader.ReadAt(p, at)
}

// Rows are read from the opening that they are read for: the first one is closed by then.
func TestReopenedReportsAreReadFromTheirOwnOpening(t *testing.T) {
	for name, test := range map[string]struct {
		file       []byte
		isWorkbook bool
	}{
		"text":     {[]byte(english + oneRow), false},
		"workbook": {book(t, bookHeader, []string{"46266", `"C"`, `"G"`, `"B"`, "1", "2", "3", "4"}), true},
	} {
		first := &closable{Reader: bytes.NewReader(test.file)}
		f, err := Open(first, first.Size(), test.isWorkbook)
		if err != nil {
			t.Fatal(err)
		}
		first.closed = true
		if f.workbook != nil && f.workbook.texts != nil { // of each of hundreds of files until its rows are read
			t.Errorf("%d texts are kept", len(f.workbook.texts))
		}
		again, err := f.Reopen(io.NewSectionReader(bytes.NewReader(test.file), 0, first.Size()), first.Size())
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		if err := again.Rows().Each(func(*platform.Row) error { rows++; return nil }); err != nil || rows != 1 {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
}
