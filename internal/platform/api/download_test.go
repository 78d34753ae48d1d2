package api

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

func pack(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.Bytes()
}

func link(r *rig) string { return r.server.URL + "/file?X-Amz-Signature=" + canaryLink }

func TestADownloadIsWrittenAsItCame(t *testing.T) {
	rows := `[` + strings.Repeat(`{"cost":1.5},`, 10000) + `{"cost":0}]`
	for name, body := range map[string][]byte{
		"packed": pack(rows), "plain": []byte(rows + "\n"), "empty": pack(`[]`), "plain and empty": []byte(`[]`),
		"two parts": append(pack(rows), pack("\n")...),
	} {
		for _, encoding := range []string{"", "gzip"} {
			var header http.Header
			r := newRig(t, func(w http.ResponseWriter, q *http.Request) {
				header = q.Header
				if encoding != "" {
					w.Header().Set("Content-Encoding", encoding)
				}
				_, _ = w.Write(body)
			})
			var out bytes.Buffer
			r.succeeds(r.client.Download(ctx, link(r), &out))
			if !bytes.Equal(out.Bytes(), body) {
				t.Errorf("%s: %d bytes came as %d", name, len(body), out.Len())
			}
			for _, name := range []string{"Authorization", "Amazon-Advertising-Api-Clientid", "Amazon-Advertising-Api-Scope"} {
				if header.Get(name) != "" {
					t.Errorf("%s was sent", name)
				}
			}
			if r.tokens != 0 {
				t.Error("a token was requested")
			}
		}
	}
}

func TestAHalfDownloadIsAnError(t *testing.T) {
	packed := pack(`[` + strings.Repeat(`{"cost":1.5},`, 3000) + `{}]`)
	flipped := bytes.Clone(packed)
	flipped[len(flipped)-6] ^= 1
	// close answers without a length: the end of the connection is the end.
	closing := func(body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = fmt.Fprintf(conn, "HTTP/1.0 200 OK\r\n\r\n%s", body)
			_ = conn.Close()
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"short of its length":        cut(string(packed)),
		"plain, short of its length": cut(`[{"cost":1}]`),
		"packed without its end":     closing(packed[:len(packed)-4]),
		"packed half":                closing(packed[:len(packed)/2]),
		"packed head only":           closing(packed[:5]),
		"wrong checksum":             closing(flipped),
		"more after the packed data": closing(append(bytes.Clone(packed), "rubbish"...)),
		"plain without its end":      closing([]byte(`[{"cost":1},`)),
		"nothing":                    closing(nil),
		"a length of nothing":        say(200, ``),
		"part of it":                 say(206, `[]`),
		"no answer at all":           func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a page":                     say(200, `<html>`+strings.Repeat("x", 100)),
		"a long page":                say(200, `<html>`+strings.Repeat("x", 20<<10)),
		"an object":                  say(200, `{"message":"x `+canaryAccess+`"}`),
		"nothing further for a while": func(w http.ResponseWriter, q *http.Request) {
			_, _ = w.Write(packed[:100])
			w.(http.Flusher).Flush()
			hang(w, q)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, answer)
			r.client.limits.stallTime = 100 * time.Millisecond
			r.client.limits.tries = 2
			err := r.client.Download(ctx, link(r), io.Discard)
			r.errors = append(r.errors, err)
			if !errors.Is(err, BadAnswer) && !errors.Is(err, Unavailable) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestABrokenDownloadStartsOverInAFile(t *testing.T) {
	body := pack(`[` + strings.Repeat(`{"cost":1.5},`, 30000) + `{}]`)
	r := newRig(t, script(cut(string(body)), say(503, ``), say(200, string(body))))
	file, err := os.CreateTemp(t.TempDir(), "")
	r.succeeds(err)
	_, _ = file.WriteString("before")
	r.succeeds(r.client.Download(ctx, link(r), file))
	got, _ := os.ReadFile(file.Name())
	if string(got) != "before"+string(body) {
		t.Errorf("%d bytes, expected %d", len(got), len(body)+6)
	}
	if len(r.calls) != 3 {
		t.Errorf("%d calls", len(r.calls))
	}
}

func TestABrokenDownloadIsNotStartedOverWhereItCannotBe(t *testing.T) {
	r := newRig(t, script(cut(`[1,`), say(200, `[1]`)))
	var out bytes.Buffer
	r.fails(r.client.Download(ctx, link(r), &out), Unavailable)
	if len(r.calls) != 1 {
		t.Errorf("%d calls", len(r.calls))
	}
	r = newRig(t, script(say(500, ``), say(200, `[1]`)))
	r.succeeds(r.client.Download(ctx, link(r), &out))
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAFullDiskIsToldAndNotTriedAgain(t *testing.T) {
	for _, body := range []string{`[1]`, string(pack(`[1]`))} {
		r := newRig(t, say(200, body))
		err := r.client.Download(ctx, link(r), fullDisk{})
		if err == nil || !strings.Contains(err.Error(), "no space left") || len(r.calls) != 1 {
			t.Errorf("%v after %d calls", err, len(r.calls))
		}
	}
}

func TestDownloadsAreBounded(t *testing.T) {
	long := `[` + strings.Repeat(" ", 5000) + `]`
	for name, c := range map[string]struct {
		body     string
		download int64
		unpacked int64
	}{
		"stated length": {long, 100, 1 << 20},
		"packed bomb":   {string(pack(long)), 4000, 1000},
	} {
		r := newRig(t, say(200, c.body))
		r.client.limits.download, r.client.limits.unpacked = c.download, c.unpacked
		r.fails(r.client.Download(ctx, link(r), io.Discard), TooLarge)
		if len(r.calls) != 1 {
			t.Errorf("%s: %d calls", name, len(r.calls))
		}
	}
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			_, _ = io.WriteString(w, long)
			w.(http.Flusher).Flush()
		}
	})
	r.client.limits.download = 10000
	r.fails(r.client.Download(ctx, link(r), io.Discard), TooLarge)
}

func TestAnExpiredLinkIsItsOwnKind(t *testing.T) {
	r := newRig(t, say(403, `<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message>`+
		`<StringToSign>`+canaryLink+`</StringToSign></Error>`, "X-Amz-Request-Id", "S3ID"))
	r.fails(r.client.Download(ctx, link(r), io.Discard), LinkExpired, "Request has expired", "S3ID")
	if len(r.calls) != 1 {
		t.Errorf("%d calls", len(r.calls))
	}
}

func TestDownloadsComeOnlyFromKnownPlaces(t *testing.T) {
	cfg := Config{Region: NA, ClientID: "id", ClientSecret: NewSecret(canarySecret), RefreshToken: NewSecret(canaryRefresh),
		Transport: forbidden{t}}
	public, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{
		"http://x.s3.amazonaws.com/a", "https://169.254.169.254/latest", "http://169.254.169.254/", "http://127.0.0.1/", "https://localhost/",
		"https://evilamazonaws.com/", "https://amazonaws.com.evil.example/", "https://u:p@x.amazonaws.com/", "file:///etc/passwd", "", "%", "ftp://x.amazonaws.com/",
	} {
		err := public.Download(ctx, address+"?X-Amz-Signature="+canaryLink, io.Discard)
		if !errors.Is(err, BadAnswer) {
			t.Errorf("%s: %v", address, err)
			continue
		}
		noSecrets(t, err.Error())
	}
	for _, address := range []string{"https://offline-report-storage-us-east-1-prod.s3.amazonaws.com/a", "https://advertising-api.amazon.com/x", "https://AMAZONAWS.com/"} {
		if _, err := public.downloadAddress(address); err != nil {
			t.Error(err)
		}
	}
	cfg.DownloadHosts = []string{"example.com"}
	other, _ := New(cfg)
	if _, err := other.downloadAddress("https://cdn.example.com/x"); err != nil {
		t.Error(err)
	}
}

// forbidden is a network that must not be used.
type forbidden struct{ t *testing.T }

func (f forbidden) RoundTrip(q *http.Request) (*http.Response, error) {
	f.t.Errorf("%s was called", q.URL.Host)
	return nil, errors.New("forbidden")
}

func TestADownloadIsSentOnOnlyWithinItsHost(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/file":
			http.Redirect(w, q, "/moved", http.StatusFound)
		case "/moved":
			_, _ = io.WriteString(w, `[]`)
		default:
			http.Redirect(w, q, "/loop", http.StatusFound)
		}
	})
	r.succeeds(r.client.Download(ctx, link(r), io.Discard))
	r.fails(r.client.Download(ctx, r.server.URL+"/loop", io.Discard), Refused, "redirects")
	if len(r.calls) > 10 {
		t.Errorf("%d calls", len(r.calls))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	r.succeeds(err)
	_ = listener.Close()
	for _, to := range []string{"http://169.254.169.254/latest/meta-data?X-Amz-Signature=" + canaryLink, "http://" + listener.Addr().String() + "/"} {
		r := newRig(t, say(302, ``, "Location", to))
		r.fails(r.client.Download(ctx, link(r), io.Discard), Refused, "redirects to")
		if len(r.calls) != 1 {
			t.Errorf("%d calls", len(r.calls))
		}
	}
	first := &http.Request{URL: &url.URL{Scheme: "https", Host: "x.amazonaws.com"}}
	open := &http.Request{URL: &url.URL{Scheme: "http", Host: "x.amazonaws.com"}}
	if sameHostOnly(open, []*http.Request{first}) == nil {
		t.Error("a link of https is sent on to http")
	}
}
