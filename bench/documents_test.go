package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// heldTables are the tables of documents that repeat a result file.
var heldTables = []struct {
	document, header, file string
	columns                []int // of the file
}{
	// Next to each peer's median is how many times faster adlens is.
	{"README.md", "| Request, median ms | adlens | plain SQL, same engine | DuckDB | DuckDB, own rollups | PostgreSQL |", "full.txt", []int{0, 4, 6, 8, 10}},
	{"docs/benchmarks.md", "| First answer, ms | adlens | plain SQL, same engine | DuckDB | DuckDB, own rollups | PostgreSQL |", "first.txt", []int{0, 1, 2, 3, 4}},
	{"docs/scale.md", "| at | 1.05 million rows | 10.5 million | 31.4 million | 105 million | e |", "growth.txt", []int{0, 1, 2, 3, 4}},
}

func TestTablesRepeatTheirResultFiles(t *testing.T) {
	t.Parallel()
	for _, c := range heldTables {
		times, rows := measured(t, c.file), tableAt(t, c.document, c.header)
		if len(rows) < 5 {
			t.Errorf("%s has %d rows", c.document, len(rows))
		}
		for _, row := range rows {
			found := times[row[0]]
			if len(found) <= slices.Max(c.columns) {
				t.Errorf("%s has no row %q: %v", c.file, row[0], found)
				continue
			}
			for i, column := range c.columns {
				if median, _, _ := strings.Cut(found[column], "/"); median != row[i+1] {
					t.Errorf("%s: %s has %s in column %d, %s has %s", row[0], c.document, row[i+1], i+1, c.file, median)
				}
			}
		}
	}
}

// quotes are the sentences of documents that repeat a number of a run, with the
// text of the run's file that has it.
var quotes = []struct{ document, sentence, file, output string }{
	{"README.md", "At 100 million rows no peer is faster in 70 of 70 requests", "full.txt", "no peer is faster in 70 of 70 requests"},
	{"README.md", "It loaded 159635 rows/s", "full.txt", "159635 rows/s"},
	{"README.md", "on two cores and 24 GiB", "full.txt", "2 cores, 24 GiB"},

	{"docs/benchmarks.md", "18 of 20 goals are held, and no peer is faster in 70 of 70 requests", "full.txt", "goals: 18 of 20 held"},
	{"docs/benchmarks.md", "takes 0.36 ms in the middle; the goal is 0.3", "full.txt", "MISSED  the same request again, p50: 0.36 ms, goal at most 0.3 ms"},
	{"docs/benchmarks.md", "a median of 0.2 (`concurrency.txt`)", "concurrency.txt", "        1  repeated     3417.7     0.2 "},
	{"docs/benchmarks.md", "68582 rows, takes 0.94 s; the goal is 0.5", "full.txt", "MISSED  restating 30 days of one slice: 0.94 s, goal at most 0.5 s (68582 rows)"},
	{"docs/benchmarks.md", "All 18 slices take 4.00 s, within the goal of 5", "full.txt", "held    restating 30 days x 18 slices: 4.00 s, goal at most 5 s"},
	{"docs/benchmarks.md", "rows are 10.54 bytes each; 120193 extract rows a second", "campaigns.txt", "120193 rows/s"},
	{"docs/benchmarks.md", "rows are 10.54 bytes each", "campaigns.txt", "10.54 bytes each"},
	{"docs/benchmarks.md", "take 3.9 ms: 190.6 times as fast as plain SQL in the same engine, where the goal is 40, and 143.3 times as fast as DuckDB, where it is 25", "campaigns.txt",
		"report, all_time, campaign, spend, desc    3.9/18.5   0.4/1.3       0.6/1.5    80.9/86.7    742.3/750.3  190.6    558.1/633.1  143.3"},
	{"docs/benchmarks.md", "No peer is faster in 81 of 81 requests", "campaigns.txt", "no peer is faster in 81 of 81 requests"},
	{"docs/benchmarks.md", "take 4.2 ms, and 4.6 ms in DuckDB", "campaigns.txt", "report, all_time, product, spend, desc, one campaign     4.2/4.3   0.8/1.3       1.0/1.2    41.6/55.2    547.7/601.0  130.5    168.6/189.1   40.2        4.6/10.4"},
	{"docs/benchmarks.md", "slowest answers in 0.32 s", "campaigns.txt", "p99: 0.32 s, goal at most 1.3 s"},
	{"docs/benchmarks.md", "17 of 20 goals are held", "campaigns.txt", "goals: 17 of 20 held"},
	{"docs/benchmarks.md", "(0.40 ms; the goal is 0.3)", "campaigns.txt", "MISSED  the same request again, p50: 0.40 ms, goal at most 0.3 ms"},
	{"docs/benchmarks.md", "one slice (1.21 s; 0.5)", "campaigns.txt", "MISSED  restating 30 days of one slice: 1.21 s, goal at most 0.5 s"},
	{"docs/benchmarks.md", "all 18 (5.96 s; 5)", "campaigns.txt", "MISSED  restating 30 days x 18 slices: 5.96 s, goal at most 5 s"},
	{"docs/benchmarks.md", "44.10 % of the facts, within the goal of 45", "campaigns.txt", "held    rollups, part of the facts: 44.10 %, goal at most 45 %"},
	{"docs/benchmarks.md", "15 of 20 goals are held", "small.txt", "goals: 15 of 20 held"},
	{"docs/benchmarks.md", "no peer is faster in 52 of 52 requests. Missed", "small.txt", "no peer is faster in 52 of 52 requests"},
	{"docs/benchmarks.md", "of 70 requests, in 63 no peer's first answer came sooner", "first.txt", "63 of 70 requests: no peer answered sooner"},
	{"docs/benchmarks.md", "64 clients get 1335.4 answers a second", "full.txt", "64       api     1335.4"},
	{"docs/benchmarks.md", "12175.3 if answers are cached", "full.txt", "64  repeated    12175.3"},
	{"docs/benchmarks.md", "3.5 from raw", "full.txt", "64       raw        3.5"},
	{"docs/benchmarks.md", "when 32 requests are cancelled, their statements have left the engine after 342 ms", "concurrency.txt", "32 requests cut with 4 statements running: all gone after 342 ms"},
	{"docs/benchmarks.md", "600 s of 8 clients during 713 loads gave 408074 answers, none of them mixed", "soak.txt", "600 s of 8 clients beside 713 loads: 408074 answers, errors map[]; of the restated slice 30902 compared, 0 mixed"},
	{"docs/benchmarks.md", "stays between 509 and 516 MiB from the second interval on", "soak.txt", "441       509       509       510       512       513       515       515       516       516"},
	{"docs/benchmarks.md", "No peer is faster in 52 of 52 requests in three of them", "shape-gap-year.txt", "no peer is faster in 52 of 52 requests"},
	{"docs/benchmarks.md", "No peer is faster in 52 of 52 requests in three of them", "shape-many-products.txt", "no peer is faster in 52 of 52 requests"},
	{"docs/benchmarks.md", "No peer is faster in 52 of 52 requests in three of them", "shape-restatements.txt", "no peer is faster in 52 of 52 requests"},
	{"docs/benchmarks.md", "in 51 of 52 with one product", "shape-one-product.txt", "no peer is faster in 51 of 52 requests"},
	{"docs/benchmarks.md", "took 2.3 ms and DuckDB with rollups 2.2 ms", "shape-one-product.txt", "timeline, last_30_days: 2.3 ms, duckdb rollups 2.2 ms"},
	{"docs/benchmarks.md", "They hold 11 or 12 of 20 goals", "shape-gap-year.txt", "goals: 12 of 20 held"},
	{"docs/benchmarks.md", "They hold 11 or 12 of 20 goals", "shape-many-products.txt", "goals: 12 of 20 held"},
	{"docs/benchmarks.md", "They hold 11 or 12 of 20 goals", "shape-one-product.txt", "goals: 11 of 20 held"},
	{"docs/benchmarks.md", "They hold 11 or 12 of 20 goals", "shape-restatements.txt", "goals: 11 of 20 held"},

	{"docs/scale.md", "On 2 cores and 24 GiB", "growth.txt", "2 cores, 24 GiB"},
	{"docs/scale.md", "    go run ./bench -growth 1000000,10000000,30000000,100000000 -small-accounts 200 -peers raw -clients 0 -rounds 9 -budget 1s -keep DIR\n", "growth.txt", "go run ./bench -growth 1000000,10000000,30000000,100000000 -small-accounts 200 -peers raw -clients 0 -rounds 9 -budget 1s -keep DIR\n"},
	{"docs/scale.md", "11.53 bytes a fact and 26.9 % of that for rollups (`full.txt`)", "full.txt", "11.53 bytes each, rollups 26.9 % of them"},
	{"docs/scale.md", "159635 rows/s (`full.txt`)", "full.txt", "159635 rows/s"},
	{"docs/scale.md", "0.31 s (`small.txt`)", "small.txt", "restated 30 days of one slice, 4065 rows: 0.31 s"},
	{"docs/scale.md", "0.94 s (`full.txt`) for 30 days of one slice", "full.txt", "restated 30 days of one slice, 68582 rows: 0.94 s"},
	{"docs/scale.md", "1006 MiB, as now", "concurrency.txt", "serve 1006 MiB"},
	{"docs/scale.md", "986 MiB while loading, e = 0.11", "growth.txt", "engine, peak memory while loading, MiB    586.0     837.0     886.0      986.0      0.11"},
	{"docs/scale.md", "1350.2 a second on 2 cores if no answer is cached", "concurrency.txt", "64       api     1350.2"},
	{"docs/scale.md", "11399.1 if all are", "concurrency.txt", "64  repeated    11399.1"},
}

func TestSentencesRepeatTheirResultFiles(t *testing.T) {
	t.Parallel()
	for _, q := range quotes {
		if !strings.Contains(textOf(t, filepath.Join("..", q.document)), q.sentence) {
			t.Errorf("%s lacks %q", q.document, q.sentence)
		}
		if !strings.Contains(textOf(t, filepath.Join("results", q.file)), q.output) {
			t.Errorf("%s lacks %q", q.file, q.output)
		}
	}
}

// extrapolations are the sentences of docs/scale.md that follow from result files.
func extrapolations(t *testing.T) []string {
	t.Helper()
	number := func(file, pattern string) float64 {
		found := regexp.MustCompile(pattern).FindStringSubmatch(textOf(t, filepath.Join("results", file)))
		if found == nil {
			t.Fatalf("%s lacks %q", file, pattern)
		}
		n, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const facts, accounts = 1e10, 1e4
	bytes := number("full.txt", `fact rows: ([0-9.]+) bytes each`) * (1 + number("full.txt", `rollups ([0-9.]+) % of them`)/100)
	history := facts / number("full.txt", `s beside the generator: ([0-9]+) rows/s`) / 3600
	slice := `restated 30 days of one slice, [0-9]+ rows: ([0-9.]+) s`
	refreshed, slowly := accounts*number("small.txt", slice)/3600, accounts*number("full.txt", slice)/3600
	disk := facts * bytes / 1e9
	steep := 0
	for request, sizes := range measured(t, "growth.txt") {
		if e, err := strconv.ParseFloat(sizes[len(sizes)-1], 64); err == nil && e > 0.2 && strings.HasPrefix(request, "api: ") {
			steep++
		}
	}
	return []string{
		fmt.Sprintf("all %d exponents of `api` above 0.2", steep),
		fmt.Sprintf("| disk | %.0f GB, and as much again", disk),
		fmt.Sprintf("| %.1f MB; %.0f MB |", 200_000*bytes/1e6, 60e6*bytes/1e6),
		fmt.Sprintf("| %.0f hours on 2 cores;", history),
		fmt.Sprintf("| %.1f to %.1f hours of one loader", refreshed, slowly),
		fmt.Sprintf("| data of each | %.0f GB | %.0f GB | %.0f GB |", disk, disk/4, disk/8),
		fmt.Sprintf("2 cores a shard | %.0f h | %.1f h | %.1f h |", history, history/4, history/8),
		fmt.Sprintf("one loader a shard | %.1f h | %.0f min | %.0f min |", slowly, slowly*60/4, slowly*60/8),
	}
}

func TestExtrapolationsFollowFromResultFiles(t *testing.T) {
	t.Parallel()
	document := textOf(t, "../docs/scale.md")
	for _, sentence := range extrapolations(t) {
		if !strings.Contains(document, sentence) {
			t.Errorf("docs/scale.md lacks %q", sentence)
		}
	}
}

// unmeasured are the numbers with units that documents may have without a
// result file: settings, sizes of machines, and guesses that are marked.
var unmeasured = map[string][]string{
	"docs/benchmarks.md": {"needs 40 GB of disk"},
	"docs/scale.md":      {"that has 60 % of the rows", "2 to 4 GiB (guess)", "of 4 cores, 16 GiB and a 200 GB disk"},
}

// A number that neither a result file holds nor a setting is would grow stale
// without a test that fails.
func TestNoMeasuredNumberIsWithoutAResultFile(t *testing.T) {
	t.Parallel()
	unit := regexp.MustCompile(`[0-9][0-9.,]*( (ms|s|h|min|hours|MiB|GiB|MB|GB|%|answers|a second)|rows/s)([^\w]|$)|\b[0-9]+ of [0-9]+\b`)
	for _, document := range []string{"README.md", "docs/benchmarks.md", "docs/scale.md"} {
		text := textOf(t, filepath.Join("..", document))
		for _, c := range heldTables {
			if before, table, found := strings.Cut(text, c.header+"\n"); found {
				_, after, _ := strings.Cut(table, "\n\n")
				text = before + after
			}
		}
		for _, q := range quotes {
			if q.document == document {
				text = strings.ReplaceAll(text, q.sentence, "")
			}
		}
		for _, sentence := range append(extrapolations(t), unmeasured[document]...) {
			text = strings.ReplaceAll(text, sentence, "")
		}
		for _, found := range unit.FindAllString(text, -1) {
			t.Errorf("%s: no result file has %q", document, strings.TrimSpace(found))
		}
	}
	// A decision says what was found; measurements age, and are run again.
	decisions, err := filepath.Glob("../docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	clock := regexp.MustCompile(`[0-9] ms\b|[0-9]\.[0-9]+ s\b|MB/s|rows a second|answers a second`)
	for _, decision := range decisions {
		for _, found := range clock.FindAllString(strings.ReplaceAll(textOf(t, decision), "waits at most 50 ms", ""), -1) {
			t.Errorf("%s: no result file has %q", decision, found)
		}
	}
}
