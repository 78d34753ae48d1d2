package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adlens/internal/metrics"

	"github.com/google/go-cmp/cmp"
)

func TestTheTableOfMetricsHasAllOfThem(t *testing.T) {
	m := metrics.New(limitNames, fileStatuses)
	addBuildMetric(m)
	(&data{}).addDatabaseMetrics(m)
	(&inspector{}).addIntegrityMetrics(m)
	(&limits{}).addLimitMetrics(m)
	refreshers{}.addRefreshMetrics(m)
	watchMemories(m, nil, nil)
	text, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| Metric | Labels | What it shows |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for label, values := range map[string][]string{"limit": limitNames, "status": fileStatuses} {
		_, row, _ := strings.Cut(table, "_total` | `"+label+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		if got := regexp.MustCompile("`([a-z]+)`").FindAllString(row, -1); "`"+strings.Join(values, "` `")+"`" != strings.Join(got, " ") {
			t.Errorf("docs/operating.md has the values %v of %s, expected %v", got, label, values)
		}
	}
	var named []string
	for _, found := range regexp.MustCompile("`(adlens_[a-z_]+)`").FindAllStringSubmatch(table, -1) {
		named = append(named, found[1])
	}
	slices.Sort(named)
	if diff := cmp.Diff(m.ListNames(), named); diff != "" {
		t.Errorf("docs/operating.md has other metrics than the program:\n%s", diff)
	}
}
