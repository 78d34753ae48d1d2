package records_test

import (
	"strings"
	"testing"

	"adlens/internal/records"
)

// Null is a run that has not ended.
func TestTimesOfRunsAreBounded(t *testing.T) {
	for finished, want := range map[string]string{
		`null`: "", `"2026-10-02T08:00:01Z"`: "", `"2261-12-31T00:00:00Z"`: "",
		`"9999-12-31T23:59:59-12:00"`: `row 1: finished_at is "9999-12-31T23:59:59-12:00", expected a time between the years 1970 and 2261`,
		`"0000-01-01T00:00:00Z"`:      `row 1: finished_at is "0000-01-01T00:00:00Z", expected a time between`,
		`"0001-01-01T00:00:00Z"`:      "row 1: finished_at is missing, expected a time like",
	} {
		line := `{"rule_run_id":"r","rule_id":"one","started_at":"2026-10-02T08:00:00Z","finished_at":` + finished + `}`
		_, err := records.Decode(strings.NewReader(line), records.CheckRun)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v, expected %s", finished, err, want)
		}
	}
}
