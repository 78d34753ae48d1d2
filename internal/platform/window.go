package platform

import "io"

// window holds the part of a stream that is being read: what lies behind the
// last whole row. It grows no further than one row may.
type window struct {
	r          io.Reader
	buffer     []byte // the last byte is never filled
	start, end int    // of buffer, what is there and not yet taken
	offset     int64  // of start, in the stream
	err        error  // what the stream ended with
}

// The window as it begins, and as large as it may become.
const (
	firstWindow = 128 << 10
	maxWindow   = maxRowBytes + oneRead
)

func (w *window) unreadText() []byte { return w.buffer[w.start:w.end] }

// terminatedText is the text with a byte of zero behind it.
func (w *window) terminatedText() []byte {
	w.buffer[w.end] = 0
	return w.buffer[w.start : w.end+1]
}

// skipBytes passes over n bytes.
func (w *window) skipBytes(n int) {
	w.start += n
	w.offset += int64(n)
}

// readMore reads on until the buffer is full. It reports whether anything came; if
// not, err says why.
func (w *window) readMore() bool {
	if w.err != nil {
		return false
	}
	w.makeRoom()
	before, full := w.end, len(w.buffer)-1
	if before == full {
		w.err = errLongRow
	}
	for w.end < full && w.err == nil {
		var n int
		n, w.err = w.r.Read(w.buffer[w.end:full])
		w.end += n
	}
	return w.end > before
}

// makeRoom moves what is there to the buffer's beginning, and takes a larger
// buffer where there is no room behind it even so.
func (w *window) makeRoom() {
	held := w.end - w.start
	buffer := w.buffer
	if held >= len(buffer)/2 && len(buffer) <= maxWindow {
		buffer = make([]byte, min(max(2*len(buffer), firstWindow), maxWindow+1))
	}
	copy(buffer, w.unreadText())
	w.buffer, w.start, w.end = buffer, 0, held
}

// ahead reads a window from its start on without taking anything.
type ahead struct {
	window *window
	at     int
}

func (a *ahead) Read(p []byte) (int, error) {
	if a.at == len(a.window.unreadText()) && !a.window.readMore() {
		return 0, a.window.err
	}
	n := copy(p, a.window.unreadText()[a.at:])
	a.at += n
	return n, nil
}
