package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/clickhouse"
	"adlens/internal/clickhouse/cluster"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/connector"
	"adlens/internal/engine"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
)

// data is the database that a command works on.
type data struct {
	*clickhouse.Database
	locker connector.Locks
	engine *engine.Engine // nil for a server that is not ours
	remote *conn.Remote   // nil for ours
	// answering keeps figures of accounts and answers, where this process answers for
	// longer than one request.
	answering atomic.Pointer[answer.Service]
}

// openDatabase finds the database: the embedded engine of the data directory, started
// where it does not run, or the server that was named.
func (o *options) openDatabase(ctx context.Context) (*data, error) {
	if o.clickhouse != "" {
		return o.openRemote(ctx)
	}
	if err := o.requireNamed(); err != nil {
		return nil, err
	}
	e, err := engine.Open(ctx, o.dataDir)
	if err != nil {
		return nil, err
	}
	db, err := clickhouse.Open(ctx, conn.Embedded{Engine: e})
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &data{Database: db, locker: engine.Locks{DataDir: o.dataDir}, engine: e}, nil
}

// requireNamed makes sure that the flags name the data directory or a server.
func (o *options) requireNamed() error {
	if o.clickhouse == "" && (o.reader != "" || o.ca != "" || o.cluster != "") {
		return errors.New("--clickhouse-reader, --clickhouse-ca and --cluster belong to --clickhouse, which is not given")
	}
	if o.clickhouse == "" && o.dataDir == "" {
		return errors.New("--data-dir is empty; expected a directory")
	}
	return nil
}

// remoteServer is the server that was named.
func (o *options) remoteServer() (conn.Remote, error) {
	return conn.NewRemote(conn.RemoteConfig{Address: o.clickhouse, Reader: o.reader, CAFile: o.ca, DataDir: o.dataDir})
}

func (o *options) openRemote(ctx context.Context) (*data, error) {
	remote, err := o.remoteServer()
	if err != nil {
		return nil, err
	}
	db, err := o.connectDatabase(ctx, remote)
	if err != nil {
		return nil, remote.Explain(err)
	}
	return &data{Database: db, locker: cluster.Leases{Cluster: db.Cluster}, remote: &remote}, nil
}

// connectDatabase opens the database of a server, or of the cluster that it belongs to.
func (o *options) connectDatabase(ctx context.Context, remote conn.Remote) (*clickhouse.Database, error) {
	if o.cluster == "" {
		return clickhouse.Open(ctx, remote)
	}
	return clickhouse.OpenCluster(ctx, remote, o.cluster)
}

// Close gives the database back. An embedded engine that is not used any more is
// stopped cleanly.
func (d *data) Close() error {
	err := d.Database.Close()
	if d.engine != nil {
		err = errors.Join(err, d.engine.Close())
	}
	return err
}

// noteEngine says before something is written where the engine is of another version.
func (o *options) noteEngine(cmd *cobra.Command, d *data) {
	if d.engine == nil {
		return
	}
	if other := engine.FindOtherVersion(o.dataDir, version); other != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), other)
	}
}

// withDatabase runs a command on the database. Meanwhile an engine that freezes is
// replaced, as a server does: no statement waits for it without end.
func (o *options) withDatabase(ctx context.Context, run func(*data) error) error {
	return o.withUnwatchedDatabase(ctx, func(d *data) error {
		if d.engine == nil {
			return run(d)
		}
		ctx, stop := context.WithCancel(ctx)
		var watching sync.WaitGroup
		watching.Go(func() { d.engine.Watch(ctx, func(error) {}, func() {}) })
		defer watching.Wait()
		defer stop()
		return run(d)
	})
}

// withInspectedDatabase runs a command that answers about an account: as by a server,
// what is damaged is not answered.
func (o *options) withInspectedDatabase(ctx context.Context, account string, run func(*data) error) error {
	return o.withUnwatchedDatabase(ctx, func(d *data) error {
		inspector := d.newInspector(zap.NewNop())
		inspector.only = account
		ctx, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		inspector.watchEngine(ctx, &running)
		if err := inspector.inspectAtStart(ctx); err != nil {
			return err
		}
		running.Go(func() { inspector.keepInspecting(ctx) })
		return run(d)
	})
}

// withUnwatchedDatabase runs on the database what watches the engine itself.
func (o *options) withUnwatchedDatabase(ctx context.Context, run func(*data) error) (err error) {
	d, err := o.openDatabase(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	err = run(d)
	if d.remote != nil {
		err = d.remote.Explain(err)
	}
	return err
}

// requireDataDir makes sure that the data directory is there, for commands that only
// read: one that was misspelled is not made.
func (o *options) requireDataDir() error {
	if _, err := os.Stat(o.dataDir); o.clickhouse == "" && err != nil {
		return fmt.Errorf("--data-dir %s: %w; expected the directory that adlens serve uses", o.dataDir, err)
	}
	return nil
}

// requireAccount returns an account, and an error where it is not there.
func (d *data) requireAccount(ctx context.Context, account string) (adlens.Account, error) {
	known, found, err := d.Accounts.Account(ctx, account)
	if err == nil && !found {
		if err := d.requireNoRestore(ctx, account, false); err != nil {
			return known, err
		}
		err = fmt.Errorf("account %q does not exist; add it with: adlens account add %s --name NAME", account, account)
	}
	return known, err
}
