package requests_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens/docs"
	"adlens/integration/harness"
	"adlens/integration/house"
)

// workshop is a directory below clients, where a public tool works on the
// API's document. What is generated there is not kept.
type workshop string

// openWorkshop installs the tools of a directory where they are missing.
func openWorkshop(t *testing.T, name string) workshop {
	t.Helper()
	w := workshop(filepath.Join(harness.Root(), "integration", "clients", name))
	for name, document := range map[string][]byte{"openapi.json": docs.OpenAPI(), "json.json": docs.JSONOnly()} {
		house.Need(t, os.WriteFile(filepath.Join(string(w), name), document, 0o644))
	}
	_, packaged := os.Stat(filepath.Join(string(w), "package.json"))
	_, installed := os.Stat(filepath.Join(string(w), "node_modules", ".package-lock.json"))
	if packaged == nil && installed != nil {
		w.run(t, "npm", "ci", "--no-progress")
	}
	return w
}

// run runs a command to its end and gives its standard output.
func (w workshop) run(t *testing.T, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Dir, command.WaitDelay = string(w), 5*time.Second
	var stderr strings.Builder
	command.Stderr = &stderr
	stdout, err := command.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(args, " "), err, stdout, stderr.String())
	}
	return string(stdout)
}

func TestPublicLintersFindNothingInTheDocument(t *testing.T) {
	t.Parallel()
	w := openWorkshop(t, "lint")
	w.run(t, "npx", "redocly", "lint", "--config", "redocly.yaml", "openapi.json", "json.json")
	w.run(t, "npx", "spectral", "lint", "--fail-severity", "hint", "--ruleset", ".spectral.yaml", "openapi.json", "json.json")
}

// clientReport is what a generated client says of the account.
type clientReport struct {
	Account      string      `json:"account"`
	Spend        json.Number `json:"spend"`
	Marketplaces []string    `json:"marketplaces"`
	Points       int         `json:"points"`
	Products     []string    `json:"products"`
	NextPage     *int        `json:"next_page"`
	Campaigns    int         `json:"campaigns"`
	RuleRuns     int         `json:"rule_runs"`
	Refused      string      `json:"refused"`
}

func TestGeneratedClientsReadTheDemonstrationAccount(t *testing.T) {
	t.Parallel()
	server, err := house.EmptyProgram(t).Demo()
	house.Need(t, err)
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	want := reported(t, harness.Client{Address: server.Address, Key: server.Key})
	for name, read := range map[string]func(*testing.T, ...string) string{"go": readByGo, "typescript": readByTypeScript} {
		var got clientReport
		house.Need(t, json.Unmarshal([]byte(read(t, server.Address, server.Key)), &got))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s read %+v, want %+v", name, got, want)
		}
	}
}

func readByGo(t *testing.T, arguments ...string) string {
	w := openWorkshop(t, "go")
	w.run(t, "go", "tool", "oapi-codegen", "-config", "config.yaml", "json.json")
	w.run(t, "go", "vet", ".")
	return w.run(t, "go", append([]string{"run", "."}, arguments...)...)
}

// documentedLines are the lines of TypeScript that docs/api.md shows.
var documentedLines = regexp.MustCompile("(?s)```typescript\n(.*?)```")

// readByTypeScript also compiles and runs the documented lines, as strictly.
func readByTypeScript(t *testing.T, arguments ...string) string {
	w := openWorkshop(t, "typescript")
	text, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "api.md"))
	house.Need(t, err)
	lines := documentedLines.FindSubmatch(text)
	if lines == nil {
		t.Fatal("docs/api.md has no lines of TypeScript")
	}
	house.Need(t, os.WriteFile(filepath.Join(string(w), "documented.ts"), lines[1], 0o644))
	w.run(t, "npx", "openapi-typescript", "json.json", "--output", "adlens.d.ts")
	w.run(t, "npx", "tsc")
	c := harness.Client{Address: arguments[0], Key: arguments[1]}
	var summary struct{ Spend json.Number }
	house.Need(t, json.Unmarshal(house.Get(t, c, "/api/v1/summary?range=last_30_days&marketplaces=US,UK").Body, &summary))
	printed := w.run(t, "env", "ADLENS="+c.Address, "ADLENS_KEY="+c.Key, "node", "built/documented.js")
	if spend, _ := summary.Spend.Float64(); !strings.HasPrefix(printed, strconv.FormatFloat(spend, 'f', -1, 64)+" ") || spend == 0 {
		t.Errorf("the documented lines print %s, and the spend is %s", printed, summary.Spend)
	}
	return w.run(t, "node", append([]string{"built/main.js"}, arguments...)...)
}

// reported reads the same of the account as the clients do, from plain JSON.
func reported(t *testing.T, c harness.Client) (r clientReport) {
	t.Helper()
	var account struct {
		ID string `json:"account_id"`
	}
	var summary struct {
		Spend json.Number
		Parts []struct{ Marketplace string } `json:"by_marketplace"`
	}
	var timeline, marketplaces, rules, runs, products struct {
		Data []struct {
			MarketplaceID string  `json:"marketplace_id"`
			RuleID        string  `json:"rule_id"`
			ProductID     *string `json:"product_id"`
		}
		Pagination struct {
			NextPage *int `json:"next_page"`
		}
	}
	var campaigns struct {
		Pagination struct {
			TotalRows int `json:"total_rows"`
		}
	}
	into := func(path string, value any) {
		house.Need(t, json.Unmarshal(house.Get(t, c, "/api/v1"+path).Body, value))
	}
	into("/account", &account)
	into("/summary?range=last_year&marketplaces=US,DE", &summary)
	into("/timeline?range=last_year", &timeline)
	into("/reports/products?range=last_year&sort=sales&page_size=3", &products)
	into("/marketplaces", &marketplaces)
	into("/campaigns?marketplace_id="+marketplaces.Data[0].MarketplaceID, &campaigns)
	into("/rules", &rules)
	into("/rules/"+rules.Data[0].RuleID+"/runs", &runs)
	r = clientReport{Account: account.ID, Spend: summary.Spend, Points: len(timeline.Data), NextPage: products.Pagination.NextPage,
		Campaigns: campaigns.Pagination.TotalRows, RuleRuns: len(runs.Data), Refused: "unknown_value"}
	for _, part := range summary.Parts {
		r.Marketplaces = append(r.Marketplaces, part.Marketplace)
	}
	for _, row := range products.Data {
		if row.ProductID != nil {
			r.Products = append(r.Products, *row.ProductID)
		}
	}
	return r
}
