package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"syscall"
	"testing"

	"adlens"
	"adlens/internal/commits"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// A command says around the cause what became of its work, and what to do.
func TestAnExplanationKeepsWhatACommandSaysOfItsOutcome(t *testing.T) {
	remote, err := NewRemote(RemoteConfig{Address: "clickhouse://u:p@host:9000"})
	if err != nil {
		t.Fatal(err)
	}
	away := &adlens.Error{Kind: adlens.EngineUnavailable, Err: fmt.Errorf("readData: %w", io.EOF)}
	full := &adlens.Error{Kind: adlens.DiskFull, Err: &clickhouse.Exception{Code: 243, Message: "no space"}}
	unknown := &adlens.Error{Kind: adlens.EngineUnavailable, Err: fmt.Errorf("%w: %w", commits.ErrUnknown, away)}
	stopped := &adlens.Error{Kind: adlens.Cancelled, Err: &url.Error{Op: "Post", URL: "https://host:8443/", Err: context.Canceled}}
	const server, gone = "the ClickHouse server host:9000", "went away while it was asked: is it being restarted? Try again"
	for _, c := range []struct {
		err  error
		want string
	}{
		{away, server + " " + gone},
		{full, server + " refuses: no space (code 243)"},
		{&adlens.Error{Kind: adlens.Internal, Err: &clickhouse.Exception{Code: codeReadonly}}, server + ` lets user "u" set nothing at all: ` +
			"give the reader readonly = 2 instead of 1, and the writer none; or it is a replica whose session with Keeper has ended: see that it reaches Keeper"},
		{&adlens.Error{Kind: adlens.EngineUnavailable, Err: &clickhouse.Exception{Code: codeTableIsReadOnly}}, server + " is a replica whose session with Keeper has ended: see that Keeper runs, and that the server reaches it"},
		{&adlens.Error{Kind: adlens.EngineUnavailable, Err: &clickhouse.Exception{Code: codeSettingConstraintViolation, Message: "Setting max_execution_time shouldn't be greater than 30."}}, server +
			` does not let user "u" have a setting that a statement needs: Setting max_execution_time shouldn't be greater than 30. Loosen that constraint in its profile; max_execution_time has to be allowed up to 35 seconds, and without bound for loads`},
		{&adlens.Error{Kind: adlens.Internal, Err: &ShardError{2, "two:9000", &adlens.Error{Kind: adlens.Internal, Err: &clickhouse.Exception{Code: codeReplicaAlreadyExists}}}}, "shard 2 of the cluster, two:9000, " +
			"lacks tables that Keeper has of a replica of its name: run SYSTEM DROP REPLICA with that name on another replica of the shard, or give this one another name in its <macros>"},
		{&adlens.Error{Kind: adlens.DiskFull, Err: &ShardError{2, "two:9000, three:9000", &adlens.Error{Kind: adlens.DiskFull, Err: &ReplicaError{"three:9000", full.Err}}}}, "shard 2 of the cluster, three:9000, refuses: no space (code 243)"},
		{&adlens.Error{Kind: adlens.EngineUnavailable, Err: &stranger{fmt.Errorf("dial: %w", syscall.EHOSTUNREACH)}}, server + " cannot be reached: there is no route to its host. Is that running, and is the host right?"},
		{fmt.Errorf("the disk is full: free some space (%w)", full), "the disk is full: free some space (" + server + " refuses: no space (code 243))"},
		{fmt.Errorf("%w; what was there is unharmed", unknown), commits.ErrUnknown.Error() + ": " + server + " " + gone + "; what was there is unharmed"},
		{&adlens.Error{Kind: adlens.EngineUnavailable, Err: &ShardError{2, "two:9000", away}}, "shard 2 of the cluster, two:9000, " + gone},
		{fmt.Errorf("key A stays valid: %w", &ShardError{2, "two:9000", unknown}), "key A stays valid: shard 2: " + commits.ErrUnknown.Error() + ": shard 2 of the cluster, two:9000, " + gone},
		{stopped, stopped.Error()},
		{hiding{away}, "key A stays valid: " + server + " " + gone},
	} {
		got := remote.Explain(c.err)
		if got.Error() != c.want {
			t.Errorf("%v is explained as %q, expected %q", c.err, got, c.want)
		}
		for _, cause := range []error{commits.ErrUnknown, context.Canceled, io.EOF} {
			if errors.Is(got, cause) != errors.Is(c.err, cause) {
				t.Errorf("%v: that it is %q is lost", c.err, cause)
			}
		}
		if adlens.KindOf(got) != adlens.KindOf(c.err) {
			t.Errorf("%v is of kind %s, expected %s", c.err, adlens.KindOf(got), adlens.KindOf(c.err))
		}
	}
}

// hiding is an error that does not repeat the words of its cause.
type hiding struct{ err error }

func (hiding) Error() string { return "key A stays valid" }

func (h hiding) Unwrap() error { return h.err }
