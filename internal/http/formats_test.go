package http

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"adlens/integration/readers"
	"adlens/internal/query"
	webdocs "adlens/web/docs"

	"github.com/klauspost/compress/zstd"
)

// Each format of a small answer is a file beside the golden ones, as a reader
// of it sees it where it is no text.
func TestFormatsAreWrittenAsTheContractSays(t *testing.T) {
	for name, path := range map[string]string{
		"summary":  "/api/v1/summary?range=this_month&marketplaces=us,GB",
		"timeline": "/api/v1/timeline?start_date=2026-03-01&end_date=2026-03-31&timezone=Asia/Tokyo",
		"products": "/api/v1/reports/products?range=this_month&page_size=1&sort=acos&order=asc",
	} {
		for ending, format := range map[string]string{"csv": "csv", "semicolon.csv": "csv&separator=semicolon&decimal=comma", "ndjson": "ndjson",
			"xlsx.xml": "xlsx", "parquet.txt": "parquet"} {
			got := ask(handler(newWorld(), "acme-active"), path+"&format="+format)
			if got.Code != http.StatusOK {
				t.Fatalf("%s as %s: status %d, %s", path, format, got.Code, got.Body)
			}
			text := got.Body.String()
			switch format {
			case "xlsx":
				text = unpacked(t, got.Body.Bytes())
			case "parquet":
				text = shown(t, got.Body.Bytes())
			}
			goldenFile(t, name+".golden."+ending, text)
		}
	}
}

// shown is a Parquet file as text: columns, rows, and what the file says about them.
func shown(t *testing.T, file []byte) string {
	t.Helper()
	table, about, err := readers.Parquet(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{strings.Join(table.Columns, "|")}
	for _, row := range table.Rows {
		var values []string
		for _, v := range row {
			if v == nil {
				v = new(string)
				*v = "null"
			}
			values = append(values, *v)
		}
		lines = append(lines, strings.Join(values, "|"))
	}
	return strings.Join(append(lines, about), "\n") + "\n"
}

// unpacked is the sheets of a workbook as they are in it.
func unpacked(t *testing.T, file []byte) string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for _, name := range []string{"xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml"} {
		part, err := archive.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		text += strings.ReplaceAll(string(content), "<row>", "\n<row>") + "\n"
	}
	return text
}

func TestAnswersSayWhatTheyAre(t *testing.T) {
	h := handler(newWorld(), "acme-active")
	for format, want := range map[string]string{
		"json": "application/json; charset=utf-8", "csv": "text/csv; charset=utf-8; header=present", "ndjson": "application/x-ndjson",
		"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "parquet": "application/vnd.apache.parquet",
	} {
		got := ask(h, "/api/v1/reports/products?range=this_month&page=2&page_size=1&format="+format)
		if sent := got.Header().Get("Content-Type"); sent != want {
			t.Errorf("%s is %q", format, sent)
		}
		name := `attachment; filename="products_2026-03-01_2026-03-10_page_2.` + format + `"`
		if disposition := got.Header().Get("Content-Disposition"); disposition != name && format != "json" || format == "json" && disposition != "" {
			t.Errorf("%s: %q", format, disposition)
		}
		if total := got.Header().Get("X-Total-Rows"); total != "2" {
			t.Errorf("%s: X-Total-Rows %q", format, total)
		}
	}
	got := ask(h, "/api/v1/reports/products?page_size=1&format=csv&separator=tab")
	if link := got.Header().Get("Link"); link != `</api/v1/reports/products?page_size=1&format=csv&separator=tab&page=2>; rel="next"` {
		t.Errorf("Link is %q", link)
	}
}

func TestFilesOfDifferentThingsHaveDifferentNames(t *testing.T) {
	h := handler(newWorld(), "acme-active")
	for request, want := range map[string]string{
		"report?dimensions=ad_group,date&range=this_month":                                            "report_ad_group_date_2026-03-01_2026-03-10",
		"report?dimensions=campaign&range=this_month&ad_products=SPONSORED_BRANDS&page=2&page_size=1": "report_campaign_2026-03-01_2026-03-10_filtered_page_2",
		"report?dimensions=product&range=this_month&search=mug":                                       "report_product_2026-03-01_2026-03-10_filtered",
		"summary?range=this_month":                                                                    "summary_2026-03-01_2026-03-10",
		"timeline?range=this_month":                                                                   "timeline_2026-03-01_2026-03-10",
		"timeline?range=this_month&granularity=day":                                                   "timeline_2026-03-01_2026-03-10",
		"timeline?range=this_month&granularity=week":                                                  "timeline_2026-03-01_2026-03-10_week",
		"timeline?range=last_year&granularity=month":                                                  "timeline_2025-01-01_2025-12-31",
		"summary?range=this_month&compare=previous_period":                                            "summary_2026-03-01_2026-03-09_previous_period",
	} {
		got := ask(h, "/api/v1/"+request+map[bool]string{true: "&", false: "?"}[strings.Contains(request, "?")]+"format=csv")
		if disposition := got.Header().Get("Content-Disposition"); disposition != `attachment; filename="`+want+`.csv"` {
			t.Errorf("%s is %s, want %s: %.200s", request, disposition, want, got.Body)
		}
	}
}

func TestAcceptChoosesTheFormat(t *testing.T) {
	for accept, want := range map[string]string{
		"":                           query.JSON,
		"*/*":                        query.JSON,
		"text/csv":                   query.CSV,
		"TEXT/CSV;header=present":    query.CSV,
		"text/*":                     query.CSV,
		"text/csv, */*":              query.CSV, // named beats any
		"application/json, text/csv": query.JSON,
		"application/json;q=0.5, text/csv;q=0.51":                         query.CSV,
		"application/x-ndjson":                                            query.NDJSON,
		"application/ndjson":                                              query.NDJSON,
		"application/vnd.apache.parquet, application/json;q=0.9":          query.Parquet,
		"application/*":                                                   query.JSON,
		"application/json;q=0, application/*":                             query.XLSX,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": query.JSON,
		"text/xml":                query.JSON, // fits nothing
		"*/*;q=0":                 query.JSON,
		"text/csv;q=0, */*;q=0.1": query.JSON,
		"text/csv;q=2, application/x-ndjson;q=0.1":      query.NDJSON, // what does not parse is left out
		"text/csv;q=NaN, ;;;, application/x-ndjson;q=1": query.NDJSON,
	} {
		if got := chooseFormat([]string{accept}); got != want {
			t.Errorf("%q gets %s, want %s", accept, got, want)
		}
	}
	h := handler(newWorld(), "acme-active")
	if got := ask(h, "/api/v1/summary?format=ndjson", "Accept", "text/csv"); got.Header().Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("Accept beat format: %v", got.Header())
	}
	plain, spelled := ask(h, "/api/v1/summary", "Accept", "text/csv"), ask(h, "/api/v1/summary?format=csv&separator=comma")
	if plain.Header().Get("ETag") != spelled.Header().Get("ETag") || plain.Body.String() != spelled.Body.String() {
		t.Error("the same format is another answer")
	}
	if got := ask(h, "/api/v1/summary?separator=tab", "Accept", "text/csv"); got.Code != 200 || !strings.Contains(got.Body.String(), "section\tmarketplace") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := ask(h, "/api/v1/account", "Accept", "text/csv"); got.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("the account is %v", got.Header())
	}
	for _, headers := range [][]string{{"Accept", "text/csv"}, {"Accept-Encoding", "gzip"}} {
		if got := ask(h, "/api/v1/summary?range=x", headers...); got.Header().Get("Content-Type") != "application/problem+json" || got.Header().Get("Content-Encoding") != "" {
			t.Errorf("an error is %v", got.Header())
		}
	}
}

// long is a world whose product report is worth compressing.
func long() *world {
	w := newWorld()
	for i := range 200 {
		w.items = append(w.items, query.RankedRow{ID: "B0LAMP", Title: lampTitle, Marketplaces: []uint16{1}, Sums: sums(uint64(1000+i), 10, 1, 5_005_000, 1)})
	}
	return w
}

const longPath = "/api/v1/reports/products?page_size=1000"

func TestBodiesAreCompressedForThoseWhoSaySo(t *testing.T) {
	h := serving(long(), "acme-active", 1<<20)
	plain := ask(h, longPath)
	tag := plain.Header().Get("ETag")
	for accepted, want := range map[string]string{"gzip": "gzip", "gzip, deflate, br, zstd": "zstd", "zstd;q=0.1, gzip": "gzip", "br": "", "": "", "*": "", "identity": "",
		"gzip;q=0": "", "identity, gzip;q=0.5": "", "GZIP": "gzip"} {
		for range 2 { // computed, and remembered
			got := ask(h, longPath, "Accept-Encoding", accepted)
			if coding := got.Header().Get("Content-Encoding"); coding != want {
				t.Fatalf("%q gets %q", accepted, coding)
			}
			if text := decoded(t, want, got.Body.Bytes()); text != plain.Body.String() {
				t.Errorf("%q is another body", accepted)
			}
			if got.Header().Get("ETag") != taggedAs(tag, want) || got.Header().Get("Vary") != plain.Header().Get("Vary") {
				t.Errorf("%q: %v", accepted, got.Header())
			}
			mustBeTheSameHead(t, h, longPath, got, "Accept-Encoding", accepted)
		}
	}
	if small := ask(h, "/api/v1/summary", "Accept-Encoding", "gzip"); small.Header().Get("Content-Encoding") != "" || strings.Contains(small.Header().Get("ETag"), "gzip") {
		t.Errorf("a small answer: %v", small.Header())
	}
	if packed := ask(h, longPath+"&format=xlsx", "Accept-Encoding", "gzip"); packed.Header().Get("Content-Encoding") != "" {
		t.Errorf("a spreadsheet: %v", packed.Header())
	}
}

func TestPagesAndTheDocumentAreCompressedToo(t *testing.T) {
	h := handler(newWorld(), "acme-active")
	for _, path := range []string{"/openapi.json", "/openapi.json?format=json", "/docs/figures", "/", "/docs/icon.svg"} {
		plain := visit(h, path)
		for accepted, want := range map[string]string{"gzip": "gzip", "gzip, zstd": "zstd", "br": ""} {
			if plain.Body.Len() < minCoded {
				want = ""
			}
			got := visit(h, path, "Accept-Encoding", accepted)
			if sent, tag := got.Header(), taggedAs(plain.Header().Get("ETag"), want); sent.Get("Content-Encoding") != want || sent.Get("Vary") != "Accept-Encoding" || sent.Get("ETag") != tag ||
				sent.Get("Content-Length") != strconv.Itoa(got.Body.Len()) || decoded(t, want, got.Body.Bytes()) != plain.Body.String() {
				t.Errorf("%s for %q: %v", path, accepted, sent)
			}
			if again := visit(h, path, "If-None-Match", got.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Header().Get("ETag") != got.Header().Get("ETag") {
				t.Errorf("%s with the tag for %q: status %d, %v", path, accepted, again.Code, again.Header())
			}
			mustBeTheSameHead(t, h, path, got, "Accept-Encoding", accepted)
		}
	}
}

// A page about what was wrong with its address is an error, which is sent as it is.
func TestAnErrorPageIsNotCompressed(t *testing.T) {
	got := visit(handler(newWorld(), "acme-active"), webdocs.PeriodsPath+"?timezone=Nowhere", "Accept-Encoding", "gzip")
	if sent := got.Header(); got.Code != http.StatusBadRequest || sent.Get("Content-Encoding") != "" || sent.Get("ETag") != "" || got.Body.Len() < minCoded {
		t.Errorf("status %d, %d bytes, %v", got.Code, got.Body.Len(), sent)
	}
}

// taggedAs is the tag of an answer in a coding.
func taggedAs(tag, coding string) string { return quotedTag(strings.Trim(tag, `"`), coding) }

func decoded(t *testing.T, coding string, body []byte) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(body)
	var err error
	switch coding {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "zstd":
		r, err = zstd.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// mustBeTheSameHead asks by HEAD for what was answered to GET.
func mustBeTheSameHead(t *testing.T, h http.Handler, path string, got *httptest.ResponseRecorder, headers ...string) {
	t.Helper()
	request := httptest.NewRequest(http.MethodHead, path, nil)
	request.Header.Set("Authorization", "Bearer "+key.Reveal())
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	head := recorder.Header()
	for name := range got.Header() {
		if name != "X-Request-Id" && head.Get(name) != got.Header().Get(name) {
			t.Errorf("HEAD %s: %s is %q, and %q to GET", path, name, head.Get(name), got.Header().Get(name))
		}
	}
	if len(head) != len(got.Header()) {
		t.Errorf("HEAD %s: %v, and to GET %v", path, head, got.Header())
	}
}

func TestATagIsKnownInEverySpelling(t *testing.T) {
	w := long()
	h := serving(w, "acme-active", 1<<20)
	tag := ask(h, longPath).Header().Get("ETag")
	zipped := ask(h, longPath, "Accept-Encoding", "gzip").Header().Get("ETag")
	if zipped == tag {
		t.Fatal("two bodies have one tag")
	}
	for held, want := range map[string]string{tag: tag, zipped: zipped, "W/" + zipped: zipped, `"a", ` + taggedAs(tag, "zstd") + `, "b"`: taggedAs(tag, "zstd"), "*": tag} {
		got := ask(h, longPath, "If-None-Match", held, "Accept-Encoding", "gzip")
		header := got.Header()
		if got.Code != http.StatusNotModified || got.Body.Len() > 0 || header.Get("ETag") != want || header.Get("Vary") == "" ||
			header.Get("Cache-Control") != "private, no-cache" || header.Get("Content-Encoding") != "" || header.Get("Content-Type") != "" {
			t.Errorf("If-None-Match %s: status %d, %v", held, got.Code, header)
		}
	}
	for _, other := range []string{strings.TrimSuffix(tag, `"`), taggedAs(tag, "br"), `"gzip"`, strings.ToUpper(tag), ""} {
		if got := ask(h, longPath, "If-None-Match", other); got.Code != http.StatusOK {
			t.Errorf("If-None-Match %s: status %d", other, got.Code)
		}
	}
	if got := ask(h, longPath+"&format=csv", "If-None-Match", tag); got.Code != http.StatusOK {
		t.Error("another format is reported to be unchanged")
	}
}

func TestParquetIsReadInParts(t *testing.T) {
	h := serving(long(), "acme-active", 1<<20)
	path := longPath + "&format=parquet"
	whole := ask(h, path)
	body, tag := whole.Body.String(), whole.Header().Get("ETag")
	size := len(body)
	if whole.Header().Get("Accept-Ranges") != "bytes" {
		t.Errorf("%v", whole.Header())
	}
	mustBeTheSameHead(t, h, path, whole)
	mustBeTheSameHead(t, h, path, whole, "Range", "bytes=0-3") // which is of GET alone
	for _, c := range []struct {
		ranged, condition string
		status            int
		want              string
	}{
		{"bytes=0-3", "", 206, body[:4]},
		{"bytes=-8", "", 206, body[size-8:]},
		{"bytes=-999999999", "", 206, body},
		{"bytes=4-", tag, 206, body[4:]},
		{"Bytes=4-999999999", "", 206, body[4:]},
		{"bytes=4-5", `"another"`, 200, body},
		{"bytes=4-5", "W/" + tag, 200, body}, // a weak tag does not say that bytes are the same
		{"bytes=4-5", "Sat, 21 Nov 2026 10:00:00 GMT", 200, body},
		{"bytes=0-1,4-5", "", 200, body},
		{"lines=0-1", "", 200, body},
		{"bytes=5-4", "", 200, body},
		{"bytes=x-4", "", 200, body},
		{"bytes=-", "", 200, body},
		{"bytes=999999999-", "", 416, ""},
		{"bytes=-0", "", 416, ""},
	} {
		headers := []string{"Range", c.ranged}
		if c.condition != "" {
			headers = append(headers, "If-Range", c.condition)
		}
		got := ask(h, path, headers...)
		if got.Code != c.status || c.status != 416 && got.Body.String() != c.want {
			t.Errorf("%s %s: status %d, %d bytes", c.ranged, c.condition, got.Code, got.Body.Len())
		}
		if c.status == 416 && (got.Header().Get("Content-Type") != "application/problem+json" || !strings.HasPrefix(got.Header().Get("Content-Range"), "bytes */")) {
			t.Errorf("%s: %v", c.ranged, got.Header())
		}
	}
	if got := ask(h, longPath, "Range", "bytes=0-3"); got.Code != http.StatusOK || got.Header().Get("Accept-Ranges") != "" {
		t.Errorf("JSON in parts: status %d", got.Code)
	}
}

// Columns are the same whether there are rows or not, and whatever is null.
func TestAnEmptyAnswerHasItsColumns(t *testing.T) {
	full := ask(handler(newWorld(), "acme-active"), "/api/v1/reports/products?range=this_month&format=csv").Body.String()
	none := ask(handler(newWorld(), "acme-active"), "/api/v1/reports/products?range=this_month&page=9&format=csv").Body.String()
	if head, _, _ := strings.Cut(full, "\r\n"); none != head+"\r\n" {
		t.Errorf("no rows: %q, want %q", none, head)
	}
}
