package arrows

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the module's root, seen from here.
const root = "../.."

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// testsOf are the directories of all tests of the module, by their names.
func testsOf(t *testing.T) map[string][]string {
	t.Helper()
	directories := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range testFunction.FindAllStringSubmatch(string(text), -1) {
			directories[found[1]] = append(directories[found[1]], filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return directories
}

// Both tables have rows of a number, what may happen, what is done about it, and
// the tests that show it.
func TestEveryThreatAndFaultNamesTestsThatExist(t *testing.T) {
	names := testsOf(t)
	for document, want := range map[string]int{"security.md": 102, "faults.md": 35} {
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
				if names[proof[1]] == nil {
					t.Errorf("%s: row %d names %s, which is no test", document, rows, proof[1])
				}
			}
		}
		if rows != want {
			t.Errorf("%s: %d rows in order, expected %d", document, rows, want)
		}
	}
}

// fuzzing is a line of `make fuzz`: its targets, in a loop or alone, and their package.
var fuzzing = regexp.MustCompile(`(?m)^\t.*?(?:for target in ([\w ]+);|-fuzz (Fuzz\w+) ).* (\.\S*)(?: \|\| exit 1; done)?$`)

func TestEveryFuzzTargetIsFuzzed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, rule, _ := strings.Cut(string(text), "\nfuzz:")
	rule, _, _ = strings.Cut(rule, "\n\n")
	var got, want []string
	for _, line := range fuzzing.FindAllStringSubmatch(rule, -1) {
		for _, target := range strings.Fields(line[1] + line[2]) {
			got = append(got, filepath.Join(root, line[3])+" "+target)
		}
	}
	for name, directories := range testsOf(t) {
		for _, directory := range directories {
			if strings.HasPrefix(name, "Fuzz") {
				want = append(want, directory+" "+name)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("make fuzz runs\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
