package recipes_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// dataTable is a table of n8n: its columns with their types, and its rows.
type dataTable struct {
	Columns map[string]string `json:"columns"`
	Rows    []map[string]any  `json:"rows"`
}

// documentedTables are the empty tables that the recipe says to make.
func documentedTables() map[string]*dataTable {
	tables := map[string]*dataTable{}
	for name, columns := range map[string]map[string]string{
		"adlens days":   {"string": "date marketplace marketplace_id ad_product", "number": "spend sales acos roas impressions clicks ctr average_cpc purchases conversion_rate"},
		"adlens blocks": {"string": "first last etag"},
	} {
		table := &dataTable{map[string]string{}, []map[string]any{}}
		for kind, names := range columns {
			for _, column := range strings.Fields(names) {
				table.Columns[column] = kind
			}
		}
		tables[name] = table
	}
	return tables
}

// flow is n8n with a workflow and its tables.
type flow struct {
	tables string
	again  io.Writer
	said   *bufio.Scanner
	failed *bytes.Buffer
}

func newFlow(t *testing.T, server, key string) *flow {
	t.Helper()
	house.Need(t, installed("n8n"))
	dir := t.TempDir()
	text := blocksOf(t, "n8n", "json")[0]
	if n := strings.Count(text, "https://figures.example.com"); n != 2 {
		t.Fatalf("the workflow names its server %d times", n)
	}
	workflow := house.Put(t, dir, "workflow.json", []byte(strings.ReplaceAll(text, "https://figures.example.com", server)))
	f := &flow{tables: house.Put(t, dir, "tables.json", house.Marshal(t, documentedTables())), failed: &bytes.Buffer{}}
	command := exec.Command(nodeOf(t), "--no-warnings", filepath.Join(packageDir(), "n8n", "run.mjs"), workflow, f.tables, key)
	command.Dir, command.Env, command.Stderr = dir, append(os.Environ(), "N8N_USER_FOLDER="+dir, "N8N_DIAGNOSTICS_ENABLED=false"), f.failed
	in, errIn := command.StdinPipe()
	out, errOut := command.StdoutPipe()
	house.Need(t, errors.Join(errIn, errOut, command.Start()))
	f.again, f.said = in, bufio.NewScanner(out)
	t.Cleanup(func() {
		in.Close()
		stop := time.AfterFunc(harness.Patience, func() { command.Process.Kill() })
		defer stop.Stop()
		if err := command.Wait(); err != nil {
			t.Errorf("n8n ended with %v: %s", err, f.failed)
		}
	})
	return f
}

// run runs the workflow once, as its trigger does, and returns its error and the
// tables afterwards.
func (f *flow) run(t *testing.T) (fault string, tables map[string]*dataTable) {
	t.Helper()
	_, err := io.WriteString(f.again, "\n")
	house.Need(t, err)
	var done struct{ Status, Error string }
	for f.said.Scan() && !strings.HasPrefix(f.said.Text(), "{") { // what n8n says at its start
	}
	house.Need(t, json.Unmarshal(f.said.Bytes(), &done))
	if (done.Status == "success") != (done.Error == "") {
		t.Fatalf("the workflow ended with %s", f.said.Bytes())
	}
	content, err := os.ReadFile(f.tables)
	house.Need(t, err)
	house.Need(t, json.Unmarshal(content, &tables))
	return done.Error, tables
}

func TestATableOfN8nFollowsTheRestatedPast(t *testing.T) {
	t.Parallel()
	var f *flow
	keepsDays(t, func(environment []string) [][]string {
		if f == nil {
			f = newFlow(t, strings.TrimPrefix(environment[0], "ADLENS="), strings.TrimPrefix(environment[1], "ADLENS_KEY="))
		}
		fault, tables := f.run(t)
		if fault != "" {
			t.Fatal(fault)
		}
		names := strings.Fields("date marketplace marketplace_id ad_product spend sales acos roas impressions clicks ctr average_cpc purchases conversion_rate")
		rows := [][]string{names}
		for _, row := range tables["adlens days"].Rows {
			texts := make([]string, len(names))
			for i, name := range names {
				if row[name] != nil {
					texts[i] = fmt.Sprint(row[name])
				}
			}
			rows = append(rows, texts)
		}
		return rows
	})
}

func TestAWorkflowSaysWhatWasRefused(t *testing.T) {
	t.Parallel()
	h, _ := house.ShopWithData(t)
	fault, tables := newFlow(t, h.Server.Address, "key_live_wrong").run(t)
	if !strings.Contains(fault, "Marketplaces") || len(tables["adlens days"].Rows)+len(tables["adlens blocks"].Rows) > 0 {
		t.Errorf("with a wrong key it says %q and keeps %v", fault, tables)
	}
}

// Other tools read one period each time, which has all days that serve still reads
// again: 60 and, where it missed a week, up to 65 that have ended.
func TestThePeriodOfOtherToolsHasAllRestatedDays(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	text, err := os.ReadFile(filepath.Join(documented, "n8n.md"))
	house.Need(t, err)
	_, row, _ := strings.Cut(string(text), "| Query | ")
	row, _, _ = strings.Cut(row, " |\n")
	query := strings.NewReplacer("`", "", " = ", "=", ", ", "&").Replace(row)
	answer := house.Get(t, one.Ask, "/api/v1/timeline?"+query)
	var said struct {
		Period struct {
			First string `json:"start_date"`
		}
	}
	if json.Unmarshal(answer.Body, &said) != nil || said.Period.First == "" || said.Period.First > house.DaysAgo(67) {
		t.Errorf("%s begins on %q, expected %s or before: %s", query, said.Period.First, house.DaysAgo(67), answer)
	}
}
