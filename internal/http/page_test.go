package http

import (
	"io/fs"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"adlens/web/page"
)

// fromPage asks for an address without a key.
func fromPage(t *testing.T, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	handler(newWorld(), "acme-active").ServeHTTP(w, r)
	return w
}

// pageAddresses are the addresses of all files of the page.
func pageAddresses(t *testing.T) []string {
	t.Helper()
	files, err := fs.ReadDir(page.Files, ".")
	if err != nil {
		t.Fatal(err)
	}
	addresses := []string{"/"}
	for _, file := range files {
		if file.Name() != pageIndex && file.Name() != shareIndex {
			addresses = append(addresses, "/page/"+file.Name())
		}
	}
	return addresses
}

// storesTheKey is the only file that may use the browser's storage.
const storesTheKey = "/page/access.js"

func TestThePageMayRunAndAskNothingButItsOwn(t *testing.T) {
	for _, address := range pageAddresses(t) {
		w := fromPage(t, "GET", address)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "public, no-cache",
		} {
			if got := w.Header().Get(name); w.Code != 200 || got != want {
				t.Errorf("%s: status %d, %s %q, want %q", address, w.Code, name, got, want)
			}
		}
		if kind := w.Header().Get("Content-Type"); kind == "" || strings.HasPrefix(kind, "application/octet-stream") {
			t.Errorf("%s: Content-Type %q", address, kind)
		}
		text := strings.ReplaceAll(w.Body.String(), "http://www.w3.org/2000/svg", "")
		if found := regexp.MustCompile(`(?i)https?:|<style|<script>| style=| on\w+="|innerHTML|insertAdjacentHTML|eval\(|localStorage|sessionStorage|\.cookie`).FindString(text); found != "" && !(address == storesTheKey && strings.HasSuffix(found, "Storage")) {
			t.Errorf("%s has %q", address, found)
		}
	}
}

func TestThePageIsSmallAndRevalidated(t *testing.T) {
	size := 0
	for _, address := range pageAddresses(t) {
		whole := fromPage(t, "GET", address)
		size += whole.Body.Len()
		tag := whole.Header().Get("ETag")
		if w := fromPage(t, "GET", address, "If-None-Match", tag); w.Code != 304 || w.Body.Len() != 0 || w.Header().Get("ETag") != tag || !strings.HasPrefix(tag, `"`) {
			t.Errorf("%s: tag %q, then status %d", address, tag, w.Code)
		}
		if w := fromPage(t, "GET", address, "If-None-Match", `"other"`); w.Code != 200 {
			t.Errorf("%s: another tag gives %d", address, w.Code)
		}
		if w := fromPage(t, "HEAD", address); w.Code != 200 || w.Header().Get("Content-Length") != whole.Header().Get("Content-Length") {
			t.Errorf("HEAD %s: %d, %v", address, w.Code, w.Header())
		}
	}
	if size > 150_000 {
		t.Errorf("the page is %d bytes, expected at most 150000", size)
	}
}

func TestThePageNamesOnlyFilesThatExist(t *testing.T) {
	named := regexp.MustCompile(`(?:from '\./|(?:href|src)="/page/)([^'"]+)['"]`)
	for _, address := range pageAddresses(t) {
		for _, found := range named.FindAllStringSubmatch(fromPage(t, "GET", address).Body.String(), -1) {
			if w := fromPage(t, "GET", "/page/"+found[1]); w.Code != 200 {
				t.Errorf("%s names %s: status %d", address, found[1], w.Code)
			}
		}
	}
	for _, address := range []string{"/page", "/page/", "/page/index.html", "/page/share.html", "/page/page.go", "/page/none.js", "/page/../page/main.js", "/index.html"} {
		if w := fromPage(t, "GET", address); w.Code != 404 {
			t.Errorf("%s: status %d, want 404", address, w.Code)
		}
	}
}
