package loader

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// What is wrong with a file that changes while it is read may be for that.
func TestAFileThatChangesIsToldWithWhatIsWrongWithIt(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.WriteFile("x.json", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := errors.New("it is half an object")
	err = file{kind: kindReport, root: root, name: "x.json"}.readUnpacked("x.json", func(io.Reader) error {
		return errors.Join(wrong, root.WriteFile("x.json", []byte("{}"), 0o600))
	})
	if !isRefusal(err) || !errors.Is(err, wrong) || !strings.Contains(err.Error(), "x.json changed while it was read") {
		t.Errorf("got %v", err)
	}
}

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
