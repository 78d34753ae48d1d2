package api

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
)

const canaryCode = "canary-code"

func TestACodeIsExchangedAsDocumented(t *testing.T) {
	r := newRig(t, say(200, `[]`))
	var form string
	r.onToken = func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		form = q.Method + " " + q.Header.Get("Content-Type") + " " + string(body)
		_, _ = io.WriteString(w, `{"access_token":"Atza|x","refresh_token":"Atzr|new","token_type":"bearer","expires_in":3600}`)
	}
	refresh, err := exchangeCode(ctx, r.config(), NewSecret(canaryCode), "http://localhost:8765/back")
	r.succeeds(err)
	want := "POST application/x-www-form-urlencoded client_id=amzn1.application-oa2-client.0&client_secret=canary-client-secret" +
		"&code=canary-code&grant_type=authorization_code&redirect_uri=http%3A%2F%2Flocalhost%3A8765%2Fback"
	if form != want || refresh.Reveal() != "Atzr|new" {
		t.Errorf("asked %s, expected %s; got %s", form, want, refresh.Reveal())
	}
}

// A code is good once: only what certainly left it unused is tried again.
func TestACodeIsNotSentAgainWhereItMayBeUsed(t *testing.T) {
	good := say(200, `{"access_token":"Atza|x","refresh_token":"Atzr|new"}`)
	for name, c := range map[string]struct {
		first http.HandlerFunc
		kind  Kind // "" for a success
		sent  int
		says  string
	}{
		"throttled":         {say(429, `{"error":"slow_down"}`), "", 2, ""},
		"out of order":      {say(500, `{"error_description":"canary-code is stuck"}`), Unavailable, 1, "is stuck"},
		"an answer is lost": {cut(`{"access_token"`), Unavailable, 1, "no whole answer"},
		"used up":           {say(400, `{"error":"invalid_grant","error_description":"code canary-code"}`), Unauthorized, 1, "for 5 minutes"},
		"another secret":    {say(401, `{"error":"invalid_client"}`), Unauthorized, 1, "invalid_client"},
		"no refresh token":  {say(200, `{"access_token":"canary-access"}`), BadAnswer, 1, "no refresh token"},
		"half a token":      {say(200, `{"refresh_token":"Atzr|canary-refresh`), BadAnswer, 1, "no refresh token"},
	} {
		r := newRig(t, say(200, `[]`))
		r.onToken = script(c.first, good)
		refresh, err := exchangeCode(ctx, r.config(), NewSecret(canaryCode), "https://example.com/")
		if r.tokens != c.sent {
			t.Errorf("%s: the code was sent %d times, expected %d", name, r.tokens, c.sent)
		}
		if c.kind == "" {
			r.succeeds(err)
			continue
		}
		r.fails(err, c.kind, c.says)
		if refresh.Reveal() != "" {
			t.Errorf("%s: a refresh token came of it", name)
		}
	}
}

// What the browser brings is a consent where it has the state that was sent, and one code.
func TestAnAnswerOfAnotherConsentHasNoCode(t *testing.T) {
	w := &consentWait{state: "s"}
	for text, want := range map[string]string{"state=s&code=c": "c", "code=c": "", "state=t&code=c": "", "state=&code=c": "", "state=s": "", "state=s&code=": "",
		"state=s&code=c&code=d": "", "state=s&code=c&error=access_denied": ""} {
		query, err := url.ParseQuery(text)
		if got := w.read(query); err != nil || got.code != want || (got.err == nil) != (want != "") {
			t.Errorf("%s: the code is %q, %v", text, got.code, got.err)
		}
	}
}

func TestTheConsentPageIsTheRegionsOwn(t *testing.T) {
	for region, host := range map[Region]string{NA: "www.amazon.com", EU: "eu.account.amazon.com", FE: "apac.account.amazon.com"} {
		u, err := url.Parse(ConsentURL(region, "the id", "http://localhost:1/?a=b", "s&t"))
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		if u.Scheme != "https" || u.Host != host || u.Path != "/ap/oa" || len(q) != 5 || q.Get("client_id") != "the id" || q.Get("scope") != "advertising::campaign_management" ||
			q.Get("response_type") != "code" || q.Get("redirect_uri") != "http://localhost:1/?a=b" || q.Get("state") != "s&t" {
			t.Errorf("the page of %s is %s", region, u)
		}
	}
}

// A browser may take either address of localhost: another program at one of them would be
// given the answer.
func TestAPortThatAnotherProgramHasAtOneAddressIsNotListenedOn(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		taken, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			t.Skip("this machine lacks", host)
		}
		_, port, _ := net.SplitHostPort(taken.Addr().String())
		w := &consentWait{answers: make(chan consentAnswer, 1)}
		redirect := &url.URL{Scheme: "http", Host: "localhost:" + port, Path: "/"}
		if stop, err := w.listen(redirect); err == nil {
			stop()
			t.Errorf("it is listened on beside a program at %s", taken.Addr())
		}
		taken.Close()
		stop, err := w.listen(redirect)
		if err != nil {
			t.Fatalf("once that has ended, or where a refusal left a listener: %v", err)
		}
		stop()
	}
}
