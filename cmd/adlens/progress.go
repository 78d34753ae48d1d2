package main

import (
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// How often progress is shown: often enough to live on a terminal, and seldom
// enough for a log.
const (
	redrawEvery = 100 * time.Millisecond
	lineEvery   = 10 * time.Second
)

// progress shows how long work goes on: one line that is written over on a
// terminal, whole lines now and then elsewhere. Where machines read (--json)
// it says nothing but notices. It may be used from several goroutines.
type progress struct {
	w        io.Writer
	terminal bool
	silent   bool
	width    func() int // of the terminal
	now      func() time.Time

	mu    sync.Mutex
	stage stage
	begun map[string]time.Time // when each kind of stage began, by its noun
	shown time.Time
	drawn bool // a line stands on the terminal
	ended bool

	rows, inFile uint64 // of finished files, and of the one that is being read
}

// newProgress returns the progress of a command, on its standard error.
func (o *options) newProgress(w io.Writer) *progress {
	p := &progress{w: w, silent: o.json, now: time.Now, begun: map[string]time.Time{}}
	if f, ok := terminalOf(w); ok {
		p.w, p.terminal, p.width = f, true, func() int { return widthOf(int(f.Fd())) }
	}
	p.shown = p.now() // work that is done before the first line was due needs none
	return p
}

// widthOf is the width of a terminal now: a person may change it.
func widthOf(fd int) int {
	if width, _, err := term.GetSize(fd); err == nil && width > 0 {
		return width
	}
	return 80
}

// Step begins a file of a load.
func (p *progress) Step(_ string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done == 0 {
		p.rows, p.inFile = 0, 0
	}
	p.rows, p.inFile = p.rows+p.inFile, 0
	p.setStage(stage{doing: "loading", noun: "files", done: uint64(done), total: uint64(total), measured: p.rows, measure: "rows"})
}

// Rows counts rows of the file that is being read.
func (p *progress) Rows(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFile = uint64(n)
	next := p.stage
	next.measured = p.rows + p.inFile
	p.setStage(next)
}

// Fetched counts reports that the platform gave.
func (p *progress) Fetched(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setStage(stage{doing: "fetching", noun: "reports", done: uint64(done), total: uint64(total)})
}

// Written counts extracts of a demonstration.
func (p *progress) Written(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setStage(stage{doing: "writing", noun: "extracts", done: uint64(done), total: uint64(total), measured: uint64(done), measure: "extracts"})
}

// Added counts rows that are added up again.
func (p *progress) Added(done, total uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setStage(stage{doing: "adding up", noun: "rows", done: done, total: total, measured: done, measure: "rows"})
}

// setStage goes to a stage, and shows it where it is time to.
func (p *progress) setStage(next stage) {
	now := p.now()
	if _, known := p.begun[next.noun]; !known || next.done == 0 && p.stage.done != 0 {
		p.begun[next.noun] = now
	}
	p.stage = next
	interval := lineEvery
	if p.terminal {
		interval = redrawEvery
	}
	if p.silent || p.ended || now.Sub(p.shown) < interval {
		return
	}
	p.shown = now
	line := next.progressLine(now.Sub(p.begun[next.noun]))
	if p.terminal {
		p.drawn = true
		fmt.Fprintf(p.w, "\r\x1b[K%s", truncateLine(line, p.width()-1))
		return
	}
	fmt.Fprintln(p.w, line)
}

// truncateLine shortens a line: one that is longer than the terminal is wide would not
// be written over.
func truncateLine(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(0, width)])
}

// Notice says something in a line of its own.
func (p *progress) Notice(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clearLine()
	fmt.Fprintln(p.w, replaceControls(text))
}

// noticeOf is Notice for a command that has one account only.
func (p *progress) noticeOf(_, text string) { p.Notice(text) }

// endProgress leaves the terminal as it was found. Nothing is shown any more.
func (p *progress) endProgress() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clearLine()
	p.ended = true
}

func (p *progress) clearLine() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.drawn = false
}
