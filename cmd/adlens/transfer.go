package main

import (
	"fmt"
	"io"
	"time"
)

// transfer shows how a backup or restore goes on: one line that is written over
// on a terminal, nothing but notices elsewhere.
type transfer struct {
	w        io.Writer
	terminal bool
	began    time.Time
	shown    time.Time
	expected uint64 // rows; 0 where it is not known
	line     string

	copied, kept uint64
}

func newTransfer(w io.Writer, expected uint64) *transfer {
	f, terminal := terminalOf(w)
	if terminal {
		w = f
	}
	return &transfer{w: w, terminal: terminal, began: time.Now(), expected: expected}
}

// Account begins an account.
func (t *transfer) Account(id string, done, total int) {
	t.line = fmt.Sprintf("%s, %d of %d accounts done", replaceControls(id), done, total)
	t.showProgress()
}

// Rows counts rows that were copied, and those that are there already.
func (t *transfer) Rows(copied, kept uint64) {
	t.copied, t.kept = t.copied+copied, t.kept+kept
	t.showProgress()
}

func (t *transfer) showProgress() {
	if !t.terminal || time.Since(t.shown) < 100*time.Millisecond {
		return
	}
	t.shown = time.Now()
	elapsed := time.Since(t.began)
	done := t.copied + t.kept
	left := ""
	if elapsed > time.Second && done > 0 && t.expected > done {
		rest := time.Duration(float64(elapsed) * float64(t.expected-done) / float64(done))
		left = fmt.Sprintf(", about %s left", rest.Round(time.Second))
	}
	fmt.Fprintf(t.w, "\r\x1b[K%s, %d rows, %.0f rows/s%s", t.line, done, float64(done)/elapsed.Seconds(), left)
}

// Notice says something in a line of its own.
func (t *transfer) Notice(text string) {
	t.clearLine()
	fmt.Fprintln(t.w, replaceControls(text))
}

func (t *transfer) clearLine() {
	if t.terminal {
		fmt.Fprint(t.w, "\r\x1b[K")
	}
}
