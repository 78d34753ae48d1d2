package clickhouse

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"adlens"
	"adlens/internal/clickhouse/conn"

	"github.com/ClickHouse/clickhouse-go/v2"
)

func nothing(conn.Rows) error { return nil }

func TestExceptionsOfTheServerHaveTheirKinds(t *testing.T) {
	d := openShared(t)
	says := func(code int, text string) string {
		return fmt.Sprintf("SELECT throwIf(1, '%s', toInt16(%d)) SETTINGS allow_custom_error_code_in_throwif = 1", text, code)
	}
	thrown := func(code int) string { return says(code, "thrown") }
	const readBack = "While executing BufferingFromFileSource"
	for _, c := range []struct {
		sql  string
		want adlens.Kind
	}{
		{"SELECT groupArray(number) FROM numbers(100000000) SETTINGS max_memory_usage = 1000000", adlens.Overloaded},
		{"SELECT count() FROM numbers(1000000) SETTINGS max_rows_to_read = 10", adlens.Overloaded},
		{"SELECT sum(sleepEachRow(0.5)) FROM numbers(10) SETTINGS max_execution_time = 1, max_block_size = 1", adlens.QueryTimeout},
		{"SELECT * FROM no_such_table", adlens.Internal},
		{"SELECT no_such_column FROM accounts", adlens.Internal},
		{"SELEKT", adlens.Internal},
		{thrown(241), adlens.Overloaded}, {thrown(202), adlens.Overloaded}, {thrown(201), adlens.Overloaded}, {thrown(158), adlens.Overloaded},
		{thrown(191), adlens.Overloaded}, {thrown(307), adlens.Overloaded}, {thrown(396), adlens.Overloaded},
		{thrown(159), adlens.QueryTimeout}, {thrown(160), adlens.QueryTimeout}, {thrown(394), adlens.EngineUnavailable}, {thrown(395), adlens.Internal},
		{thrown(243), adlens.DiskFull}, {thrown(204), adlens.Internal}, {"SELECT throwIf(1, 'errno: 28, strerror: No space left on device')", adlens.DiskFull},
		{says(33, readBack), adlens.DiskFull}, {says(432, "While executing SourceFromNativeStream"), adlens.DiskFull}, {says(241, readBack), adlens.Overloaded},
		{says(33, "(while reading from part /x) "+readBack), adlens.Damaged},
		{thrown(242), adlens.EngineUnavailable}, {thrown(285), adlens.EngineUnavailable}, {thrown(286), adlens.EngineUnavailable},
		{thrown(289), adlens.EngineUnavailable}, {thrown(319), adlens.EngineUnavailable}, {thrown(999), adlens.EngineUnavailable},
	} {
		if err := d.Cluster.Read(t.Context(), c.sql, nil, nothing); err == nil || adlens.KindOf(err) != c.want {
			t.Errorf("%s: kind %s, expected %s: %v", c.sql, adlens.KindOf(err), c.want, err)
		}
	}
}

func TestTheCallersDeadlineAndDepartureHaveTheirKinds(t *testing.T) {
	d := openShared(t)
	if err := d.Cluster.Read(t.Context(), "SELECT 1", nil, nothing); err != nil {
		t.Fatal(err) // another test may have left it without a connection, which takes its time to come about
	}
	const slow = "SELECT sum(sleepEachRow(0.2)) FROM numbers(15) SETTINGS max_block_size = 1"
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := d.Cluster.Read(soon, slow, nil, nothing); adlens.KindOf(err) != adlens.QueryTimeout {
		t.Errorf("a deadline is %s: %v", adlens.KindOf(err), err)
	}
	leaving, leave := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, leave)
	if err := d.Cluster.Read(leaving, slow, nil, nothing); adlens.KindOf(err) != adlens.Cancelled {
		t.Errorf("a caller that went away is %s: %v", adlens.KindOf(err), err)
	}
}

// sought is a server that is looked for as long as anybody wants to know.
type sought struct{}

func (sought) Marks() conn.Marks { return nil }

func (sought) Target(ctx context.Context) (conn.Target, error) {
	<-ctx.Done()
	return conn.Target{}, ctx.Err()
}

func TestWhoLeavesWhileTheServerIsLookedForHasLeft(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(context.Context) (context.Context, context.CancelFunc)
		want adlens.Kind
	}{
		"left":     {context.WithCancel, adlens.Cancelled},
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, 0) }, adlens.EngineUnavailable},
	} {
		ctx, end := c.end(t.Context())
		end()
		if _, err := conn.NewServer(sought{}, conn.Checks{}).Connect(ctx); adlens.KindOf(err) != c.want {
			t.Errorf("%s: kind %s, expected %s: %v", name, adlens.KindOf(err), c.want, err)
		}
		if _, err := Open(ctx, sought{}); adlens.KindOf(err) != c.want {
			t.Errorf("%s, opening: kind %s, expected %s: %v", name, adlens.KindOf(err), c.want, err)
		}
	}
}

// elsewhere is a server's address on which nothing listens.
type elsewhere struct{ options *clickhouse.Options }

func (e elsewhere) Marks() conn.Marks { return nil }

func (e elsewhere) Target(context.Context) (conn.Target, error) {
	return conn.Target{Reader: e.options, Writer: e.options}, nil
}

func TestARefusedConnectionMeansThatTheEngineIsUnavailable(t *testing.T) {
	const dead = "127.0.0.1:1" // no port that the system may give to another program meanwhile
	for _, protocol := range []clickhouse.Protocol{clickhouse.HTTP, clickhouse.Native} {
		_, err := Open(t.Context(), elsewhere{&clickhouse.Options{Protocol: protocol, Addr: []string{dead}, DialTimeout: time.Second}})
		if adlens.KindOf(err) != adlens.EngineUnavailable {
			t.Errorf("over %s, a refused connection is %s: %v", protocol, adlens.KindOf(err), err)
		}
	}
}

func TestAReadIsRepeatedOnceWhenTheEngineDies(t *testing.T) {
	d := openShared(t)
	account := adlens.Account{ID: t.Name(), Name: "Lamps", Subscription: "active", CreatedAt: time.Now()}
	if err := d.Accounts.PutAccount(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		before, err := d.engine.Endpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		got, found, err := d.Accounts.Account(t.Context(), t.Name())
		if err != nil || !found || got.Name != "Lamps" {
			t.Fatalf("after the engine died: %v, %v, %v", got, found, err)
		}
		if after, err := d.engine.Endpoint(t.Context()); err != nil || after.PID == before.PID {
			t.Errorf("no engine died: %v", err)
		}
	}
}
