package commits

import (
	"context"
	"fmt"
	"slices"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// ReadWhole is Read for those who build on what they read: an account that lost
// anything is an error of kind adlens.Damaged.
func ReadWhole(ctx context.Context, port tables.Port, account string) (State, error) {
	// Seals first: what was sealed by then is in what is read afterwards.
	seals, err := port.Seals().Read(ctx, account)
	if err != nil {
		return State{}, err
	}
	state, err := Read(ctx, port, account)
	if err != nil {
		return state, err
	}
	counts, err := port.CountRows(ctx, account, tables.OfGenerations()...)
	if err != nil {
		return state, err
	}
	return state, requireNone(account, Faults(state, seals, counts))
}

func requireNone(account string, faults []string) error {
	if len(faults) > 0 {
		return Damaged(account, faults)
	}
	return nil
}

// Faults returns what an account lost: commits that were acknowledged, and rows
// of live generations in any of their tables. An account that is whole has none.
func Faults(s State, seals []tables.Seal, counts []tables.Count) []string {
	return append(lostCommits(s.Chain, seals), RowFaults(s.Manifest.Entries(), counts, tables.OfGenerations()...)...)
}

// RowFaults returns which live units have another number of rows in some tables
// than was loaded.
func RowFaults(live []manifest.Entry, counts []tables.Count, names ...string) []string {
	found := make(map[tables.Count]uint64, len(counts))
	for _, c := range counts {
		found[tables.Count{Table: c.Table, Generation: c.Generation}] = c.Rows
	}
	var faults []string
	for _, e := range live {
		for i, table := range tables.OfKind(e.Kind) {
			rows := found[tables.Count{Table: table, Generation: e.Generation}]
			if slices.Contains(names, table) && (i == 0 || e.CountedAt(i)) && rows != e.RowsAt(i) {
				faults = append(faults, rowsLost(e, table, rows, e.RowsAt(i)))
			}
		}
	}
	return faults
}

func rowsLost(e manifest.Entry, table string, found, want uint64) string {
	if table == tables.OfKind(e.Kind)[0] {
		return fmt.Sprintf("%s (generation %d) has %d rows, %d were loaded", e.Unit, e.Generation, found, want)
	}
	return fmt.Sprintf("%s (generation %d) has %d rows of its rollup %s, %d were written", e.Unit, e.Generation, found, table, want)
}

// lostCommits returns the newest commit that was acknowledged, where it is not
// live any more. Commits are not needed once a later one names all live units.
func lostCommits(chain manifest.Chain, seals []tables.Seal) []string {
	var newest uint32
	for _, seal := range seals {
		newest = max(newest, seal.Number)
	}
	if newest == 0 || newest < chain.Root() || chain.Has(newest) {
		return nil
	}
	return []string{fmt.Sprintf("%s: commit %d was acknowledged, and is not among those that are live, of which the newest is %d", recordLost, newest, chain.Head().Number)}
}

// Summary joins faults to one line, cutting a long list short.
func Summary(faults []string) string {
	return adlens.JoinFew(faults, 5, "; ")
}
