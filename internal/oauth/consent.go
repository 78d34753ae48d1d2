package oauth

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
)

// pageStyle is the style of the pages, whose hash their policy allows.
const pageStyle = `body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
h1{font-size:1.4rem}dt{font-weight:600}dd{margin:0 0 .8rem;overflow-wrap:anywhere}
.warning{border-left:4px solid #b45309;padding:.2rem .8rem;background:#fef6e7}
.error{border-left:4px solid #b91c1c;padding:.2rem .8rem;background:#fdecec}
input{font:1.3rem ui-monospace,monospace;padding:.4rem;width:100%;box-sizing:border-box}
button{font:inherit;padding:.5rem 1.2rem;margin:1rem .5rem 0 0}`

var styleSource = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

const pageHead = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Connect an assistant - adlens</title><style>` + pageStyle + `</style></head><body>
`

var consentPage = template.Must(template.New("consent").Parse(pageHead + `<h1>Connect an assistant to your account?</h1>
<dl>
<dt>Who asks</dt><dd>“<bdi>{{.Name}}</bdi>”{{if .Host}}, described at <strong>{{.Host}}</strong>{{end}}</dd>
<dt>Where the answer goes</dt><dd><strong>{{.To}}</strong></dd>
<dt>What it may read</dt><dd>All figures, campaigns, rules and activity of the account whose code you type below, until you end the connection. It cannot change anything.</dd>
</dl>
<p class="warning">{{if .Host}}The name is the program's own word. Only {{.Host}} is verified.{{else}}The program registered itself: its name is its own word, and it is not verified.{{end}}
{{if .Loopback}}The answer goes to a program on this computer: go on only if you have just started it yourself.{{else if .Private}}The answer goes to the program on this device that opens such addresses: go on only if you have just started it yourself.{{else if .Elsewhere}}The answer goes to another host than the one that describes the program.{{end}}</p>
{{if .Error}}<p class="error" role="alert">{{.Error}}</p>{{end}}
<form method="post" action="` + pathAuthorize + `">
{{range .Hidden}}<input type="hidden" name="{{.Name}}" value="{{.Value}}">
{{end}}<p><label for="invite">One-time code, which <code>adlens app invite --account ID</code> prints</label></p>
<input id="invite" name="invite" required autofocus autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="48">
<p>If you were not given a code for this, or a message asked you to enter one here, cancel.</p>
<button name="action" value="allow">Connect</button><button name="action" value="deny" formnovalidate>Cancel</button>
</form></body></html>
`))

var refusalPage = template.Must(template.New("refusal").Parse(pageHead + `<h1>The assistant cannot be connected</h1>
<p class="error" role="alert">{{.Text}}</p>
{{with .Link}}<p>Nothing was sent. To tell the program, go on to <a href="{{.Target}}" rel="noreferrer">{{.To}}</a>, if you trust it.</p>
{{end}}<p>Begin again in the assistant.</p></body></html>
`))

type hiddenField struct{ Name, Value string }

type consentView struct {
	Name, Host, To, Error        string
	Loopback, Private, Elsewhere bool
	Hidden                       []hiddenField
}

// writeConsent writes the page that asks a person.
func writeConsent(w http.ResponseWriter, status int, a authorization, failure string) {
	v := consentView{Name: a.client.name, Host: a.client.host, To: describeRedirect(a), Error: failure,
		Loopback: a.redirectKind == redirectLoopback, Private: a.redirectKind == redirectPrivate}
	v.Elsewhere = a.redirectKind == redirectWeb && a.client.host != "" && a.redirectURL.Hostname() != a.client.host
	for _, field := range []hiddenField{{"response_type", "code"}, {"client_id", a.client.id}, {"redirect_uri", a.redirect}, {"state", a.state}, {"scope", scopeRead},
		{"code_challenge", a.challenge}, {"code_challenge_method", "S256"}, {"resource", a.resource}} {
		if field.Value != "" {
			v.Hidden = append(v.Hidden, field)
		}
	}
	writePage(w, status, consentPage, v, "")
}

// describeRedirect says where an answer goes, in what a person can recognize.
func describeRedirect(a authorization) string {
	switch a.redirectKind {
	case redirectLoopback:
		return "a program on this computer (" + a.redirectURL.Host + ")"
	case redirectPrivate:
		return "a program on this device (" + a.redirectURL.Scheme + ":)"
	}
	return a.redirectURL.Host
}

// returnLink leads back to a client that gets an error.
type returnLink struct{ URL, To string }

// Target returns the address, which parseRedirectURI checked: html/template would
// refuse private-use schemes.
func (l returnLink) Target() template.URL { return template.URL(l.URL) }

// writeRefusal writes the page of a request that leads to no consent.
func writeRefusal(w http.ResponseWriter, refused *refusal, link *returnLink) {
	if refused.wait > 0 {
		writeRetryAfter(w, refused.wait)
	}
	writePage(w, refused.status, refusalPage, struct {
		Text string
		Link *returnLink
	}{refused.text, link}, formless)
}

func writePage(w http.ResponseWriter, status int, page *template.Template, view any, forms string) {
	var body bytes.Buffer
	if err := page.Execute(&body, view); err != nil {
		panic(err) // the views are of fixed types
	}
	setPageHeaders(w, forms)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(body.Bytes())
}

// formless is the part of a policy that forbids forms. The consent page's leaves
// form-action out: browsers apply it to every redirect after a form, and callbacks of
// hosted clients lead on to addresses that are not known here. The page is one form,
// escaped and without scripts.
const formless = "form-action 'none'; "

// setPageHeaders lets a page use its own style and nothing else, and no other
// site frame it. The referrer policy is same-origin and not no-referrer: with
// that one browsers send "Origin: null" with the form, which is what a form of
// any sandboxed page would have, too. There is no Cross-Origin-Opener-Policy: it
// would cut a client that opens the page as a pop-up off from it, and its callback.
func setPageHeaders(w http.ResponseWriter, forms string) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src "+styleSource+"; "+forms+"base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
