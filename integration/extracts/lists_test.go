package extracts_test

import (
	"net/url"
	"testing"

	"adlens/integration/extracts"
	"adlens/integration/model"
)

func TestTheModelReadsEveryListAndRecord(t *testing.T) {
	t.Parallel()
	accounts, err := extracts.WriteLists(t.TempDir(), extracts.ListOptions{Seed: 3, Accounts: 2, Exports: 30, Campaigns: 40, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range accounts {
		m := model.New()
		paths := []string{a.Base, a.Records[0]}
		for _, export := range a.Exports {
			paths = append(paths, export.Files()...)
		}
		for _, step := range [][]string{paths, a.Records[1:2], a.Records[2:]} {
			for _, r := range m.Load(step...) {
				if r.Err != nil {
					t.Errorf("%s refused: %v", r.Path, r.Err)
				}
			}
		}
		checkVariety(t, m)
	}
}

// checkVariety demands that the random lists have something of everything.
func checkVariety(t *testing.T, m *model.Account) {
	t.Helper()
	seen := map[string]bool{}
	for _, profile := range m.Profiles() {
		answer, err := m.Campaigns(url.Values{"marketplace_id": {profile}})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range answer["data"].([]any) {
			campaign := row.(map[string]any)
			seen[campaign["provenance"].(string)], seen[campaign["state"].(string)], seen[campaign["ad_product"].(string)] = true, true, true
		}
	}
	for _, want := range []string{"created", "changed", "untouched", "ENABLED", "PAUSED", "SPONSORED_PRODUCTS", "SPONSORED_BRANDS", "SPONSORED_DISPLAY"} {
		if !seen[want] {
			t.Errorf("want some campaign with %s, got %v", want, seen)
		}
	}
	activity, err := m.Activity(url.Values{"page_size": {"all"}})
	if err != nil || len(activity["data"].([]any)) < 120 || len(m.Runs("rule-0")["data"].([]any)) != 20 {
		t.Errorf("want 120 entries and 20 runs at least, got %d and %d: %v", len(activity["data"].([]any)), len(m.Runs("rule-0")["data"].([]any)), err)
	}
}
