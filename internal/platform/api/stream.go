package api

import (
	"errors"
	"io"
)

// body is a download's body: bounded, and watched for stalls. It keeps its own
// error, which readers above it may reword.
type body struct {
	r     io.Reader
	left  int64
	alive func() // puts off the end of a stalled download
	err   error  // of the network
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.alive()
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// output is where a download goes. Its own errors (a full disk) are no fault
// of the platform and nothing is tried again after them.
type output struct {
	w       io.Writer
	file    rewindable // nil where w cannot start over
	start   int64
	written bool
	err     error
}

// rewindable is what an *os.File is.
type rewindable interface {
	io.Seeker
	Truncate(size int64) error
}

func newOutput(w io.Writer) *output {
	out := &output{w: w}
	if file, ok := w.(rewindable); ok {
		start, err := file.Seek(0, io.SeekCurrent)
		// A pipe is a file too, but cannot go back.
		if err == nil {
			out.file, out.start = file, start
		}
	}
	return out
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	o.written = o.written || n > 0
	o.err = err
	return n, err
}

// rewindOutput takes back what was written; it reports whether nothing is left of it.
func (o *output) rewindOutput() (clean bool, err error) {
	if !o.written {
		return true, nil
	}
	if o.file == nil {
		return false, nil
	}
	if err := o.file.Truncate(o.start); err != nil {
		return false, err
	}
	_, err = o.file.Seek(o.start, io.SeekStart)
	o.written = err != nil
	return err == nil, err
}
