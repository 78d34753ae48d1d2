package recipes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adlens/integration/house"
)

// workbook is a spreadsheet of Google with a script, kept between actions as
// Google keeps it (sheets.mjs).
type workbook struct {
	t            *testing.T
	script, file string
}

// bookState is what actions left and took.
type bookState struct {
	Sheets map[string]struct {
		Rows   [][]any
		Frozen int
	}
	Triggers []struct {
		Handler    string
		Days, Hour int
	}
	Properties map[string]string
	Requests   []costed
	Slept      []int
	Errors     []string
}

func newWorkbook(t *testing.T, script string) *workbook {
	t.Helper()
	dir := t.TempDir()
	b := &workbook{t, filepath.Join(dir, "script.js"), filepath.Join(dir, "book.json")}
	house.Need(t, os.WriteFile(b.script, []byte(script), 0o600))
	return b
}

// do does actions and returns what came of them.
func (b *workbook) do(actions ...string) (state bookState) {
	b.t.Helper()
	house.Need(b.t, json.Unmarshal(mustRun(b.t, "sheets.mjs", append([]string{b.script, b.file}, actions...)...), &state))
	return state
}

// mustDo is do without errors.
func (b *workbook) mustDo(actions ...string) bookState {
	b.t.Helper()
	state := b.do(actions...)
	if len(state.Errors) > 0 {
		b.t.Fatalf("%v: %v", actions, state.Errors)
	}
	return state
}

// signedIn is a workbook whose menu was used to enter the key.
func signedIn(t *testing.T, script, key string) *workbook {
	t.Helper()
	b := newWorkbook(t, script)
	if state := b.mustDo("open", "prompt: "+key+" ", "menu:Enter the key"); len(state.Requests) > 0 {
		t.Fatalf("opening the sheet sent %v", state.Requests)
	}
	return b
}

// scriptFor writes the script of the page for some sheets.
func scriptFor(t *testing.T, server string, tables map[string]string) string {
	t.Helper()
	return string(mustRun(t, "page.mjs", "sheets-script", server, string(house.Marshal(t, tables))))
}

func TestASheetFollowsTheRestatedPast(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	full := longTable()
	book := signedIn(t, scriptFor(t, h.Server.Address, map[string]string{"adlens days": full + "&page_size=all"}), one.Ask.Key)
	took := followsThePast(t, h, one, full, func() ([][]string, []costed) {
		state := book.mustDo("open", "menu:Refresh")
		for i, row := range state.Sheets["adlens days"].Rows {
			if _, date := row[0].(map[string]any); date == (i == 0) {
				t.Fatalf("the day of row %d is %v", i, row[0])
			}
		}
		return plainRows(t, state.Sheets["adlens days"].Rows), state.Requests
	})
	for name, requests := range took {
		status := 200
		if strings.HasPrefix(name, "unchanged") {
			status = 304
		}
		if len(requests) != 1 || requests[0].Status != status || (status == 304) != (requests[0].Bytes == 0) {
			t.Errorf("%s took %v, expected one answer of status %d", name, requests, status)
		}
	}
}

// plainRows are cells as CSV has them.
func plainRows(t *testing.T, cells [][]any) (rows [][]string) {
	t.Helper()
	for _, row := range cells {
		texts := make([]string, len(cells[0]))
		for j, cell := range row {
			switch value := cell.(type) {
			case float64:
				texts[j] = string(house.Marshal(t, value))
			case map[string]any:
				texts[j] = fmt.Sprint(value["date"])
			default:
				texts[j] = fmt.Sprint(value)
			}
		}
		rows = append(rows, texts)
	}
	return rows
}

func TestASheetHasAllPagesAndItsTypes(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	first := house.CSVRows(t, house.Get(t, one.Ask, "/api/v1/reports/products?range=all_time&format=csv").Body)[1][0]
	dir := t.TempDir()
	house.Put(t, dir, "products.csv", []byte("product_id,title\n"+first+",4.25\n")) // a number, a date, a title
	house.Load(t, h.Program, one, dir)
	tables := map[string]string{"months": "/timeline?range=all_time&granularity=month", "products": "/reports/products?range=all_time&page_size=7"}
	state := signedIn(t, scriptFor(t, h.Server.Address, tables), one.Ask.Key).mustDo("open", "menu:Refresh")
	for sheet, request := range map[string]string{"months": tables["months"], "products": "/reports/products?range=all_time&page_size=all"} {
		want := house.CSVRows(t, house.Get(t, one.Ask, "/api/v1"+request+"&format=csv").Body)
		cells := state.Sheets[sheet].Rows
		if len(want) < 2 || !sameTable(plainRows(t, cells), want) || state.Sheets[sheet].Frozen != 1 {
			t.Fatalf("%s has\n%v\nthe API says\n%v", sheet, cells, want)
		}
		for j, name := range want[0] {
			_, number := cells[1][j].(float64)
			_, text := cells[1][j].(string)
			_, day := cells[1][j].(map[string]any)
			if isText := slices.Contains([]string{"product_id", "title", "marketplaces"}, name); text != isText || day != (name == "date") || number == (isText || day) {
				t.Errorf("%s of %s is %v (%T)", name, sheet, cells[1][j], cells[1][j])
			}
		}
	}
	if n := statuses(state.Requests)[200]; n != 1+5 {
		t.Errorf("31 products in pages of 7 and months took %d requests", n)
	}
}

// What is in the workbook otherwise stays, also next to the table.
func TestAScriptTouchesItsOwnSheetsOnly(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	tables := map[string]string{"adlens days": "/timeline?range=all_time&granularity=week"}
	book := signedIn(t, scriptFor(t, h.Server.Address, tables), one.Ask.Key)
	book.mustDo("open", "menu:Refresh")
	content, err := os.ReadFile(book.file)
	house.Need(t, err)
	file := map[string]any{}
	house.Need(t, json.Unmarshal(content, &file))
	sheets := file["sheets"].(map[string]any)
	sheets["Notes"] = map[string]any{"rows": 5, "columns": 3, "cells": map[string]any{"1,1": "mine"}, "formats": map[string]any{}}
	cells := sheets["adlens days"].(map[string]any)["cells"].(map[string]any)
	cells["2,20"], cells["900,1"] = "a remark", "left over"
	house.Need(t, os.WriteFile(book.file, house.Marshal(t, file), 0o600))
	state := book.mustDo("open", "menu:Read everything again")
	if rows := state.Sheets["Notes"].Rows; len(rows) != 1 || rows[0][0] != "mine" {
		t.Errorf("the other sheet has %v", rows)
	}
	rows := state.Sheets["adlens days"].Rows
	if len(rows) > 10 || len(rows[1]) != 20 || rows[1][19] != "a remark" {
		t.Errorf("the sheet has %v", rows)
	}
	// Fewer columns and rows: nothing of the wider table is left.
	narrow := scriptFor(t, h.Server.Address, map[string]string{"adlens days": "/report?dimensions=month&figures=spend&range=all_time"})
	house.Need(t, os.WriteFile(book.script, []byte(narrow), 0o600))
	rows = book.mustDo("open", "menu:Refresh").Sheets["adlens days"].Rows
	want := house.CSVRows(t, house.Get(t, one.Ask, "/api/v1/report?dimensions=month&figures=spend&range=all_time&format=csv").Body)
	rows[1] = rows[1][:slices.IndexFunc(append(rows[1], ""), func(cell any) bool { return cell == "" })]
	if !sameTable(plainRows(t, rows), want) {
		t.Errorf("the narrower sheet has %v, expected %v", rows, want)
	}
}

func TestAMorningsTriggerIsSetOnceAndRefreshes(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	book := signedIn(t, scriptFor(t, h.Server.Address, map[string]string{"adlens days": "/timeline?range=all_time"}), one.Ask.Key)
	state := book.mustDo("open", "menu:Refresh every morning", "menu:Refresh every morning")
	if len(state.Triggers) != 1 || state.Triggers[0].Handler != "refresh" || state.Triggers[0].Days != 1 {
		t.Fatalf("the triggers are %v", state.Triggers)
	}
	if state = book.mustDo("morning"); len(state.Sheets["adlens days"].Rows) < 2 {
		t.Errorf("in the morning the sheet has %v", state.Sheets)
	}
	if state = book.mustDo("open", "menu:Stop refreshing every morning"); len(state.Triggers) != 0 {
		t.Errorf("the triggers are %v after they were stopped", state.Triggers)
	}
}

// A run that ends midway is repeated by the next one, whatever the sheet shows.
func TestAnInterruptedRefreshIsRepeated(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	const request = "/timeline?range=all_time&granularity=month"
	book := signedIn(t, scriptFor(t, h.Server.Address, map[string]string{"adlens days": request}), one.Ask.Key)
	want := house.CSVRows(t, house.Get(t, one.Ask, "/api/v1"+request+"&format=csv").Body)
	for _, method := range []string{"insertSheet", "setNumberFormat", "setValues", "clearContent", "flush", "setFrozenRows"} {
		if state := book.do("open", "die:"+method, "menu:Read everything again"); !slices.Equal(state.Errors, []string{"Error: adlens days: Exceeded maximum execution time"}) && method != "insertSheet" {
			t.Fatalf("%s: %v", method, state.Errors)
		}
		state := book.mustDo("open", "menu:Refresh")
		if !sameTable(plainRows(t, state.Sheets["adlens days"].Rows), want) || statuses(state.Requests)[200] > 1 {
			t.Errorf("after %s the sheet has %v, by %v", method, state.Sheets, state.Requests)
		}
	}
	if state := book.do("open", "busy", "menu:Refresh"); len(state.Requests) != 0 || len(state.Errors) != 1 || !strings.Contains(state.Errors[0], "Another refresh is running") {
		t.Errorf("next to another run it sent %v and said %v", state.Requests, state.Errors)
	}
}

// What the server refuses leaves the sheet as it was, and is reported.
func TestARefusedRefreshChangesNothing(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	script := scriptFor(t, h.Server.Address, map[string]string{"adlens days": "/timeline?range=all_time"})
	book := signedIn(t, script, one.Ask.Key)
	before := book.mustDo("open", "menu:Refresh").Sheets["adlens days"].Rows
	for wrong, wanted := range map[string]string{
		strings.Replace(script, "range=all_time", "range=never", 1):    "400: ",
		strings.Replace(script, h.Server.Address, "http://[::1]:1", 1): "Address unavailable",
	} {
		house.Need(t, os.WriteFile(book.script, []byte(wrong), 0o600))
		state := book.do("open", "menu:Refresh")
		if len(state.Errors) != 1 || !strings.Contains(state.Errors[0], wanted) || !sameTable(plainRows(t, state.Sheets["adlens days"].Rows), plainRows(t, before)) {
			t.Errorf("want %q and the same sheet, got %v and %v", wanted, state.Errors, state.Sheets)
		}
	}
	state := newWorkbook(t, script).do("open", "menu:Refresh")
	if len(state.Errors) != 1 || !strings.Contains(state.Errors[0], "There is no key yet") || len(state.Requests) != 0 {
		t.Errorf("without a key: %v, %v", state.Errors, state.Requests)
	}
}

// One sheet that is refused stops none after it.
func TestASheetThatFailsStopsNoOther(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	script := scriptFor(t, h.Server.Address, map[string]string{"a": "/timeline?range=never", "b": "/marketplaces", "c": "/timeline?range=ever"})
	for _, item := range []string{"menu:Refresh", "menu:Read everything again"} {
		state := signedIn(t, script, one.Ask.Key).do("open", item)
		if len(state.Errors) != 1 || !strings.Contains(state.Errors[0], "a: 400: ") || !strings.Contains(state.Errors[0], "c: 400: ") || len(state.Sheets["b"].Rows) != 3 {
			t.Errorf("%s: want two errors and the sheet between them, got %v and %v", item, state.Errors, state.Sheets)
		}
	}
}

// A text longer than a cell is cut, and the cell tells so.
func TestALongTextIsCutToACell(t *testing.T) {
	t.Parallel()
	long := "name,spend\r\n" + strings.Repeat("x", 50_000) + ",1\r\n" + strings.Repeat("y", 50_001) + ",2\r\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, long) }))
	t.Cleanup(server.Close)
	rows := signedIn(t, scriptFor(t, server.URL, map[string]string{"long": "/report?dimensions=campaign"}), "key").mustDo("open", "menu:Refresh").Sheets["long"].Rows
	if len(rows) != 3 || len(rows[1][0].(string)) != 50_000 {
		t.Fatalf("the sheet has %d rows", len(rows))
	}
	if text := rows[2][0].(string); len(text) > 50_000 || !strings.HasPrefix(text, strings.Repeat("y", 49_900)) || !strings.HasSuffix(text, " [cut: a cell holds 50000 characters; the API has all]") {
		t.Errorf("the long text is cut to %d characters: …%.100s", len(text), text[len(text)-100:])
	}
}

func TestAScriptWaitsWhereItIsToldTo(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	state := signedIn(t, scriptFor(t, refusing(t, h.Server.Address, 429, theFirst), map[string]string{"markets": "/marketplaces"}), one.Ask.Key).mustDo("open", "menu:Refresh")
	if len(state.Sheets["markets"].Rows) != 3 || !slices.Equal(state.Slept, []int{1000}) {
		t.Errorf("after a refusal it slept %v ms and wrote %v", state.Slept, state.Sheets)
	}
}

// The recipe's script runs as it is written but for the address.
func TestTheScriptOfTheRecipeRunsAsItStands(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	script := replaced(t, blocksOf(t, "google-sheets", "js")[0], "https://figures.example.com", h.Server.Address)
	state := signedIn(t, script, one.Ask.Key).mustDo("open", "menu:Refresh")
	for _, name := range []string{"adlens days", "adlens products"} {
		if len(state.Sheets[name].Rows) < 2 {
			t.Errorf("%s has %v", name, state.Sheets[name].Rows)
		}
	}
	if script != scriptFor(t, h.Server.Address, map[string]string{"adlens days": dayTable + "&range=last_90_days&page_size=all", "adlens products": "/reports/products?range=last_30_days&page_size=all"}) {
		t.Error("the recipe's script is not the page's: integration/recipes/page.mjs prints it")
	}
}

// The stand-in for Google's services fails where they would.
func TestTheStandInForSheetsIsStrict(t *testing.T) {
	t.Parallel()
	const begin = "const book = SpreadsheetApp.getActiveSpreadsheet(); const sheet = () => book.getSheetByName('s') || book.insertSheet('s');\n" +
		"function onOpen() { SpreadsheetApp.getUi().createMenu('m').addItem('Go', 'go').addToUi() }\nfunction go() { %s }"
	for line, wanted := range map[string]string{
		"sheet().getRange(1, 1, 1001, 1)":                                                 "outside the dimensions",
		"sheet().getRange(1, 27)":                                                         "outside the dimensions",
		"sheet().getRange(1, 1, 2, 1).setValues([[1]])":                                   "number of rows",
		"sheet().getRange(1, 1, 1, 1).setValues([[1, 2]])":                                "number of columns",
		"sheet().getRange(1, 1).setValues([['=HYPERLINK(1)']])":                           "is a formula",
		"sheet().clearContents()":                                                         "clearContents does not exist",
		"SpreadsheetApp.getActiveSheet()":                                                 "getActiveSheet does not exist",
		"book.insertSheet('s'); book.insertSheet('s')":                                    "already exists",
		"UrlFetchApp.fetch('http://[::1]:1/' + 'x'.repeat(2100))":                         "URL Length",
		"UrlFetchApp.fetch('http://[::1]:1/', { timeout: 1 })":                            "option timeout",
		"Utilities.sleep(300001)":                                                         "sleep",
		"PropertiesService.getScriptProperties().setProperty('a', 1)":                     "is no text",
		"PropertiesService.getScriptProperties().setProperty('a', 'x'.repeat(9300))":      "property value size",
		"for (;;) ScriptApp.newTrigger('go').timeBased().everyDays(1).atHour(1).create()": "triggers",
		"ScriptApp.newTrigger('go').timeBased().create()":                                 "no time",
		"LockService.getDocumentLock().tryLock(1)":                                        "not released",
	} {
		state := newWorkbook(t, fmt.Sprintf(begin, line)).do("open", "menu:Go")
		if len(state.Errors) != 1 || !strings.Contains(state.Errors[0], wanted) {
			t.Errorf("%s: want an error about %q, got %v", line, wanted, state.Errors)
		}
	}
}
