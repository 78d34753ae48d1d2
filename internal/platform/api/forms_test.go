package api

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// codings are how a server may send back what it was sent.
var codings = map[string]func(string) string{
	"plain":            func(s string) string { return s },
	"hex":              func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":              func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"base64":           func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64, unpadded": func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64 of URLs":   func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"the same, cut":    func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"escaped base64":   func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
	"JSON of base64": func(s string) string {
		return strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(s)), "/", `\/`)
	},
	"an address":        url.QueryEscape,
	"a path":            url.PathEscape,
	"small escapes":     func(s string) string { return strings.ToLower(everyByte("%%%02x", s)) },
	"all bytes escaped": func(s string) string { return everyByte("%%%02X", s) },
	"twice escaped":     func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"JSON":              func(s string) string { return everyByte(`\u%04x`, s) },
	"JSON, some": func(s string) string {
		return strings.NewReplacer("/", `\/`, "+", `\u002B`, "<", `\u003c`, `"`, `\"`, `\`, `\\`).Replace(s)
	},
	"HTML": html.EscapeString,
}

func everyByte(form, text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		_, _ = fmt.Fprintf(&b, form, c)
	}
	return b.String()
}

func TestASecretIsHiddenInEveryCoding(t *testing.T) {
	secrets := []string{canarySecret, canaryRefresh, `amzn1.oa2-cs.v1.7f/3a+9c<"\&>~?~?~?`, "Atza|" + strings.Repeat("IwEBI+/", 20)}
	for _, secret := range secrets {
		s := newScrubber(NewSecret(secret))
		for coding, coded := range codings {
			for _, before := range []string{"", "a", "ab", "abc", "amzn1.application-oa2-client.0:", "grant_type=refresh_token&client_secret="} {
				text := coded(before + secret + "&end")
				alone := coded(before + secret)
				for _, sent := range []string{text, alone} {
					got := s.hideSecrets("you sent <" + sent + ">")
					if strings.Contains(got, coded(secret)) || !strings.Contains(got, hidden) || !strings.HasPrefix(got, "you sent <") || !strings.HasSuffix(got, ">") || longestShared(strings.TrimPrefix(got, "you sent <"), sent) > len(sent)-len(secret) {
						t.Errorf("%s: %q after %q is shown as %q", coding, secret, before, got)
					}
				}
			}
		}
	}
	if text := "campaign 0123456789abcdef of client-one in https://example.com/a/b?c=d"; newScrubber(NewSecret(canarySecret)).hideSecrets(text) != text {
		t.Error("a text without secrets is changed")
	}
	within := newScrubber(NewSecret("one-two-three-four"), NewSecret("two"))
	if got := within.hideSecrets("of one-two-three-four"); got != "of "+hidden {
		t.Errorf("a secret with another in it is shown as %q", got)
	}
}

// longestShared is how long the longest tail of the sent text is that is shown.
func longestShared(shown, sent string) int {
	for n := len(sent); n > 0; n-- {
		if strings.Contains(shown, sent[len(sent)-n:]) {
			return n
		}
	}
	return 0
}

// A server that repeats what it was sent, in whatever coding, shows no secret.
func TestRefusalsHideSecretsInEveryCoding(t *testing.T) {
	for coding, coded := range codings {
		r := newRig(t, func(w http.ResponseWriter, q *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte("Basic " + coded("amzn1.application-oa2-client.0:"+canarySecret) + " " + coded(canaryRefresh) + " " + coded(q.Header.Get("Authorization"))))
		})
		_, err := r.client.Profiles(t.Context())
		if err == nil {
			t.Fatal("a refusal is no error")
		}
		for _, secret := range []string{canarySecret, canaryRefresh, canaryAccess} {
			if strings.Contains(err.Error(), coded(secret)) || !strings.Contains(err.Error(), hidden) {
				t.Errorf("%s: %v", coding, err)
			}
		}
	}
}

func BenchmarkHiding(b *testing.B) {
	s := newScrubber(NewSecret(canarySecret), NewSecret("Atzr|"+strings.Repeat("IwEBI+/", 60)))
	for i := range keptTokens {
		s.addToken(NewSecret(fmt.Sprintf("Atza|%d", i) + strings.Repeat("IwEBI+/", 100)))
	}
	text := strings.Repeat("no secret at all, of 64 KiB/and some: ", 64<<10/38)
	for b.Loop() {
		s.hideSecrets(text)
	}
}
