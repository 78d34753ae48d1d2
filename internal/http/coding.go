package http

import (
	"bytes"
	"strings"

	"adlens/internal/answer"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// codings compress bodies, by the names of the content codings.
var codings = map[string]func([]byte) []byte{"zstd": compressZstd, "gzip": compressGzip}

// codingNames are the codings, the better one first.
var codingNames = []string{"zstd", "gzip"}

// minCoded is the size from which on a body is worth compressing: it fills
// more than one packet of the network.
const minCoded = 1400

// chooseCoding returns the coding of an answer for a client.
func chooseCoding(a *answer.Answer, accepted []string) (coding string, wanted bool) {
	if forms[a.Format].packed || a.Tag == "" {
		return "", false
	}
	return preferredCoding(a.Body, accepted)
}

// preferredCoding returns the coding of a body that a client prefers. Where it accepts
// several equally, ours is the order.
func preferredCoding(body []byte, accepted []string) (coding string, wanted bool) {
	if len(body) < minCoded {
		return "", false
	}
	all := readPreferences(accepted)
	best := qualityOf("identity", all)
	for _, name := range codingNames {
		if q := qualityOf(name, all); q > 0 && (q > best || !wanted && q == best) {
			coding, best, wanted = name, q, true
		}
	}
	return coding, wanted
}

// qualityOf returns the q-value that a client gives a coding by its name.
func qualityOf(coding string, all []preference) int {
	for _, p := range all {
		if p.value == coding {
			return p.quality
		}
	}
	return 0
}

// quotedTag returns the strong tag of an answer in a coding: the bytes of each
// coding have one of their own.
func quotedTag(tag, coding string) string {
	if coding != "" {
		tag += "-" + coding
	}
	return `"` + tag + `"`
}

// heldTag finds a tag in a client's If-None-Match. Tags are compared weakly, as
// the header requires, and those of all codings of the answer are the same: it
// is the client's copy that did not change, however that was sent. "" is no tag,
// and held by none.
func heldTag(headers []string, tag string) (held string, ok bool) {
	if tag == "" {
		return "", false
	}
	for _, candidate := range strings.Split(strings.Join(headers, ","), ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == "*" {
			return quotedTag(tag, ""), true
		}
		for _, coding := range append([]string{""}, codingNames...) {
			if candidate == quotedTag(tag, coding) {
				return candidate, true
			}
		}
	}
	return "", false
}

// zstdEncoder has a window that every browser takes.
var zstdEncoder = func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // the options are ours
	}
	return e
}()

func compressZstd(body []byte) []byte { return zstdEncoder.EncodeAll(body, nil) }

func compressGzip(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b) // writing to memory does not fail
	w.Write(body)
	w.Close()
	return b.Bytes()
}
