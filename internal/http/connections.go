package http

import (
	"container/list"
	"net"
	"net/http"
	"sync"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// openConnections bounds how many connections are open at once, whichever client opens
// them. Where all are taken, the one that was idle for the longest time makes
// room for a new one; where none is idle, the new one waits. Clients send again
// what they sent on a connection that ended idle, as they do after idleTimeout.
type openConnections struct {
	bound int

	mu     sync.Mutex
	open   int
	idle   *list.List // of net.Conn, the longest idle first
	places map[net.Conn]*list.Element
	// changes has a value since the last time that a connection ended or became
	// idle.
	changes chan struct{}
}

func newOpenConnections(bound int) *openConnections {
	return &openConnections{bound: bound, idle: list.New(), places: map[net.Conn]*list.Element{}, changes: make(chan struct{}, 1)}
}

// boundConnections returns how many connections may be open at once. A connection for which
// there is no descriptor is not accepted, and no idle one makes room for it. Go has raised
// the soft limit to the hard one.
func boundConnections(log *zap.Logger) int {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		log.Warn("the limit of open files is not known", zap.Error(err))
		return maxConnections
	}
	bound := min(maxConnections, files.Cur-min(otherFiles, files.Cur/2))
	if bound < maxConnections {
		log.Warn("the limit of open files leaves room for few connections: raise it (ulimit -n, LimitNOFILE of systemd, ulimits of a container)",
			zap.Uint64("open_files", files.Cur), zap.Uint64("connections", bound), zap.Int("connections_otherwise", maxConnections))
	}
	return int(bound)
}

// boundListener returns a listener whose connections count.
func (o *openConnections) boundListener(l net.Listener) net.Listener {
	return &boundedListener{Listener: l, connections: o, closed: make(chan struct{})}
}

// trackState hears of the states of the connections.
func (o *openConnections) trackState(c net.Conn, state http.ConnState) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if place, idle := o.places[c]; idle {
		o.idle.Remove(place)
		delete(o.places, c)
	}
	switch state {
	case http.StateIdle:
		if h, ok := c.(*halfClosable); ok {
			h.noteAnswered()
		}
		o.places[c] = o.idle.PushBack(c)
	case http.StateClosed, http.StateHijacked:
		o.open--
	default:
		return
	}
	select {
	case o.changes <- struct{}{}:
	default:
	}
}

// acquireSlot counts a new connection where there is room; else the longest idle one
// is to be closed, if there is one.
func (o *openConnections) acquireSlot() (ok bool, oldest net.Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open < o.bound {
		o.open++
		return true, nil
	}
	for place := o.idle.Front(); place != nil; place = place.Next() {
		c := place.Value.(net.Conn)
		if h, ok := c.(*halfClosable); ok && h.isAnswering() {
			continue // the server calls no connection active whose next request it has read already
		}
		o.idle.Remove(place)
		delete(o.places, c)
		return false, c
	}
	return false, nil
}

// boundedListener accepts connections once there is room for them.
type boundedListener struct {
	net.Listener
	connections *openConnections
	once        sync.Once
	closed      chan struct{}
}

func (l *boundedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for {
		ok, oldest := l.connections.acquireSlot()
		if ok {
			return halfClosed(c), nil
		}
		if oldest != nil {
			oldest.Close()
		}
		select {
		case <-l.connections.changes:
		case <-l.closed:
			c.Close()
			return nil, net.ErrClosed
		}
	}
}

func (l *boundedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}
