package standin_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"adlens/integration/standin"
)

const createMedia = "application/vnd.createasyncreportrequest.v3+json"

// answer is what a plain client got.
type answer struct {
	status int
	header http.Header
	text   string
}

func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	return decode[map[string]any](t, a.text)
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value T
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// customer is a plain http.Client with one customer's credentials.
type customer struct {
	t      *testing.T
	p      *standin.Platform
	host   string
	access string
	scope  string
}

func start(t *testing.T, config standin.Config) *standin.Platform {
	t.Helper()
	p := standin.New(config)
	t.Cleanup(p.Close)
	return p
}

// open starts a platform and signs in to it for profile 1.
func open(t *testing.T, config standin.Config) *customer {
	t.Helper()
	p := start(t, config)
	c := &customer{t: t, p: p, host: p.URL(), scope: "1"}
	c.signIn()
	return c
}

func (c *customer) signIn() {
	c.t.Helper()
	got := askToken(c.t, c.p, nil)
	if got.status != http.StatusOK {
		c.t.Fatalf("no token: %+v", got)
	}
	c.access = got.object(c.t)["access_token"].(string)
}

// askToken asks for a token with the right form, save for the changes.
func askToken(t *testing.T, p *standin.Platform, changes map[string]string) answer {
	t.Helper()
	form := url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {standin.DefaultRefreshToken},
		"client_id": {standin.DefaultClientID}, "client_secret": {standin.DefaultClientSecret},
	}
	for name, value := range changes {
		form.Set(name, value)
	}
	request, _ := http.NewRequest(http.MethodPost, p.TokenURL(), strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got, err := send(request)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func send(request *http.Request) (answer, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(text)}, err
}

// try sends a call with the customer's headers; others come as name, value.
func (c *customer) try(method, path, body string, headers ...string) (answer, error) {
	request, err := http.NewRequest(method, c.host+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.access)
	request.Header.Set("Amazon-Advertising-API-ClientId", standin.DefaultClientID)
	if c.scope != "" {
		request.Header.Set("Amazon-Advertising-API-Scope", c.scope)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return send(request)
}

func (c *customer) do(method, path, body string, headers ...string) answer {
	c.t.Helper()
	got, err := c.try(method, path, body, headers...)
	if err != nil {
		c.t.Fatal(err)
	}
	return got
}

// list posts to a list with its media type.
func (c *customer) list(path, media, body string) answer {
	c.t.Helper()
	return c.do(http.MethodPost, path, body, "Content-Type", media, "Accept", media)
}

func (c *customer) create(body string) answer {
	c.t.Helper()
	return c.do(http.MethodPost, "/reporting/reports", body, "Content-Type", createMedia)
}

func (c *customer) poll(id string) map[string]any {
	c.t.Helper()
	got := c.do(http.MethodGet, "/reporting/reports/"+id, "")
	if got.status != http.StatusOK {
		c.t.Fatalf("poll: %+v", got)
	}
	return got.object(c.t)
}

// report creates a report and polls it until it is finished.
func (c *customer) report(body string) map[string]any {
	c.t.Helper()
	created := c.create(body)
	if created.status != http.StatusOK {
		c.t.Fatalf("create: %+v", created)
	}
	id := created.object(c.t)["reportId"].(string)
	for range 20 {
		if report := c.poll(id); report["status"] == "COMPLETED" || report["status"] == "FAILED" {
			return report
		}
	}
	c.t.Fatal("the report does not finish")
	return nil
}

// rows downloads the file of a finished report.
func (c *customer) rows(report map[string]any) []map[string]any {
	c.t.Helper()
	got := fetch(c.t, report["url"].(string))
	if got.status != http.StatusOK {
		c.t.Fatalf("download: %+v", got)
	}
	return decode[[]map[string]any](c.t, unpack(c.t, got.text))
}

func fetch(t *testing.T, address string, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	got, err := send(request)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func unpack(t *testing.T, text string) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

// expect compares an answer's status and a part of its text.
func expect(t *testing.T, got answer, status int, part string) {
	t.Helper()
	if got.status != status || !strings.Contains(got.text, part) {
		t.Errorf("got %d %s, want %d and %q", got.status, got.text, status, part)
	}
}
