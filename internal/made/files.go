// Package made writes made-up extracts in the platform's own formats: report
// and export objects with their downloads, profiles, exchange rates and product
// titles, and the service's own records. Each format is written here alone. The
// figures and names come from those who use it: the demonstration, the
// benchmark and the tests.
package made

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
)

// Names of the files that are not pairs.
const (
	ProfilesFile = "profiles.json"
	RatesFile    = "rates.csv"
	TitlesFile   = "products.csv"
	RulesFile    = "rules.ndjson"
	RunsFile     = "rule_runs.ndjson"
	ActivityFile = "activity.ndjson"
)

// What the names of the objects of reports and exports end in.
const (
	ReportEnd = ".report.json"
	ExportEnd = ".export.json"
)

// Writer writes files below a directory. It uses its buffer and its compressor
// again for every file, so it serves one goroutine at a time.
type Writer struct {
	Plain  bool // downloads are not compressed
	Rows   Rows // for downloads to use, again and again
	dir    string
	buffer bytes.Buffer
	zip    *gzip.Writer
}

// NewWriter returns a Writer that compresses fast: the files are read once,
// soon, from the same disk.
func NewWriter(dir string) *Writer {
	zip, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a known one
	}
	return &Writer{dir: dir, zip: zip}
}

// Pair is an object of the platform with its download.
type Pair struct{ Object, Download string }

// Files returns both paths, as a loader command takes them.
func (p Pair) Files() []string { return []string{p.Object, p.Download} }

// WritePair writes a download, and then the object that describes it: a reader
// that finds the object finds its download. The stem is the name of both; end
// is ReportEnd or ExportEnd; object is given the size of the download.
func (w *Writer) WritePair(stem, end string, download func(io.Writer) error, object func(size int) any) (Pair, error) {
	p := Pair{Object: stem + end, Download: stem + ".json"}
	w.buffer.Reset()
	var err error
	if w.Plain {
		err = download(&w.buffer)
	} else {
		p.Download += ".gz"
		w.zip.Reset(&w.buffer)
		if err = download(w.zip); err == nil {
			err = w.zip.Close()
		}
	}
	if err != nil {
		return Pair{}, err
	}
	if p.Download, err = w.WriteFile(p.Download, w.buffer.Bytes()); err != nil {
		return Pair{}, err
	}
	p.Object, err = w.WriteJSON(p.Object, object(w.buffer.Len()))
	return p, err
}

// WriteJSON writes a small file for people and programs to read.
func (w *Writer) WriteJSON(name string, v any) (path string, err error) {
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return "", err
	}
	return w.WriteFile(name, append(content, '\n'))
}

// WriteFile puts a file in place whole and returns its path: it appears under
// its name only when all of it is there. It is not flushed to the disk, as
// made-up files that a power cut took are made again.
func (w *Writer) WriteFile(name string, content []byte) (path string, err error) {
	path = filepath.Join(w.dir, name)
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name()) // has no effect once it is renamed
	_, err = f.Write(content)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return path, err
}
