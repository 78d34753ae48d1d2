package house

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Update is the flag -update.
var Update = flag.Bool("update", false, "write the tables of testdata/answers again, to be read and judged")

// Table holds inputs and the answers to them, side by side, as people read
// it. What differs between runs is replaced first.
type Table struct{ text strings.Builder }

// Row adds an input and its answer.
func (b *Table) Row(name, input, answer string) {
	fmt.Fprintf(&b.text, "## %s\n\n", name)
	for _, part := range []struct{ mark, lines string }{{"    ", input}, {"> ", answer}} {
		for line := range strings.Lines(strings.TrimSuffix(part.lines, "\n") + "\n") {
			b.text.WriteString(strings.TrimRight(part.mark+line, " \n") + "\n")
		}
		b.text.WriteString("\n")
	}
}

// Check holds the table against the one that was judged.
func (b *Table) Check(t *testing.T, file, title string) {
	t.Helper()
	path, got := filepath.Join("testdata", "answers", file), "# "+title+"\n\n"+b.text.String()
	if *Update {
		Need(t, os.MkdirAll(filepath.Dir(path), 0o755))
		Need(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	Need(t, err)
	if string(want) == got {
		return
	}
	wanted, rows := regexp.MustCompile(`(?m)^## `).Split(string(want), -1), regexp.MustCompile(`(?m)^## `).Split(got, -1)
	for i, row := range rows {
		if i >= len(wanted) || wanted[i] != row {
			t.Fatalf("%s: got\n%s\nread it, and if it is meant, run %s of this package with -update", path, row, t.Name())
		}
	}
	t.Fatalf("%s has %d rows, there are %d", path, len(wanted), len(rows))
}

// Clipped is an input, or a part of it where it is long, in one line of
// printable characters.
func Clipped(text string, most int) string {
	quoted := fmt.Sprintf("%q", text)
	quoted = strings.NewReplacer(`\"`, `"`, `\\`, `\\`, `\n`, "\n").Replace(quoted[1 : len(quoted)-1])
	if len(quoted) > most {
		quoted = quoted[:most*3/4] + fmt.Sprintf("...(%d bytes)", len(text))
	}
	return quoted
}
