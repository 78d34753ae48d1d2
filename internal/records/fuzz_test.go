package records_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"adlens/internal/records"
)

// fuzzRecords holds a decoder of records against what it promises: a line that
// is taken has its id, in text that everybody agrees on, and a file that is
// cut off inside its last line is not taken for whole.
func fuzzRecords[R records.Record](f *testing.F, check func(*R) error, id func(R) records.ID) {
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := records.Decode(bytes.NewReader(text), check)
		if err != nil {
			if all != nil || err.Error() == "" || len(err.Error()) > 2_000 {
				t.Fatalf("%d records beside the error %.300q", len(all), err)
			}
			return
		}
		for _, r := range all {
			if text := string(id(r)); text == "" || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
				t.Fatalf("a record was taken with the id %q", text)
			}
		}
		if lines := bytes.Count(text, []byte("\n")) + 1; len(all) > lines {
			t.Fatalf("%d records of %d lines", len(all), lines)
		}
		whole := bytes.TrimRight(text, " \t\r\n\v\f\u0085\u00a0")
		if len(all) == 0 || len(whole) == 0 {
			return
		}
		if _, err := records.Decode(bytes.NewReader(whole[:len(whole)-1]), check); err == nil {
			t.Fatal("a file is taken for whole without its last byte")
		}
	})
}

func FuzzRules(f *testing.F) {
	good := `{"rule_id":"one","name":"One","status":"on","edited_at":"2026-10-01T08:00:00.000Z","scope":{"marketplaces":["GB"],"campaign_ids":[1,"2"]}}`
	for _, seed := range []string{good, good + "\n" + good, good + "\r\n\r\n", `{"rule_id":7,"deleted":true}`, `{"rule_id":1.5}`, `{"rule_id":"\u0000"}`,
		`{"rule_id":"a","rule_id":"b"}`, `{"rule_id":"x","scope":{"marketplaces":null}}`, "\ufeff" + good, good[:40], strings.Repeat("[", 100), `{"rule_id":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	fuzzRecords(f, records.CheckRule, func(r records.Rule) records.ID { return r.ID })
}

func FuzzRuns(f *testing.F) {
	good := `{"rule_run_id":"r","rule_id":"one","test":false,"started_at":"2026-10-02T08:00:00Z","marketplaces":["US"],"looked_at":{"campaigns":3},"changed":0,"changes":[{"marketplace":"GB","from":1,"to":"2"}]}`
	for _, seed := range []string{good, good + "\n\n" + good, `{"rule_run_id":18446744073709551616,"deleted":true}`, `{"changed":-1}`, `{"changed":1e99}`, `{"started_at":"9999-12-31T23:59:60Z"}`, good[:len(good)-1]} {
		f.Add([]byte(seed))
	}
	fuzzRecords(f, records.CheckRun, func(r records.RuleRun) records.ID { return r.ID })
}

func FuzzActivity(f *testing.F) {
	good := `{"activity_id":"a","occurred_at":"2026-10-02T08:01:00.000Z","tool":"rule","marketplace_id":101,"summary":"Done.","changed":1,"created_campaign_ids":[1],"changed_campaign_ids":["2"]}`
	for _, seed := range []string{good, good + "\n" + good, `{"activity_id":"a","tool":"undo","marketplace":"gb","occurred_at":"2026-10-02T08:01:00+14:00"}`, `{"activity_id":null}`, `{"activity_id":"a","tool":"rules"}`, good + good} {
		f.Add([]byte(seed))
	}
	fuzzRecords(f, records.CheckActivity, func(a records.Activity) records.ID { return a.ID })
}
