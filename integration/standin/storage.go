package standin

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

const signatureField = "X-Amz-Signature"

// FileForm is how a file arrives at the one who downloads it.
type FileForm int

// The forms: Packed as it should be; Plain as JSON that something on the way
// has unpacked; Encoded with Content-Encoding gzip, which many clients unpack
// by themselves; CutGzip whole by HTTP but with its last bytes missing;
// Garbage that is no gzip and no JSON.
const (
	Packed FileForm = iota
	Plain
	Encoded
	CutGzip
	Garbage
)

type file struct {
	path    string
	form    FileForm
	content []byte
	// size is what the platform says of the file, damaged or not.
	size int
}

type files struct {
	mu     sync.Mutex
	byPath map[string]*file
	// ends tells, by signature, until when a published address is good.
	ends map[string]time.Time
}

func (f *files) addFile(path string, content []byte, plan JobPlan) *file {
	if plan.Rewrite != nil {
		content = plan.Rewrite(content)
	}
	packed := gzipContent(content)
	switch plan.File {
	case Packed, Encoded:
		content = packed
	case CutGzip:
		content = packed[:len(packed)*2/3]
	case Garbage:
		content = []byte("\x00\x01this is not the file that was requested")
	}
	made := &file{path: path, form: plan.File, content: content, size: len(packed)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byPath == nil {
		f.byPath, f.ends = map[string]*file{}, map[string]time.Time{}
	}
	f.byPath[path] = made
	return made
}

func gzipContent(content []byte) []byte {
	var packed bytes.Buffer
	// Writing to memory does not fail.
	writer := gzip.NewWriter(&packed)
	_, _ = writer.Write(content)
	_ = writer.Close()
	return packed.Bytes()
}

// signURL makes a signed address for a file.
func (p *Platform) signURL(f *file, life time.Duration) (address string, ends time.Time) {
	signature := newUUID()
	ends = p.config.Now().Add(life)
	p.files.mu.Lock()
	p.files.ends[f.path+signature] = ends
	p.files.mu.Unlock()
	fields := url.Values{
		"X-Amz-Algorithm": {"AWS4-HMAC-SHA256"}, "X-Amz-Expires": {strconv.Itoa(int(life.Seconds()))}, signatureField: {signature},
	}
	return p.storage.URL + f.path + "?" + fields.Encode(), ends
}

// sendFile plays the storage: it takes the signature and nothing beside it.
func (p *Platform) sendFile(q *query) reply {
	if q.Header.Get("Authorization") != "" {
		return refuseFile(http.StatusBadRequest, "InvalidArgument",
			"Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified")
	}
	p.files.mu.Lock()
	defer p.files.mu.Unlock()
	ends, signed := p.files.ends[q.URL.Path+q.URL.Query().Get(signatureField)]
	switch {
	case !signed:
		return refuseFile(http.StatusForbidden, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided")
	case !p.config.Now().Before(ends):
		return refuseFile(http.StatusForbidden, "AccessDenied", "Request has expired")
	}
	found := p.files.byPath[q.URL.Path]
	answer := reply{status: http.StatusOK, media: "binary/octet-stream", body: found.content}
	if found.form == Encoded {
		answer.header = map[string]string{"Content-Encoding": "gzip"}
	}
	return answer
}

func refuseFile(status int, code, message string) reply {
	text := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>`+"\n<Error><Code>%s</Code><Message>%s</Message></Error>", code, message)
	return reply{status: status, media: "application/xml", body: []byte(text)}
}
