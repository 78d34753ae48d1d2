package schema

import (
	"cmp"
	"context"
	"regexp"
	"slices"

	"adlens/internal/clickhouse/conn"
	steps "adlens/schema"
)

// State is how far the schema of a database is.
type State struct {
	Applied, Newest uint32   // the last step that was applied, and the last one that is known here
	Missing         []string // tables that the applied steps made and that are not there
}

// Newest returns the last step that is known here, to which every database
// is brought when it is opened.
func Newest() (uint32, error) {
	all, err := steps.Migrations()
	if err != nil {
		return 0, err
	}
	return all[len(all)-1].Number, nil
}

// Least returns the state of several servers: that of the one that is least far.
func Least(states []State) State {
	least := slices.MinFunc(states, func(a, b State) int { return cmp.Compare(a.Applied, b.Applied) })
	least.Missing = nil
	for _, one := range states {
		least.Missing = append(least.Missing, one.Missing...)
	}
	return least
}

// ReadState reads how far the schema of a server is.
func ReadState(ctx context.Context, s *conn.Server) (State, error) {
	all, err := steps.Migrations()
	if err != nil {
		return State{}, err
	}
	state := State{Newest: all[len(all)-1].Number}
	tables, err := ReadTables(ctx, s)
	if conn.IsUnknownDatabase(err) {
		return state, nil
	}
	if err != nil || !slices.Contains(tables, "migrations") {
		return state, err
	}
	if state.Applied, err = readApplied(ctx, s); err != nil {
		return state, err
	}
	for _, table := range tablesMadeBy(all[:min(state.Applied, state.Newest)]) {
		if !slices.Contains(tables, table) {
			state.Missing = append(state.Missing, table)
		}
	}
	return state, nil
}

// ReadTables reads the names of a server's tables.
func ReadTables(ctx context.Context, s *conn.Server) ([]string, error) {
	return s.ReadTexts(ctx, "SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name")
}

var creates = regexp.MustCompile(`CREATE TABLE IF NOT EXISTS (\w+)`)

// tablesMadeBy returns the tables that steps of the schema make.
func tablesMadeBy(all []steps.Migration) (tables []string) {
	for _, step := range all {
		for _, statement := range step.Statements {
			if made := creates.FindStringSubmatch(statement); made != nil {
				tables = append(tables, made[1])
			}
		}
	}
	return tables
}
