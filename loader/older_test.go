package loader

import (
	"testing"
	"time"

	"adlens/internal/manifest"
)

// Of the lists that are held, one that was loaded before hashes of exports were kept is
// replaced by the same export, and by no other that would not replace it anyway.
func TestAListWithoutAHashIsReplacedByItsOwnExport(t *testing.T) {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	export := func(id string, at time.Time, sum string) manifest.Source {
		return manifest.Source{ReportID: id, GeneratedAt: at, SHA256: sum}
	}
	for _, c := range []struct {
		name       string
		next, held manifest.Source
		want       bool
	}{
		{"the same export", export("b", noon, "1"), export("b", noon, ""), true},
		{"once", export("b", noon, "1"), export("b", noon, "1"), false},
		{"a lower id of its time", export("a", noon, "1"), export("b", noon, ""), false},
		{"an older one of its id", export("b", noon.Add(-1), "1"), export("b", noon, ""), false},
		{"a newer one", export("a", noon.Add(1), "1"), export("b", noon, ""), true},
		{"a list that was read then", export("", noon, ""), export("", noon, ""), false},
		{"an export of when one was read", export("b", noon.Add(-1), "1"), export("", noon, ""), false},
		{"a list that was read when it was made", export("", noon, ""), export("b", noon, ""), false},
	} {
		if got := supersedesSource(c.next, c.held); got != c.want {
			t.Errorf("%s replaces the list: %v, expected %v", c.name, got, c.want)
		}
	}
}
