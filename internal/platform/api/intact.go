package api

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

var (
	errTruncated = errors.New("it ends in the middle")
	errTooLarge  = errors.New("too large")
)

// copier copies a download to its end and checks that it is whole.
type copier func(w io.Writer, r *bufio.Reader, unpacked int64) error

// CheckWhole reads a download to its end and reports what it lacks: its packed
// data do not end, or the array of its rows does not.
func CheckWhole(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(16 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	check := formOf(head)
	if check == nil {
		return errTruncated
	}
	return check(io.Discard, in, defaultLimits().unpacked)
}

// formOf tells by the first bytes how a download is to be checked; nil where
// it is no report.
func formOf(head []byte) copier {
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return copyPacked
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if head = bytes.TrimLeft(head, " \t\r\n"); len(head) > 0 && head[0] == '[' {
		return copyPlain
	}
	return nil
}

// copyPacked unpacks what it copies, to nowhere: the packed form ends with a
// checksum and a length, and a body without a stated length has no other proof
// of its end.
func copyPacked(w io.Writer, r *bufio.Reader, unpacked int64) error {
	packed, err := gzip.NewReader(bufio.NewReaderSize(io.TeeReader(r, w), 64<<10))
	if err != nil {
		return gzipError(err)
	}
	n, err := io.Copy(io.Discard, io.LimitReader(packed, unpacked+1))
	if n > unpacked {
		return errTooLarge
	}
	return gzipError(err)
}

func gzipError(err error) error {
	switch {
	case err == nil, errors.Is(err, errTooLarge):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errTruncated
	default:
		return errors.New("its packed data is damaged: " + err.Error())
	}
}

// copyPlain copies JSON text and checks that it ends as an array does.
func copyPlain(w io.Writer, r *bufio.Reader, _ int64) error {
	last := lastByte{w: w}
	if _, err := io.Copy(&last, r); err != nil {
		return err
	}
	if last.is != ']' {
		return errTruncated
	}
	return nil
}

// lastByte remembers the last byte that is no white space.
type lastByte struct {
	w  io.Writer
	is byte
}

func (l *lastByte) Write(p []byte) (int, error) {
	if text := bytes.TrimRight(p, " \t\r\n"); len(text) > 0 {
		l.is = text[len(text)-1]
	}
	return l.w.Write(p)
}
