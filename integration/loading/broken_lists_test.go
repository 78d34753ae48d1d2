package loading_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// listClinic is a clinic with lists and records. Country US has two profiles.
func listClinic(t *testing.T) *clinic {
	t.Helper()
	c := newClinic(t)
	c.look = func(t *testing.T) { t.Helper(); house.CheckLists(t, c.one) }
	dir, hourAgo := t.TempDir(), time.Now().Add(-time.Hour)
	house.ExportPair("campaigns", "101", "campaigns", hourAgo, house.ThreeCampaigns()...).Write(t, dir)
	house.ExportPair("adGroups", "101", "adGroups", hourAgo, house.ThreeAdGroups()...).Write(t, dir)
	house.ExportPair("ads", "101", "ads", hourAgo, house.ThreeAds()...).Write(t, dir)
	house.Put(t, dir, "rules.ndjson", house.Lines(t, house.RuleLine("one"), house.RuleLine("two"), house.RuleLine("three")))
	house.Put(t, dir, "rule_runs.ndjson", house.Lines(t, house.RunLine("one", "one"), house.RunLine("two", "one"), house.RunLine("three", "two")))
	house.Put(t, dir, "activity.ndjson", house.Lines(t, house.ActivityLine("one", "101"), house.ActivityLine("two", "101"), house.ActivityLine("three", "104")))
	house.Load(t, c.house.Program, c.one, dir)
	c.look(t)
	return c
}

func TestBrokenExportsAreRefusedAndHarmNothing(t *testing.T) {
	t.Parallel()
	var all []spoilt
	for _, kind := range []struct {
		entity string
		rows   func() []map[string]any
		faults []fault
	}{
		{"campaigns", house.ThreeCampaigns, slices.Concat(exportObjectFaults(), campaignFaults(), exportDownloadFaults())},
		{"adGroups", house.ThreeAdGroups, adGroupFaults()},
		{"ads", house.ThreeAds, adFaults()},
	} {
		for _, f := range kind.faults {
			rows := kind.rows()
			rows[0]["state"], rows[2]["state"] = "PAUSED", "ARCHIVED" // would be seen
			p := house.ExportPair("broken", "101", kind.entity, time.Now().Add(-time.Minute), rows...)
			f.spoil(p)
			dir := t.TempDir()
			p.Write(t, dir)
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
		house.Put(t, dir, f.file, []byte(f.content))
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
	c.loads++
	pair := house.SpPair(fmt.Sprintf("good-%02d", c.loads), "101", house.DaysAgo(30), 2, time.Now().Add(-time.Hour).Add(time.Duration(c.loads)*time.Second))
	pair.Rows[0]["clicks"] = c.loads
	good := pair.Write(t, t.TempDir())
	paths := slices.Clone(good)
	for _, s := range all {
		paths = append(paths, s.dir)
	}
	done, err := c.house.Load(c.one.Files.ID, paths...)
	house.Need(t, err)
	c.one.Model.Load(good...)
	if status, text := done.Status(pair.Stem); done.Code == 0 || status != "loaded" {
		t.Errorf("want exit code 1 and the good file loaded, got %d, %q %s", done.Code, status, text)
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) { c.refused(t, done, s) })
	}
	if !c.harmed {
		c.look(t)
	}
}

// refused finds what was reported of a broken file, and demands that it was enough.
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
