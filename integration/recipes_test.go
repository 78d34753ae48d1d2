package integration_test

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
	"strings"
	"testing"
)

const recipes = "../web/docs/recipes"

// googleSheets runs the documentation's script and returns the sheets that it
// wrote.
func googleSheets(t *testing.T, server, key, tables string) (sheets map[string]struct {
	Rows  [][]string
	Texts []int
}, slept []int) {
	t.Helper()
	for _, needed := range []string{"node", "curl"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is not installed", needed)
		}
	}
	out, err := exec.CommandContext(t.Context(), "node", "recipes/sheets.mjs", filepath.Join(recipes, "google-sheets.md"), server, key, tables).CombinedOutput()
	var wrote struct {
		Sheets map[string]struct {
			Rows  [][]string
			Texts []int
		}
		Slept []int
	}
	if jsonErr := json.Unmarshal(out, &wrote); err != nil || jsonErr != nil {
		t.Fatalf("%v, %v: %s", err, jsonErr, out)
	}
	return wrote.Sheets, wrote.Slept
}

func TestTheScriptForGoogleSheetsWritesAllPages(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	sheets, _ := googleSheets(t, h.server.Address, one.ask.Key, `{'Days': '/timeline?range=all_time&granularity=month', 'Products': '/reports/products?range=all_time&page_size=1'}`)
	for sheet, request := range map[string]string{"Days": "/timeline?range=all_time&granularity=month", "Products": "/reports/products?range=all_time&page_size=all"} {
		want := csvRows(t, get(t, one.ask, "/api/v1"+request+"&format=csv").Body)
		if got := sheets[sheet].Rows; len(want) < 2 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s has\n%v\nthe API says\n%v", sheet, got, want)
		}
	}
	if ids := sheets["Products"].Texts; !reflect.DeepEqual(ids, []int{1}) {
		t.Errorf("the columns %v are texts, expected product_id alone", ids)
	}
}

func TestTheScriptForGoogleSheetsWaitsWhereItIsToldTo(t *testing.T) {
	t.Parallel()
	h, one := shopWithData(t)
	target, err := url.Parse(h.server.Address)
	need(t, err)
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
	sheets, slept := googleSheets(t, busy.URL, one.ask.Key, `{'Rules': '/marketplaces'}`)
	if len(sheets["Rules"].Rows) != 3 || !slices.Equal(slept, []int{1000}) {
		t.Errorf("after a refusal it slept %v ms and wrote %v", slept, sheets)
	}
}

// csvRows reads CSV as a spreadsheet does.
func csvRows(t *testing.T, text []byte) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	need(t, err)
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
	h, one := shopWithData(t)
	files, err := os.ReadDir(recipes)
	need(t, err)
	if len(files) < 6 {
		t.Fatalf("only %d recipes", len(files))
	}
	asked := 0
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(recipes, f.Name()))
		need(t, err)
		for _, path := range requestsIn(string(text)) {
			asked++
			if a := get(t, one.ask, path); a.Status != 200 {
				t.Errorf("%s asks for %s: %s", f.Name(), path, a)
			}
		}
	}
	if asked < 8 {
		t.Errorf("only %d requests were found in the recipes of %s", asked, h.server.Address)
	}
}
