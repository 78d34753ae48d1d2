package loader

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"adlens/internal/platform"

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

// Who works in the directory meanwhile replaces a report in this order: the object goes, its
// download is replaced, the new object comes. What is read of the download is never another
// report's.
func TestADownloadIsReadWithItsOwnObjectAlone(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	write := func(name, text string) {
		if err := root.WriteFile(name+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := root.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	object := func(id string) string {
		return `{"reportId": "` + id + `", "profileId": "1", "status": "COMPLETED", "startDate": "2026-01-05", "endDate": "2026-01-06", "generatedAt": "2026-01-12T04:00:00Z",
			"configuration": {"adProduct": "SPONSORED_PRODUCTS", "reportTypeId": "spAdvertisedProduct", "timeUnit": "DAILY", "groupBy": ["advertiser"],
				"columns": ["date", "advertisedAsin", "impressions", "clicks", "cost", "purchases7d", "sales7d"]}}`
	}
	write("x.report.json", object("r1"))
	write("x.json", "old")
	s := &session{markets: []Marketplace{{Profile: platform.Profile{ID: "1", Currency: "USD"}}}}
	p, err := s.decodeReport(t.Context(), file{kind: kindReport, root: root, name: "x.report.json", download: "x.json"})
	if err != nil {
		t.Fatal(err)
	}
	write("y.export.json", `{"exportId":"e","profileId":"1","entity":"campaigns","status":"COMPLETED","generatedAt":"2026-01-12T04:00:00Z"}`)
	write("y.json", "[]")
	export := file{kind: kindExport, root: root, name: "y.export.json", download: "y.json"}
	e, _, err := s.decodeExport(&export)
	if err != nil {
		t.Fatal(err)
	}
	if write("y.export.json", "{}"); !isRefusal(func() error { _, err := s.readList(export, e); return err }()) {
		t.Error("an export's download is read with another one's object")
	}
	read := func() (text string, err error) {
		err = p.file.readUnpacked(p.file.download, func(content io.Reader) error {
			all, err := io.ReadAll(content)
			text = string(all)
			return err
		})
		return text, err
	}
	if text, err := read(); text != "old" || err != nil {
		t.Errorf("the download is %q: %v", text, err)
	}
	for _, step := range []func(){
		func() { root.Remove("x.report.json") },
		func() { write("x.json", "new") },
		func() { write("x.report.json", object("r2")) },
		func() { root.Remove("x.json") },
	} {
		step()
		if text, err := read(); text != "" || !isRefusal(err) || !strings.Contains(err.Error(), "x.report.json was replaced or deleted while the load ran") {
			t.Errorf("the download is %q: %v", text, err)
		}
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
