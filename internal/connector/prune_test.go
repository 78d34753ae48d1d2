package connector

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/platform"
)

func TestReportsThatSayNothingAnyMoreAreDeleted(t *testing.T) {
	dir := t.TempDir()
	product := adlens.SponsoredBrands
	put := func(name, profile, start, end, generated string) {
		kind := platform.ReportTypes[slices.IndexFunc(platform.ReportTypes, func(r *platform.ReportType) bool { return r.AdProduct == product })]
		object := fmt.Sprintf(`{"reportId":"%s","profileId":"%s","status":"COMPLETED","startDate":"%s","endDate":"%s","generatedAt":"%s",
			"configuration":{"adProduct":"%s","reportTypeId":"%s","groupBy":["%s"],"timeUnit":"DAILY",
			"columns":["%s"]}}`, name, profile, start, end, generated, kind.AdProduct, kind.ID, kind.GroupBy, strings.Join(kind.RequestColumns(), `","`))
		for file, text := range map[string]string{name + ".report.json": object, name + ".json.gz": "rows"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	put("gone", "1", "2026-01-05", "2026-01-18", "2026-01-19T00:00:00.000Z") // by two others together
	put("first", "1", "2026-01-01", "2026-01-10", "2026-02-01T00:00:00.000Z")
	put("second", "1", "2026-01-11", "2026-01-20", "2026-02-01T00:00:00.000Z")
	put("edge", "1", "2025-12-31", "2026-01-09", "2026-01-19T00:00:00.000Z")   // one day is its own
	put("newer", "1", "2026-01-12", "2026-01-13", "2026-02-02T00:00:00.000Z")  // inside another, but later
	put("other", "2", "2026-01-05", "2026-01-18", "2026-01-19T00:00:00.000Z")  // another profile
	put("equal", "3", "2026-01-05", "2026-01-18", "2026-01-19T00:00:00.000Z")  // as old as the next
	put("equal2", "3", "2026-01-05", "2026-01-18", "2026-01-19T00:00:00.000Z") // which of them wins is for loading to say
	product = adlens.SponsoredDisplay
	put("brother", "1", "2026-01-05", "2026-01-18", "2026-01-19T00:00:00.000Z") // of another ad product
	if err := os.WriteFile(filepath.Join(dir, "damaged.report.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	put("later", "1", "2025-12-01", "2026-03-01", "2026-03-02T00:00:00.000Z")                              // it waits, so that it takes no other's place
	for name, age := range map[string]time.Duration{".adlens-1": 25 * time.Hour, ".adlens-2": time.Hour} { // left by a kill, and being written
		put(name, "4", "2026-01-05", "2026-01-18", "2026-01-19T00:00:00.000Z")
		path := filepath.Join(dir, name)
		if err := errors.Join(os.Remove(path+".json.gz"), os.Rename(path+".report.json", path), os.Chtimes(path, time.Now(), time.Now().Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	// Of downloads without their objects those go that pull had left a day ago.
	for name, age := range map[string]time.Duration{requestName("4", "sbCampaigns", 20_500, 20_510): 25 * time.Hour, requestName("4", "sbCampaigns", 20_500, 20_511): time.Hour, "mine": 25 * time.Hour} {
		path := filepath.Join(dir, name+".json.gz")
		if err := errors.Join(os.WriteFile(path, []byte("rows"), 0o600), os.Chtimes(path, time.Now(), time.Now().Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(dir, "gone.json.gz"), filepath.Join(dir, "gone.json")); err != nil { // put here by hand
		t.Fatal(err)
	}
	visible := map[string]bool{"first": true, "second": true, "edge": true, "newer": true, "other": true, "brother": true, "equal": true, "equal2": true}
	if err := pruneReports(dir, visible); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	var want []string
	for _, name := range []string{"brother", "edge", "equal", "equal2", "first", "later", "newer", "other", "second"} {
		want = append(want, name+".json.gz", name+".report.json")
	}
	want = append(want, ".adlens-2", "damaged.report.json", "mine.json.gz", requestName("4", "sbCampaigns", 20_500, 20_511)+".json.gz")
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left are %v, expected %v", left, want)
	}
}
