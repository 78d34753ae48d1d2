package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress shows how a load goes on: one line that is written over on a
// terminal, nothing but notices elsewhere. It may be used from several
// goroutines.
type progress struct {
	w        io.Writer
	terminal bool
	began    time.Time

	mu     sync.Mutex
	shown  time.Time
	rows   int // of finished files
	inFile int
	line   string
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd())), began: time.Now()}
}

// Step begins a file.
func (p *progress) Step(file string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows, p.inFile = p.rows+p.inFile, 0
	p.line = fmt.Sprintf("%d of %d files", done, total)
	if elapsed := time.Since(p.began); done > 0 && total > done && elapsed > time.Second {
		left := elapsed / time.Duration(done) * time.Duration(total-done)
		p.line += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	p.show()
}

// Rows counts rows of the file that is being read.
func (p *progress) Rows(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFile = n
	p.show()
}

func (p *progress) show() {
	if !p.terminal || time.Since(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = time.Now()
	rate := float64(p.rows+p.inFile) / time.Since(p.began).Seconds()
	fmt.Fprintf(p.w, "\r\x1b[K%s, %.0f rows/s", p.line, rate)
}

// Notice says something in a line of its own.
func (p *progress) Notice(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintln(p.w, text)
}

// noticeOf is Notice for a command that has one account only.
func (p *progress) noticeOf(_, text string) { p.Notice(text) }

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
