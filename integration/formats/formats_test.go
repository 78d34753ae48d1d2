package formats_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
	"adlens/integration/readers"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

// oddTitles are those that formats stumble over.
var oddTitles = []string{`Lamp, blue, 5" tall`, "two\nlines", "carriage\rreturn", `=HYPERLINK("http://x","y")`, "+49 30 1", "-5.20", "@sum", "😀 ÄÖÜ", "123456789012345678", "'quoted'", "_x000D_", "a;b\tc", "<b>&"}

// shopWithOddTexts is a shop in whose texts is all that formats stumble over.
func shopWithOddTexts(t *testing.T) (*house.House, *house.Tenant) {
	t.Helper()
	h, one := house.ShopWithLists(t)
	dir := t.TempDir()
	titles := "product_id,title\n"
	for i, title := range oddTitles {
		titles += "B00" + string("0123456789ABC"[i]) + `,"` + strings.ReplaceAll(title, `"`, `""`) + "\"\n"
	}
	house.Put(t, dir, "products.csv", []byte(titles))
	rule := house.With(house.RuleLine("=rule"), "name", oddTitles[3])
	rule["scope"] = map[string]any{"marketplaces": nil, "campaign_ids": []any{"144158449488730278", "2"}}
	house.Put(t, dir, "rules.ndjson", house.Lines(t, rule))
	run := house.With(house.RunLine("odd", "one"), "changed", 1)
	run["changes"] = []any{map[string]any{"marketplace": "US", "entity_type": "campaign", "entity_id": "144158449488730278", "entity_name": oddTitles[1],
		"field": "budget", "from": json.Number("10.50"), "to": json.Number("12"), "reason": nil}}
	house.Put(t, dir, "rule_runs.ndjson", house.Lines(t, run))
	house.Put(t, dir, "activity.ndjson", house.Lines(t, house.With(house.ActivityLine("odd", "101"), "summary", oddTitles[0])))
	house.Load(t, h.Program, one, dir)
	return h, one
}

var paths = []string{
	"/marketplaces", "/summary?range=all_time", "/summary?range=today", "/timeline?range=all_time", "/reports/products?range=all_time&page_size=all",
	"/reports/products?range=all_time&page_size=7&page=2&sort=product_id&order=asc", "/reports/products?range=today", "/campaigns?marketplace_id=101", "/campaigns?marketplace_id=102",
	"/summary?range=all_time&compare=previous_year", "/summary?range=last_month&compare=previous_period", "/timeline?range=last_60_days&compare=previous_period",
	"/timeline?range=last_7_days&compare=previous_year", "/reports/products?range=last_14_days&compare=previous_period&page_size=all",
	"/ad-groups?marketplace_id=101", "/rules", "/rules?page_size=all", "/rules/one/runs", "/activity?page_size=all", "/activity?page_size=1",
}

func withFormat(path, format string) string {
	if strings.Contains(path, "?") {
		return "/api/v1" + path + "&format=" + format
	}
	return "/api/v1" + path + "?format=" + format
}

func TestFormatsHaveTheRowsAndValuesOfTheJSON(t *testing.T) {
	t.Parallel()
	_, one := shopWithOddTexts(t)
	for _, path := range paths {
		want := house.Get(t, one.Ask, "/api/v1"+path)
		rows := flatRows(t, want.Body)
		for _, c := range []struct {
			format string
			read   func(*testing.T, []byte) readers.Table
		}{
			{"csv", csvOf(',', false)},
			{"csv&separator=tab", csvOf('\t', false)},
			{"csv&separator=semicolon&decimal=comma", csvOf(';', true)},
			{"csv&decimal=comma", csvOf(',', true)},
			{"xlsx", func(t *testing.T, file []byte) readers.Table {
				workbook, err := readers.XLSX(file)
				house.Need(t, err)
				if request := workbook.About["request"]; request == nil || !strings.HasPrefix(*request, "/api/v1/") || !workbook.Frozen {
					t.Errorf("%s: %v", path, workbook.About)
				}
				for _, row := range workbook.Rows {
					unguard(row)
				}
				return workbook.Table
			}},
			{"parquet", func(t *testing.T, file []byte) readers.Table {
				table, about, err := readers.Parquet(file)
				house.Need(t, err)
				if !strings.Contains(about, `"request":"/api/v1/`) {
					t.Errorf("%s: %s", path, about)
				}
				return table
			}},
		} {
			got := house.Get(t, one.Ask, withFormat(path, c.format))
			if got.Status != 200 {
				t.Fatalf("%s as %s: %s", path, c.format, got)
			}
			mustHaveRows(t, path+" as "+c.format, c.read(t, got.Body), rows)
			mustSayItsPages(t, path+" as "+c.format, want, got)
		}
		mustBeLines(t, path, house.Get(t, one.Ask, withFormat(path, "ndjson")).Body, want.Body, rows)
	}
}

func csvOf(separator rune, comma bool) func(*testing.T, []byte) readers.Table {
	return func(t *testing.T, file []byte) readers.Table {
		table, err := readers.CSV(file, separator)
		house.Need(t, err)
		for _, row := range table.Rows {
			unguard(row)
			for i, value := range row {
				if value != nil && comma && hasDecimals(table.Columns[i]) {
					*row[i] = strings.Replace(*value, ",", ".", 1)
				}
			}
		}
		return table
	}
}

// hasDecimals tells a column of amounts, ratios or changes from all others.
func hasDecimals(column string) bool {
	figure := strings.TrimPrefix(column, "comparison_")
	return strings.HasPrefix(figure, "change_") || figure == "budget_amount" || figure == "default_bid_amount" ||
		slices.Contains(model.FigureNames, figure) && !slices.Contains([]string{"impressions", "clicks", "purchases"}, figure)
}

func unguard(row []*string) {
	for i, value := range row {
		if value != nil {
			plain := readers.Guarded(*value)
			row[i] = &plain
		}
	}
}

// mustHaveRows holds a table against the rows of the JSON answer, cell by cell.
func mustHaveRows(t *testing.T, what string, got readers.Table, rows [][]flatField) {
	t.Helper()
	if len(got.Rows) != len(rows) || len(got.Columns) == 0 {
		t.Errorf("%s: %d rows of %v, want %d", what, len(got.Rows), got.Columns, len(rows))
		return
	}
	for i, row := range rows {
		before, seen := -1, 0
		for _, f := range row {
			place := slices.Index(got.Columns, f.name)
			if place < 0 && f.text == nil { // an object that is null
				continue
			}
			if place <= before {
				t.Errorf("%s: %s is column %d of %v", what, f.name, place, got.Columns)
				return
			}
			before = place
			seen++
			if cell := got.Rows[i][place]; !sameCell(cell, f) {
				t.Errorf("%s: row %d: %s is %v, want %v", what, i, f.name, quoted(cell), quoted(f.text))
			}
		}
		for _, cell := range got.Rows[i] {
			if cell != nil && *cell != "" {
				seen--
			}
		}
		if seen < 0 {
			t.Errorf("%s: row %d says more than the JSON: %v", what, i, got.Rows[i])
		}
	}
}

func quoted(text *string) string {
	if text == nil {
		return "null"
	}
	return `"` + *text + `"`
}

func sameCell(cell *string, f flatField) bool {
	if cell == nil || f.text == nil {
		return cell == nil && (f.text == nil || *f.text == "")
	}
	if f.kind != 'n' {
		return strings.ReplaceAll(*cell, "\r\n", "\n") == strings.ReplaceAll(*f.text, "\r\n", "\n")
	}
	a, okA := new(big.Rat).SetString(*cell)
	b, okB := new(big.Rat).SetString(*f.text)
	return okA && okB && a.Cmp(b) == 0
}

func mustSayItsPages(t *testing.T, what string, want, got harness.Answer) {
	t.Helper()
	for _, name := range []string{"X-Total-Rows", "X-Truncated", "Vary", "Cache-Control"} {
		if got.Header.Get(name) != want.Header.Get(name) {
			t.Errorf("%s: %s is %q, want %q", what, name, got.Header.Get(name), want.Header.Get(name))
		}
	}
	if (got.Header.Get("Link") == "") != (want.Header.Get("Link") == "") || got.Header.Get("ETag") == want.Header.Get("ETag") {
		t.Errorf("%s: %v and %v", what, got.Header, want.Header)
	}
}

// mustBeLines demands the elements of data, one a line, as they are.
func mustBeLines(t *testing.T, path string, body, answer []byte, rows [][]flatField) {
	t.Helper()
	if n := bytes.Count(body, []byte("\n")); n != len(rows) || len(body) > 0 && !bytes.HasSuffix(body, []byte("\n")) {
		t.Errorf("%s: %d lines, want %d: %s", path, n, len(rows), body)
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n")) {
		if len(rows) == 0 {
			return
		}
		if !strings.HasPrefix(path, "/summary") && !bytes.Contains(answer, line) {
			t.Errorf("%s: %s is not in the answer", path, line)
		}
		fields := flatten(t, "", line)
		for _, want := range rows[i] {
			place := slices.IndexFunc(fields, func(f flatField) bool { return f.name == want.name })
			if place < 0 || quoted(fields[place].text) != quoted(want.text) {
				t.Errorf("%s: line %d: %s, want %s %s", path, i, line, want.name, quoted(want.text))
			}
		}
	}
}

func TestFormatsAreCachedAndCodedLikeTheJSON(t *testing.T) {
	t.Parallel()
	_, one := shopWithOddTexts(t)
	for _, format := range []string{"json", "csv", "xlsx", "parquet", "ndjson"} {
		path := withFormat("/reports/products?range=all_time&page_size=all", format)
		plain := house.Get(t, one.Ask, path)
		tags := []string{plain.Header.Get("ETag")}
		for _, coding := range []string{"gzip", "zstd"} {
			a := house.Get(t, one.Ask, path, "Accept-Encoding", coding)
			if sent := a.Header.Get("Content-Encoding"); sent != coding && format != "xlsx" && format != "parquet" || sent != "" && sent != coding {
				t.Errorf("%s is sent in %q", format, sent)
			}
			if !bytes.Equal(uncoded(t, a), plain.Body) {
				t.Errorf("%s in %s is another body", format, coding)
			}
			tags = append(tags, a.Header.Get("ETag"))
		}
		for _, tag := range tags {
			for _, spelled := range []string{tag, "W/" + tag, `"x", ` + tag} {
				if a := house.Get(t, one.Ask, path, "If-None-Match", spelled, "Accept-Encoding", "gzip"); a.Status != 304 || a.Header.Get("ETag") != tag ||
					a.Header.Get("Content-Encoding") != "" || a.Header.Get("Vary") == "" || a.Header.Get("Cache-Control") == "" || len(a.Body) > 0 {
					t.Errorf("%s with If-None-Match %s: %s %v", format, spelled, a, a.Header)
				}
			}
		}
		for _, coding := range []string{"identity", "gzip"} {
			mustAnswerHeadAlike(t, one.Ask, path, coding)
		}
	}
}

func uncoded(t *testing.T, a harness.Answer) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(a.Body)
	var err error
	switch a.Header.Get("Content-Encoding") {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "zstd":
		r, err = zstd.NewReader(r)
	}
	house.Need(t, err)
	body, err := io.ReadAll(r)
	house.Need(t, err)
	return body
}

func mustAnswerHeadAlike(t *testing.T, c harness.Client, path, coding string) {
	t.Helper()
	got := house.Get(t, c, path, "Accept-Encoding", coding)
	head, err := c.Do("HEAD", path, "Accept-Encoding", coding)
	house.Need(t, err)
	if head.Status != 200 || len(head.Body) > 0 || len(got.Header) != len(head.Header) || got.Header.Get("Content-Length") == "" {
		t.Errorf("HEAD %s: %s %v, and to GET %v", path, head, head.Header, got.Header)
	}
	for name := range got.Header {
		if !slices.Contains([]string{"X-Request-Id", "Date", "Ratelimit"}, name) && got.Header.Get(name) != head.Header.Get(name) {
			t.Errorf("HEAD %s: %s is %q, to GET %q", path, name, head.Header.Get(name), got.Header.Get(name))
		}
	}
}

func TestFormatsOfFilesAreReadInParts(t *testing.T) {
	t.Parallel()
	_, one := shopWithOddTexts(t)
	path := withFormat("/reports/products?range=all_time", "parquet")
	whole := house.Get(t, one.Ask, path)
	last := house.Get(t, one.Ask, path, "Range", "bytes=-8", "If-Range", whole.Header.Get("ETag"))
	if last.Status != 206 || !bytes.Equal(last.Body, whole.Body[len(whole.Body)-8:]) || !bytes.HasSuffix(last.Body, []byte("PAR1")) {
		t.Errorf("the end: %d %q", last.Status, last.Body)
	}
	house.ProblemOf(t, house.Get(t, one.Ask, path, "Range", "bytes=99999999-"), 416, "invalid_parameter")
	far := &inParts{t, one.Ask, path, 0}
	file, err := parquet.OpenFile(far, int64(len(whole.Body)))
	house.Need(t, err)
	table, _, err := readers.Parquet(whole.Body)
	house.Need(t, err)
	if file.NumRows() != int64(len(table.Rows)) || file.NumRows() == 0 || far.asked < 2 {
		t.Errorf("%d rows read in %d parts, want %d", file.NumRows(), far.asked, len(table.Rows))
	}
}

// inParts reads an answer where it is, by ranges, as programs do that do not
// download it.
type inParts struct {
	t     *testing.T
	ask   harness.Client
	path  string
	asked int
}

func (f *inParts) ReadAt(into []byte, from int64) (int, error) {
	f.asked++
	a := house.Get(f.t, f.ask, f.path, "Range", fmt.Sprintf("bytes=%d-%d", from, from+int64(len(into))-1))
	n := copy(into, a.Body)
	if a.Status != 206 || n < len(into) {
		return n, io.EOF
	}
	return n, nil
}
