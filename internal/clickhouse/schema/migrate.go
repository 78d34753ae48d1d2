// Package schema brings the tables of a server up to date, and says which rights
// its users need for that.
package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	steps "adlens/schema"
)

const createMigrations = `CREATE TABLE IF NOT EXISTS migrations (
    number UInt32,
    name String,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree
ORDER BY number
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`

// Migrate brings the schema up to date. Every statement may run twice, so two
// processes that do this at once do no harm, and one that was killed in the
// middle is simply followed by another.
func Migrate(ctx context.Context, s *conn.Server) error {
	all, err := steps.Migrations()
	if err != nil {
		return err
	}
	has, applied, err := readProgress(ctx, s)
	if s.IsReplicated() && (conn.IsUnknown(err) || err == nil && int(applied) < len(all)) {
		return &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("a replica that was away has not got its tables yet: try again")}
	}
	if conn.IsUnknown(err) {
		return migrateNew(ctx, s, all)
	}
	if err == nil {
		err = compareVersion(has, oldest)
	}
	if err != nil {
		return err
	}
	return applyFrom(ctx, s, all, applied)
}

// readProgress reads, in the one statement that an open database costs, a server's
// version and the last step that was applied.
func readProgress(ctx context.Context, s *conn.Server) (has string, applied uint32, err error) {
	err = s.Read(ctx, "SELECT version(), max(number) FROM migrations", nil, conn.ScanInto(&has, &applied))
	return has, applied, err
}

// migrateNew makes the database and its table of steps, and applies all.
func migrateNew(ctx context.Context, s *conn.Server, all []steps.Migration) error {
	if err := createSteps(ctx, s); err != nil {
		return err
	}
	applied, err := readApplied(ctx, s) // another process may have been first
	if err != nil {
		return err
	}
	return applyFrom(ctx, s, all, applied)
}

// createSteps makes the database and its table of steps.
func createSteps(ctx context.Context, s *conn.Server) error {
	if err := s.CreateDatabase(ctx); err != nil {
		return err
	}
	if err := requireVersion(ctx, s); err != nil {
		return err
	}
	return s.Exec(ctx, createMigrations, nil)
}

// applyFrom applies the steps after those that were applied.
func applyFrom(ctx context.Context, s *conn.Server, all []steps.Migration, applied uint32) error {
	if err := requireKnown(all, applied); err != nil {
		return err
	}
	if int(applied) == len(all) {
		return nil
	}
	return applySteps(ctx, s, []*conn.Server{s}, all[applied:])
}

func requireKnown(all []steps.Migration, applied uint32) error {
	if newest := all[len(all)-1].Number; applied > newest {
		return fmt.Errorf("the data was written by a newer adlens (schema %d; this one knows %d): use that version or a later one", applied, newest)
	}
	return nil
}

// applySteps takes steps at all replicas of a server, or at itself: each makes the tables and
// takes their settings, and the rest is done once and comes to all, who have the tables for it.
// Older rows are sealed before the last step is noted: after that no step is taken any more.
func applySteps(ctx context.Context, s *conn.Server, replicas []*conn.Server, lacks []steps.Migration) error {
	for i, step := range lacks {
		for _, statement := range step.Statements {
			at := []*conn.Server{s}
			if isLocal.MatchString(statement) {
				at = replicas
			}
			if s.IsReplicated() {
				statement = replicate(statement)
			}
			for _, replica := range at {
				if err := replica.Exec(ctx, statement, nil); err != nil {
					return atReplica(replica, fmt.Errorf("schema/%s: %w", step.Name, err))
				}
			}
		}
		if i == len(lacks)-1 {
			if err := directory.SealAll(ctx, s); err != nil {
				return err
			}
		}
		for _, replica := range replicas {
			if err := noteStep(ctx, replica, step); err != nil {
				return atReplica(replica, fmt.Errorf("schema/%s: %w", step.Name, err))
			}
		}
	}
	return nil
}

// isLocal matches statements that ClickHouse does not replicate.
var isLocal = regexp.MustCompile(`(?m)^CREATE TABLE|^ALTER TABLE \w+ MODIFY SETTING`)

func noteStep(ctx context.Context, s *conn.Server, step steps.Migration) error {
	return s.Exec(ctx, "INSERT INTO migrations (number, name) SELECT {number:UInt32}, {name:String}",
		conn.Params{"number": fmt.Sprint(step.Number), "name": step.Name})
}

// TakeOver runs the statements by which the step that brought commits takes over
// what was written before it. An account that has a commit is passed over, but for the
// number of one that closes it for a restore.
func TakeOver(ctx context.Context, s *conn.Server, closing uint32) error {
	all, err := steps.Migrations()
	if err != nil {
		return err
	}
	for _, statement := range all[commitsStep-1].Statements {
		if insertion.MatchString(statement) {
			loads := strings.ReplaceAll(statement, takenOver, takenOver+" WHERE number != {closed:UInt32}")
			if err := s.Exec(ctx, loads, conn.Params{"closed": conn.Number(closing)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// takenOver selects, in that step, the accounts that are passed over.
const takenOver = "SELECT account_id FROM commits"

// commitsStep is the step of the schema that brought commits.
const commitsStep = 18

var insertion = regexp.MustCompile(`(?m)^INSERT INTO`)

// CreateTable makes a table, on each replica where a server has several. One that is away
// gets it from the caller's next statement.
func CreateTable(ctx context.Context, s *conn.Server, statement string) error {
	if s.IsReplicated() {
		statement = replicate(statement)
	}
	var refused error
	err := s.AtReplicas(func(at *conn.Server) error {
		err := at.Exec(ctx, statement, nil)
		if err != nil && !conn.IsAway(ctx, err) {
			refused = errors.Join(refused, err)
		}
		return err
	})
	return cmp.Or(refused, err)
}

var engines = regexp.MustCompile(`ENGINE = (\w*MergeTree)(?:\(([^)]*)\))?`)

// replicate makes a table's statement one of a table whose rows come to all
// replicas of the shard, by the macros that their configurations have. A part of which
// everything was deleted stays: where it was the newest of its partition, ClickHouse would
// answer no consistent read of the table any more.
func replicate(statement string) string {
	if !engines.MatchString(statement) {
		return statement
	}
	statement = engines.ReplaceAllStringFunc(statement, func(engine string) string {
		parts := engines.FindStringSubmatch(engine)
		arguments := slices.DeleteFunc([]string{`'/clickhouse/tables/{shard}/{database}/{table}'`, `'{replica}'`, parts[2]}, func(a string) bool { return a == "" })
		return "ENGINE = Replicated" + parts[1] + "(" + strings.Join(arguments, ", ") + ")"
	})
	if !settings.MatchString(statement) {
		return statement + "\nSETTINGS remove_empty_parts = 0"
	}
	return settings.ReplaceAllString(statement, "${0}remove_empty_parts = 0, ")
}

var settings = regexp.MustCompile(`(?m)^SETTINGS `)

// MigrateReplicas brings the schema of each replica of a shard that has several up to date.
// Each notes its own steps. One that lacks some, or is new, gets the tables that another has. A
// replica that is away or refuses them follows later, unless there are steps that none has taken
// yet: until then its steps keep it from being used. Where all lack everything, recognize has
// the shard refused before anything is made there; warn hears of a replica that is passed over.
func MigrateReplicas(ctx context.Context, s *conn.Server, recognize func(context.Context) error, warn func(error)) (err error) {
	all, err := steps.Migrations()
	if err != nil {
		return err
	}
	var there []*conn.Server
	var applied []uint32
	var lacking error // of a replica that is away or refuses
	for _, replica := range s.Replicas() {
		defer func() { err = errors.Join(err, replica.Close()) }()
		has, err := readSteps(ctx, replica)
		var old *conn.OldServer // may have all steps, and be used
		switch {
		case err != nil && (ctx.Err() != nil || errors.As(err, &old)):
			return atReplica(replica, err)
		case err != nil && (lacking == nil || !conn.IsAway(ctx, err)):
			lacking = atReplica(replica, err)
		case err == nil:
			there, applied = append(there, replica), append(applied, has)
		}
	}
	if len(there) == 0 {
		return lacking
	}
	most := slices.Max(applied)
	if err := requireKnown(all, most); err != nil {
		return err
	}
	if most == 0 && lacking == nil {
		return makeFirst(ctx, s, there, all, recognize)
	}
	from := there[slices.Index(applied, most)]
	for i, replica := range there {
		if applied[i] < most {
			if err := follow(ctx, replica, from, all[applied[i]:most]); err != nil {
				lacking = atReplica(replica, err)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return cmp.Or(lacking, err)
	}
	if int(most) == len(all) {
		warn(lacking)
		return nil
	}
	if lacking != nil {
		return lacking
	}
	return applySteps(ctx, s, there, all[most:])
}

// makeFirst makes the tables of a shard whose replicas have none. Where Keeper has them of
// other servers, the shard alone is refused.
func makeFirst(ctx context.Context, s *conn.Server, replicas []*conn.Server, all []steps.Migration, recognize func(context.Context) error) error {
	if err := recognize(ctx); err != nil {
		return err
	}
	for _, replica := range replicas {
		if err := createSteps(ctx, replica); err != nil {
			return atReplica(replica, err)
		}
	}
	err := applySteps(ctx, s, replicas, all)
	if conn.IsLeftInKeeper(err) {
		return conn.Refusal("the database at %s cannot get its tables, since Keeper has them already: give each replica its own shard and name in <macros>; or, where the shard has lost all replicas, have Keeper forget these with SYSTEM DROP REPLICA ... FROM ZKPATH, as the chapter Replicas of docs/operating.md says", s.Describe())
	}
	return err
}

// follow gives a replica the tables of another as they are now: a table that was changed since
// it was made would be refused in its first form.
func follow(ctx context.Context, replica, from *conn.Server, lacks []steps.Migration) error {
	made, err := from.ReadTexts(ctx, "SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name != 'migrations' ORDER BY name")
	if err != nil {
		return err
	}
	if err := createSteps(ctx, replica); err != nil {
		return err
	}
	for _, statement := range made {
		if err := replica.Exec(ctx, strings.Replace(statement, "CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ", 1), nil); err != nil {
			return err
		}
	}
	for _, step := range lacks {
		if err := noteStep(ctx, replica, step); err != nil {
			return err
		}
	}
	return nil
}

// atReplica says of which of several replicas an error is.
func atReplica(s *conn.Server, err error) error {
	if s.IsReplicated() {
		return &conn.ReplicaError{Address: s.Describe(), Err: err}
	}
	return err
}

// readSteps returns the last step that a replica took, 0 where it has no table of them.
func readSteps(ctx context.Context, replica *conn.Server) (applied uint32, err error) {
	has, applied, err := readProgress(ctx, replica)
	if conn.IsUnknown(err) {
		return 0, nil
	}
	if err == nil {
		err = compareVersion(has, oldest)
	}
	return applied, err
}

func readApplied(ctx context.Context, s *conn.Server) (uint32, error) {
	return conn.Value[uint32](ctx, s, "SELECT max(number) FROM migrations", nil)
}
