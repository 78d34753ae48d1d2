package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"adlens/internal/auth"
)

func TestGuessingInvitesIsBounded(t *testing.T) {
	w := newWorld(t)
	form := w.fill(request(), "")
	statuses := map[int]int{}
	for i := range 3 * guessesAllowed {
		wrong := auth.NewInvite().Reveal()
		if i%2 == 0 {
			wrong = "not a code"
		}
		r := w.submit(with(form, "invite", wrong))
		if statuses[r.Code]++; r.Code == 429 && r.Header().Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	if statuses[400] != guessesAllowed || statuses[429] != 2*guessesAllowed {
		t.Errorf("got %v", statuses)
	}
	w.sleep(time.Minute)
	w.mustStay(w.submit(with(form, "invite", "x")), 400, "not valid")
}

func TestAValidInviteGetsInWhateverOthersGuess(t *testing.T) {
	w := newWorld(t)
	form := w.fill(request(), "")
	now := w.now()
	for i := range guessesOfAllAllowed { // from many addresses
		w.server.guesses.guard(t.Context(), netip.AddrFrom4([4]byte{9, 9, byte(i >> 8), byte(i)}), now, func() (bool, error) { return false, nil })
	}
	if r := w.submit(with(form, "invite", auth.NewInvite().Reveal())); r.Code != 429 {
		t.Errorf("a wrong one beyond the bound of all: %d", r.Code)
	}
	w.apps.takes, w.apps.most = 2*time.Millisecond, 0
	right := w.invite("acme").Reveal()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { w.submit(with(form, "invite", auth.NewInvite().Reveal())) })
	}
	r := w.submit(with(form, "invite", right))
	all.Wait()
	if _, answer := w.answerOf(r); answer.Get("code") == "" {
		t.Errorf("a valid one: %v", answer)
	}
	if w.apps.most > 2 { // one of guesses, and the second look at the valid one
		t.Errorf("%d look-ups at once", w.apps.most)
	}
}

func TestWaitingGuessesAreBounded(t *testing.T) {
	g, now := newGuesses(), time.Now()
	for range guessesAllowed {
		g.guard(t.Context(), everyone, now, func() (bool, error) { return false, nil })
	}
	g.turn <- struct{}{} // taken, for as long as this test runs
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range turnsAwaited {
		all.Go(func() { g.guard(ctx, everyone, now, func() (bool, error) { t.Error("looked up"); return false, nil }) })
	}
	for len(g.waiting) < turnsAwaited {
		time.Sleep(time.Millisecond)
	}
	if _, wait, err := g.guard(t.Context(), everyone, now, func() (bool, error) { t.Error("looked up"); return true, nil }); wait == 0 || err != nil {
		t.Errorf("one too many: %s, %v", wait, err)
	}
	cancel()
	all.Wait()
}

func TestAnInviteIsUsedOnceHoweverManyTryAtOnce(t *testing.T) {
	w := newWorld(t)
	invite := w.invite("acme")
	form := w.fill(request(), invite.Reveal())
	w.apps.takes = 2 * time.Millisecond
	var mu sync.Mutex
	codes := map[string]bool{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if r := w.submit(form); r.Code == 303 {
				_, answer := w.answerOf(r)
				mu.Lock()
				codes[answer.Get("code")] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(codes) != 1 {
		t.Errorf("%d codes for one invitation", len(codes))
	}
	w.mustStay(w.submit(form), 400, "not valid")
}

func TestTheHashOfNoInviteIsNoInvite(t *testing.T) {
	w := newWorld(t)
	w.apps.rows["a_1"] = auth.App{ID: "a_1", AccountID: "acme", Family: [32]byte{1}} // its invitation is used: the hash is zero
	w.apps.rows["a_2"] = auth.App{ID: "a_2", AccountID: "acme", Invite: auth.Secret{Hash: auth.Invite{}.Hash(), ExpiresAt: w.now().Add(time.Hour)}}
	for _, entered := range []string{"", "------------", "            ", strings.Repeat("0", 11)} {
		w.mustStay(w.submit(w.fill(request(), entered)), 400, "not valid")
	}
	used := w.invite("acme") // as a server left it that was killed between two writes
	half := w.app(used)
	half.Family = [32]byte{2}
	w.apps.rows[half.ID] = half
	w.mustStay(w.submit(w.fill(request(), used.Reveal())), 400, "not valid")
	revoked := w.invite("acme")
	app, now := w.app(revoked), w.now()
	app.RevokedAt = &now
	w.apps.rows[app.ID] = app
	w.mustStay(w.submit(w.fill(request(), revoked.Reveal())), 400, "not valid")
}

func TestTheConsentPageRunsNothingAndCannotBeFramed(t *testing.T) {
	w := newWorld(t)
	for _, redirect := range []string{testRedirect, "https://other.example/cb", "cursor://mcp/cb"} {
		r := w.ask(request("redirect_uri", redirect))
		style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(r.Body.String())[1]
		sum := sha256.Sum256([]byte(style))
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; frame-ancestors 'none'",
			"X-Frame-Options":         "DENY", "Referrer-Policy": "same-origin", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Type": "text/html; charset=utf-8", "Cross-Origin-Opener-Policy": "",
		} {
			if got := r.Header().Get(name); got != want {
				t.Errorf("%s: %q, expected %q", name, got, want)
			}
		}
		if found := regexp.MustCompile(`(?i)<script|<img|<link|<iframe| on\w+=| style=|src=|javascript:`).FindString(r.Body.String()); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
	for _, r := range []string{w.ask(request("client_id", "")).Header().Get("Content-Security-Policy"), w.ask(request("scope", "x")).Header().Get("Content-Security-Policy")} {
		if !strings.Contains(r, "frame-ancestors 'none'") || !strings.Contains(r, "form-action 'none'") {
			t.Errorf("a refusal has the policy %q", r)
		}
	}
}

func TestTheConsentPageSaysWhoAsksAndWhereTheAnswerGoes(t *testing.T) {
	w := newWorld(t)
	for redirect, want := range map[string][]string{
		testRedirect:               {"a program on this computer (127.0.0.1:33418)", "only if you have just started it yourself"},
		"https://other.example/cb": {"<strong>other.example</strong>", "another host than the one that describes the program"},
		"https://example.com/cb":   {"<strong>example.com</strong>", "Only example.com is verified"},
		"cursor://mcp/cb":          {"a program on this device (cursor:)", "opens such addresses"},
	} {
		body := w.ask(request("redirect_uri", redirect)).Body.String()
		for _, part := range append(want, "“<bdi>Test Assistant</bdi>”", "described at <strong>example.com</strong>", "All figures, campaigns, rules and activity of the account whose code you type below", "cannot change anything", `name="invite"`, `value="deny"`) {
			if !strings.Contains(body, part) {
				t.Errorf("%s: no %q in %s", redirect, part, body)
			}
		}
	}
	id := formatRegistered(registration{"Example Inc", []string{testRedirect}})
	if body := w.ask(request("client_id", id)).Body.String(); !strings.Contains(body, "it is not verified") || strings.Contains(body, "described at") {
		t.Errorf("a registered client: %s", body)
	}
}

func TestAFormOfAnotherSiteIsRefused(t *testing.T) {
	w := newWorld(t)
	invite := w.invite("acme")
	form := w.fill(request(), invite.Reveal())
	for _, headers := range [][]string{{"Origin", "https://evil.test"}, {"Origin", "null"}, {"Origin", "http://localhost:8081"}, {"Origin", "https://localhost:8080"}, {"Origin", testBase, "Origin", "https://evil.test"}, {"Origin", testBase + ".evil.test"},
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "none"}, {"Origin", testBase, "Sec-Fetch-Site", "cross-site"}} {
		for _, action := range []string{"allow", "deny"} {
			w.mustStay(w.send("POST", pathAuthorize, with(form, "action", action).Encode(), headers...), 403, "the form came from")
		}
	}
	if w.app(invite).Family != [32]byte{} {
		t.Error("a form of another site was taken")
	}
	if r := w.send("POST", pathAuthorize, form.Encode()); r.Code != 303 {
		t.Errorf("a program without these headers: %d", r.Code)
	}
}

func TestAConsentFormIsCheckedFromScratch(t *testing.T) {
	w := newWorld(t)
	invite := w.invite("acme")
	form := w.fill(request(), invite.Reveal())
	for _, changes := range [][]string{{"client_id", "https://example.com/%2e%2e/x"}, {"client_id", "dcr_x"}, {"redirect_uri", "https://evil.test/cb"}, {"redirect_uri", "javascript:alert(1)"}, {"action", ""}, {"action", "x"}} {
		w.mustStay(w.submit(with(form, changes...)), 400, "")
	}
	for _, changes := range [][]string{{"code_challenge_method", "plain"}, {"code_challenge", "x"}, {"resource", "https://evil.test"}, {"scope", "write"}, {"response_type", "token"}} {
		if _, answer := w.answerOf(w.submit(with(form, changes...))); answer.Get("error") == "" || answer.Has("code") {
			t.Errorf("%v: %v", changes, answer)
		}
	}
	if w.app(invite).Family != [32]byte{} {
		t.Error("the invitation was used")
	}
}

// hostileNames are what a client may call itself, and how that is shown.
var hostileNames = map[string]string{
	"Claude\u202e)moc.live(":                    "Claude)moc.live(",
	"\u2066\u2067\u2068a\u2069\u200e\u200f":     "a",
	"a\u200b\u200c\u200d\u2060\ufeffb":          "ab",
	"x\U000E0041\U000E0042\U000E007F":           "x",
	"a\ufe0f\U000E0100":                         "a",
	"line\r\nbreak\u2028and\u2029more\ttab\x00": "line break and more tab",
	"\x1b[31mred\x1b[0m\x07\u009b":              "[31mred[0m",
	"<script>alert(1)</script>":                 "<script>alert(1)</script>",
	"\"><img src=x onerror=alert(1)>":           "\"><img src=x onerror=alert(1)>",
	"</bdi></dd><h1>Verified by adlens</h1>":    "</bdi></dd><h1>Verified by adlens</h1>",
	"{{.Hidden}} ${x} %s":                       "{{.Hidden}} ${x} %s",
	"\u3164\u115f\u2800\u200b":                  unnamedClient,
	"":                                          unnamedClient,
	"z\u0351\u0352\u0353\u0354\u0355o":          "z\u0351\u0352o",
	"\ue000private\U000F0000":                   "private",
	"e\u0301e\u0301e\u0301e\u0301":              "e\u0301e\u0301e\u0301e\u0301",
	"  two   spaces  ":                          "two spaces",
	"🦜 Parrot 日本語 العربية":                      "🦜 Parrot 日本語 العربية",
	strings.Repeat("W", 5000/10):                strings.Repeat("W", 99) + "…",
}

func TestTheNameOfAClientIsShownAsTextOnly(t *testing.T) {
	w := newWorld(t)
	i := 0
	for name, want := range hostileNames {
		i++
		w.document = w.answerDocument(map[string]any{"client_name": name})
		invite := w.invite("acme")
		id := fmt.Sprintf("https://example.com/%d.json", i)
		body := w.ask(request("client_id", id)).Body.String()
		shown := regexp.MustCompile(`“<bdi>([^<>]*)</bdi>”`).FindStringSubmatch(body)
		if shown == nil || html.UnescapeString(shown[1]) != want {
			t.Errorf("%q: shown as %q, expected %q", name, shown, want)
		}
		if w.consent(invite, "client_id", id); w.app(invite).Name != want {
			t.Errorf("%q: stored as %q", name, w.app(invite).Name)
		}
	}
}

func TestValuesOfARequestAreShownAsTextOnly(t *testing.T) {
	w := newWorld(t)
	evil := `"><script>alert(1)</script><x y="`
	body := w.fill(request("state", evil), "")
	if body.Get("state") != evil {
		t.Errorf("the state became %q", body.Get("state"))
	}
	for _, values := range []string{"client_id", "redirect_uri", "scope", "resource", "response_type"} {
		for _, redirect := range []string{testRedirect, "https://other.example/cb"} {
			if r := w.ask(with(request("redirect_uri", redirect), values, evil)); strings.Contains(r.Body.String(), "<script>") || strings.Contains(r.Header().Get("Location"), "<") {
				t.Errorf("%s: %s", values, r.Body)
			}
		}
	}
}

func FuzzCleanText(f *testing.F) {
	for name := range hostileNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := cleanName(text)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxName || got == "" || cleanName(got) != got || got != strings.TrimSpace(got) {
			t.Fatalf("%q became %q, and that %q", text, got, cleanName(got))
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Variation_Selector, r) {
				t.Fatalf("%q keeps %U", text, r)
			}
		}
	})
}

func TestDescriptionsOfErrorsAreASCII(t *testing.T) {
	if got := errorText("a\"b\\c\r\nd\u202eé"); strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		t.Errorf("got %q", got)
	}
}
