package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// watched is a progress with a clock and a terminal of the test's own.
func watched(terminal bool, width int) (p *progress, shown *bytes.Buffer, pass func(time.Duration)) {
	shown = &bytes.Buffer{}
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	p = (&options{}).newProgress(shown)
	p.terminal, p.width, p.now, p.shown = terminal, func() int { return width }, func() time.Time { return at }, at
	return p, shown, func(d time.Duration) { at = at.Add(d) }
}

func TestProgressTellsRateAndTimeLeft(t *testing.T) {
	s := stage{doing: "loading", noun: "files", done: 25, total: 100, measured: 50_000, measure: "rows"}
	if got := s.progressLine(10 * time.Second); got != "loading: 25 of 100 files, about 30s left, 5000 rows/s" {
		t.Error(got)
	}
	if got := s.progressLine(time.Millisecond); got != "loading: 25 of 100 files" {
		t.Errorf("a rate of a moment: %s", got)
	}
	for _, done := range []uint64{0, 100} {
		s.done = done
		if got := s.progressLine(10 * time.Second); strings.Contains(got, "left") {
			t.Errorf("time left after %d of 100: %s", done, got)
		}
	}
}

func TestProgressElsewhereIsWholeLinesNowAndThen(t *testing.T) {
	p, shown, pass := watched(false, 0)
	for done := range 101 {
		p.Added(uint64(done), 100)
		pass(time.Second)
	}
	p.endProgress()
	lines := strings.Split(strings.TrimSuffix(shown.String(), "\n"), "\n")
	if len(lines) != 10 || lines[0] != "adding up: 10 of 100 rows, about 1m30s left, 1 rows/s" || strings.ContainsAny(shown.String(), "\r\x1b") {
		t.Errorf("%q", lines)
	}
}

func TestWorkThatIsSoonDoneSaysNothing(t *testing.T) {
	p, shown, pass := watched(false, 0)
	for done := range 9 {
		p.Step("x", done, 9)
		p.Rows(1000)
		pass(time.Second)
	}
	p.endProgress()
	if shown.Len() > 0 {
		t.Errorf("%q", shown)
	}
}

func TestProgressOnATerminalIsOneLineThatFitsAndGoes(t *testing.T) {
	p, shown, pass := watched(true, 20)
	for done := range 50 {
		p.Step("x", done, 50)
		p.Rows(1000)
		pass(time.Second)
	}
	p.Notice("something odd")
	p.endProgress()
	p.Step("x", 1, 50) // of a goroutine that has not heard of the end
	pass(time.Second)
	p.Rows(1)
	text := shown.String()
	if !strings.HasSuffix(text, "\r\x1b[Ksomething odd\n") || strings.Count(text, "\n") != 1 {
		t.Errorf("%q", text)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\x1b[K", ""), "\r") {
		if len(strings.TrimSuffix(line, "\n")) > 19 {
			t.Errorf("%q is too long", line)
		}
	}
}

func TestMachinesReadNoProgress(t *testing.T) {
	p, shown, pass := watched(false, 0)
	p.silent = true
	for done := range 100 {
		p.Fetched(done, 100)
		pass(time.Minute)
	}
	p.Notice("something odd")
	p.endProgress()
	if shown.String() != "something odd\n" {
		t.Errorf("%q", shown)
	}
}

func TestTheRateOfALoadIsOfItsRows(t *testing.T) {
	p, shown, pass := watched(false, 0)
	p.Step("a", 0, 2)
	p.Rows(600)
	pass(15 * time.Second)
	p.Step("b", 1, 2)
	if got := shown.String(); got != "loading: 1 of 2 files, about 15s left, 40 rows/s\n" {
		t.Errorf("%q", got)
	}
}
