package formats_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adlens/integration/house"
)

const recipes = "../../web/docs/recipes"

// sheetOf is a sheet as the script left it: numbers are numbers, all else text.
type sheetOf struct {
	Rows  [][]any
	Texts []int // columns that were declared to be texts, from 1
}

// googleSheets runs the documentation's script and returns the sheets that it
// wrote.
func googleSheets(t *testing.T, server, key, tables string) (sheets map[string]sheetOf, slept []int) {
	t.Helper()
	for _, needed := range []string{"node", "curl"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is not installed", needed)
		}
	}
	out, err := exec.CommandContext(t.Context(), "node", "../recipes/sheets.mjs", filepath.Join(recipes, "google-sheets.md"), server, key, tables).CombinedOutput()
	var wrote struct {
		Sheets map[string]sheetOf
		Slept  []int
	}
	if jsonErr := json.Unmarshal(out, &wrote); err != nil || jsonErr != nil {
		t.Fatalf("%v, %v: %s", err, jsonErr, out)
	}
	return wrote.Sheets, wrote.Slept
}

// written are the rows of CSV as the script writes them: what reads as a number
// is one, but in columns of texts.
func written(t *testing.T, rows [][]string, texts ...string) (want [][]any) {
	t.Helper()
	for _, row := range rows {
		var cells []any
		for i, cell := range row {
			n, err := strconv.ParseFloat(cell, 64)
			if err == nil && !slices.Contains(texts, rows[0][i]) {
				cells = append(cells, n)
			} else {
				cells = append(cells, cell)
			}
		}
		want = append(want, cells)
	}
	return want
}

func TestTheScriptForGoogleSheetsWritesAllPages(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	first := csvRows(t, house.Get(t, one.Ask, "/api/v1/reports/products?range=all_time&format=csv").Body)[1][0]
	dir := t.TempDir()
	house.Put(t, dir, "products.csv", []byte("product_id,title\n"+first+",4.25\n")) // a number, a date, a title
	house.Load(t, h.Program, one, dir)
	sheets, _ := googleSheets(t, h.Server.Address, one.Ask.Key, `{'Days': '/timeline?range=all_time&granularity=month', 'Products': '/reports/products?range=all_time&page_size=1'}`)
	for sheet, request := range map[string]string{"Days": "/timeline?range=all_time&granularity=month", "Products": "/reports/products?range=all_time&page_size=all"} {
		rows := csvRows(t, house.Get(t, one.Ask, "/api/v1"+request+"&format=csv").Body)
		if got := sheets[sheet].Rows; len(rows) < 2 || !reflect.DeepEqual(got, written(t, rows, "product_id", "title")) {
			t.Errorf("%s has\n%v\nthe API says\n%v", sheet, got, rows)
		}
	}
	products := sheets["Products"]
	if !reflect.DeepEqual(products.Texts, []int{1, 2}) || products.Rows[1][1] != "4.25" {
		t.Errorf("the columns %v are texts, expected product_id and title; the first row is %v", products.Texts, products.Rows[1])
	}
}

// What the script asks for where nobody changed it.
func TestTheScriptForGoogleSheetsRunsAsItStands(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	sheets, _ := googleSheets(t, h.Server.Address, one.Ask.Key, "")
	for _, name := range []string{"Days", "Products"} {
		if len(sheets[name].Rows) < 2 {
			t.Errorf("%s has %v", name, sheets[name].Rows)
		}
	}
}

func TestTheScriptForGoogleSheetsWaitsWhereItIsToldTo(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	target, err := url.Parse(h.Server.Address)
	house.Need(t, err)
	proxy, refused := httputil.NewSingleHostReverseProxy(target), false
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !refused {
			refused = true
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(busy.Close)
	sheets, slept := googleSheets(t, busy.URL, one.Ask.Key, `{'Rules': '/marketplaces'}`)
	if len(sheets["Rules"].Rows) != 3 || !slices.Equal(slept, []int{1000}) {
		t.Errorf("after a refusal it slept %v ms and wrote %v", slept, sheets)
	}
}

// csvRows reads CSV as a spreadsheet does.
func csvRows(t *testing.T, text []byte) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	house.Need(t, err)
	return rows
}

// aRequest is an endpoint with its parameters, wherever it stands in a text.
var aRequest = regexp.MustCompile("/(?:summary|timeline|reports/products|marketplaces|rules|activity)\\?[a-z_]+=[^\\s'\"`)]*")

// requestsIn finds the requests of a recipe.
func requestsIn(text string) []string {
	var all []string
	for _, request := range aRequest.FindAllString(text, -1) {
		all = append(all, "/api/v1"+strings.ReplaceAll(request, "{page}", "1"))
	}
	return all
}

// The other recipes have the addresses and parameters that exist.
func TestRecipesAskForWhatExists(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	files, err := os.ReadDir(recipes)
	house.Need(t, err)
	if len(files) < 6 {
		t.Fatalf("only %d recipes", len(files))
	}
	asked := 0
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(recipes, f.Name()))
		house.Need(t, err)
		for _, path := range requestsIn(string(text)) {
			asked++
			if a := house.Get(t, one.Ask, path); a.Status != 200 {
				t.Errorf("%s asks for %s: %s", f.Name(), path, a)
			}
		}
	}
	if asked < 8 {
		t.Errorf("only %d requests were found in the recipes of %s", asked, h.Server.Address)
	}
}
