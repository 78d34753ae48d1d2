package limits_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// drip keeps a connection busy with one byte of a header at a time and gives
// how long the server bore it.
func drip(connection net.Conn, began time.Time) time.Duration {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, connection)
		close(ended)
	}()
	for {
		select {
		case <-ended:
			return time.Since(began)
		case <-time.After(250 * time.Millisecond):
			_, _ = io.WriteString(connection, "x")
		}
	}
}

// patience is the longest that a request may take to arrive: what the server
// allows for its header, and some for a busy machine.
const patience = 5*time.Second + 5*time.Second

func TestSlowClientsAreDroppedAndHoldUpNobody(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	const crowd = 300
	head := "GET " + house.AccountPath + " HTTP/1.1\r\nHost: x\r\nX-Slow: "
	took := make(chan time.Duration, crowd)
	for i := range crowd {
		connection, err := one.Ask.Dial()
		house.Need(t, err)
		defer connection.Close()
		switch i % 3 {
		case 0:
			_, err = io.WriteString(connection, head)
		case 1:
			_, err = io.WriteString(connection, "GET /")
		case 2:
			_, err = io.WriteString(connection, head+"x\r\nContent-Length: 900\r\n\r\n") // and the body in drops
		}
		house.Need(t, err)
		go func() { took <- drip(connection, time.Now()) }()
	}
	slowest := time.Duration(0)
	for range 20 {
		began := time.Now()
		if a := house.Get(t, one.Ask, "/api/v1/summary"); a.Status != http.StatusOK {
			t.Errorf("beside slow clients: %s", a)
		}
		slowest = max(slowest, time.Since(began))
	}
	if slowest > 3*time.Second {
		t.Errorf("a request took %v beside slow clients", slowest)
	}
	for range crowd {
		if d := <-took; d > 10*time.Second+patience {
			t.Errorf("a slow client was borne for %v", d)
		}
	}
}

func TestAClientThatDoesNotReadItsAnswersHoldsUpNobody(t *testing.T) {
	t.Parallel()
	_, one := house.ShopWithData(t)
	request := house.RawRequest("/api/v1/reports/products?range=last_90_days&page_size=all", "Authorization: Bearer "+one.Ask.Key)
	for range 20 {
		connection, err := one.Ask.Dial()
		house.Need(t, err)
		defer connection.Close()
		house.Need(t, connection.(*net.TCPConn).SetReadBuffer(1<<10))
		// More answers than the buffers between the two ends can hold; the
		// server stops at the first that it cannot send.
		house.Need(t, connection.SetWriteDeadline(time.Now().Add(2*time.Second)))
		_, _ = io.WriteString(connection, strings.Repeat(request, 2000))
	}
	for range 20 {
		if a := house.Get(t, one.Ask, "/api/v1/summary"); a.Status != http.StatusOK {
			t.Errorf("beside clients that do not read: %s", a)
		}
	}
}

func TestConnectionsAreBoundedAndTheRestWait(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	key, err := p.Account("acct")
	house.Need(t, err)
	server := house.Serve(t, p)
	ask := harness.Client{Address: server.Address, Key: key}
	if a := house.Get(t, ask, house.AccountPath, "Connection", "close"); a.Status != http.StatusOK {
		t.Fatal(a)
	}
	const bound = 2000
	var held []net.Conn
	for range bound + 100 {
		connection, err := ask.Dial()
		house.Need(t, err)
		defer connection.Close()
		held = append(held, connection)
	}
	// The last one is in the queue behind the bound: it is answered once
	// others have gone, and those go by themselves, for they say nothing.
	last := held[len(held)-1]
	began := time.Now()
	_, err = io.WriteString(last, house.RawRequest("/healthz", "Connection: close"))
	house.Need(t, err)
	house.Need(t, last.SetReadDeadline(time.Now().Add(harness.Patience)))
	response, err := http.ReadResponse(bufio.NewReader(last), nil)
	house.Need(t, err)
	defer response.Body.Close()
	if waited := time.Since(began); response.StatusCode != http.StatusOK || waited < time.Second || waited > 2*patience {
		t.Errorf("the connection beyond the bound: %d after %v", response.StatusCode, waited)
	}
}
