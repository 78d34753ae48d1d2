package requests_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// spoken is what is sent over one connection, and what must come back: the
// status of each answer in its order, whether the first one is Go's own, in
// plain text or without a word, because no program sees such a request, and
// whether the connection stays open behind it.
type spoken struct {
	name, sent string
	statuses   []int
	plain      bool
	stays      bool
}

// hidden is a request that must not be seen where it stands behind a body: it
// would be answered with 404.
var hidden = house.RawRequest("/hidden", "Connection: close")

func framings() []spoken {
	key := "Authorization: Bearer KEY"
	return []spoken{
		{name: "a plain request", sent: house.RawRequest(house.AccountPath, key), statuses: []int{200}, stays: true},
		{name: "three requests at once", sent: house.RawRequest(house.AccountPath, key) + house.RawRequest("/nowhere") + house.RawRequest(house.AccountPath, key, "Connection: close"), statuses: []int{200, 404, 200}},
		{name: "both lengths, the chunks shorter", sent: house.RawRequest(house.AccountPath, key, "Content-Length: 200", "Transfer-Encoding: chunked") + "0\r\n\r\n" + hidden, statuses: []int{200}},
		{name: "both lengths, the chunks longer", sent: house.RawRequest(house.AccountPath, key, "Content-Length: 1", "Transfer-Encoding: chunked") + "1\r\na\r\n0\r\n\r\n" + hidden, statuses: []int{200}},
		{name: "both lengths, the other way round", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding: chunked", "Content-Length: 0") + "0\r\n\r\n" + hidden, statuses: []int{200}},
		{name: "two lengths that differ", sent: house.RawRequest(house.AccountPath, key, "Content-Length: 0", "Content-Length: 5") + "12345" + hidden, statuses: []int{400}, plain: true},
		{name: "two lengths that agree", sent: house.RawRequest(house.AccountPath, key, "Content-Length: 2", "Content-Length: 2") + "12" + hidden, statuses: []int{200}},
		{name: "two lengths in one field", sent: house.RawRequest(house.AccountPath, key, "Content-Length: 2, 2") + "12" + hidden, statuses: []int{400}, plain: true},
		{name: "a length with a sign", sent: house.RawRequest(house.AccountPath, key, "Content-Length: +2") + "12" + hidden, statuses: []int{400}, plain: true},
		{name: "a length in hexadecimal", sent: house.RawRequest(house.AccountPath, key, "Content-Length: 0x2") + "12" + hidden, statuses: []int{400}, plain: true},
		{name: "a length that is negative", sent: house.RawRequest(house.AccountPath, key, "Content-Length: -1") + hidden, statuses: []int{400}, plain: true},
		{name: "a length beyond 63 bits", sent: house.RawRequest(house.AccountPath, key, "Content-Length: 9223372036854775808") + hidden, statuses: []int{400}, plain: true},
		{name: "a short body behind a request", sent: house.RawRequest(house.AccountPath, key, "Content-Length: 5") + "12345" + hidden, statuses: []int{200}},
		{name: "a body larger than allowed", sent: house.RawRequest(house.AccountPath, key, "Content-Length: 2000") + strings.Repeat("a", 2000) + hidden, statuses: []int{413}},
		{name: "a body larger than allowed, of no known path", sent: house.RawRequest("/nowhere", key, "Content-Length: 2000") + strings.Repeat("a", 2000) + hidden, statuses: []int{404}},
		{name: "a body larger than allowed, of a method that is not allowed", sent: strings.Replace(house.RawRequest(house.AccountPath, key, "Content-Length: 2000"), "GET", "POST", 1) + strings.Repeat("a", 2000) + hidden, statuses: []int{405}},
		{name: "an unknown transfer coding", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding: gzip") + hidden, statuses: []int{501}, plain: true},
		{name: "two transfer codings", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding: gzip, chunked") + "0\r\n\r\n" + hidden, statuses: []int{501}, plain: true},
		{name: "chunked twice", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + "0\r\n\r\n" + hidden, statuses: []int{501}, plain: true},
		{name: "a disguised transfer coding", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding: xchunked") + "0\r\n\r\n" + hidden, statuses: []int{501}, plain: true},
		{name: "a transfer coding behind a tab", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding:\tchunked") + "0\r\n\r\n" + hidden, statuses: []int{200}},
		{name: "a chunk size beyond 64 bits", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding: chunked") + "fffffffffffffffff\r\n" + hidden, statuses: []int{400}},
		{name: "a chunk size of 64 bits", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding: chunked") + "ffffffffffffffff\r\n" + strings.Repeat("a", 4000), statuses: []int{413}, stays: true}, // until the time for reading is over
		{name: "a chunk size that is no number", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding: chunked") + "zz\r\n" + hidden, statuses: []int{400}},
		{name: "a chunk size with a sign", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding: chunked") + "-1\r\n" + hidden, statuses: []int{400}},
		{name: "a chunk with a long extension", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding: chunked") + "1;" + strings.Repeat("x", 20_000) + "\r\na\r\n0\r\n\r\n" + hidden, statuses: []int{400}},
		{name: "a trailer that names a length", sent: house.RawRequest(house.AccountPath, key, "Transfer-Encoding: chunked", "Trailer: Content-Length") + "0\r\n\r\n" + hidden, statuses: []int{400}, plain: true},
		{name: "a body that waits to be asked for", sent: house.RawRequest(house.AccountPath, key, "Expect: 100-continue", "Content-Length: 2") + "12" + hidden, statuses: []int{100, 200}},
		{name: "a large body that waits to be asked for", sent: house.RawRequest(house.AccountPath, key, "Expect: 100-continue", "Content-Length: 2000"), statuses: []int{413}, stays: true}, // until the time for reading is over
		{name: "an unknown expectation", sent: house.RawRequest(house.AccountPath, key, "Expect: a-miracle"), statuses: []int{417}, plain: true},
		{name: "an upgrade to HTTP/2", sent: house.RawRequest(house.AccountPath, key, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), statuses: []int{200}, stays: true},
		{name: "an upgrade to a web socket", sent: house.RawRequest(house.AccountPath, key, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="), statuses: []int{200}, stays: true},
		{name: "the preface of HTTP/2", sent: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", statuses: []int{404}},
		{name: "a handshake of TLS", sent: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x00", 400) + "\r\n\r\n", statuses: []int{400}, plain: true},
		{name: "noise", sent: strings.Repeat("\xff\x00\x01", 200) + "\r\n\r\n", statuses: []int{400}, plain: true},
	}
}

func heads() []spoken {
	line := func(first string, lines ...string) string {
		return first + "\r\n" + strings.Join(append(lines, "", ""), "\r\n")
	}
	key := "Authorization: Bearer KEY"
	return []spoken{
		{name: "a space before a colon", sent: house.RawRequest(house.AccountPath, "Authorization : Bearer KEY"), statuses: []int{400}, plain: true},
		{name: "a space before a header", sent: line("GET "+house.AccountPath+" HTTP/1.1", " Host: x", key), statuses: []int{400}, plain: true},
		{name: "a header folded over two lines", sent: house.RawRequest(house.AccountPath, "Authorization: Bearer", " KEY"), statuses: []int{200}, stays: true},
		{name: "a header without a colon", sent: house.RawRequest(house.AccountPath, key, "nothing"), statuses: []int{400}, plain: true},
		{name: "a header without a name", sent: house.RawRequest(house.AccountPath, key, ": nothing"), statuses: []int{400}, plain: true},
		{name: "a NUL in a header's name", sent: house.RawRequest(house.AccountPath, key, "X-\x00Y: z"), statuses: []int{400}, plain: true},
		{name: "a NUL in a header's value", sent: house.RawRequest(house.AccountPath, key, "X-Y: \x00"), statuses: []int{400}, plain: true},
		{name: "a carriage return in a header's value", sent: house.RawRequest(house.AccountPath, key, "X-Y: a\rInjected: b"), statuses: []int{400}, plain: true},
		{name: "a NUL in the key", sent: house.RawRequest(house.AccountPath, "Authorization: Bearer KEY\x00"), statuses: []int{400}, plain: true},
		{name: "two hosts", sent: house.RawRequest(house.AccountPath, key, "Host: y"), statuses: []int{400}, plain: true},
		{name: "no host", sent: line("GET "+house.AccountPath+" HTTP/1.1", key), statuses: []int{400}, plain: true},
		{name: "an impossible host", sent: line("GET "+house.AccountPath+" HTTP/1.1", "Host: a/b@c", key), statuses: []int{400}, plain: true},
		{name: "lines that end in a bare line feed", sent: strings.ReplaceAll(house.RawRequest(house.AccountPath, key), "\r\n", "\n"), statuses: []int{200}, stays: true},
		{name: "lines that end in a bare carriage return", sent: strings.ReplaceAll(house.RawRequest(house.AccountPath, key), "\r\n", "\r") + "\r\n\r\n", statuses: []int{400}, plain: true},
		{name: "a whole address", sent: line("GET http://elsewhere.example"+house.AccountPath+" HTTP/1.1", "Host: x", key), statuses: []int{200}, stays: true},
		{name: "a whole address of another scheme", sent: line("GET file:///etc/passwd HTTP/1.1", "Host: x", key), statuses: []int{404}, stays: true},
		{name: "an address without a path", sent: line("GET * HTTP/1.1", "Host: x", key), statuses: []int{404}, stays: true},
		{name: "an address that is no address", sent: line("GET account HTTP/1.1", "Host: x", key), statuses: []int{400}, plain: true},
		{name: "a space in the address", sent: line("GET /api/v1/account x HTTP/1.1", "Host: x", key), statuses: []int{400}, plain: true},
		{name: "a NUL in the address", sent: line("GET /api/v1/account\x00 HTTP/1.1", "Host: x", key), statuses: []int{400}, plain: true},
		{name: "a lone percent sign in the path", sent: line("GET /api/v1/acc%ount HTTP/1.1", "Host: x", key), statuses: []int{400}, plain: true},
		{name: "a fragment in the address", sent: line("GET "+house.AccountPath+"#x HTTP/1.1", "Host: x", key), statuses: []int{404}, stays: true},
		{name: "bytes that are no text in the path", sent: line("GET /api/v1/\xff\xfe HTTP/1.1", "Host: x", key), statuses: []int{404}, stays: true},
		{name: "a method in small letters", sent: line("get "+house.AccountPath+" HTTP/1.1", "Host: x", key), statuses: []int{405}, stays: true},
		{name: "a method that is no token", sent: line("G(T "+house.AccountPath+" HTTP/1.1", "Host: x", key), statuses: []int{400}, plain: true},
		{name: "no method", sent: line(" "+house.AccountPath+" HTTP/1.1", "Host: x", key), statuses: []int{400}, plain: true},
		{name: "a tunnel", sent: line("CONNECT 127.0.0.1:22 HTTP/1.1", "Host: 127.0.0.1:22", key), statuses: []int{404}, stays: true},
		{name: "HTTP/0.9", sent: "GET " + house.AccountPath + "\r\n", statuses: []int{400}, plain: true},
		{name: "HTTP/1.0 without a host", sent: line("GET "+house.AccountPath+" HTTP/1.0", key), statuses: []int{200}},
		{name: "HTTP/1.2", sent: line("GET "+house.AccountPath+" HTTP/1.2", "Host: x", key), statuses: []int{200}, stays: true},
		{name: "HTTP/2.0 in words", sent: line("GET "+house.AccountPath+" HTTP/2.0", "Host: x", key), statuses: []int{505}, plain: true},
		{name: "HTTP/9.9", sent: line("GET "+house.AccountPath+" HTTP/9.9", "Host: x", key), statuses: []int{505}, plain: true},
		{name: "a version that is none", sent: line("GET "+house.AccountPath+" HTTX/1.1", "Host: x", key), statuses: []int{400}, plain: true},
		{name: "an empty line before the request", sent: "\r\n" + house.RawRequest(house.AccountPath, key), statuses: []int{400}, plain: true},
		{name: "garbage behind the request", sent: house.RawRequest(house.AccountPath, key) + "garbage\r\n\r\n", statuses: []int{200, 400}},
		{name: "a first line without an end", sent: "GET /" + strings.Repeat("a", 2<<20), statuses: []int{431}, plain: true},
		{name: "another one's address as forwarded", sent: house.RawRequest(house.AccountPath, key, "X-Forwarded-For: 6.6.6.6", "Forwarded: for=6.6.6.6", "X-Real-IP: 6.6.6.6"), statuses: []int{200}, stays: true},
		{name: "another method on top", sent: house.RawRequest(house.AccountPath, key, "X-HTTP-Method-Override: DELETE", "X-Original-URL: /api/v1/nowhere", "X-Rewrite-URL: /api/v1/nowhere"), statuses: []int{200}, stays: true},
	}
}

func TestRawRequestsHaveTheirStatusAndNothingIsSmuggled(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	for _, s := range append(framings(), heads()...) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.sent = strings.ReplaceAll(s.sent, "KEY", one.Ask.Key)
			checkSpoken(t, one.Ask, s)
		})
	}
}

func checkSpoken(t *testing.T, c harness.Client, s spoken) {
	t.Helper()
	answers, closed, err := c.Exchange(s.sent)
	house.Need(t, err)
	var statuses []int
	for _, a := range answers {
		statuses = append(statuses, a.Status)
	}
	if !slices.Equal(statuses, s.statuses) || closed == s.stays {
		t.Errorf("want %v, staying open: %t; got %v, closed: %t\n%s", s.statuses, s.stays, statuses, closed, fmt.Sprint(answers))
	}
	if len(answers) == 0 || answers[0].Status < 400 {
		return
	}
	first := answers[0]
	if kind := first.Header.Get("Content-Type"); !s.plain {
		house.ProblemOf(t, first, first.Status, problemCode(first))
	} else if len(first.Body) > 0 && !strings.HasPrefix(kind, "text/plain") {
		t.Errorf("want plain text, got %s %q", kind, first.Body)
	}
	if strings.Contains(string(first.Body), c.Key) {
		t.Errorf("the answer repeats the key: %s", first.Body)
	}
}
