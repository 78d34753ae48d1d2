package doctor

import (
	"errors"
	"fmt"
	"strings"

	"adlens"
	"adlens/internal/clickhouse/audit"
	"adlens/internal/clickhouse/schema"
	"adlens/internal/engine"
)

// openDatabase opens the database. leave gives it back.
func (e *examination) openDatabase() (leave func() error, opened bool) {
	opened = e.runCheck("engine", func(c *checkup) (string, error) {
		how := "running already"
		if e.DataDir != "" {
			if running, err := engine.Runs(e.DataDir); err != nil {
				return "", err
			} else if !running {
				how = "started for this examination"
			}
		}
		db, locks, closing, err := e.Open(e.ctx)
		if err != nil {
			c.addFailure(e.adviceToOpen(err), "it does not start, and what it holds was not examined: %v", err)
			return "", nil
		}
		e.db, e.locks, leave = db, locks, closing
		version, err := db.Audit.Version(e.ctx)
		if err != nil {
			if wrong := e.db.Cluster.Recognize(e.ctx); len(wrong) > 0 { // it was emptied
				c.addFailure(putBack, "%v", wrong[0])
				return "", nil
			}
			if !e.isUnfinished() {
				c.addFailure(e.adviceToOpen(err), "it does not answer: %v", err)
				return "", nil
			}
			version = "(no database yet)"
		}
		if e.DataDir == "" {
			return "ClickHouse " + version, e.checkRights(c)
		}
		if other := engine.FindOtherVersion(e.DataDir, e.Version); other != nil {
			c.addWarning(other.Remedy(), "%s", other.Problem())
		}
		return fmt.Sprintf("ClickHouse %s, %s", version, how), nil
	})
	if !opened && leave != nil {
		if err := leave(); err != nil {
			e.findings[len(e.findings)-1].Detail += "; " + replaceControls(err.Error())
		}
	}
	return leave, opened
}

// isUnfinished reports whether the engine answers and has no database yet: its first command
// was ended before it made that, and the next one does.
func (e *examination) isUnfinished() bool {
	if e.DataDir == "" {
		return false
	}
	state, err := e.db.Audit.Schema(e.ctx)
	return err == nil && state.Applied == 0
}

func (e *examination) adviceToOpen(err error) string {
	var wrong *engine.LibraryError
	switch {
	case e.DataDir == "":
		return "check the address, user and password of --clickhouse, and that the server runs"
	case errors.As(err, &wrong):
		return wrong.Remedy()
	}
	return "read engine/engine.log in the data directory"
}

// checkRights holds what the users of a server may do against what is needed.
func (e *examination) checkRights(c *checkup) error {
	missing, err := e.db.Audit.MissingRights(e.ctx, e.Remote)
	if err != nil {
		c.addWarning("use a newer server, or try: adlens account list", "the server cannot say what its user may do: %v", err)
		return nil
	}
	if len(missing) > 0 {
		c.addFailure(fmt.Sprintf("GRANT %s ON %s.* TO the user", strings.Join(missing, ", "), e.Remote), "the user may not %s in %s", strings.Join(missing, ", "), e.Remote)
	}
	return nil
}

// tryRequest makes sure that a request's statements are answered.
func (e *examination) tryRequest(c *checkup) (string, error) {
	err := e.db.Audit.TryReader(e.ctx, e.Deadline)
	switch kind := adlens.KindOf(err); {
	case err == nil:
	case kind == adlens.Overloaded, kind == adlens.QueryTimeout:
		c.addWarning("see what the server is doing, and examine again", "a request is not answered: %v", err)
	default:
		c.addFailure("correct the reader's password, rights or profile: a constraint on max_execution_time has to allow 35 seconds", "requests are not answered: %v", err)
	}
	return "a statement of a request is answered", nil
}

// checkReplicas makes sure that each replica of a shard answers, and has all tables.
func checkReplicas(c *checkup, all []audit.Replica) string {
	for _, r := range all {
		switch {
		case r.Err != nil:
			c.addWarning("start it: requests go on at the others, and loads as long as more than half of a shard's replicas are there", "shard %d: %s: %v", r.Shard, r.Address, r.Err)
		case !r.IsReady():
			c.addWarning("any command that is not for reading makes its tables, and says why where it refuses them, such as: adlens shards", "shard %d: %s has step %d of %d of the tables, and is not used", r.Shard, r.Address, r.Schema.Applied, r.Schema.Newest)
		}
	}
	return fmt.Sprintf("%s with all tables", adlens.FormatCount(len(all), "replica"))
}

const putBack = "put the right database back, or the file where one is named"

// checkIdentity makes sure that no database was emptied, or put in another's place.
func (e *examination) checkIdentity(c *checkup) (string, error) {
	for _, err := range e.db.Cluster.Recognize(e.ctx) {
		c.addFailure(putBack, "%v", err)
	}
	return "the databases are those that they were", nil
}

// checkSchema reports whether the tables are as the other checks need them.
func (e *examination) checkSchema() (current bool) {
	const update = "any other command brings it up to date, such as: adlens account list"
	var state schema.State
	sound := e.runCheck("schema", func(c *checkup) (_ string, err error) {
		state, err = e.db.Audit.Schema(e.ctx)
		switch {
		case err != nil:
		case state.Applied > state.Newest:
			c.addFailure("use that version or a later one", "the data was written by a newer adlens (step %d; this one knows %d)", state.Applied, state.Newest)
		case state.Applied == 0:
			c.addWarning(update, "there are no tables yet")
		case state.Applied < state.Newest:
			c.addWarning(update, "step %d of %d; what is held was not examined", state.Applied, state.Newest)
		case len(state.Missing) > 0:
			c.addFailure("restore a backup, or load the extracts into a new data directory", "these tables are gone: %s", strings.Join(state.Missing, ", "))
		}
		return fmt.Sprintf("all %d steps", state.Newest), err
	})
	return sound && state.Applied == state.Newest
}

func (e *examination) damagedParts(c *checkup) (string, error) {
	parts, err := e.db.Inspector.DamagedParts(e.ctx)
	if len(parts) > 0 {
		c.addWarning("manifest and rollups below say whether something is missing; if not, these parts held nothing that is shown",
			"the engine set %s aside when it started: %s", adlens.FormatCount(len(parts), "damaged part"), joinFew(parts))
	}
	return "none", err
}
