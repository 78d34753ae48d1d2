package tables

import (
	"slices"
	"strings"

	"adlens/internal/manifest"
)

// Description says where a table that holds rows of accounts is, and what
// becomes of its rows in backups, restores and moves.
type Description struct {
	Name string
	// Kind is of the generations that the rows live and die with; 0 for none.
	Kind manifest.Kind
	// Keys are what rows of a month or year are divided by that are derived of
	// facts; "" for all others. They are made again, so that no backup holds them.
	Keys string
	// RowKey is the column by which rows of a generation that were stored twice are one; "" where
	// each row is stored once.
	RowKey string
	// Directory is set where the first shard has the rows of all accounts. They
	// stay there when an account moves.
	Directory bool
	// Sealed changes are acknowledged: a lost row would be a wrong answer, as an
	// account or a key that is unknown, or a revoked key that works.
	Sealed bool
	// Expendable rows are in no answer but one that says that there is none: those that are
	// lost are not missed, and those that cannot be read keep nothing from working.
	Expendable bool
	// Moves is set for rows without generations that go along when their account
	// moves to another shard.
	Moves bool
	// Backup says when a backup reads the rows that have no generations.
	Backup When
	// InPlace says what becomes of the rows of an account that is restored in its
	// place.
	InPlace InPlace
	// Shows is set where the rows make an account or its keys visible: they are
	// restored last.
	Shows bool
	// Announces is set where rows are read before those of other tables that were written
	// before them, or are written before others look for them (Announcing).
	Announces bool
}

// When is when a backup reads a table. Loads go on meanwhile.
type When int

const (
	Never          When = iota
	BeforeManifest      // what it says was loaded is in the manifest then
	AfterManifest       // the numbers and keys that rows use are in it then
	WithManifest        // it has the live units
	Formerly            // only backups of the time before there were commits hold it
)

// InPlace is what becomes of rows when a backup is restored over them.
type InPlace int

const (
	Replaced InPlace = iota // by those of the backup
	Kept                    // what was made since the backup is no less the account's
	Merged                  // with those of the backup: no number is given out again
)

// list has all tables of accounts, except those of the moment: who holds a lock,
// where an account is, and what is being restored. Seals come first, and commits
// next: what they do not name is not missed once it goes. What makes an account
// visible goes in this order, and comes in the reverse one.
var list = []Description{
	{Name: "directory_seals", Directory: true},
	{Name: "accounts", Directory: true, Sealed: true, Backup: AfterManifest, InPlace: Kept, Shows: true},
	// Whose uses they are is known as long as the keys, links and connections are there.
	{Name: "api_key_uses", Directory: true, Expendable: true, Backup: AfterManifest, InPlace: Kept},
	// Links of all kinds: feeds and shares.
	{Name: "feeds", Directory: true, Sealed: true, Backup: AfterManifest, InPlace: Kept, Shows: true},
	{Name: "api_keys", Directory: true, Sealed: true, Backup: AfterManifest, InPlace: Kept, Shows: true},
	{Name: "apps", Directory: true, Sealed: true, Backup: AfterManifest, InPlace: Kept, Shows: true},
	{Name: "connections", Directory: true, Sealed: true, Backup: AfterManifest, InPlace: Kept, Shows: true},
	{Name: "report_requests", Directory: true, Backup: BeforeManifest},
	{Name: "refreshed", Directory: true, Backup: BeforeManifest},
	{Name: "attempts", Directory: true, Backup: BeforeManifest, InPlace: Kept},
	{Name: "day_uses", Directory: true, Expendable: true, Backup: AfterManifest, InPlace: Kept},
	{Name: "loaded_accounts", Directory: true, InPlace: Kept},

	{Name: "seals", Moves: true, Announces: true},
	{Name: "commits", Moves: true, Announces: true},
	{Name: "commit_units", Moves: true, Backup: WithManifest},
	{Name: "ledger", Moves: true, Backup: BeforeManifest},
	{Name: "accounted", Moves: true, Announces: true},
	{Name: "number_blocks", Moves: true, Backup: AfterManifest, InPlace: Merged, Announces: true},
	{Name: "dead_generations"},
	{Name: "manifest", Backup: Formerly},
	{Name: "reservations", Backup: Formerly},
	{Name: "product_keys", Backup: Formerly},

	// Of a kind, the one with the loaded rows comes first.
	{Name: "facts", Kind: manifest.Month},
	{Name: "day_totals", Kind: manifest.Month},
	{Name: "month_products", Kind: manifest.Month, Keys: "product_key"},
	{Name: "month_ad_groups", Kind: manifest.Month, Keys: "campaign_key, ad_group_key, product_key"},
	{Name: "year_products", Kind: manifest.Year, Keys: "product_key"},
	{Name: "year_ad_groups", Kind: manifest.Year, Keys: "campaign_key, ad_group_key, product_key"},
	{Name: "marketplaces", Kind: manifest.Marketplaces},
	{Name: "rates", Kind: manifest.Rates},
	{Name: "product_titles", Kind: manifest.Titles},
	{Name: "products", Kind: manifest.Products, RowKey: "product_key"},
	{Name: "entities", Kind: manifest.Entities, RowKey: "entity_key"},
	{Name: "campaign_forms", Kind: manifest.Forms},
	{Name: "campaigns", Kind: manifest.Campaigns},
	{Name: "ad_groups", Kind: manifest.AdGroups},
	{Name: "ads", Kind: manifest.Ads},
	{Name: "rules", Kind: manifest.Rules},
	{Name: "rule_runs", Kind: manifest.RuleRuns},
	{Name: "activity", Kind: manifest.Activity},
}

// ByAdGroup reports whether rows are divided by campaign and ad group. Months and
// years from before those were kept have no such rows.
func (d Description) ByAdGroup() bool { return strings.Contains(d.Keys, "ad_group_key") }

// MonthsOf returns the table of months that a rollup of years is derived of.
func (d Description) MonthsOf() string { return strings.Replace(d.Name, "year_", "month_", 1) }

// Unsealed returns the tables without generations whose rows no seal of the directory counts.
func Unsealed() []Description {
	return slices.DeleteFunc(slices.Clone(list), func(d Description) bool { return d.Sealed || d.Kind != 0 })
}

// Rollups returns the tables of months or years whose rows are derived of facts.
func Rollups(kind manifest.Kind) []Description {
	return slices.DeleteFunc(slices.Clone(list), func(d Description) bool { return d.Kind != kind || d.Keys == "" })
}

// Names returns the tables of the list that match, in its order.
func Names(match func(Description) bool) (names []string) {
	for _, d := range list {
		if match(d) {
			names = append(names, d.Name)
		}
	}
	return names
}

// Find returns the description of a table.
func Find(name string) (Description, bool) {
	i := slices.IndexFunc(list, func(d Description) bool { return d.Name == name })
	if i < 0 {
		return Description{}, false
	}
	return list[i], true
}

// OfDirectory returns the tables that the first shard has for the accounts of all.
func OfDirectory() []string { return Names(func(d Description) bool { return d.Directory }) }

// newestCounts are the tables of which the newest row of a key alone says what is true.
var newestCounts = append(Names(func(d Description) bool { return d.Sealed }), "placements", "leases")

// NewestCounts reports whether of a table's rows the newest of each key says what is true, as
// whether a key is revoked. A replica that lacks it has an older one, and cannot tell.
func NewestCounts(table string) bool { return slices.Contains(newestCounts, table) }

// OfShards returns the tables that are where their account is.
func OfShards() []string { return Names(func(d Description) bool { return !d.Directory }) }

// OfKind returns the tables whose rows live and die with a generation of a
// kind, the one with the loaded rows first.
func OfKind(kind manifest.Kind) []string { return byKind[kind] }

var byKind = func() map[manifest.Kind][]string {
	all := map[manifest.Kind][]string{}
	for _, d := range list {
		if d.Kind != 0 {
			all[d.Kind] = append(all[d.Kind], d.Name)
		}
	}
	return all
}()

// SmallOfGenerations returns the tables of generations without the figures.
func SmallOfGenerations() []string { return ofKinds(manifest.Month, manifest.Year) }

// OfGenerations returns all tables whose rows belong to generations.
func OfGenerations() []string { return ofKinds() }

// ofKinds returns the tables of generations in the order of their kinds, but for
// some kinds.
func ofKinds(without ...manifest.Kind) (all []string) {
	for _, kind := range manifest.Kinds {
		if !slices.Contains(without, kind) {
			all = append(all, OfKind(kind)...)
		}
	}
	return all
}
