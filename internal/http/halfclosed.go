package http

import (
	"context"
	"io"
	"net"
	"sync"
	"syscall"
)

// halfClosable is a connection that tells a client that sends no more from one
// that went away. The server of net/http reads on while a request is answered,
// one byte at a time, and takes the end of what is sent for a client that went
// away: it cancels the request. Both kinds of clients look the same until
// something is sent to them. So the first letter of the answer is sent then,
// which is the same for all answers: a client that went away resets the
// connection, and one that waits has a letter of its answer.
type halfClosable struct {
	*net.TCPConn

	mu        sync.Mutex
	answering bool // a request
	begun     bool // the answer is being written
	ahead     bool // its first letter was sent before it

	// Of the goroutine that answers:
	gathering bool // the first write of an answer waits for the next one
	gathered  []byte
}

// firstLetter is what every answer begins with: HTTP/1.1 200 OK.
const firstLetter = 'H'

// halfClosed returns a connection whose client is answered though it closed its
// sending half.
func halfClosed(c net.Conn) net.Conn {
	if tcp, ok := c.(*net.TCPConn); ok {
		return &halfClosable{TCPConn: tcp}
	}
	return c
}

// Read reads what the client sends. While a request is answered, the end of
// that is reported only where the client has gone.
func (h *halfClosable) Read(p []byte) (int, error) {
	whileAnswering := len(p) == 1
	if whileAnswering {
		h.mu.Lock()
		h.answering = true
		h.mu.Unlock()
	}
	n, err := h.TCPConn.Read(p)
	if whileAnswering && err == io.EOF {
		if stopped := h.awaitReset(); stopped != nil {
			err = stopped
		}
	}
	return n, err
}

// awaitReset waits until the client has reset the connection. The error is that
// of the deadline by which the server stops reading.
func (h *halfClosable) awaitReset() error {
	raw, err := h.SyscallConn()
	if err != nil {
		return err
	}
	asked := false
	return raw.Read(func(fd uintptr) (reset bool) {
		if !asked { // not before, so that no event is lost between asking and waiting
			asked = true
			return h.sendAhead() != nil
		}
		failure, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR)
		return err != nil || failure != 0
	})
}

// sendAhead sends the first letter of an answer that is not being written yet.
func (h *halfClosable) sendAhead() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.begun || h.ahead {
		return nil
	}
	_, err := h.TCPConn.Write([]byte{firstLetter})
	h.ahead = err == nil
	return err
}

// Write writes of an answer what was not sent yet.
func (h *halfClosable) Write(p []byte) (int, error) {
	h.mu.Lock()
	sent := 0
	if h.ahead && !h.begun && len(p) > 0 {
		sent = 1
	}
	h.begun = true
	h.mu.Unlock()
	if h.gathering && len(h.gathered) == 0 {
		h.gathered = append(h.gathered, p[sent:]...)
		return len(p), nil
	}
	n, err := h.writeGathered(p[sent:])
	return n + sent, err
}

// writeGathered writes what was gathered and p by one call of the system, and returns
// how much of p was written.
func (h *halfClosable) writeGathered(p []byte) (int, error) {
	if len(h.gathered) == 0 {
		return h.TCPConn.Write(p)
	}
	blocks := net.Buffers{h.gathered, p}
	n, err := blocks.WriteTo(h.TCPConn)
	before := len(h.gathered)
	h.gathering, h.gathered = false, h.gathered[:0]
	return max(0, int(n)-before), err
}

// connectionKey is where the context of a request has its connection.
type connectionKey struct{}

// withConnection is a context of the requests of a connection.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// gatherStart keeps the first write of an answer until the next one, or until done: the
// server of net/http writes a small block of headers and body first, and a client that
// gets it alone wakes up twice.
func gatherStart(ctx context.Context) (done func()) {
	h, ok := ctx.Value(connectionKey{}).(*halfClosable)
	if !ok {
		return func() {}
	}
	h.gathering = true
	return func() {
		if h.gathering = false; len(h.gathered) > 0 {
			if _, err := h.writeGathered(nil); err != nil {
				h.TCPConn.Close() // the server does not hear of it, and would send the next answer
			}
		}
	}
}

// noteAnswered hears that an answer was written. Another one may follow.
func (h *halfClosable) noteAnswered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answering, h.begun, h.ahead = false, false, false
}

func (h *halfClosable) isAnswering() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.answering
}
