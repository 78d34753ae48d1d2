package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Of two servers of a data directory, the one that is left counts the calls of adlens mcp.
func TestTheServerThatIsLeftCountsTheOwnersCalls(t *testing.T) {
	o := &options{dataDir: t.TempDir()}
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	left, newer := listen(), listen()
	own, other := ownerOf(left.Addr(), "left", "", ""), ownerOf(newer.Addr(), "newer", "", "")
	claim := func(when string, want ownerFile) {
		t.Helper()
		if err := o.claimOwnerFile(own); err != nil {
			t.Fatal(err)
		}
		if owner, ok := o.readOwnerFile(); !ok || owner != want {
			t.Errorf("%s: the file has %v, expected %v", when, owner, want)
		}
	}
	write := func(f ownerFile) {
		t.Helper()
		if err := o.writeOwnerFile(f); err != nil {
			t.Fatal(err)
		}
	}
	write(other)
	claim("both run", other)
	o.removeOwnerFile("newer")
	claim("the newer one ended", own)
	write(other)
	newer.Close()
	claim("the newer one was killed", own)
	write(ownerFile{Address: own.Address, Token: "killed"})
	claim("one of the same address was killed", own)
	if owner := ownerOf(&net.TCPAddr{IP: net.IPv4zero, Port: 80}, "", "", ""); owner.Address != "http://127.0.0.1:80" {
		t.Errorf("the address is %s", owner.Address)
	}
}

// With --clickhouse, a command may use the data directory of a server whose database is
// another one.
func TestAServerOfAnotherDatabaseIsNotAsked(t *testing.T) {
	d, o := home(t)
	if out, err := run(o, "account", "add", "acme", "--name", "Acme"); err != nil {
		t.Fatal(out, err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(server.Close)
	for database, own := range map[string]bool{d.Cluster.Identity(): true, "another": false, "": false} {
		if err := o.writeOwnerFile(ownerOf(server.Listener.Addr(), "token", "https://served.example", database)); err != nil {
			t.Fatal(err)
		}
		if running, err := o.askServer(t.Context(), d, "acme"); err != nil || running != own {
			t.Errorf("a server of %q counts calls: %t, %v", database, running, err)
		}
		if out, err := run(o, "app", "invite", "--account", "acme"); err != nil || strings.Contains(out, "https://served.example/mcp") != own {
			t.Errorf("a server of %q: app invite says %s, %v", database, out, err)
		}
	}
}
