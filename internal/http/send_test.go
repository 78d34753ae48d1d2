package http

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// A client has a time limit for each block of an answer, and one for all of it.
func TestALargeAnswerReachesASlowClientAndNoneHoldsItForEver(t *testing.T) {
	body := bytes.Repeat([]byte("slow"), 8<<20) // more than the buffers between the two ends hold
	for _, test := range []struct {
		name         string
		maxSending   time.Duration
		first, pause time.Duration // before the client takes the first MiB, and each
		arrives      bool
		held         time.Duration // at least, by the server
		stops        bool          // the server is about to
	}{
		{"slow", time.Minute, 0, 160 * time.Millisecond, true, 4200 * time.Millisecond, false},
		{"takes nothing", time.Minute, 10 * time.Second, 0, false, 3900 * time.Millisecond, false},
		{"too slow", 5 * time.Second, 0, 300 * time.Millisecond, false, 4900 * time.Millisecond, false},
		{"slow for a server that stops", time.Minute, 0, 300 * time.Millisecond, false, 3900 * time.Millisecond, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, took := New(testConfig(newWorld(), keys{"acme-active"})), make(chan time.Duration, 1)
			s.server.WriteTimeout, s.maxSending = 4*time.Second, test.maxSending
			s.draining.Store(test.stops)
			s.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				began := time.Now()
				s.sendBody(w, body)
				took <- time.Since(began)
			})
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go s.Serve(listener)
			defer s.Shutdown(context.Background())
			connection, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close()
			if err := connection.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
				t.Fatal(err)
			}
			io.WriteString(connection, "GET / HTTP/1.0\r\n\r\n")
			taken := 0
			time.Sleep(test.first)
			for err == nil {
				var n int64
				time.Sleep(test.pause)
				n, err = io.CopyN(io.Discard, connection, 1<<20)
				taken += int(n)
			}
			if arrived := err == io.EOF && taken > len(body); arrived != test.arrives {
				t.Errorf("%d of %d bytes arrived: %v", taken, len(body), err)
			}
			if held := <-took; held < test.held || !test.arrives && held > 30*time.Second {
				t.Errorf("the answer was held for %s", held)
			}
		})
	}
}
