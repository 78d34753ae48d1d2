package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"

	"adlens/schema"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Look returns a database as it is. Nothing is connected to yet, nothing is
// made, and the schema stays what it is: it may be old, or not be there.
func Look(source Source) *DB { return newDB(source) }

// SchemaState is how far the schema of a database is.
type SchemaState struct {
	Applied, Newest uint32   // the last step that was applied, and the last one that is known here
	Missing         []string // tables that the applied steps made and that are not there
}

const unknownDatabase = 81 // UNKNOWN_DATABASE

// NewestSchema returns the last step that is known here, to which every database
// is brought when it is opened.
func NewestSchema() (uint32, error) {
	steps, err := schema.Migrations()
	if err != nil {
		return 0, err
	}
	return steps[len(steps)-1].Number, nil
}

// Schema reads how far the schema is; of several servers, that of the one that
// is least far.
func (db *DB) Schema(ctx context.Context) (SchemaState, error) {
	states, err := gather(ctx, db, func(s *server) (SchemaState, error) { return s.schema(ctx) })
	if err != nil {
		return SchemaState{}, err
	}
	all := slices.MinFunc(states, func(a, b SchemaState) int { return cmp.Compare(a.Applied, b.Applied) })
	all.Missing = nil
	for _, one := range states {
		all.Missing = append(all.Missing, one.Missing...)
	}
	return all, nil
}

func (s *server) schema(ctx context.Context) (SchemaState, error) {
	steps, err := schema.Migrations()
	if err != nil {
		return SchemaState{}, err
	}
	state := SchemaState{Newest: steps[len(steps)-1].Number}
	tables, err := s.tables(ctx)
	var exception *clickhouse.Exception
	if errors.As(err, &exception) && exception.Code == unknownDatabase {
		return state, nil
	}
	if err != nil || !slices.Contains(tables, "migrations") {
		return state, err
	}
	if state.Applied, err = s.appliedMigration(ctx); err != nil {
		return state, err
	}
	for _, table := range madeBy(steps[:min(state.Applied, state.Newest)]) {
		if !slices.Contains(tables, table) {
			state.Missing = append(state.Missing, table)
		}
	}
	return state, nil
}

func (s *server) tables(ctx context.Context) (names []string, err error) {
	err = s.asOwner(ctx, "SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name", nil,
		each(func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			names = append(names, name)
			return err
		}))
	return names, err
}

var creates = regexp.MustCompile(`CREATE TABLE IF NOT EXISTS (\w+)`)

// madeBy are the tables that steps of the schema make.
func madeBy(steps []schema.Migration) (tables []string) {
	for _, step := range steps {
		for _, statement := range step.Statements {
			if made := creates.FindStringSubmatch(statement); made != nil {
				tables = append(tables, made[1])
			}
		}
	}
	return tables
}
