package formats_test

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adlens/integration/house"
	"adlens/integration/readers"
)

func workbookOf(t *testing.T, body []byte) readers.Workbook {
	t.Helper()
	workbook, err := readers.XLSX(body)
	house.Need(t, err)
	return workbook
}

func TestASheetShowsNumbersWithTheirUnit(t *testing.T) {
	t.Parallel()
	_, one := shopWithOddTexts(t)
	const dollars, pounds, percent, plain = `[$USD]\ #,##0.00`, `[$GBP]\ #,##0.00`, `#,##0.00"%"`, `#,##0.00`
	for path, want := range map[string]map[string]string{
		"/reports/products?range=all_time": {"spend": dollars, "sales": dollars, "acos": percent, "roas": plain, "impressions": "#,##0", "clicks": "#,##0",
			"ctr": percent, "average_cpc": dollars, "purchases": "#,##0", "conversion_rate": percent},
		"/summary?range=all_time&marketplaces=UK&currency=local":       {"spend": pounds, "average_cpc": pounds, "acos": percent},
		"/report?range=all_time&dimensions=marketplace&currency=local": {"spend": plain, "average_cpc": plain, "acos": percent, "clicks": "#,##0"},
		"/report?range=all_time&dimensions=month":                      {"month": `yyyy\-mm\-dd`, "sales": dollars},
		"/summary?range=last_60_days&compare=previous_year": {"comparison_spend": dollars, "comparison_ctr": percent, "comparison_clicks": "#,##0",
			"spend": dollars},
		"/campaigns?marketplace_id=101": {"budget_amount": `[$USD]\ #,##0.00##`, "name": ""},
	} {
		workbook := workbookOf(t, house.Get(t, one.Ask, withFormat(path, "xlsx")).Body)
		for column, format := range want {
			place := slices.Index(workbook.Columns, column)
			if place < 0 {
				t.Fatalf("%s has no column %s: %v", path, column, workbook.Columns)
			}
			if got := workbook.Formats[place]; got != format && !(got == "" && empty(workbook.Rows, place)) {
				t.Errorf("%s: %s is shown as %s, want %s", path, column, got, format)
			}
		}
		last := workbook.Rows[len(workbook.Rows)-1]
		if wanted := fmt.Sprintf(":%s%d", columnOf(len(last)), 1+len(workbook.Rows)); !strings.HasPrefix(workbook.Filter, "A1:") || !strings.HasSuffix(workbook.Filter, wanted) {
			t.Errorf("%s: the filter is over %s, want A1%s", path, workbook.Filter, wanted)
		}
	}
}

func empty(rows [][]*string, place int) bool {
	return !slices.ContainsFunc(rows, func(row []*string) bool { return row[place] != nil })
}

func columnOf(n int) string {
	if n > 26 {
		return columnOf((n-1)/26) + columnOf((n-1)%26+1)
	}
	return string(rune('A' + n - 1))
}

// Labels are other words above the same cells.
func TestHeadersAreNamesOrLabels(t *testing.T) {
	t.Parallel()
	_, one := shopWithOddTexts(t)
	read := map[string]func(*testing.T, []byte) readers.Table{
		"csv": csvOf(',', false), "csv&separator=semicolon": csvOf(';', false),
		"xlsx": func(t *testing.T, body []byte) readers.Table { return workbookOf(t, body).Table },
	}
	for _, path := range append(slices.Clone(paths), "/report?range=all_time&dimensions=month,marketplace,ad_product,product", "/report?range=all_time&dimensions=campaign&figures=spend,units_sold_clicks_7d") {
		for format, table := range read {
			plain := house.Get(t, one.Ask, withFormat(path, format))
			named := house.Get(t, one.Ask, withFormat(path, format)+"&headers=NAMES")
			labelled := house.Get(t, one.Ask, withFormat(path, format)+"&headers=labels")
			if string(named.Body) != string(plain.Body) || named.Header.Get("ETag") != plain.Header.Get("ETag") {
				t.Errorf("%s as %s: headers=names is another answer", path, format)
			}
			a, b := table(t, plain.Body), table(t, labelled.Body)
			if labelled.Status != 200 || len(a.Columns) != len(b.Columns) || len(a.Rows) != len(b.Rows) || labelled.Header.Get("ETag") == plain.Header.Get("ETag") {
				t.Fatalf("%s as %s: %s", path, format, labelled)
			}
			for i, row := range a.Rows {
				for j := range row {
					if quoted(row[j]) != quoted(b.Rows[i][j]) {
						t.Errorf("%s as %s: row %d, %s is %s with labels", path, format, i, a.Columns[j], quoted(b.Rows[i][j]))
					}
				}
			}
			for i, label := range b.Columns {
				if strings.Contains(label, "_") || label == a.Columns[i] || slices.Contains(b.Columns[:i], label) {
					t.Errorf("%s as %s: %s is called %q among %v", path, format, a.Columns[i], label, b.Columns)
				}
				if want, known := map[string]string{"purchases": "Orders", "acos": "ACOS", "product_id": "Product id", "comparison_spend": "Spend (before)",
					"comparison_change_average_cpc": "Average CPC (change)", "budget_amount": "Budget amount"}[a.Columns[i]]; known && label != want {
					t.Errorf("%s as %s: %s is called %q, want %q", path, format, a.Columns[i], label, want)
				}
			}
		}
	}
	for _, format := range []string{"json", "parquet", "ndjson"} {
		p := house.ProblemOf(t, house.Get(t, one.Ask, "/api/v1/summary?headers=labels&format="+format), 400, "conflicting_parameters")
		if !strings.Contains(p.Detail, format) {
			t.Errorf("%s: %s", format, p.Detail)
		}
	}
}

// What a person sees who opens the file in LibreOffice.
func TestASheetOpensInCalcWithItsUnitsAndFilter(t *testing.T) {
	t.Parallel()
	_, one := shopWithOddTexts(t)
	body := house.Get(t, one.Ask, "/api/v1/reports/products?range=all_time&page_size=all&sort=product_id&order=asc&headers=labels&format=xlsx").Body
	path := filepath.Join(t.TempDir(), "products.xlsx")
	house.Need(t, os.WriteFile(path, body, 0o644))
	workbook := workbookOf(t, body)
	sheet := openCalc(t, "open", (&url.URL{Scheme: "file", Path: path}).String())
	shown := sheet.rows(t)
	if len(shown) != 1+len(workbook.Rows) || !slices.Equal(shown[0], workbook.Columns) {
		t.Fatalf("the sheet shows %v, and the file has %d rows below %v", shown, len(workbook.Rows), workbook.Columns)
	}
	odd := 0
	for i, row := range workbook.Rows {
		for j, cell := range row {
			text := ""
			if cell != nil {
				text = *cell
			}
			switch workbook.Columns[j] {
			case "Spend", "Sales", "Average CPC":
				text = unlessEmpty("USD ", withCommas(text), "")
			case "ACOS", "CTR", "Conversion":
				text = unlessEmpty("", withCommas(text), "%")
			case "Impressions", "Clicks", "Orders", "ROAS":
				text = withCommas(text)
			case "Title":
				if strings.Contains("=+-@", text[:min(1, len(text))]) && text != "" {
					odd++
				}
			}
			if lines(shown[i+1][j]) != lines(text) {
				t.Errorf("row %d: %s is shown as %q, want %q", i, workbook.Columns[j], shown[i+1][j], text)
			}
		}
	}
	if odd < 4 {
		t.Errorf("%d titles begin like formulas", odd)
	}
	_, err := io.WriteString(sheet.refresh, "\n")
	house.Need(t, err)
	mustShowCell(t, sheet, fmt.Sprintf("%s filtered", workbook.Filter))
}

func unlessEmpty(before, text, after string) string {
	if text == "" {
		return ""
	}
	return before + text + after
}

// lines spells all ends of lines alike.
func lines(text string) string { return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text) }

// withCommas separates the thousands of a number.
func withCommas(number string) string {
	whole, decimals, fraction := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if !fraction {
		return whole
	}
	return whole + "." + decimals
}
