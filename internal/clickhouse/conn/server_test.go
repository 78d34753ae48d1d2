package conn

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// awaySource is a server that is found to be away after a while.
type awaySource struct {
	after time.Duration
	looks int
}

func (*awaySource) Marks() Marks { return nil }

func (a *awaySource) Target(context.Context) (Target, error) {
	a.looks++
	time.Sleep(a.after)
	return Target{}, errors.New("away")
}

// An account may have moved since its statement came, and be deleted here.
func TestAStatementIsNotBegunOnceMoreLongAfterItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[time.Duration]int{time.Second: 2, repeatWithin: 1} {
			source := &awaySource{after: after}
			err := NewServer(source, Checks{}).Read(t.Context(), "SELECT 1", nil, nil)
			if adlens.KindOf(err) != adlens.EngineUnavailable || source.looks != want {
				t.Errorf("a server that is away after %s was looked for %d times, expected %d: %v", after, source.looks, want, err)
			}
		}
	})
}

// fewRows are some rows, none of which has a value.
type fewRows struct {
	Rows
	left int
}

func (f *fewRows) Next() bool {
	f.left--
	return f.left >= 0
}

// A replica sends the head of an answer before it computes the first row. One that goes
// away then has given nothing, and the next one is asked; after a row it is not.
func TestAReadGoesOnAtTheNextReplicaUntilItsFirstRow(t *testing.T) {
	t.Parallel()
	for rows, wantUses := range map[int]int{0: 2, 1: 1} {
		server := shard(t, newStarted(t).Listener.Addr(), newStarted(t).Listener.Addr())
		uses := 0
		_ = server.read(t.Context(), EachRow(func(Scan) error { return nil }), func(_ context.Context, c *Session, read func(Rows) error) error {
			uses++
			if err := read(&fewRows{left: rows}); err != nil {
				t.Error(err)
			}
			return &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("away")}
		})
		if uses != wantUses {
			t.Errorf("after %d rows, %d replicas were asked, expected %d", rows, uses, wantUses)
		}
	}
}

// twiceReader begins a statement once more, as a server does that went away in the middle.
type twiceReader struct{ Reader }

func (twiceReader) Read(_ context.Context, _ string, _ Params, read func(Rows) error) error {
	if err := read(&fewRows{left: 2}); err != nil {
		return err
	}
	return read(&fewRows{left: 3})
}

func TestRowsOfAReadThatWasBegunOnceMoreAreCollectedOnce(t *testing.T) {
	t.Parallel()
	n := 0
	all, err := Collect(t.Context(), twiceReader{}, "SELECT 1", nil, func(Scan) (int, error) {
		n++
		return n, nil
	})
	if err != nil || fmt.Sprint(all) != "[3 4 5]" {
		t.Errorf("collected are %v: %v", all, err)
	}
}

// An operator who ends one statement ends no other: all would have to find the server once
// more.
func TestAStatementThatWasEndedCostsNoSession(t *testing.T) {
	t.Parallel()
	for code, stays := range map[int32]bool{394: true, codeUnsatisfiedQuorumForPreviousWrite: true, 236: false} {
		silent, c := connectSilent(t)
		c.server.handleError(t.Context(), c, &clickhouse.Exception{Code: code, Message: "Query was cancelled"})
		if is := c.server.currentSession() == c; is != stays {
			t.Errorf("after code %d the session with %s stays: %t", code, silent.address, is)
		}
	}
}

// A session may outlive its tables: the database was dropped, or another one put in its place.
func TestASessionWhoseTablesAreGoneIsVerified(t *testing.T) {
	t.Parallel()
	for name, ctx := range map[string]context.Context{"a statement": t.Context(), "the look itself": context.WithValue(t.Context(), verifying{}, true)} {
		_, c := connectSilent(t)
		c.server.checks.Verify = func(context.Context, *Session) error { return Refusal("it is another one") }
		err := c.server.handleError(ctx, c, &clickhouse.Exception{Code: codeUnknownTable, Message: "Unknown table"})
		if looks := name == "the look itself"; IsRefusal(err) == looks || (c.server.currentSession() == c) != looks {
			t.Errorf("%s: %v; the session stays: %t", name, err, c.server.currentSession() == c)
		}
	}
}

// alarmed is a guard that counts alarms.
type alarmed struct {
	watcher
	alarms int
}

func (a *alarmed) Alarm(error) { a.alarms++ }

// Who looks for damage says what it found; all else that meets some raises the alarm.
func TestDamageRaisesTheAlarmUnlessItIsLookedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ctx  context.Context
		want int
	}{
		"a request":                   {t.Context(), 1},
		"an inspection":               {Inspecting(t.Context()), 0},
		"an inspection that is to be": {Watching(Inspecting(t.Context())), 1},
	} {
		_, session := connectSilent(t)
		heard := &alarmed{}
		session.server.checks.Guard = heard
		err := session.server.handleError(c.ctx, session, &clickhouse.Exception{Code: codeChecksumDoesntMatch, Message: "Checksum doesn't match"})
		if adlens.KindOf(err) != adlens.Damaged || heard.alarms != c.want {
			t.Errorf("%s: %d alarms, expected %d: %v", name, heard.alarms, c.want, err)
		}
	}
}
