package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"adlens"
	"adlens/schema"

	"github.com/ClickHouse/clickhouse-go/v2"
)

const createMigrations = `CREATE TABLE IF NOT EXISTS migrations (
    number UInt32,
    name String,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = ReplacingMergeTree
ORDER BY number
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`

// migrate brings the schema up to date. Every statement may run twice, so two
// processes that do this at once do no harm, and one that was killed in the
// middle is simply followed by another.
func (s *server) migrate(ctx context.Context) error {
	steps, err := schema.Migrations()
	if err != nil {
		return err
	}
	if err := s.createDatabase(ctx); err != nil {
		return err
	}
	if err := s.atLeast(ctx, oldest); err != nil {
		return err
	}
	if err := s.exec(ctx, s.making(createMigrations), nil); err != nil {
		return err
	}
	applied, err := s.appliedMigration(ctx)
	if err != nil {
		return err
	}
	if newest := steps[len(steps)-1].Number; applied > newest {
		return fmt.Errorf("the data was written by a newer adlens (schema %d; this one knows %d): use that version or a later one", applied, newest)
	}
	if int(applied) == len(steps) {
		return nil
	}
	for _, step := range steps[applied:] {
		if err := s.apply(ctx, step); err != nil {
			return fmt.Errorf("schema/%s: %w", step.Name, err)
		}
	}
	return s.sealAll(ctx)
}

func (s *server) apply(ctx context.Context, step schema.Migration) error {
	for _, statement := range step.Statements {
		if err := s.exec(ctx, s.making(statement), nil); err != nil {
			return err
		}
	}
	return s.exec(ctx, "INSERT INTO migrations (number, name) SELECT {number:UInt32}, {name:String}",
		Params{"number": fmt.Sprint(step.Number), "name": step.Name})
}

// takeOver runs the statements by which the step that brought commits takes over
// what was written before it.
func (s *server) takeOver(ctx context.Context) error {
	steps, err := schema.Migrations()
	if err != nil {
		return err
	}
	for _, statement := range steps[commitsStep-1].Statements {
		if insertion.MatchString(statement) {
			if err := s.exec(ctx, statement, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// commitsStep is the step of the schema that brought commits.
const commitsStep = 18

var insertion = regexp.MustCompile(`(?m)^INSERT INTO`)

// making is a statement that makes a table, as the server needs it.
func (s *server) making(statement string) string {
	if r, ok := s.source.(Remote); ok && r.replicated {
		return replicating(statement)
	}
	return statement
}

func (s *server) appliedMigration(ctx context.Context) (uint32, error) {
	var number uint32
	err := s.reading(ctx, "SELECT max(number) FROM migrations", nil, each(func(scan func(...any) error) error {
		return scan(&number)
	}))
	return number, err
}

// createDatabase makes the database before anything can connect to it. It looks
// first: whoever may not make databases can still use one that is there.
func (s *server) createDatabase(ctx context.Context) error {
	target, err := s.answering(ctx)
	var exception *clickhouse.Exception
	if errors.As(err, &exception) && exception.Code == unknownDatabase {
		err = execAt(ctx, target.Writer, "", "CREATE DATABASE IF NOT EXISTS "+identifier(target.Writer.Auth.Database))
	}
	if err != nil {
		return &adlens.Error{Kind: kindOf(ctx, err), Err: err}
	}
	return nil
}

// answering finds the server and knocks. One that has ended since it was found
// is looked for once more: an embedded engine is started by that, or it is said
// why it cannot start. A server that took all its time is not knocked at again.
func (s *server) answering(ctx context.Context) (Target, error) {
	target, err := s.found(ctx)
	var nobody *stranger
	if errors.As(err, &nobody) && !errors.Is(err, context.DeadlineExceeded) {
		return s.found(ctx)
	}
	return target, err
}

func (s *server) found(ctx context.Context) (Target, error) {
	target, err := s.source.Target(ctx)
	if err != nil {
		return Target{}, unavailable(ctx, err)
	}
	return target, knock(ctx, target.Writer)
}

// knock tries whether a server answers and lets us in.
func knock(ctx context.Context, options *clickhouse.Options) error {
	ctx, cancel := context.WithTimeout(ctx, knockPatience)
	defer cancel()
	err := execAt(ctx, options, options.Auth.Database, "SELECT 1")
	var exception *clickhouse.Exception
	if err == nil || errors.As(err, &exception) {
		return err
	}
	return &stranger{err}
}

// stranger is what answered when we knocked, if anything did: no ClickHouse.
type stranger struct{ err error }

func (s *stranger) Error() string { return "no ClickHouse server answers: " + s.err.Error() }

func (s *stranger) Unwrap() error { return s.err }

// knockPatience is how long a server may take to answer at all.
const knockPatience = 15 * time.Second

// execAt runs a statement over a connection of its own.
func execAt(ctx context.Context, options *clickhouse.Options, database, sql string) error {
	one := *options
	one.Auth.Database = database
	conn, err := clickhouse.Open(&one)
	if err != nil {
		return err
	}
	return errors.Join(conn.Exec(ctx, sql), conn.Close())
}

// askAt runs a reading statement over a connection of its own.
func askAt(ctx context.Context, options *clickhouse.Options, database, sql string, params Params, visit func(scan func(...any) error) error) error {
	one := *options
	one.Auth.Database = database
	conn, err := clickhouse.Open(&one)
	if err != nil {
		return err
	}
	defer conn.Close()
	rows, err := conn.Query(withParams(ctx, params), sql)
	if err != nil {
		return err
	}
	defer rows.Close()
	return errors.Join(each(visit)(rows), rows.Err())
}
