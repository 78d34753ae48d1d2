package doctor

import (
	"strings"
	"testing"
	"time"

	"adlens/internal/manifest"
)

func TestTheWorstFindingDecides(t *testing.T) {
	for want, all := range map[Status][]Status{OK: {OK, OK}, Warning: {OK, Warning, OK}, Failed: {Failed, Warning, OK}} {
		var findings []Finding
		for _, s := range all {
			findings = append(findings, Finding{Status: s})
		}
		if got := Worst(findings); got != want {
			t.Errorf("%v: %s, want %s", all, got, want)
		}
	}
}

func TestADetailIsOneCalmLine(t *testing.T) {
	c := &checkup{name: "keys"}
	c.addWarning("", "key %s", "a\nb\x1b[2J")
	if got := c.findings[0]; strings.ContainsAny(got.Detail, "\n\x1b") || got.Advice != nil || got.Account != nil {
		t.Errorf("%+v", got)
	}
}

func TestADiskThatIsFullIsToldFromOneThatWillBe(t *testing.T) {
	const gib = 1 << 30
	for want, d := range map[Status]disk{
		OK:      {free: 12 * gib, used: 10 * gib, inodes: 1e6, countsInodes: true},
		Warning: {free: 10 * gib, used: 10 * gib, inodes: 1e6, countsInodes: true},
		Failed:  {free: 100 << 20, used: 1 << 20},
	} {
		c := &checkup{}
		d.checkSpace(c)
		if got := Worst(c.findings); got != want {
			t.Errorf("%+v: %s, want %s", d, got, want)
		}
	}
	c := &checkup{}
	if (disk{free: 12 * gib, inodes: 10, countsInodes: true}).checkSpace(c); len(c.findings) != 1 || !strings.Contains(c.findings[0].Detail, "10 more files") {
		t.Errorf("without inodes: %+v", c.findings)
	}
	c = &checkup{}
	if (disk{free: 12 * gib}).checkSpace(c); len(c.findings) > 0 { // such as Btrfs
		t.Errorf("where inodes are not counted: %+v", c.findings)
	}
}

func TestClocksAreComparedWithPatience(t *testing.T) {
	if clockSeverity(6*time.Second) != Warning || clockSeverity(2*time.Minute) != Failed {
		t.Error("a little is a warning, much a failure")
	}
	if describeOffset(-time.Second) != "1s behind" || describeOffset(time.Second) != "1s ahead of" {
		t.Error(describeOffset(-time.Second), describeOffset(time.Second))
	}
}

// Every unit is in one batch, in order, and no batch but one of a single unit
// exceeds the bound.
func TestBatchesAreBoundedAndWhole(t *testing.T) {
	var all []manifest.Entry
	for i := range 50 {
		all = append(all, manifest.Entry{Generation: uint32(i), Rows: uint64(i*i) * 2_000})
	}
	next := uint32(0)
	for _, batch := range splitBatches(all) {
		rows := uint64(0)
		for _, l := range batch {
			if l.Generation != next {
				t.Fatalf("generation %d, want %d", l.Generation, next)
			}
			next++
			rows += l.Rows
		}
		if rows > batchRows && len(batch) > 1 {
			t.Errorf("%d rows in a batch of %d", rows, len(batch))
		}
	}
	if next != 50 {
		t.Errorf("%d units, want 50", next)
	}
}

func TestNumbersAreForPeople(t *testing.T) {
	for want, got := range map[string]string{
		"512 bytes": formatBytes(512), "1.5 KiB": formatBytes(1536), "2.0 GiB": formatBytes(2 << 30),
		"a, b, c and 2 more": joinFew([]string{"a", "b", "c", "d", "e"}), "3 days": formatAge(80 * time.Hour), "5 h": formatAge(5*time.Hour + time.Minute), "0s": formatAge(-time.Hour),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
