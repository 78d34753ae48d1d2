package backup

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// File is a file of rows as a catalogue names it.
type File struct {
	Name   string `json:"name"`
	Table  string `json:"table"`
	Rows   uint64 `json:"rows"`
	Bytes  int64  `json:"bytes"` // unpacked
	Stored int64  `json:"stored_bytes"`
	SHA256 string `json:"sha256"` // of the stored bytes
}

// draft is a file of rows that is being written beside the place, under no
// name that anybody reads.
type draft struct {
	File
	on     *os.File
	hashed hash.Hash
	packed *zstd.Encoder
	out    *bufio.Writer
}

// counter counts the bytes that pass.
type counter struct {
	w io.Writer
	n *int64
}

func (c counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	*c.n += int64(n)
	return n, err
}

// encoders are kept: each has megabytes of tables, and most files are small.
var encoders = sync.Pool{New: func() any {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		panic(err) // the options are wrong
	}
	return e
}}

func newDraft(p Place, table string, h Header) (*draft, error) {
	on, err := p.Draft()
	if err != nil {
		return nil, err
	}
	d := &draft{File: File{Table: table}, on: on, hashed: sha256.New(), packed: encoders.Get().(*zstd.Encoder)}
	d.packed.Reset(counter{io.MultiWriter(on, d.hashed), &d.Stored})
	d.out = bufio.NewWriterSize(counter{d.packed, &d.Bytes}, 1<<16)
	_, err = d.out.Write(h.encodeHeader())
	return d, err
}

func (d *draft) writeRow(row []byte) error {
	d.Rows++
	_, err := d.out.Write(row)
	return err
}

// finishFile completes the bytes of the file and their sum.
func (d *draft) finishFile() error {
	err := errors.Join(d.out.Flush(), d.packed.Close())
	d.packed.Reset(nil)
	encoders.Put(d.packed)
	d.SHA256 = hex.EncodeToString(d.hashed.Sum(nil))
	return err
}

// discardDraft removes the draft, where it was not kept under a name.
func (d *draft) discardDraft() error {
	return errors.Join(d.on.Close(), removeIfExists(d.on.Name()))
}

func removeIfExists(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Bounds of reading: a window of more than this was not written by us, and a
// row of more is none.
const (
	maxWindow = 64 << 20
	maxRow    = 256 << 20
)

// body is what a place gives of a file, and the error by which it gave no more: its
// bytes may be as they were written.
type body struct {
	io.ReadCloser
	failed error
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.failed = err
	}
	return n, err
}

// reading is a file of rows that is being read and checked on the way.
type reading struct {
	File
	header Header

	body     body
	hashed   hash.Hash
	stored   int64
	unpacked *zstd.Decoder
	bytes    int64
	rest     []byte // read, and not yet taken as rows
}

// openFile begins to read a file. What it says is believed after checkEnd.
func openFile(ctx context.Context, p Place, f File) (*reading, error) {
	opened, err := p.Open(ctx, f.Name)
	if err != nil {
		return nil, err
	}
	r := &reading{File: f, hashed: sha256.New(), body: body{ReadCloser: opened}}
	raw := io.TeeReader(&r.body, counter{r.hashed, &r.stored})
	if r.unpacked, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow)); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	if err := r.readHeader(); err != nil {
		return nil, errors.Join(r.wrapDamage(err), r.Close())
	}
	return r, nil
}

// Close gives the file back.
func (r *reading) Close() error {
	r.unpacked.Close()
	return r.body.Close()
}

// readMore reads more bytes behind those that are not taken yet. It returns io.EOF
// at the end of the file.
func (r *reading) readMore() error {
	if len(r.rest) > maxRow {
		return fmt.Errorf("a row is longer than %d bytes", maxRow)
	}
	room := int64(1 << 20)
	if r.SHA256 != "" { // one byte more than there is shows that it is the end
		room = min(room, max(0, r.File.Bytes-r.bytes)+1)
	}
	buffer := make([]byte, int64(len(r.rest))+room)
	kept := copy(buffer, r.rest)
	n, err := r.unpacked.Read(buffer[kept:])
	r.rest = buffer[:kept+n]
	if r.bytes += int64(n); r.SHA256 != "" && r.bytes > r.File.Bytes {
		return fmt.Errorf("it unpacks to more than %d bytes", r.File.Bytes)
	}
	if n > 0 {
		return nil
	}
	return err
}

func (r *reading) readHeader() error {
	for {
		err := r.readMore()
		if err != nil {
			return fmt.Errorf("it does not begin with the names of columns: %w", err)
		}
		h, size, err := decodeHeader(r.rest)
		if err == nil {
			r.header, r.rest = h, r.rest[size:]
			return nil
		}
		if !errors.Is(err, errShort) {
			return err
		}
	}
}

// eachRow visits what is left of the rows. take takes the first row of some bytes
// and says how long it is.
func (r *reading) eachRow(take func(from []byte) (size int, err error)) error {
	var rows uint64
	for {
		for len(r.rest) > 0 {
			size, err := take(r.rest)
			if errors.Is(err, errShort) {
				break
			}
			if err != nil {
				return r.wrapDamage(fmt.Errorf("row %d: %w", rows+1, err))
			}
			r.rest = r.rest[size:]
			rows++
		}
		err := r.readMore()
		if errors.Is(err, io.EOF) {
			return r.wrapDamage(r.checkEnd(rows))
		}
		if err != nil {
			return r.wrapDamage(err)
		}
	}
}

// checkEnd holds the file that was read to its end against what the index says of it.
func (r *reading) checkEnd(rows uint64) error {
	if _, err := io.Copy(io.Discard, r.unpacked); err != nil {
		return err
	}
	sum := hex.EncodeToString(r.hashed.Sum(nil))
	switch {
	case len(r.rest) > 0:
		return errShort
	case r.SHA256 != "" && sum != r.SHA256:
		return fmt.Errorf("its SHA-256 is %s, expected %s", sum, r.SHA256)
	case r.SHA256 != "" && rows != r.Rows:
		return fmt.Errorf("it has %d rows, expected %d", rows, r.Rows)
	}
	r.File.SHA256, r.File.Rows, r.File.Bytes, r.File.Stored = sum, rows, r.bytes, r.stored
	return nil
}

// wrapDamage says which file it was. That it could not be read to its end is no damage, as
// where the network failed or a reader gave up waiting.
func (r *reading) wrapDamage(err error) error {
	switch {
	case err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case r.body.failed != nil && !isDamage(err):
		return fmt.Errorf("%s could not be read: %w", r.Name, r.body.failed)
	}
	return &Damage{r.Name, err}
}

// Damage says which file of a backup is not as it was written.
type Damage struct {
	Name string
	Err  error
}

func (d *Damage) Error() string { return fmt.Sprintf("%s is damaged: %v", d.Name, d.Err) }

// Unwrap returns what is wrong.
func (d *Damage) Unwrap() error { return d.Err }

// verifyFile reads a file to its end, checks it and says what it is.
func verifyFile(ctx context.Context, p Place, f File) (File, error) {
	r, err := openFile(ctx, p, f)
	if err != nil {
		return f, err
	}
	defer r.Close()
	err = r.eachRow(r.header.rowSize)
	return r.File, err
}
