package loader

import (
	"bytes"
	"io"
	"runtime/debug"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// A file of many empty archives takes no more of the stack than one of a few: an
// overflow would end the process, and no load can refuse it.
func TestEmptyArchivesInARowDoNotOverflowTheStack(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	pack := func(content string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	file := append(bytes.Repeat(pack(""), 200_000), pack("content")...)
	content, err := unpackContent(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(content); err != nil || string(text) != "content" {
		t.Errorf("the content is %q, %v", text, err)
	}
}
