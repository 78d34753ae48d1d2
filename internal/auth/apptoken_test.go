package auth

import (
	"fmt"
	"strings"
	"testing"
)

func TestSecretsOfAConnectionShareAFamilyAndNothingElse(t *testing.T) {
	code := NewCode()
	access, refresh := NewAccessToken(code), NewRefreshToken(code)
	if code.Family() != access.Family() || code.Family() != refresh.Family() || code.Family() == NewCode().Family() {
		t.Error("families: expected one of a connection, and another of another")
	}
	if next := NewRefreshToken(refresh); next.Hash() == refresh.Hash() || next.Family() != code.Family() {
		t.Error("expected another token of the same family")
	}
	if NewKey().Family() != (Key{}).Family() {
		t.Error("an API key has a family")
	}
}

func TestNoKindOfSecretIsTakenForAnother(t *testing.T) {
	code := NewCode()
	kinds := map[string]Key{"key": NewKey(), "feed": Feed.NewToken(), "share": Share.NewToken(), "code": code, "access": NewAccessToken(code), "refresh": NewRefreshToken(code)}
	parsers := map[string]func(string) (Key, bool){"key": ParseKey, "feed": Feed.parseToken, "share": Share.parseToken, "code": ParseCode, "access": ParseAccessToken, "refresh": ParseRefreshToken}
	for kind, key := range kinds {
		for parser, parse := range parsers {
			parsed, ok := parse(key.Reveal())
			if ok != (kind == parser) || ok && (parsed.Hash() != key.Hash() || parsed.Family() != key.Family()) {
				t.Errorf("%s parsed as %s: %t", kind, parser, ok)
			}
			for _, damaged := range []string{key.Reveal() + "0", key.Reveal()[1:], " " + key.Reveal(), strings.ToUpper(key.Reveal())} {
				if _, ok := parse(damaged); ok {
					t.Errorf("%s: %s parsed", parser, damaged)
				}
			}
		}
	}
}

func TestNoVerbOfFmtPrintsASecretOfAConnection(t *testing.T) {
	code := NewCode()
	for _, key := range []Key{code, NewAccessToken(code), NewRefreshToken(code)} {
		for name, value := range holding(key) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
				mustNotLeak(t, key, fmt.Sprintf(verb, value), "%s of %s", verb, name)
			}
		}
	}
}

func TestAnInviteIsReadHoweverItIsTyped(t *testing.T) {
	invite := NewInvite()
	text := invite.Reveal()
	if len(text) != 14 || strings.Count(text, "-") != 2 || strings.Trim(text, inviteAlphabet+"-") != "" {
		t.Fatalf("got %q", text)
	}
	for _, typed := range []string{text, strings.ToLower(text), strings.ReplaceAll(text, "-", ""), " " + strings.ReplaceAll(text, "-", " - ") + " ",
		strings.ReplaceAll(text, "0", "o"), strings.ReplaceAll(text, "1", "l"), strings.ReplaceAll(text, "1", "I")} {
		if parsed, ok := ParseInvite(typed); !ok || parsed.Hash() != invite.Hash() || parsed.Reveal() != text {
			t.Errorf("%q: %t", typed, ok)
		}
	}
	for _, wrong := range []string{"", text[:13], text + "A", text[:13] + "U", text[:13] + "\n", strings.Repeat(" ", 60) + text, text[:12] + "é"} {
		if _, ok := ParseInvite(wrong); ok {
			t.Errorf("%q parsed", wrong)
		}
	}
	if other := NewInvite(); other.Hash() == invite.Hash() {
		t.Error("two invitations are the same")
	}
}

func TestNoVerbOfFmtPrintsAnInvite(t *testing.T) {
	invite := NewInvite()
	type holder struct {
		Shown  Invite
		hidden Invite
	}
	for _, value := range []any{invite, &invite, holder{invite, invite}, []Invite{invite}, map[Invite]int{invite: 1}} {
		for verb := rune(' '); verb < 0x7f; verb++ {
			for _, flags := range []string{"", "+", "#"} {
				if out := fmt.Sprintf("%"+flags+string(verb), value); strings.Contains(out, *invite.text) || strings.Contains(out, invite.Reveal()[:4]) {
					t.Errorf("%%%s%c of %T shows %s", flags, verb, value, out)
				}
			}
		}
	}
	if text, err := invite.MarshalText(); string(text) != ellipsis || err != nil {
		t.Errorf("got %s, %v", text, err)
	}
}
