package api

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/go-json-experiment/json"
)

func TestASecretNeverPrintsItself(t *testing.T) {
	s := NewSecret(canarySecret)
	nested := struct{ inner, Outer Secret }{s, s}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		_, _ = fmt.Fprintf(&out, verb+" "+verb+" "+verb+"\n", s, &s, nested)
	}
	one, _ := json.Marshal(nested)
	two, _ := stdjson.Marshal(nested)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", s, "nested", nested)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", s, "nested", nested)
	out.Write(one)
	out.Write(two)
	noSecrets(t, out.String())
	if s.Reveal() != canarySecret || (Secret{}).Reveal() != "" {
		t.Error("Reveal does not give the text")
	}
	if s.String() != "***" || s.GoString() != "***" {
		t.Error("the stand-in is not ***")
	}
}

func TestForeignTextsAreMadeSafe(t *testing.T) {
	s := newScrubber(NewSecret(canarySecret), NewSecret(canaryRefresh))
	for i := range 2 * keptTokens {
		s.addToken(NewSecret(fmt.Sprintf("plain-token-%02d", i)))
	}
	for _, c := range []struct{ in, out string }{
		{"you sent " + canarySecret + ".", "you sent ***."},
		{"refresh_token=Atzr%7Ccanary-refresh&x", "refresh_token=***&x"},
		{"old Atza|canary-of-someone end", "old *** end"},
		{"plain-token-15", "***"},
		{"?X-Amz-Date=1&X-Amz-Signature=canary&b", "?X-Amz-Date=1&***&b"},
		{"a\x1b[31mred\nline\u202e\xff", "a [31mred line"},
		{"éééééé", "éé..."},
	} {
		limit := 80
		if c.in == "éééééé" {
			limit = 5
		}
		if got := s.cleanText(c.in, limit); got != c.out {
			t.Errorf("clean(%q) is %q, expected %q", c.in, got, c.out)
		}
	}
}
