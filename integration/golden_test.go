package integration_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of testdata/answers anew, to be read and judged")

// table holds inputs and what was said to them, side by side, as people read
// it. What differs between runs is replaced first.
type table struct{ text strings.Builder }

// row adds an input and its answer.
func (b *table) row(name, input, answer string) {
	fmt.Fprintf(&b.text, "## %s\n\n", name)
	for _, part := range []struct{ mark, lines string }{{"    ", input}, {"> ", answer}} {
		for line := range strings.Lines(strings.TrimSuffix(part.lines, "\n") + "\n") {
			b.text.WriteString(strings.TrimRight(part.mark+line, " \n") + "\n")
		}
		b.text.WriteString("\n")
	}
}

// check holds the table against the one that was judged.
func (b *table) check(t *testing.T, file, title string) {
	t.Helper()
	path, got := filepath.Join("testdata", "answers", file), "# "+title+"\n\n"+b.text.String()
	if *update {
		need(t, os.MkdirAll(filepath.Dir(path), 0o755))
		need(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	need(t, err)
	if string(want) == got {
		return
	}
	wanted, rows := regexp.MustCompile(`(?m)^## `).Split(string(want), -1), regexp.MustCompile(`(?m)^## `).Split(got, -1)
	for i, row := range rows {
		if i >= len(wanted) || wanted[i] != row {
			t.Fatalf("%s: got\n%s\nread it, and if it is meant: go test ./integration -run %s -update", path, row, t.Name())
		}
	}
	t.Fatalf("%s has %d rows, there are %d", path, len(wanted), len(rows))
}

// clipped is an input, or a part of it where it is long, in one line of
// printable characters.
func clipped(text string, most int) string {
	quoted := fmt.Sprintf("%q", text)
	quoted = strings.NewReplacer(`\"`, `"`, `\\`, `\\`, `\n`, "\n").Replace(quoted[1 : len(quoted)-1])
	if len(quoted) > most {
		quoted = quoted[:most*3/4] + fmt.Sprintf("...(%d bytes)", len(text))
	}
	return quoted
}
