package arrows

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the module's root, seen from here.
const root = "../.."

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// testsOf are the names of all tests of the module.
func testsOf(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range testFunction.FindAllStringSubmatch(string(text), -1) {
			names[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Both tables have rows of a number, what may happen, what is done about it, and
// the tests that show it.
func TestEveryThreatAndFaultNamesTestsThatExist(t *testing.T) {
	names := testsOf(t)
	for document, want := range map[string]int{"security.md": 102, "faults.md": 34} {
		text, err := os.ReadFile(filepath.Join(root, "docs", document))
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for line := range strings.Lines(string(text)) {
			cells := strings.Split(line, "|")
			if len(cells) != 6 || strings.TrimSpace(cells[1]) != fmt.Sprint(rows+1) {
				continue
			}
			rows++
			proofs := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllStringSubmatch(cells[4], -1)
			if len(proofs) == 0 {
				t.Errorf("%s: row %d names no test", document, rows)
			}
			for _, proof := range proofs {
				if !names[proof[1]] {
					t.Errorf("%s: row %d names %s, which is no test", document, rows, proof[1])
				}
			}
		}
		if rows != want {
			t.Errorf("%s: %d rows in order, expected %d", document, rows, want)
		}
	}
}
