package auth

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// withKey holds a key in the ways that structs do. fmt cannot call methods of
// what is in unexported fields.
type withKey struct {
	Shown  Key
	hidden Key
	inside struct{ keys []Key }
	either any
}

func holding(key Key) map[string]any {
	full := withKey{Shown: key, hidden: key, either: key}
	full.inside.keys = []Key{key}
	return map[string]any{
		"a key": key, "a pointer": &key, "a struct": full, "a pointer to a struct": &full,
		"a slice": []Key{key}, "a map": map[string]Key{"k": key}, "a map of keys": map[Key]int{key: 1},
		"an array": [1]Key{key}, "an interface": []any{key}, "a function": key.Reveal, "no key": Key{},
	}
}

func TestNoVerbOfFmtPrintsAKey(t *testing.T) {
	key := NewKey()
	for name, value := range holding(key) {
		for verb := rune(' '); verb < 0x7f; verb++ {
			for _, flags := range []string{"", "+", "#", "-", " ", "0", "+#", "60", ".50", "# x", "[1]"} {
				mustNotLeak(t, key, fmt.Sprintf("%"+flags+string(verb), value), "%%%s%c of %s", flags, verb, name)
			}
		}
		mustNotLeak(t, key, fmt.Sprint(value)+fmt.Sprintln(value), "Sprint of %s", name)
		for _, format := range []string{"no verb", "%*d", "%.*f", "%[3]d", "%!"} { // operands that do not fit
			mustNotLeak(t, key, fmt.Sprintf(format, value, value), "%q of %s", format, name)
		}
	}
}

func TestNoErrorOrLogHoldsAKey(t *testing.T) {
	key := NewKey()
	var out bytes.Buffer
	for name, value := range holding(key) {
		slog.New(slog.NewTextHandler(&out, nil)).Info("hello", "value", value)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("hello", "value", value)
		mustNotLeak(t, key, out.String(), "slog of %s", name)
		mustNotLeak(t, key, errors.Join(fmt.Errorf("no: %v", value)).Error(), "an error with %s", name)
	}
}

func TestMarshalledKeysAreTheirStarts(t *testing.T) {
	key, _ := ParseKey(goodKeys[4])
	asJSON, err := json.Marshal(map[string]Key{"api_key": key})
	if want := `{"api_key":"key_live_Ky9P…"}`; err != nil || string(asJSON) != want {
		t.Errorf("got %s, %v", asJSON, err)
	}
	asXML, err := xml.Marshal(key)
	if err != nil || !strings.Contains(string(asXML), "<Key>key_live_Ky9P…</Key>") {
		t.Errorf("got %s, %v", asXML, err)
	}
	if text := fmt.Sprintf("%s|%v|%#v|%q|%x|%d", key, key, key, key, key, key); text != strings.Repeat("key_live_Ky9P…|", 5)+"key_live_Ky9P…" {
		t.Errorf("got %s", text)
	}
}

// mustNotLeak looks for the secret past its start, in every spelling of bytes
// that fmt knows.
func mustNotLeak(t *testing.T, key Key, output, format string, args ...any) {
	t.Helper()
	secret := key.Reveal()[len(key.prefix)+startLength:][:8]
	decimal := strings.Trim(fmt.Sprint([]byte(secret)), "[]")
	for _, leak := range []string{secret, hex.EncodeToString([]byte(secret)), fmt.Sprintf("% x", secret), decimal} {
		if strings.Contains(strings.ToLower(output), strings.ToLower(leak)) {
			t.Errorf(format+" shows %s", append(args, output)...)
		}
	}
}
