package loader_test

import (
	"path/filepath"
	"strings"
	"testing"

	"adlens/loader"
)

// Records that are loaded again change nothing, however much their lines leave out and
// however their values are written; one that says something else does.
func TestRecordsWithoutOptionalFieldsAreLoadedOnce(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	mustLoad(t, d.store(), t.Name(), writeBase(t))
	for name, content := range map[string]struct{ lines, other string }{
		"rules.ndjson": {
			`{"rule_id":"two","status":"off","edited_at":"2026-05-01T10:00:00+02:00","scope":{"marketplaces":["GB"]}}` + "\n" + `{"rule_id":1,"status":"on","edited_at":"2026-05-01T08:00:00Z"}`,
			`{"rule_id":1,"status":"on","edited_at":"2026-05-01T08:00:00Z","scope":{"campaign_ids":[]}}`,
		},
		"rule_runs.ndjson": {
			`{"rule_run_id":"one","rule_id":"1","started_at":"2026-05-01T08:00:00Z"}` + "\n" +
				`{"rule_run_id":"two","rule_id":"1","started_at":"2026-05-01T07:00:00Z","marketplaces":null,"changes":[{"marketplace":"GB","from":{"a": 1.0},"to": "\u0041"},{}]}`,
			`{"rule_run_id":"one","rule_id":"1","started_at":"2026-05-01T08:00:00Z","changes":[{}]}`,
		},
		"activity.ndjson": {
			`{"activity_id":"two","occurred_at":"2026-05-01T08:00:00Z","tool":"rule","marketplace":"US"}` + "\n" + `{"activity_id":"one","occurred_at":"2026-05-01T07:00:00Z","tool":"undo","marketplace_id":1001,"created_campaign_ids":null}`,
			`{"activity_id":"two","occurred_at":"2026-05-01T08:00:00Z","tool":"rule","marketplace":"US","changed_campaign_ids":[7]}`,
		},
	} {
		path, other := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), name)
		writeFile(t, path, content.lines)
		writeFile(t, other, content.other)
		for i, step := range []struct {
			path string
			want loader.Status
		}{{path, loader.Loaded}, {path, loader.Unchanged}, {other, loader.Loaded}, {other, loader.Unchanged}, {path, loader.Loaded}} {
			if f := load(t, d.store(), t.Name(), step.path).Files[0]; f.Status != step.want {
				t.Errorf("%s, load %d: %s, expected %s; %v", name, i, f.Status, step.want, f.Error)
			}
		}
	}
}

// An entry that names its country alone stays where it is held when the account gets
// another profile of that country; a new one has to say which.
func TestActivityThatIsLoadedAgainStaysAtItsMarketplace(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	mustLoad(t, d.store(), t.Name(), writeBase(t))
	path := filepath.Join(t.TempDir(), "activity.ndjson")
	const first = `{"activity_id":"one","occurred_at":"2026-05-01T07:00:00Z","tool":"undo","marketplace":"US"}` + "\n"
	writeFile(t, path, first)
	mustLoad(t, d.store(), t.Name(), path)
	profiles := filepath.Join(t.TempDir(), "profiles.json")
	writeFile(t, profiles, `[{"profileId":2002,"countryCode":"US","currencyCode":"USD","timezone":"America/Los_Angeles","accountInfo":{"type":"seller","name":"Other"}}]`)
	mustLoad(t, d.store(), t.Name(), profiles)
	if f := load(t, d.store(), t.Name(), path).Files[0]; f.Status != loader.Unchanged {
		t.Errorf("loaded again it is %s: %v", f.Status, f.Error)
	}
	writeFile(t, path, first+`{"activity_id":"two","occurred_at":"2026-05-01T08:00:00Z","tool":"undo","marketplace":"US"}`)
	if f := load(t, d.store(), t.Name(), path).Files[0]; f.Status != loader.Refused || !strings.Contains(*f.Error, "of which the account has 2; expected marketplace_id") {
		t.Errorf("with a new entry it is %s: %v", f.Status, f.Error)
	}
}
