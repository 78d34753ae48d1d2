package arrows

import (
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the arrows of the picture in docs/design.md")

const pictureFile = "../../docs/design.md"

var (
	node = regexp.MustCompile(`(?m)^  (\w+)\["([^:"]+):`)
	edge = regexp.MustCompile(`(?m)^  (\w+) --> .*\n`)
)

// The picture has a box for each room and an arrow for each import but those of
// the root package, which nearly all rooms have.
func TestThePictureShowsAllArrows(t *testing.T) {
	text, err := os.ReadFile(pictureFile)
	if err != nil {
		t.Fatal(err)
	}
	boxes, order := map[string]string{}, []string{}
	for _, found := range node.FindAllStringSubmatch(string(text), -1) {
		room := "adlens/" + strings.Replace(found[2], "…/", "internal/clickhouse/", 1)
		boxes[room] = found[1]
		order = append(order, room)
	}
	for room, imports := range arrows {
		for _, shown := range append([]string{room}, imports...) {
			if shown != "adlens" && boxes[shown] == "" {
				t.Fatalf("%s has no box in %s", shown, pictureFile)
			}
		}
	}
	var want strings.Builder
	for _, room := range order {
		var to []string
		for _, imported := range arrows[room] {
			if imported != "adlens" {
				to = append(to, boxes[imported])
			}
		}
		if slices.Sort(to); len(to) > 0 {
			want.WriteString("  " + boxes[room] + " --> " + strings.Join(to, " & ") + "\n")
		}
	}
	got := strings.Join(edge.FindAllString(string(text), -1), "")
	if *update && got != want.String() {
		if err := os.WriteFile(pictureFile, []byte(strings.Replace(string(text), got, want.String(), 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want.String() {
		t.Errorf("the picture's arrows are not those of the list; go test ./internal/arrows -update writes them:\n%s", want.String())
	}
}

// An arrow that no room uses any more would let it come back unnoticed.
func TestEveryArrowIsUsed(t *testing.T) {
	unused := maps.Clone(arrows)
	for _, r := range rooms(t) {
		unused[r.ImportPath] = slices.DeleteFunc(slices.Clone(arrows[r.ImportPath]), func(to string) bool { return slices.Contains(r.Imports, to) })
	}
	for room, to := range unused {
		if len(to) > 0 {
			t.Errorf("%s imports none of %s", room, strings.Join(to, ", "))
		}
	}
}
