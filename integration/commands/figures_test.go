package commands_test

import (
	"encoding/csv"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// figuresRequests are requests as adlens figures takes them: the name, and parameters.
var figuresRequests = [][]string{
	{"summary"},
	{"summary", "range=all_time", "compare=previous_year"},
	{"timeline", "range=all_time", "granularity=month"},
	{"report", "range=all_time", "dimensions=month,marketplace", "figures=spend,acos,clicks"},
	{"report", "range=all_time", "dimensions=campaign,ad_product", "page_size=all"},
	{"report", "range=all_time", "dimensions=date,product", "page_size=7", "page=2", "compare=previous_period"},
	{"reports/products", "range=all_time", "sort=sales", "page_size=5"},
	{"marketplaces"},
}

// What is printed is what the API answers at the same time, from the same data
// directory, byte for byte.
func TestFiguresAreTheAnswersOfTheAPI(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for _, request := range figuresRequests {
		for _, format := range []string{"csv", "json", "ndjson", "xlsx", "parquet"} {
			query := []string{"format=" + format}
			for _, parameter := range request[1:] {
				name, value, _ := strings.Cut(parameter, "=")
				query = append(query, name+"="+url.QueryEscape(value))
			}
			address := "/api/v1/" + request[0] + "?" + strings.Join(query, "&")
			want := house.Get(t, one.Ask, address)
			for _, args := range [][]string{append(request, "--format", format), {address}} {
				got := h.Run(append([]string{"figures", "--account", one.Files.ID}, args...)...)
				if got.Code != 0 || want.Status != 200 || got.Stdout != string(want.Body) {
					t.Errorf("figures %v: exit code %d, %d bytes %s; the API answers %d and %d bytes", args, got.Code, len(got.Stdout), got.Stderr, want.Status, len(want.Body))
				}
			}
		}
	}
}

func TestFiguresIntoAPipeAreCSV(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for _, args := range [][]string{{}, {"dimensions=month", "figures=spend,acos", "range=all_time"}} {
		plain := h.Run(append([]string{"figures", "--account", one.Files.ID}, args...)...)
		named := h.Run(append([]string{"figures", "--account", one.Files.ID, "--format", "csv"}, args...)...)
		if plain.Code != 0 || plain.Stdout == "" || plain.Stdout != named.Stdout || !strings.Contains(plain.Stdout, "\r\n") {
			t.Errorf("figures %v: %s\nwith --format csv: %s", args, plain, named)
		}
	}
	page := h.Run("figures", "--account", one.Files.ID, "dimensions=date", "range=all_time", "page_size=3")
	if page.Code != 0 || strings.Count(page.Stdout, "\r\n") != 4 || !strings.Contains(page.Stderr, "page=2 is the next, and page_size=all prints all of them") {
		t.Errorf("a page of three rows: %s", page)
	}
	if r := h.Run("figures", "--account", one.Files.ID, "--json"); r.Stdout != h.Run("figures", "--account", one.Files.ID, "--format", "json").Stdout {
		t.Errorf("--json is another format: %s", r)
	}
}

// gap is what stands between two cells of a table.
var gap = regexp.MustCompile(`  +`)

// A table shows the values of the CSV of the same request, and the totals of all pages.
func TestATableShowsTheSameFigures(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for _, request := range figuresRequests {
		table := h.Run(append([]string{"figures", "--account", one.Files.ID, "--format", "table"}, request...)...)
		file := h.Run(append([]string{"figures", "--account", one.Files.ID, "--format", "csv"}, request...)...)
		rows, err := csv.NewReader(strings.NewReader(file.Stdout)).ReadAll()
		if table.Code != 0 || err != nil || len(rows) < 2 {
			t.Fatalf("figures %v: %s\n%v", request, table, err)
		}
		_, body, subject := strings.Cut(table.Stdout, "\n\n")
		if !subject {
			body = table.Stdout
		}
		lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
		for i, row := range rows {
			cells := gap.Split(lines[i], -1)
			if len(cells) != len(row) {
				t.Fatalf("figures %v: %q has other cells than %q", request, lines[i], row)
			}
			for j, want := range row {
				if !shows(cells[j], want, i == 0) {
					t.Errorf("figures %v: %q is shown of %q in row %d", request, cells[j], want, i)
				}
			}
		}
		wantTotals := request[0] == "report" || request[0] == "reports/products"
		if has := len(lines) == len(rows)+1 && strings.HasPrefix(lines[len(lines)-1], "total"); has != wantTotals || !wantTotals && len(lines) != len(rows) {
			t.Errorf("figures %v: %d lines of %d rows, the last is %q", request, len(lines), len(rows), lines[len(lines)-1])
		}
	}
}

// shows reports whether a cell of a table shows a value.
func shows(cell, value string, heading bool) bool {
	if heading {
		return strings.HasPrefix(cell, strings.ToUpper(strings.ReplaceAll(value, "_", " ")))
	}
	if cell == "-" || value == "" {
		return cell == "-" && value == ""
	}
	short, cut := strings.CutSuffix(cell, "…")
	value = strings.Join(strings.Fields(strings.TrimPrefix(value, "'")), " ")
	return cell == value || cut && strings.HasPrefix(value, short) || strings.TrimSuffix(strings.ReplaceAll(cell, ",", ""), "%") == value
}

// The columns of a table have the labels of the CSV of the same request, and what only
// CSV has is refused.
func TestATableHasTheHeadersThatAreChosen(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for _, request := range figuresRequests {
		args := append([]string{"figures", "--account", one.Files.ID, "headers=labels", "--format"}, "table")
		args = append(args[:3:3], append(append([]string{}, request...), args[3:]...)...)
		table := h.Run(args...)
		file := h.Run(append(args[:len(args)-1:len(args)-1], "csv")...)
		names, err := csv.NewReader(strings.NewReader(file.Stdout)).Read()
		if table.Code != 0 || file.Code != 0 || err != nil {
			t.Fatalf("figures %v: %s\n%s\n%v", request, table, file, err)
		}
		_, body, subject := strings.Cut(table.Stdout, "\n\n")
		if !subject {
			body = table.Stdout
		}
		line, _, _ := strings.Cut(body, "\n")
		headings := gap.Split(strings.TrimRight(line, " "), -1)
		if len(headings) != len(names) {
			t.Fatalf("figures %v: %q has other columns than %q", request, headings, names)
		}
		for i, name := range names {
			if headings[i] != name && headings[i] != name+" USD" {
				t.Errorf("figures %v: a column is headed %q, in CSV %q", request, headings[i], name)
			}
		}
	}
	for parameter, want := range map[string]string{
		"separator=tab": "separator=tab is for csv, and this is a table; add --format csv, or leave separator out",
		"decimal=comma": "decimal=comma is for csv, and this is a table",
		"headers=large": `headers: "large" is not known here`,
	} {
		if r := h.Run("figures", "--account", one.Files.ID, parameter, "--format", "table"); r.Code != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, want) {
			t.Errorf("%s: %s", parameter, r)
		}
	}
}

func TestFiguresAtATerminalAreATable(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	s := atTerminal(t, h.Program, 200, nil, "figures", "--account", one.Files.ID, "range=all_time")
	if code := s.ends(t); code != 0 || !strings.Contains(s.shown(), "SECTION  ") || !strings.Contains(s.shown(), "SPEND USD") {
		t.Errorf("exit code %d: %q", code, s.shown())
	}
	s = atTerminal(t, h.Program, 200, nil, "figures", "--account", one.Files.ID, "--format", "xlsx")
	if code := s.ends(t); code != 1 || !strings.Contains(s.shown(), "xlsx cannot be read at a terminal; write it to a file") {
		t.Errorf("a spreadsheet: exit code %d: %q", code, s.shown())
	}
}

func TestFiguresRefuseWhatTheAPIRefuses(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"rang=last_7_days"}, `"rang" is no parameter of this endpoint`},
		{[]string{"range=last_8_days"}, `"last_8_days" is not known here`},
		{[]string{"marketplaces=ATLANTIS"}, `"ATLANTIS"`},
		{[]string{"nonsense"}, `"nonsense" is no request; expected activity, ad-groups, campaigns`},
		{[]string{"account"}, `"account" is no request`},
		{[]string{"summary", "last_30_days"}, `"last_30_days" is no parameter; expected NAME=VALUE, like range=last_30_days`},
		{[]string{"summary?range=%zz"}, "does not parse"},
		{[]string{"reports/products?search=a#b&marketplaces=US"}, `"search=a#b" has a #, which would end the request; write %23 for it`},
		{[]string{"--format", "pdf"}, `--format is "pdf"; expected table, csv, json`},
		{[]string{"--format", "csv", "format=json"}, "both name a format"},
		{[]string{"--format", "csv", "--json"}, "--json and --format csv are both given"},
		{[]string{"format=table"}, `"table" is not known here`},
		{[]string{"--account", "atlantis"}, `account "atlantis" does not exist`},
		{[]string{"--data-dir", "/no/such/directory"}, "--data-dir /no/such/directory"},
	} {
		args := c.args
		if !strings.Contains(strings.Join(args, " "), "--account") {
			args = append([]string{"--account", one.Files.ID}, args...)
		}
		if harness.Contained() && strings.Contains(c.want, "--data-dir") {
			continue // there the data are elsewhere
		}
		if r := h.Run(append([]string{"figures"}, args...)...); r.Code != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, c.want) {
			t.Errorf("figures %v: want %s, got %s", c.args, c.want, r)
		}
	}
}
