package http

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"adlens"
	"adlens/internal/answer"
)

// part is what of an answer is sent: all of it, or the bytes requested.
type part struct {
	status int
	body   []byte
	place  string // Content-Range, where it is not all
}

func (p part) writeHeaders(h http.Header) {
	if p.place != "" {
		h.Set("Content-Range", p.place)
	}
}

// partOf returns the part of an answer that is requested. For several ranges at
// once, for those of another version, and for formats that are not read in
// parts, all is sent: that is any server's right.
func partOf(a *answer.Answer, r *http.Request) (part, error) {
	whole := part{status: http.StatusOK, body: a.Body}
	if !forms[a.Format].packed || r.Method != http.MethodGet || len(r.Header.Values("Range")) != 1 {
		return whole, nil
	}
	if condition := r.Header.Values("If-Range"); len(condition) > 0 && (len(condition) > 1 || condition[0] != quotedTag(a.Tag, a.Coding)) {
		return whole, nil
	}
	from, to, understood := byteRange(r.Header.Get("Range"), len(a.Body))
	switch {
	case !understood:
		return whole, nil
	case from >= to:
		return part{}, &problem{code: adlens.InvalidParameter, status: http.StatusRequestedRangeNotSatisfiable, size: len(a.Body),
			detail: fmt.Sprintf("Range %s lies outside of the answer, which has %d bytes", answer.Printable(r.Header.Get("Range")), len(a.Body))}
	}
	return part{http.StatusPartialContent, a.Body[from:to], fmt.Sprintf("bytes %d-%d/%d", from, to-1, len(a.Body))}, nil
}

// byteRange reads the one range of a Range header: bytes=FIRST-LAST, FIRST- or
// -LENGTH. It goes from a byte to before another, and is empty where the body
// has nothing of it.
func byteRange(header string, size int) (from, to int, understood bool) {
	unit, text, _ := strings.Cut(header, "=")
	first, last, dash := strings.Cut(strings.TrimSpace(text), "-")
	if !strings.EqualFold(unit, "bytes") || !dash || strings.Contains(text, ",") {
		return 0, 0, false
	}
	if first == "" {
		n, err := strconv.ParseUint(last, 10, 63)
		return size - int(min(n, uint64(size))), size, err == nil
	}
	begin, err := strconv.ParseUint(first, 10, 63)
	if err != nil {
		return 0, 0, false
	}
	end := uint64(size)
	if last != "" {
		n, err := strconv.ParseUint(last, 10, 62)
		if err != nil || n < begin {
			return 0, 0, false
		}
		end = min(end, n+1)
	}
	return int(min(begin, uint64(size))), int(end), true
}
