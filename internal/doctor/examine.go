package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/clickhouse"
)

// Installation is what is examined.
type Installation struct {
	Version string // of the program
	DataDir string // home of the embedded engine; "" where the server is not ours
	Remote  string // the database on a server that is not ours; "" for the embedded engine
	Redis   string // address of the store that servers share limits through; "" where there is none

	// Open returns the database as it is. close gives it back.
	Open func(context.Context) (db *clickhouse.Database, locks Locks, close func() error, err error)
	// Extracts is where serve leaves reports, in a directory for each account.
	Extracts string
	// CheckKey reports whether the key can be read that credentials are sealed with, where
	// one was named: no server starts without it.
	CheckKey func() error
	// CanOpen reports whether the credentials of a connection can be read.
	CanOpen func(adlens.Connection) error
	// RefusalOf returns why a feed or share link answers 404 until its account changes;
	// nil where it does not.
	RefusalOf func(context.Context, *clickhouse.Database, adlens.Account, auth.Record) (refusal, err error)

	Now      func() time.Time
	Deadline time.Duration // of a request
}

// Locks tell who is at work.
type Locks interface {
	Held(ctx context.Context, name string) (bool, error)
}

// Options narrow an examination.
type Options struct {
	Account string // "" for all
	Quick   bool   // leave out what reads every row
	// Added hears how many rows of facts are added up again.
	Added func(done, total uint64)
}

// examination is under way.
type examination struct {
	Installation
	Options
	ctx      context.Context
	findings []Finding

	db       *clickhouse.Database
	locks    Locks
	accounts []account
	// unreadable are the accounts that are damaged so that nothing else can be
	// said of them.
	unreadable map[string]error
	lost       map[string][]string             // what accounts lost of the directory
	counted    map[string]bool                 // tables that were counted for all accounts
	rowsOf     map[[2]string]map[uint32]uint64 // rows by generation, of an account and table
	isRead     map[[2]string]bool              // that all rows of an account in a table can be read
}

// Examine runs all checks that make sense after one another: where the engine
// does not start, nothing is reported of what it holds. The error is of the
// examination itself.
func Examine(ctx context.Context, in Installation, o Options) (findings []Finding, err error) {
	e := &examination{Installation: in, Options: o, ctx: ctx, counted: map[string]bool{}, rowsOf: map[[2]string]map[uint32]uint64{}, isRead: map[[2]string]bool{}, unreadable: map[string]error{}}
	if in.DataDir != "" && !e.checkHome() {
		return e.findings, ctx.Err()
	}
	leave, opened := e.openDatabase()
	if !opened {
		return e.findings, ctx.Err()
	}
	defer func() { err = errors.Join(err, leave()) }()
	if in.DataDir == "" {
		e.runCheck("requests", e.tryRequest)
	}
	if replicas := e.db.Audit.Replicas(ctx); len(replicas) > 0 {
		e.runCheck("replicas", func(c *checkup) (string, error) { return checkReplicas(c, replicas), nil })
	}
	if e.runCheck("identity", e.checkIdentity) && e.checkSchema() {
		e.runCheck("directory", e.checkDirectory)
		if !e.Quick {
			e.runCheck("bookkeeping", e.checkBookkeeping)
		}
		switch err := e.readAccounts(); {
		case e.ctx.Err() != nil:
			return e.findings, e.ctx.Err()
		case err != nil && adlens.KindOf(err) == adlens.Damaged: // which is a finding already
			return e.findings, nil
		case err != nil: // as where a shard or Keeper is away
			e.runCheck("accounts", func(*checkup) (string, error) { return "", err })
		case e.Account != "" && len(e.accounts)+len(e.unreadable)+len(e.lost[e.Account]) == 0:
			return e.findings, errNoAccount(e.Account)
		default:
			e.checkStored()
			e.checkOperations()
		}
	}
	e.runCheck("limits_store", e.limitsStore)
	return e.findings, ctx.Err()
}

// checkStored are the checks of what is held.
func (e *examination) checkStored() {
	e.runCheck("damaged_parts", e.damagedParts)
	e.runCheck("manifest", e.checkManifests)
	if !e.Quick {
		e.runCheck("rollups", e.checkRollups)
	}
	e.runCheck("garbage", e.checkGarbage)
	e.runCheck("dead_loads", e.deadLoads)
}

// checkOperations are the checks of what the operator has to look after.
func (e *examination) checkOperations() {
	e.runCheck("clock", e.checkClocks)
	e.runCheck("accounts", e.someAccount)
	e.runCheck("data_age", e.dataAge)
	e.runCheck("omissions", e.checkOmissions)
	e.runCheck("keys", e.checkKeys)
	e.runCheck("connection", e.checkConnections)
	e.runCheck("lists", e.checkLists)
	e.runCheck("refresh", e.checkRefreshes)
	e.runCheck("reports", e.checkReports)
	e.runCheck("rates", e.checkRates)
}

// runCheck runs one check. Where it has nothing to say against anything, its
// detail says what was looked at; an error is a finding like any other.
func (e *examination) runCheck(name string, run func(*checkup) (detail string, err error)) (sound bool) {
	if e.ctx.Err() != nil {
		return false
	}
	c := &checkup{name: name}
	detail, err := run(c)
	if e.ctx.Err() != nil {
		return false
	}
	if err != nil {
		c.addUnchecked(err)
	}
	if len(c.findings) == 0 {
		c.addFinding(OK, "", "%s", []any{detail})
	}
	e.findings = append(e.findings, c.findings...)
	return Worst(c.findings) != Failed
}

// forEach runs a check for each account. One that cannot be checked does not
// keep the others from it.
func (e *examination) forEach(c *checkup, run func(*checkup, account) error) {
	for _, a := range e.accounts {
		err := c.forAccount(a.ID, func(c *checkup) error {
			err := run(c, a)
			if err != nil && e.ctx.Err() == nil {
				c.addUnchecked(err)
			}
			return err
		})
		if err != nil && e.ctx.Err() != nil {
			return
		}
	}
}

// errNoAccount says that the account which was requested does not exist.
func errNoAccount(id string) error {
	return fmt.Errorf("account %q does not exist; adlens account list shows those that do", id)
}
