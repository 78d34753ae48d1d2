package conn

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"adlens/internal/engine"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// An engine waits for its clients' connections when it is told to stop, so none
// may stay open that is no longer used.
func TestARefusedRequestLeavesNoConnection(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Code: 81. DB::Exception: Database adlens does not exist. (UNKNOWN_DATABASE)", http.StatusNotFound)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	user, err := clickhouse.Open(embeddedOptions(engine.Endpoint{Address: server.Listener.Addr().String()}, "reader", "", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	if err := user.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Fatal("it was not refused")
	}
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("the connection is open")
	}
}
