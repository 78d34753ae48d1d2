package http

import (
	"net"
	"net/http"
)

// openConnections bounds how many connections are open at once, whoever opens
// them. The server says when one has ended: connections are not wrapped, so
// that each can still be closed one way first, without which a client may lose
// the last answer.
type openConnections struct{ open chan struct{} }

func newOpenConnections(bound int) openConnections {
	return openConnections{make(chan struct{}, bound)}
}

// on returns a listener whose next connection is accepted once there is room.
func (c openConnections) on(l net.Listener) net.Listener { return &roomy{l, c.open} }

// changed hears of the states of the connections.
func (c openConnections) changed(_ net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		<-c.open
	}
}

type roomy struct {
	net.Listener
	open chan struct{}
}

func (l *roomy) Accept() (net.Conn, error) {
	l.open <- struct{}{}
	connection, err := l.Listener.Accept()
	if err != nil {
		<-l.open
	}
	return connection, err
}
