package backup

import (
	"fmt"
	"slices"

	"adlens/internal/manifest"
)

// What a backup holds of an account. The order matters, because loads go on
// meanwhile.

// before are the tables that are read before the manifest: what they say was
// loaded is in the manifest then.
var before = []string{"ledger", "report_requests", "refreshed", "attempts"}

// after are the tables that are read after the manifest: the numbers and keys
// that its rows use are in them then.
var after = []string{"reservations", "product_keys", "connections", "accounts", "api_keys", "api_key_uses", "feeds", "day_uses"}

// shown are the tables that make an account and its keys visible, in the order
// in which they are restored, after all else.
var shown = []string{"connections", "api_keys", "feeds", "accounts"}

// generations are the tables whose rows live with a generation of a kind.
// Months and years of products are not among them: they are derived anew, and
// held against the days, which are.
var generations = map[manifest.Kind][]string{
	manifest.Month: {"facts", "day_totals"}, manifest.Marketplaces: {"marketplaces"}, manifest.Rates: {"rates"},
	manifest.Titles: {"product_titles"}, manifest.Campaigns: {"campaigns"}, manifest.AdGroups: {"ad_groups"}, manifest.Ads: {"ads"},
	manifest.Rules: {"rules"}, manifest.RuleRuns: {"rule_runs"}, manifest.Activity: {"activity"},
}

// Holds tells whether a backup holds rows of a table.
func Holds(name string) bool {
	if name == "manifest" || slices.Contains(before, name) || slices.Contains(after, name) {
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

// rows is how many rows of facts the group must have; known is false where the
// manifest does not say.
func (g group) rows() (rows uint64, known bool) {
	for _, u := range g.units {
		rows += u.Rows
	}
	return rows, g.table == "facts"
}

func (g group) generations() []uint32 {
	all := make([]uint32, len(g.units))
	for i, u := range g.units {
		all[i] = u.Generation
	}
	return all
}

// name is the name of the group's file. Generations are never used again and
// their rows never change, so the same manifest rows are the same file.
func (g group) name(account string, h Header) string {
	parts := [][]byte{{format}, h.encode()}
	for _, u := range g.units {
		parts = append(parts, appendText(nil, string(u.Row)))
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
