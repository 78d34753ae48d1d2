package api

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden stands wherever a secret would have been printed.
const hidden = "***"

// Secret is a text that never prints itself: not by fmt, not as JSON or text,
// not by slog. The text is behind a pointer because fmt ignores methods of
// unexported fields and would print a plain string there.
type Secret struct{ text *string }

// NewSecret wraps a secret text.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal returns the text itself, for the one place that must send or store it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// String returns the stand-in.
func (s Secret) String() string { return hidden }

// GoString returns the stand-in.
func (s Secret) GoString() string { return hidden }

// Format writes the stand-in, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText returns the stand-in; JSON of both packages uses it too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue returns the stand-in.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
