package conn

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"adlens"
)

// shard is a server whose replicas are at addresses.
func shard(t *testing.T, replicas ...net.Addr) *Server {
	t.Helper()
	return checkedShard(t, Checks{Guard: &watcher{}}, replicas...)
}

func checkedShard(t *testing.T, checks Checks, replicas ...net.Addr) *Server {
	t.Helper()
	address := "http://writer:secret@" + replicas[0].String()
	for _, other := range replicas[1:] {
		address += "," + other.String()
	}
	source, err := NewRemote(RemoteConfig{Address: address + "/adlens"})
	if err != nil {
		t.Fatal(err)
	}
	source.replicated = len(replicas) > 1
	server := NewServer(source, checks)
	t.Cleanup(func() { server.Close() })
	return server
}

// gone is the address of a server that takes connections and never says a word, as one whose
// process stands still.
func gone(t *testing.T) (address net.Addr, knocks func() int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []net.Conn
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			all = append(all, c)
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range all {
			c.Close()
		}
	})
	return listener.Addr(), func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(all)
	}
}

// Its accounts are told at once, but for the first ones.
func TestAServerWhoseMachineIsGoneIsLookedForOnceInAWhile(t *testing.T) {
	t.Parallel()
	first, _ := gone(t)
	second, knocks := gone(t)
	for name, server := range map[string]*Server{"a server": shard(t, second), "a shard of replicas": shard(t, first, second)} {
		at := server.source.(Remote)
		at.reader.DialTimeout, at.writer.DialTimeout = longSearch+longSearch/5, longSearch+longSearch/5
		read := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return server.Read(ctx, "SELECT number", nil, ScanInto(new(int64)))
		}
		errs := make(chan error)
		for range 8 {
			go func() { errs <- read() }()
		}
		for range cap(errs) + 8 {
			if err := <-errs; adlens.KindOf(err) != adlens.EngineUnavailable {
				t.Errorf("%s: %v", name, err)
			}
		}
		server.absence.mu.Lock()
		server.absence.until = time.Now().Add(time.Hour)
		server.absence.mu.Unlock()
		before := knocks()
		if err := read(); adlens.KindOf(err) != adlens.EngineUnavailable || knocks() != before {
			t.Errorf("%s: who comes later knocks %d times: %v", name, knocks()-before, err)
		}
	}
}

// The others need not wait for it, wherever it stands.
func TestAReplicaWhoseMachineIsGoneIsPassed(t *testing.T) {
	t.Parallel()
	away, _ := gone(t)
	one, other := newStarted(t), newStarted(t)
	for _, started := range []*startedServer{one, other} {
		started.number.Store(7)
	}
	for _, replicas := range [][]net.Addr{{away, one.Listener.Addr()}, {one.Listener.Addr(), away}, {one.Listener.Addr(), away, other.Listener.Addr()}} {
		server := shard(t, replicas...)
		ctx, cancel := context.WithTimeout(t.Context(), DialPatience-time.Second)
		var got int64
		if err := server.Read(ctx, "SELECT number", nil, ScanInto(&got)); err != nil || got != 7 {
			t.Errorf("replicas %v: it reads %d: %v", replicas, got, err)
		}
		cancel()
	}
}

// A server that stands still breaks no connection: later statements would wait for it too.
func TestASessionIsGivenUpWhoseServerStandsStill(t *testing.T) {
	t.Parallel()
	started := newStarted(t)
	server := shard(t, started.Listener.Addr())
	c, err := server.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	late := func() {
		ended, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		if err := c.handleError(ended, context.DeadlineExceeded); adlens.KindOf(err) != adlens.QueryTimeout {
			t.Errorf("a statement whose deadline passed: %v", err)
		}
		for c.suspected.Load() {
			time.Sleep(time.Millisecond)
		}
	}
	if late(); server.currentSession() != c {
		t.Error("a server that answers loses its session")
	}
	address, _ := gone(t)
	c.target.Writer.Addr, c.target.Writer.DialTimeout = []string{address.String()}, 10*time.Millisecond
	if late(); server.currentSession() != nil {
		t.Error("a server that stands still keeps its session")
	}
}

// The error of a short search is for its caller alone, and one that its caller gave up says nothing.
func TestOnlyALongSearchThatFailedIsKept(t *testing.T) {
	t.Parallel()
	address, _ := gone(t)
	away := &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("away")}
	left, leave := context.WithCancel(t.Context())
	leave()
	for name, c := range map[string]struct {
		ctx  context.Context
		took time.Duration
		err  error
		want error
	}{
		"long":      {t.Context(), longSearch, away, away},
		"short":     {t.Context(), 0, away, nil},
		"given up":  {left, longSearch, away, nil},
		"outdated":  {t.Context(), longSearch, ErrOutdated, nil},
		"it is not": {t.Context(), longSearch, Refusal("another one"), nil},
	} {
		server := shard(t, address)
		server.noteAbsence(c.ctx, time.Now().Add(-c.took), c.err)
		if err := server.absence.read(); err != c.want {
			t.Errorf("%s: kept is %v, expected %v", name, err, c.want)
		}
	}
}

// One that is away, or refuses, is for others to tell of; that none can is no answer of theirs.
func TestWhatIsDoneAtReplicasIsDoneAtThoseThatCan(t *testing.T) {
	t.Parallel()
	server := shard(t, newStarted(t).Listener.Addr(), newStarted(t).Listener.Addr())
	away, full := &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("away")}, &adlens.Error{Kind: adlens.DiskFull, Err: errors.New("full")}
	for _, c := range []struct {
		errs []error
		want error
	}{{[]error{nil, nil}, nil}, {[]error{away, nil}, nil}, {[]error{nil, away}, nil}, {[]error{away, away}, away}, {[]error{away, full}, full}, {[]error{full, nil}, nil}} {
		done := 0
		err := server.AtReplicas(func(at *Server) error {
			done++
			if at.countReplicas() != 1 {
				t.Errorf("it is done at %s", at.Address())
			}
			return c.errs[done-1]
		})
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || done != len(c.errs) {
			t.Errorf("%v: done at %d, and the error is %v, expected %v", c.errs, done, err, c.want)
		}
	}
}
