package protocol_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"

	"golang.org/x/net/html"
)

// newBrowser returns a client that keeps cookies and shows redirects instead
// of following them.
func newBrowser() *http.Client {
	jar, _ := cookiejar.New(nil) // without options it never fails
	return &http.Client{Jar: jar, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// giveConsent does what a person does who opens the address of an
// authorization request: it enters a new one-time code in the page's form and
// sends it. It returns the address that the browser is sent to.
func giveConsent(t *testing.T, address string) (string, error) {
	code, err := inviteCode(t)
	if err != nil {
		return "", err
	}
	browser := newBrowser()
	page, err := browser.Get(address)
	if err != nil {
		return "", err
	}
	defer page.Body.Close()
	if page.StatusCode != http.StatusOK {
		return "", responseError(page)
	}
	document, err := html.Parse(page.Body)
	if err != nil {
		return "", err
	}
	action, fields, err := readForm(document)
	if err != nil {
		return "", err
	}
	if _, there := fields["invite"]; !there {
		return "", fmt.Errorf("the form at %s has no field for the code: %v", address, fields)
	}
	fields.Set("invite", code)
	target, err := page.Request.URL.Parse(action)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequest(http.MethodPost, target.String(), strings.NewReader(fields.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", page.Request.URL.Scheme+"://"+page.Request.URL.Host)
	sent, err := browser.Do(request)
	if err != nil {
		return "", err
	}
	defer sent.Body.Close()
	if sent.StatusCode != http.StatusFound && sent.StatusCode != http.StatusSeeOther {
		return "", responseError(sent)
	}
	redirect, err := sent.Location()
	if err != nil {
		return "", err
	}
	return redirect.String(), checkRedirect(redirect)
}

// checkRedirect requires what RFC 6749 and RFC 9207 have in the address of a
// given consent.
func checkRedirect(redirect *url.URL) error {
	for _, name := range []string{"code", "state", "iss"} {
		if values := redirect.Query()[name]; len(values) != 1 || values[0] == "" {
			return fmt.Errorf("want one %s in %s, got %q", name, redirect, values)
		}
	}
	if redirect.Query().Has("error") {
		return fmt.Errorf("an error in %s", redirect)
	}
	return nil
}

func responseError(r *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 4096))
	return fmt.Errorf("%s %s: %s\n%s", r.Request.Method, r.Request.URL, r.Status, body)
}

// readForm returns where the first form that is posted goes, and its fields
// as they are, the first of its buttons included.
func readForm(document *html.Node) (action string, fields url.Values, err error) {
	for form := range document.Descendants() {
		if form.Type != html.ElementNode || form.Data != "form" || !strings.EqualFold(attribute(form, "method"), "post") {
			continue
		}
		fields = url.Values{}
		pressed := false
		for field := range form.Descendants() {
			name := attribute(field, "name")
			button := field.Data == "button" || field.Data == "input" && attribute(field, "type") == "submit"
			if field.Type != html.ElementNode || name == "" || field.Data != "input" && !button || button && pressed {
				continue
			}
			pressed = pressed || button
			fields.Add(name, attribute(field, "value"))
		}
		return attribute(form, "action"), fields, nil
	}
	return "", nil, fmt.Errorf("the page has no form that is posted")
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// getJSON reads a JSON document, as a client of any origin would.
func getJSON(t *testing.T, address string, into any) {
	t.Helper()
	response, err := newBrowser().Get(address)
	house.Need(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatal(responseError(response))
	}
	house.Need(t, json.NewDecoder(response.Body).Decode(into))
}

// registerClient registers a public client and returns its id.
func registerClient(t *testing.T, endpoint, redirect string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"client_name": "Conformance suite", "redirect_uris": []string{redirect},
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"}, "token_endpoint_auth_method": "none"})
	house.Need(t, err)
	response, err := newBrowser().Post(endpoint, "application/json", bytes.NewReader(body))
	house.Need(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Fatal(responseError(response))
	}
	var registered struct {
		ID string `json:"client_id"`
	}
	house.Need(t, json.NewDecoder(response.Body).Decode(&registered))
	return registered.ID
}
