package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// measured reads the table of a result file: the numbers of each request, in
// the order of the columns.
func measured(t *testing.T, file string) map[string][]string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^ *(\S.*?)( +[0-9.]+/[0-9.]+ .*| {2,}[0-9.-]+ .*)$`)
	rows := map[string][]string{}
	for _, m := range line.FindAllStringSubmatch(textOf(t, filepath.Join("results", file)), -1) {
		if _, seen := rows[m[1]]; !seen {
			rows[m[1]] = strings.Fields(m[2])
		}
	}
	return rows
}

// tableAt reads the cells of the table of a document that has this first line.
func tableAt(t *testing.T, document, header string) (rows [][]string) {
	t.Helper()
	_, table, found := strings.Cut(textOf(t, filepath.Join("..", document)), header+"\n")
	if !found {
		t.Fatalf("%s has no table %q", document, header)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range strings.Split(table, "\n")[1:] {
		rows = append(rows, strings.Split(strings.Trim(row, "| "), " | "))
	}
	return rows
}

// The tables of documents are of the result files that they name.
func TestTablesOfTimesAreThoseOfTheResultFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		document, header, file string
		columns                []int // of the file
	}{
		// Beside each peer's median is how many times faster adlens is.
		{"README.md", "| Request, median ms | adlens | plain SQL, same engine | DuckDB | DuckDB, own rollups | PostgreSQL |", "full.txt", []int{0, 4, 6, 8, 10}},
		{"docs/benchmarks.md", "| First answer, ms | adlens | plain SQL, same engine | DuckDB | DuckDB, own rollups | PostgreSQL |", "first.txt", []int{0, 1, 2, 3, 4}},
		{"docs/scale.md", "| at | 1.05 million rows | 10.5 million | 31.4 million | 105 million | e |", "growth.txt", []int{0, 1, 2, 3, 4}},
	} {
		times, rows := measured(t, c.file), tableAt(t, c.document, c.header)
		if len(rows) < 5 {
			t.Errorf("%s has %d rows", c.document, len(rows))
		}
		for _, row := range rows {
			found := times[row[0]]
			if len(found) <= slices.Max(c.columns) {
				t.Errorf("%s has no such row as %q: %v", c.file, row[0], found)
				continue
			}
			for i, column := range c.columns {
				if median, _, _ := strings.Cut(found[column], "/"); median != row[i+1] {
					t.Errorf("%s: %s says %s in column %d, %s says %s", row[0], c.document, row[i+1], i+1, c.file, median)
				}
			}
		}
	}
}

// Each number that a document quotes of a run stands so in the run's file.
func TestWhatDocumentsQuoteOfRunsStandsInTheirFiles(t *testing.T) {
	t.Parallel()
	for _, q := range []struct{ document, says, file, has string }{
		{"README.md", "no peer is faster in 70 of 70 requests", "full.txt", "no peer is faster in 70 of 70 requests"},
		{"README.md", "It loaded 159635 rows/s", "full.txt", "159635 rows/s"},
		{"docs/benchmarks.md", "18 of 20 goals are held, and no peer is faster in 70 of 70 requests", "full.txt", "goals: 18 of 20 held"},
		{"docs/benchmarks.md", "of 70 requests, in 63 no peer's first answer came sooner", "first.txt", "63 of 70 requests: no peer answered sooner"},
		{"docs/benchmarks.md", "no peer is faster in 52 of 52 in both", "small.txt", "no peer is faster in 52 of 52 requests"},
	} {
		if !strings.Contains(textOf(t, filepath.Join("..", q.document)), q.says) {
			t.Errorf("%s does not say %q", q.document, q.says)
		}
		if !strings.Contains(textOf(t, filepath.Join("results", q.file)), q.has) {
			t.Errorf("%s does not say %q", q.file, q.has)
		}
	}
}
