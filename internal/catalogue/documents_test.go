package catalogue_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/catalogue"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the documents' parts again")

// A part of a document that is written from the catalogue stands between two
// lines, "written: NAME" and "end of NAME".
func TestDocumentsSayWhatTheCatalogueSays(t *testing.T) {
	for file, parts := range map[string]map[string]string{
		"docs/api.md":          {"endpoints": endpointTable(), "figures": figureTable()},
		"web/page/figures.js":  {"figures": figureList()},
		"web/page/controls.js": {"choices": choices("RANGES", catalogue.Ranges) + choices("AD_PRODUCTS", catalogue.AdProducts)},
		"web/page/lists.js":    {"choices": choices("TOOLS", catalogue.Tools)},
		"web/page/measures.js": {"measures": measureLists()},
		"web/page/said.js":     {"ages": fmt.Sprintf("const STALE_DAYS = %d\nconst BEHIND_DAYS = %d\n", adlens.StaleDays, adlens.BehindDays)},
	} {
		path := "../../" + file
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		for name, want := range parts {
			between := regexp.MustCompile(`(?s)(written: ` + name + `\b[^\n]*\n)(.*?)([^\n]*\bend of ` + name + `\b)`)
			found := between.FindStringSubmatch(text)
			switch {
			case found == nil:
				t.Errorf("%s has no part %q", file, name)
			case *update:
				text = strings.Replace(text, found[0], found[1]+want+found[3], 1)
			case found[2] != want:
				t.Errorf("%s, %s (-update rewrites it):\n%s", file, name, cmp.Diff(want, found[2]))
			}
		}
		if *update && text != string(content) {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A spreadsheet reads ids in a CSV as numbers. Every text that tells how to bring one into
// it says what is lost.
func TestDocumentsSayThatSpreadsheetsCutIDsOfACSV(t *testing.T) {
	named := regexp.MustCompile(`\b[iI]ds\b[^\n]*\b15 digits`)
	for _, file := range []string{"docs/api.md", "web/docs/pages/formats.html", "web/docs/recipes/google-sheets.md", "web/page/recipes.js", "cmd/adlens/feed.go"} {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if !named.Match(text) {
			t.Errorf("%s does not say that ids keep 15 digits", file)
		}
	}
}

func endpointTable() string {
	b := strings.Builder{}
	b.WriteString("| Path | Answers | Parameters |\n|---|---|---|\n")
	for _, e := range catalogue.Endpoints {
		parameters := "none"
		for i, p := range e.Parameters {
			name := "`" + p.Name + "`"
			if p.Required {
				name += " (required)"
			}
			if i == 0 {
				parameters = name
			} else {
				parameters += ", " + name
			}
		}
		fmt.Fprintf(&b, "| `/api/v1%s` | %s | %s |\n", e.Path, e.Summary, parameters)
	}
	return b.String()
}

func figureTable() string {
	b := strings.Builder{}
	b.WriteString("| Name | Meaning | Formula |\n|---|---|---|\n")
	for _, f := range catalogue.Figures {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, f.Words, f.Formula())
	}
	return b.String()
}

// measureLists are the page's: counts, and amounts.
func measureLists() string {
	var counts, amounts []string
	for _, m := range catalogue.Extra {
		if m.IsAmount() {
			amounts = append(amounts, m.Name)
		} else {
			counts = append(counts, m.Name)
		}
	}
	words := func(names []string) string { return strings.Join(names, " ") } // the page has few bytes left
	return fmt.Sprintf("export const COUNTS = '%s'.split(' ')\nexport const AMOUNTS = '%s'.split(' ')\n", words(counts), words(amounts))
}

// choices is a list of the page.
func choices(name string, values []string) string {
	return fmt.Sprintf("const %s = ['%s']\n", name, strings.Join(values, "', '"))
}

// figureList is the page's. It calls measures by their labels.
func figureList() string {
	var labels []string
	for _, f := range catalogue.Figures {
		if !f.IsRatio() {
			labels = append(labels, f.Name, strings.ToLower(f.Label))
		}
	}
	kinds := map[catalogue.Unit]string{catalogue.USD: "money", catalogue.Percent: "percent", catalogue.Ratio: "ratio", catalogue.Count: "count"}
	var b strings.Builder
	for _, f := range catalogue.Figures {
		means := strings.NewReplacer(labels...).Replace(strings.TrimSuffix(f.Formula(), " x 100"))
		if means != "" {
			means = ", means: '" + means + "'"
		}
		fmt.Fprintf(&b, "  { name: '%s', label: '%s', kind: '%s', better: %d%s },\n", f.Name, f.Label, kinds[f.Unit], f.Better, means)
	}
	return b.String()
}
