package demo

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
)

const (
	reportsDir = "reports"
	exportsDir = "exports"
)

// A press is one worker's tools: buffers and a compressor that it uses again
// for every file.
type press struct {
	dir  string
	rows array
	file bytes.Buffer
	zip  *gzip.Writer
}

func newPress(dir string) *press {
	// The level is valid, and a fast one: the files are read once, soon, from
	// the same disk.
	zip, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return &press{dir: dir, zip: zip}
}

// report writes the download of an extract and the object that describes it.
func (p *press) report(a *account, e extract) ([]string, error) {
	t := a.tellers[e.channel]
	if err := p.download(a, t, e); err != nil {
		return nil, err
	}
	object, err := jsonFile(e.object(a.seed, t.columns(), p.file.Len()))
	if err != nil {
		return nil, err
	}
	return p.pair(filepath.Join(reportsDir, e.stem()), ".report.json", object)
}

// pair writes the download in the buffer, then the object that describes it:
// whoever finds the object finds its download.
func (p *press) pair(stem, end string, object []byte) ([]string, error) {
	paths, err := p.write(stem+".json.gz", p.file.Bytes())
	if err != nil {
		return nil, err
	}
	more, err := p.write(stem+end, object)
	return append(paths, more...), err
}

// download compresses the rows of an extract, day by day, into the buffer.
func (p *press) download(a *account, t teller, e extract) error {
	p.file.Reset()
	p.zip.Reset(&p.file)
	p.rows.open()
	for d := e.first; d <= e.last; d++ {
		if silent(a.seed, e.market, e.adType, d) {
			continue
		}
		t.tell(&p.rows, e.scene(a.seed, d))
		if _, err := p.zip.Write(p.rows.buf); err != nil {
			return err
		}
		p.rows.buf = p.rows.buf[:0]
	}
	p.rows.close()
	if _, err := p.zip.Write(p.rows.buf); err != nil {
		return err
	}
	return p.zip.Close()
}

// write puts a file in place whole: it appears under its name only when all of
// it is there. It is not flushed to the disk at once, as a demonstration that a
// power cut took is made again.
func (p *press) write(name string, content []byte) ([]string, error) {
	path := filepath.Join(p.dir, name)
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) // has no effect once it is renamed
	_, err = f.Write(content)
	if fault := f.Close(); err == nil {
		err = fault
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return nil, err
	}
	return []string{path}, nil
}
