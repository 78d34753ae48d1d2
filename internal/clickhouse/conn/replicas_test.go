package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

func TestReplicasWaitForEachOther(t *testing.T) {
	t.Parallel()
	r, err := NewRemote(RemoteConfig{Address: "clickhouse://user:password@any:9000/adlens"})
	if err != nil {
		t.Fatal(err)
	}
	shard := r.withoutHosts()
	shard.addHost("one:9000")
	if shard.replicated || shard.writer.Settings["insert_quorum"] != nil {
		t.Errorf("a shard of one server is taken for replicas: %v", shard.writer.Settings)
	}
	shard.addHost("two:9000")
	for name, settings := range map[string]clickhouse.Settings{"reader": shard.reader.Settings, "writer": shard.writer.Settings} {
		if settings["select_sequential_consistency"] != 1 {
			t.Errorf("the %s may be answered by a replica that is behind: %v", name, settings)
		}
	}
	if s := shard.writer.Settings; s["insert_deduplicate"] != 1 || s["min_insert_block_size_rows"] != 1_000_000_000 || s["min_insert_block_size_bytes"] != 0 {
		t.Errorf("an insert that is repeated may be written twice: %v", s)
	}
	if s := shard.writer.Settings; s["insert_quorum"] != "auto" || s["insert_quorum_parallel"] != 0 || s["async_insert"] != 0 {
		t.Errorf("inserts return before most replicas have them: %v", s)
	}
	if all := shard.listReplicas(); len(all) != 2 || all[1].writer.Addr[0] != "two:9000" || len(all[1].writer.Addr) != 1 || !all[1].replicated {
		t.Errorf("the replicas one by one are %v", all)
	}
}

func TestSessionsTakeReplicasInTurn(t *testing.T) {
	t.Parallel()
	var d doors
	hosts := []string{"one", "two", "three"}
	for _, want := range [][]string{{"one", "two", "three"}, {"two", "three", "one"}, {"three", "one", "two"}, {"one", "two", "three"}} {
		if got := d.inTurn(hosts); !slices.Equal(got, want) || !slices.Equal(d.inTurn(hosts), want) {
			t.Errorf("a session begins with %v, expected %v", got, want)
		}
		d.pass()
	}
}

// A table of replicas refuses an insert while the quorum of another is pending: only then is
// it known that a part of it was not written yet, and its token tells of the rest.
func TestAnInsertIsRepeatedWhileAnotherIsPending(t *testing.T) {
	pending, other := &clickhouse.Exception{Code: codeUnsatisfiedQuorumForPreviousWrite}, &clickhouse.Exception{Code: 241}
	for _, c := range []struct {
		name     string
		answers  []error
		attempts int
		want     error
	}{
		{"pending twice", []error{pending, pending, nil}, 3, nil},
		{"another change of the table", []error{&clickhouse.Exception{Code: codeCannotAssignAlter}, nil}, 2, nil},
		{"at once", []error{nil}, 1, nil},
		{"another error", []error{other}, 1, other},
		{"pending, then another error", []error{pending, other}, 2, other},
	} {
		synctest.Test(t, func(t *testing.T) {
			var waiting turns
			attempts := 0
			err := waiting.writeInTurn(t.Context(), "INSERT INTO facts VALUES", func(context.Context) error {
				attempts++
				return c.answers[attempts-1]
			})
			if attempts != c.attempts || !errors.Is(err, c.want) {
				t.Errorf("%s: %d attempts, expected %d: %v", c.name, attempts, c.attempts, err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var waiting turns
		began := time.Now()
		err := waiting.writeInTurn(t.Context(), "INSERT INTO facts VALUES", func(context.Context) error { return pending })
		if took := time.Since(began); !errors.Is(err, pending) || took < quorumPatience || took > quorumPatience+time.Second {
			t.Errorf("always pending: %v after %s", err, took)
		}
	})
}

func TestInsertsIntoATableOfReplicasTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waiting turns
		goOn := make(chan bool)
		write := func(ctx context.Context, table string) chan error {
			ended := make(chan error, 1)
			go func() {
				ended <- waiting.writeInTurn(ctx, "INSERT INTO "+table+" SELECT 1", func(context.Context) error {
					<-goOn
					return nil
				})
			}()
			synctest.Wait()
			return ended
		}
		first := write(t.Context(), "facts")
		leaving, leave := context.WithCancel(t.Context())
		second, third := write(t.Context(), "facts"), write(leaving, "facts")
		other := write(t.Context(), "manifest")
		preparing := write(context.WithValue(t.Context(), preparer{}, &Server{}), "facts")
		leave()
		if err := <-third; !errors.Is(err, context.Canceled) {
			t.Errorf("an insert whose client left: %v", err)
		}
		for range 3 {
			goOn <- true
		}
		synctest.Wait()
		if len(first) != 1 || len(other) != 1 || len(preparing) != 1 || len(second) != 0 {
			t.Errorf("of two inserts into one table, one into another and one of who prepares the server, %d, %d, %d and %d ended", len(first), len(second), len(other), len(preparing))
		}
		goOn <- true
		if err := <-second; err != nil {
			t.Error(err)
		}
	})
}

func TestAStatementThatWasRefusedGoesToTheNextReplica(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		&clickhouse.Exception{Code: 242}: true, &clickhouse.Exception{Code: 289}: true, &clickhouse.Exception{Code: 60}: true, &clickhouse.Exception{Code: 164}: true, clickhouse.ErrConnectionClosed: true, &laggingReplica{io.EOF}: true, &net.OpError{Op: "dial", Err: io.EOF}: true,
		&clickhouse.Exception{Code: 241}: false, &clickhouse.Exception{Code: 319}: false, &net.OpError{Op: "read", Err: io.EOF}: false, io.EOF: false,
	} {
		if isUnwritten(fmt.Errorf("insert: %w", err)) != want {
			t.Errorf("%v: expected %v", err, want)
		}
	}
}

func TestAStatementCatchesUpWithItsTables(t *testing.T) {
	t.Parallel()
	c := &Session{server: &Server{}, caughtUp: caughtUp{with: map[string]uint64{}}}
	const facts, commits = "SELECT sum(clicks) FROM facts", "SELECT max(number) FROM commits"
	for _, step := range []struct {
		do            func()
		facts, behind bool
	}{
		{func() {}, true, true}, // a session begins behind
		{func() { c.CatchUp("commits") }, false, true},
		{func() { c.CatchUp("leases") }, false, false},
		{func() { c.CatchUp() }, true, true},
	} {
		step.do()
		for sql, want := range map[string]bool{facts: step.facts, commits: step.behind} {
			words, calls := c.listBehind(wordsOf(sql))
			if table := strings.Fields(sql)[3]; slices.Contains(words, table) != want {
				t.Errorf("after %d calls %q catches up with %q, expected of %s: %t", calls, sql, words, table, want)
			}
			c.caughtUp.note(words, calls+1)
			if again, _ := c.listBehind(wordsOf(sql)); len(again) > 0 {
				t.Errorf("%q catches up twice, with %q", sql, again)
			}
		}
	}
}
