package backup

import (
	"fmt"
	"slices"

	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// What a backup holds of an account. The order matters, because loads go on
// meanwhile.

// before are the tables that are read before the manifest: what they say was
// loaded is in the manifest then.
var before = []string{"ledger", "report_requests", "refreshed", "attempts"}

// after are the tables that are read after the manifest: the numbers and keys
// that its rows use are in them then.
var after = []string{"number_blocks", "connections", "accounts", "api_keys", "api_key_uses", "feeds", "day_uses"}

// UnitTable is the table of live units. Its rows are restored last of an
// account's figures: they make all others visible.
const UnitTable = "commit_units"

// formerUnitTable had the live units before there were commits, and former are
// the other tables of that time, which backups of then hold. Their rows are
// restored to where they were, and taken over by the schema's own step.
const formerUnitTable = "manifest"

var former = []string{formerUnitTable, "reservations", "product_keys"}

// isUnits reports whether a table is that of live units, now or then.
func isUnits(table string) bool { return table == UnitTable || table == formerUnitTable }

// shown are the tables that make an account and its keys visible, in the order
// in which they are restored, after all else.
var shown = []string{"connections", "api_keys", "feeds", "accounts"}

// stays are the tables of which an account that is restored in its place keeps
// what it has: what was made since the backup is no less its own.
var stays = append([]string{"api_key_uses", "day_uses", "attempts"}, shown...)

// generations are the tables whose rows live with a generation of a kind.
// Months and years of products are not among them: they are derived anew, and
// held against the days, which are.
var generations = map[manifest.Kind][]string{
	manifest.Month: {"facts", "day_totals"}, manifest.Marketplaces: {"marketplaces"}, manifest.Rates: {"rates"},
	manifest.Titles: {"product_titles"}, manifest.Campaigns: {"campaigns"}, manifest.AdGroups: {"ad_groups"}, manifest.Ads: {"ads"},
	manifest.Rules: {"rules"}, manifest.RuleRuns: {"rule_runs"}, manifest.Activity: {"activity"}, manifest.Products: {"products"},
}

// Holds reports whether a backup may hold rows of a table.
func Holds(name string) bool {
	if name == UnitTable || slices.Contains(former, name) || slices.Contains(before, name) || slices.Contains(after, name) {
		return true
	}
	for _, tables := range generations {
		if slices.Contains(tables, name) {
			return true
		}
	}
	return false
}

// group is the rows of a table that one file holds: of one month, or all.
type group struct {
	table, month string
	units        []Live
}

// rows returns how many rows the group must have.
func (g group) rows() (rows uint64) {
	for _, u := range g.units {
		rows += u.RowsAt(slices.Index(tables.OfKind(u.Kind), g.table))
	}
	return rows
}

func (g group) generations() []uint32 {
	all := make([]uint32, len(g.units))
	for i, u := range g.units {
		all[i] = u.Generation
	}
	return all
}

// name is the name of the group's file. Generations are never used again and
// their rows never change, so the same units are the same file, whichever commit
// named them last.
func (g group) name(account string, h Header) string {
	parts := [][]byte{{format}, h.encode()}
	for _, u := range g.units {
		parts = append(parts, appendText(nil, string(u.Entry.Encode())))
	}
	return fileName(account, g.table+g.month, sumOf(parts...))
}

func fileName(account, what, sum string) string {
	return fmt.Sprintf("accounts/%s/%s.%s.rows.zst", account, what, sum[:sumLetter])
}

// groups says which files hold what is live, in the order of the manifest.
func groups(all []Live) []group {
	var list []group
	at := map[string]int{}
	for _, l := range all {
		for _, table := range generations[l.Kind] {
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
