package main

import (
	"fmt"
	"io"
	"os"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// screen is standard output or standard error. What the platform, a file or a
// stored row says may hold characters that control a terminal or turn the order
// of what is read. Whatever command prints them, here they become escapes, in
// the form that JSON knows.
type screen struct {
	file   *os.File
	failed *error // the last error of a write, for callers whose libraries drop it; nil for none
}

// Write writes a text in which nothing controls a terminal.
func (s screen) Write(text []byte) (int, error) {
	if _, err := s.file.Write(escapeControls(text)); err != nil {
		if s.failed != nil {
			*s.failed = err
		}
		return 0, err
	}
	return len(text), nil
}

func escapeControls(text []byte) []byte {
	safe := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1: // no UTF-8: an 8-bit terminal may know it as a control
			safe = fmt.Appendf(safe, `\x%02x`, text[0])
		case controlsTerminal(r):
			safe = fmt.Appendf(safe, `\u%04x`, r)
		default:
			safe = append(safe, text[:size]...)
		}
		text = text[size:]
	}
	return safe
}

// controlsTerminal reports whether a character does more than be shown. Lines
// and columns are made of line feeds and tabs.
func controlsTerminal(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}

// terminalOf returns the terminal that a command writes to, for what is meant to
// control it: progress and colours.
func terminalOf(w io.Writer) (*os.File, bool) {
	s, known := w.(screen)
	if !known || !term.IsTerminal(int(s.file.Fd())) {
		return nil, false
	}
	return s.file, true
}
