package integration_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
)

// listClinic is a clinic with lists and records. Country US has two profiles.
func listClinic(t *testing.T) *clinic {
	t.Helper()
	c := newClinic(t)
	c.look = func(t *testing.T) { t.Helper(); checkLists(t, c.one) }
	dir, hourAgo := t.TempDir(), time.Now().Add(-time.Hour)
	exportPair("campaigns", "101", "campaigns", hourAgo, threeCampaigns()...).write(t, dir)
	exportPair("adGroups", "101", "adGroups", hourAgo, threeAdGroups()...).write(t, dir)
	exportPair("ads", "101", "ads", hourAgo, threeAds()...).write(t, dir)
	put(t, dir, "rules.ndjson", lines(t, ruleLine("one"), ruleLine("two"), ruleLine("three")))
	put(t, dir, "rule_runs.ndjson", lines(t, runLine("one", "one"), runLine("two", "one"), runLine("three", "two")))
	put(t, dir, "activity.ndjson", lines(t, activityLine("one", "101"), activityLine("two", "101"), activityLine("three", "104")))
	load(t, c.house.Program, c.one, dir)
	c.look(t)
	return c
}

func threeCampaigns() []map[string]any {
	return []map[string]any{campaignRow("1", "One", "USD"), campaignRow("2", "Two", "USD"), campaignRow("3", "Three", "USD")}
}

func threeAdGroups() []map[string]any {
	return []map[string]any{adGroupRow("11", "1", "One"), adGroupRow("12", "1", "Two"), adGroupRow("13", "3", "Three")}
}

func threeAds() []map[string]any {
	return []map[string]any{adRow("21", "11"), adRow("22", "11"), adRow("23", "13")}
}

func TestBrokenExportsAreRefusedAndHarmNothing(t *testing.T) {
	t.Parallel()
	var all []spoilt
	for _, kind := range []struct {
		entity string
		rows   func() []map[string]any
		faults []fault
	}{
		{"campaigns", threeCampaigns, slices.Concat(exportObjectFaults(), campaignFaults(), exportDownloadFaults())},
		{"adGroups", threeAdGroups, adGroupFaults()},
		{"ads", threeAds, adFaults()},
	} {
		for _, f := range kind.faults {
			rows := kind.rows()
			rows[0]["state"], rows[2]["state"] = "PAUSED", "ARCHIVED" // would be seen
			p := exportPair("broken", "101", kind.entity, time.Now().Add(-time.Minute), rows...)
			f.spoil(p)
			dir := t.TempDir()
			p.write(t, dir)
			all = append(all, spoilt{kind.entity + " " + f.name, dir, f.says, f.row})
		}
	}
	listClinic(t).refusesAll(t, all)
}

func TestBrokenRecordsAreRefusedAndHarmNothing(t *testing.T) {
	t.Parallel()
	var all []spoilt
	for _, f := range recordFaults(t) {
		dir := t.TempDir()
		put(t, dir, f.file, []byte(f.content))
		all = append(all, spoilt{f.name, dir, f.says, f.line})
	}
	listClinic(t).refusesAll(t, all)
}

// spoilt is a broken file that is alone in its directory, but for its partner.
type spoilt struct {
	name, dir string
	says      []string
	row       int
}

// refusesAll loads all broken files with a good one in one command, which is
// many times faster than a command for each.
func (c *clinic) refusesAll(t *testing.T, all []spoilt) {
	t.Helper()
	good := spPair("good", "101", daysAgo(30), 2, time.Now().Add(-time.Hour)).write(t, t.TempDir())
	paths := slices.Clone(good)
	for _, s := range all {
		paths = append(paths, s.dir)
	}
	done, err := c.house.Load(c.one.files.ID, paths...)
	need(t, err)
	c.one.model.Load(good...)
	if status, text := done.Status("good"); done.Code == 0 || status != "loaded" {
		t.Errorf("want exit code 1 and the good file loaded, got %d, %q %s", done.Code, status, text)
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) { c.refused(t, done, s) })
	}
	if !c.harmed {
		c.look(t)
	}
}

// refused finds what was said of a broken file, and demands that it was enough.
func (c *clinic) refused(t *testing.T, done harness.Loading, s spoilt) {
	t.Helper()
	var text string
	refused := false
	for _, f := range done.Files {
		if strings.HasPrefix(f.File, s.dir+"/") {
			text += f.Error + "\n"
			refused = refused || f.Status == "refused"
			c.harmed = c.harmed || f.Status == "loaded"
		}
	}
	if !refused {
		t.Errorf("want it refused, got %q among %d files", text, len(done.Files))
		return
	}
	// Directories are named after the test, which must not pass for an answer.
	text = strings.ReplaceAll(text, s.dir, "")
	for _, word := range s.says {
		if !strings.Contains(text, word) {
			t.Errorf("the refusal does not say %q: %q", word, text)
		}
	}
	if s.row > 0 && !regexp.MustCompile(fmt.Sprintf(`\b%d\b`, s.row)).MatchString(text) {
		t.Errorf("the refusal does not name row %d: %q", s.row, text)
	}
}
