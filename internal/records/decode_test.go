package records_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

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

// decodeKind reads lines of a kind: rules, runs or activity.
func decodeKind(kind string, lines io.Reader) (n int, err error) {
	switch kind {
	case "rules":
		all, err := records.Decode(lines, records.CheckRule)
		return len(all), err
	case "runs":
		all, err := records.Decode(lines, records.CheckRun)
		return len(all), err
	default:
		all, err := records.Decode(lines, records.CheckActivity)
		return len(all), err
	}
}

// goodLines are the shortest lines that are taken.
var goodLines = map[string]string{
	"rules":    `{"rule_id":"one","status":"on","edited_at":"1970-01-01T00:00:00Z"}`,
	"runs":     `{"rule_run_id":"r","rule_id":"one","started_at":"1970-01-01T00:00:00Z"}`,
	"activity": `{"activity_id":"a","occurred_at":"1970-01-01T00:00:00Z","tool":"undo","marketplace":"US"}`,
}

func TestWhatIsWrongWithARecordIsNamedWithItsRow(t *testing.T) {
	for _, test := range []struct{ kind, old, with, want string }{
		{"rules", `"one"`, `""`, "rule_id is missing, expected an id"},
		{"rules", `"one"`, `"","deleted":true`, "rule_id is missing, expected an id"},
		{"rules", `"on"`, `"test"`, `status is "test", expected on or off`},
		{"rules", `1970-01-01`, `1969-12-31`, `edited_at is "1969-12-31T00:00:00Z", expected a time between the years 1970 and 2261`},
		{"runs", `"r"`, `""`, "rule_run_id is missing, expected an id"},
		{"runs", `"r"`, `"","deleted":true`, "rule_run_id is missing, expected an id"},
		{"runs", `"one"`, `""`, "rule_id is missing, expected an id"},
		{"runs", `"one"`, `"","finished_at":"2026-10-02T08:00:01Z"`, "rule_id is missing, expected an id"},
		{"runs", `1970-01-01`, `2262-01-01`, `started_at is "2262-01-01T00:00:00Z", expected a time between the years 1970 and 2261`},
		{"activity", `"a"`, `""`, "activity_id is missing, expected an id"},
		{"activity", `"a"`, `"","deleted":true`, "activity_id is missing, expected an id"},
		{"activity", `1970-01-01`, `1969-12-31`, `occurred_at is "1969-12-31T00:00:00Z", expected a time between the years 1970 and 2261`},
		{"activity", `"undo"`, `"rules"`, `tool is "rules", expected one of rule, `},
		{"activity", `,"marketplace":"US"`, ``, "marketplace is missing, expected marketplace or marketplace_id"},
		{"activity", `"undo"`, `"undo","changed":-1`, "changed is -1"},
	} {
		good := goodLines[test.kind]
		text := good + "\n\r\n \n" + strings.Replace(good, test.old, test.with, 1) + "\n" + good // blank lines count
		if n, err := decodeKind(test.kind, strings.NewReader(text)); n != 0 || err == nil || !strings.HasPrefix(err.Error(), "row 4: "+test.want) {
			t.Errorf("%s with %s: %v, expected %s", test.kind, test.with, err, test.want)
		}
	}
}

func TestShortestRecordsAreTaken(t *testing.T) {
	for kind, good := range goodLines {
		if n, err := decodeKind(kind, strings.NewReader(good+"\n\n"+good)); err != nil || n != 2 {
			t.Errorf("%s: %d, %v", kind, n, err)
		}
	}
	for kind, line := range map[string]string{
		"rules": `{"rule_id":"one","deleted":true}`, "runs": `{"rule_run_id":"r","deleted":true}`, "activity": `{"activity_id":"a","deleted":true}`,
	} {
		if n, err := decodeKind(kind, strings.NewReader(line)); err != nil || n != 1 {
			t.Errorf("a deleted record of %s: %d, %v", kind, n, err)
		}
	}
	if n, err := decodeKind("activity", strings.NewReader(strings.Replace(goodLines["activity"], `"marketplace":"US"`, `"marketplace_id":101`, 1))); err != nil || n != 1 {
		t.Errorf("an entry with the id of its marketplace alone: %d, %v", n, err)
	}
}

func TestCountriesOfRecordsAreThePlatforms(t *testing.T) {
	rules, err := records.Decode(strings.NewReader(strings.Replace(goodLines["rules"], `"on"`, `"on","scope":{"marketplaces":["GB","US"]}`, 1)), records.CheckRule)
	if err != nil || !slices.Equal(*rules[0].Scope.Marketplaces, []string{"UK", "US"}) {
		t.Errorf("%+v, %v", rules, err)
	}
	runs, err := records.Decode(strings.NewReader(strings.Replace(goodLines["runs"], `"one"`, `"one","marketplaces":["GB"],"changes":[{"marketplace":"US"},{"marketplace":"GB"}]`, 1)), records.CheckRun)
	if err != nil || !slices.Equal(runs[0].Marketplaces, []string{"UK"}) || runs[0].Changes[0].Marketplace != "US" || runs[0].Changes[1].Marketplace != "UK" {
		t.Errorf("%+v, %v", runs, err)
	}
}

// A run that changed much has a long line; one without an end is not kept in memory.
func TestLinesOfRecordsAreBounded(t *testing.T) {
	long := strings.Replace(goodLines["runs"], `"r"`, `"r","status":"`+strings.Repeat("x", 15<<20)+`"`, 1)
	if n, err := decodeKind("runs", strings.NewReader(long)); err != nil || n != 1 {
		t.Errorf("a line of 15 MiB: %d, %v", n, err)
	}
	if _, err := decodeKind("runs", strings.NewReader(goodLines["runs"]+"\n"+strings.Repeat("x", 16<<20))); err == nil || err.Error() != "row 2: more than 16777216 bytes" {
		t.Errorf("a line of 16 MiB: %v", err)
	}
}

// What was read of a file that broke off is not taken for the whole.
func TestAnErrorOfTheSourceIsNotItsEnd(t *testing.T) {
	broken := errors.New("broken")
	if n, err := decodeKind("rules", io.MultiReader(strings.NewReader(goodLines["rules"]+"\n"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("%d records, %v", n, err)
	}
}
