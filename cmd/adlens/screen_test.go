package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyEscapesOfControlsAreWritten(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Lädchen\tLtd\n":                "Lädchen\tLtd\n",
		"\x1b]0;owned\a\r\x7f\x00":      `\u001b]0;owned\u0007\u000d\u007f\u0000`,
		"\u009b31m \x9b31m \xff":        `\u009b31m \x9b31m \xff`,
		"evil \u202eltd\u2066 \ufffd 語": `evil \u202eltd\u2066 ` + "\ufffd 語",
	} {
		if err := f.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		n, err := screen{file: f}.Write([]byte(text))
		got, _ := os.ReadFile(f.Name())
		if err != nil || n != len(text) || string(got) != want {
			t.Errorf("%q is written as %q (%d, %v), expected %q", text, got, n, err, want)
		}
	}
	if _, terminal := terminalOf(screen{file: f}); terminal {
		t.Error("a file is no terminal")
	}
}
