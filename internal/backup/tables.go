package backup

import (
	"encoding/binary"
	"fmt"
	"slices"

	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// wholeTables returns the tables that a backup reads whole at one time, before or
// after the manifest.
func wholeTables(when tables.When) []string {
	return tables.Names(func(d tables.Description) bool { return d.Backup == when })
}

// UnitTable is the table of live units. Its rows are restored last of an
// account's figures: they make all others visible.
const UnitTable = "commit_units"

// formerUnitTable had the live units before there were commits. Rows of that time
// are restored to where they were, and taken over by the schema's own step.
const formerUnitTable = "manifest"

// isUnits reports whether a table is that of live units, now or then.
func isUnits(table string) bool { return table == UnitTable || table == formerUnitTable }

// shownTables returns the tables that make an account and its keys visible, in the
// order in which they are restored, after all else.
func shownTables() []string {
	shown := tables.Names(func(d tables.Description) bool { return d.Shows })
	slices.Reverse(shown)
	return shown
}

// isShown reports whether a table makes an account or its keys visible.
func isShown(name string) bool {
	d, _ := tables.Find(name)
	return d.Shows
}

// isKept reports whether an account that is restored in its place keeps what it has
// in a table.
func isKept(name string) bool {
	d, _ := tables.Find(name)
	return d.InPlace == tables.Kept
}

// isExpendable reports whether nothing depends on the rows of a table.
func isExpendable(name string) bool {
	d, _ := tables.Find(name)
	return d.Expendable
}

// generationTables returns the tables that a backup holds whose rows live with a
// generation of a kind. Derived ones are not among them: they are made again, and
// verified against the days, which are.
func generationTables(kind manifest.Kind) []string {
	return tables.Names(func(d tables.Description) bool { return d.Kind == kind && d.Keys == "" })
}

// Holds reports whether a backup may hold rows of a table.
func Holds(name string) bool {
	d, known := tables.Find(name)
	return known && (d.Backup != tables.Never || d.Kind != 0 && d.Keys == "")
}

// group is the rows of a table that one file holds: of one month, or all.
type group struct {
	table, month string
	units        []Live
}

// expectedRows returns how many rows the group must have.
func (g group) expectedRows() (rows uint64) {
	for _, u := range g.units {
		rows += u.RowsAt(slices.Index(tables.OfKind(u.Kind), g.table))
	}
	return rows
}

func (g group) generationNumbers() []uint32 {
	all := make([]uint32, len(g.units))
	for i, u := range g.units {
		all[i] = u.Generation
	}
	return all
}

// rowsFormat is of the files of rows: with another one they all have other names.
const rowsFormat = 1

// groupFileName is the name of the group's file. The rows of a generation never change, so
// the same units are the same file, whichever commit named them last. Another database, as
// one that was loaded from the start or restored from it, may have other rows under the same
// numbers, and so may this one once a copy of its disk was put back: they have another origin.
func (t *taking) groupFileName(g group, h Header) string {
	parts := [][]byte{{rowsFormat}, appendText(nil, t.options.Identity), appendText(nil, t.id), h.encodeHeader()}
	for _, u := range g.units {
		parts = append(parts, appendText(nil, string(u.Entry.Encode())))
		if u.Origin != 0 { // of before it was noted files keep their names
			parts = append(parts, binary.LittleEndian.AppendUint64(nil, u.Origin))
		}
	}
	return fileName(t.id, g.table+g.month, sumOf(parts...))
}

func fileName(account, what, sum string) string {
	return fmt.Sprintf("accounts/%s/%s.%s.rows.zst", account, what, sum[:sumLetter])
}

// groupUnits says which files hold what is live, in the order of the manifest.
func groupUnits(all []Live) []group {
	var list []group
	at := map[string]int{}
	for _, l := range all {
		for _, table := range generationTables(l.Kind) {
			g := group{table: table}
			if l.Kind == manifest.Month {
				g.month = "-" + l.Start.String()[:len("2006-01")]
			}
			i, known := at[g.table+g.month]
			if !known {
				i = len(list)
				at[g.table+g.month] = i
				list = append(list, g)
			}
			list[i].units = append(list[i].units, l)
		}
	}
	return list
}
