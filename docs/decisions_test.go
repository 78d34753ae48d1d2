package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	status  = regexp.MustCompile(`^# (\d+)\. .+\n\nStatus: ((?:accepted|amended by|superseded(?: in part)? by)\b.*)\n`)
	changed = regexp.MustCompile(`(?:amended|superseded(?: in part)?) by ([^.]+(?:\.md\)[^.]*)+)`)
	changes = regexp.MustCompile(`(?:Amends|Supersedes) ([^.]+(?:\.md\)[^.]*)+)`)
	links   = regexp.MustCompile(`\[(\d+)\]`)
)

// Each decision has its number and a status below its title, and of two
// decisions of which one changes the other, both say so.
func TestDecisionsAreNumberedAndTheirStatusesAgree(t *testing.T) {
	files, err := filepath.Glob("decisions/*.md")
	if err != nil || len(files) < 48 {
		t.Fatalf("%d decisions: %v", len(files), err)
	}
	// Pairs of a later decision and the earlier one that it changes.
	byEarlier, byLater := map[[2]string]bool{}, map[[2]string]bool{}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := status.FindStringSubmatch(string(text))
		if found == nil || found[1] != fmt.Sprint(i+1) || filepath.Base(file)[:4] != fmt.Sprintf("%04d", i+1) {
			t.Errorf("decision %d is %s, and begins %.80q", i+1, file, text)
			continue
		}
		for _, later := range links.FindAllStringSubmatch(strings.Join(changed.FindAllString(found[2], -1), ""), -1) {
			byEarlier[[2]string{later[1], found[1]}] = true
		}
		for _, earlier := range links.FindAllStringSubmatch(strings.Join(changes.FindAllString(found[2], -1), ""), -1) {
			byLater[[2]string{found[1], earlier[1]}] = true
		}
	}
	if len(byEarlier) < 10 {
		t.Errorf("only %d decisions are changed by others", len(byEarlier))
	}
	for pair := range byEarlier {
		if !byLater[pair] {
			t.Errorf("decision %s does not say that it changes %s", pair[0], pair[1])
		}
	}
	for pair := range byLater {
		if !byEarlier[pair] {
			t.Errorf("decision %s does not say that %s changes it", pair[1], pair[0])
		}
	}
}
