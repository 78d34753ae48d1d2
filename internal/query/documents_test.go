package query

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A part of a document that is written from the catalogue stands between two
// lines, "written: NAME" and "end of NAME".
func TestDocumentsSayOfFiguresWhatTheCatalogueSays(t *testing.T) {
	for file, parts := range map[string]map[string]string{
		"docs/openapi.yaml":   {"what is sorted by": sortsText(), "figures": figureSchemas(), "changes": changeSchemas()},
		"docs/api.md":         {"figures": figureTable()},
		"web/page/figures.js": {"figures": figureList()},
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

func sortsText() string {
	return fmt.Sprintf("      enum: [%s, %s]\n", strings.Join(figureNames(), ", "), SortProduct)
}

func requiredText() string {
	return fmt.Sprintf("      required: [%s]\n      properties:\n", strings.Join(figureNames(), ", "))
}

func figureSchemas() string {
	var b strings.Builder
	b.WriteString(requiredText())
	for _, f := range Catalogue {
		fmt.Fprintf(&b, "        %s:\n", f.Name)
		switch {
		case f.base == whole:
			b.WriteString("          type: integer\n          format: int64\n")
		case f.Formula == "":
			b.WriteString("          type: number\n          format: double\n          x-decimals: 2\n")
		default:
			b.WriteString("          type: [number, 'null']\n          format: double\n          x-decimals: 2\n")
		}
		fmt.Fprintf(&b, "          minimum: 0\n          description: %s\n          x-unit: %s\n", f.Words, f.Unit)
		if f.Formula != "" {
			fmt.Fprintf(&b, "          x-formula: %s\n", f.Formula)
		}
	}
	return b.String()
}

func changeSchemas() string {
	var b strings.Builder
	b.WriteString(requiredText())
	for _, f := range Catalogue {
		in := map[Unit]string{Percent: "In percentage points.", Ratio: "In units of the ratio.", USD: "In US dollars."}[f.Unit]
		if f.Formula == "" {
			in = "In percent of the earlier " + f.Name + "."
		}
		fmt.Fprintf(&b, "        %s: { type: [number, 'null'], format: double, x-decimals: 2, description: %s }\n", f.Name, in)
	}
	return b.String()
}

func figureTable() string {
	b := strings.Builder{}
	b.WriteString("| Name | Meaning | Formula |\n|---|---|---|\n")
	for _, f := range Catalogue {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, f.Words, f.Formula)
	}
	return b.String()
}

// figureList is the page's. It calls measures by their labels.
func figureList() string {
	var labels []string
	for _, f := range Catalogue {
		if f.Formula == "" {
			labels = append(labels, f.Name, strings.ToLower(f.Label))
		}
	}
	kinds := map[Unit]string{USD: "money", Percent: "percent", Ratio: "ratio", Number: "count"}
	var b strings.Builder
	for _, f := range Catalogue {
		means := strings.NewReplacer(labels...).Replace(strings.TrimSuffix(f.Formula, " x 100"))
		if means != "" {
			means = ", means: '" + means + "'"
		}
		fmt.Fprintf(&b, "  { name: '%s', label: '%s', kind: '%s', better: %d%s },\n", f.Name, f.Label, kinds[f.Unit], f.Better, means)
	}
	return b.String()
}
