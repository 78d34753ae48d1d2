package loader

import (
	"context"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/records"
	"adlens/internal/tables"
)

// Store keeps what is loaded. What it inserts is not read before a commit in
// the small tables names it.
type Store interface {
	// Lock makes the caller the account's only writer until it calls release.
	// It waits for another writer, and says so through waiting.
	Lock(ctx context.Context, account string, waiting func(holder string)) (release func() error, err error)
	// Tables are the small tables: the record of commits and what belongs to it.
	Tables() tables.Port

	Marketplaces(ctx context.Context, account string, generation uint32) ([]Marketplace, error)
	InsertMarketplaces(ctx context.Context, account string, generation uint32, all []Marketplace) error
	// ProfilesElsewhere finds those of some profiles that other accounts have, by profile
	// and account. What is on a server that is away is left out.
	ProfilesElsewhere(ctx context.Context, account string, profiles []string) ([]ProfileHolder, error)
	Rates(ctx context.Context, account string, generation uint32) (Rates, error)
	InsertRates(ctx context.Context, account string, generation uint32, all Rates) error
	Titles(ctx context.Context, account string, generation uint32) (map[string]string, error)
	InsertTitles(ctx context.Context, account string, generation uint32, all map[string]string) error

	// ProductNumbers are the numbers under which products are stored, from 1 without
	// gaps.
	ProductNumbers(ctx context.Context, account string, generation uint32) (map[string]uint32, error)
	InsertProductNumbers(ctx context.Context, account string, generation uint32, all map[string]uint32) error
	// Entities are the campaigns and ad groups of facts.
	Entities(ctx context.Context, account string, generation uint32) (map[adlens.EntityID]*Entity, error)
	InsertEntities(ctx context.Context, account string, generation uint32, all map[adlens.EntityID]*Entity) error

	// Forms are which campaigns of Sponsored Brands lists said to have one ad group,
	// and which to have several.
	Forms(ctx context.Context, account string, generation uint32) (Forms, error)
	InsertForms(ctx context.Context, account string, generation uint32, all Forms) error

	InsertFacts(ctx context.Context, account string, batch *Batch) error
	// Facts reads the stored rows of some days of a unit, ordered by day, product,
	// campaign and ad group.
	Facts(ctx context.Context, account string, unit manifest.Unit, generation uint32, days manifest.Days, visit func(*StoredFact) error) error
	// CountFacts counts the stored rows of some generations as Facts and CopyDays read
	// them: without a projection that has files of its own.
	CountFacts(ctx context.Context, account string, generations []uint32) ([]tables.Count, error)
	// CopyDays copies days of live generations to new ones.
	CopyDays(ctx context.Context, account string, copies []Copy) error
	// Derive writes the rollups of new months from their facts, and new year generations
	// from rollups of months, among them these.
	Derive(ctx context.Context, account string, months []manifest.Entry, years []YearParts) error

	// Sums reads back, at every level, what was written of new months and years, and
	// what years were made of: each of their months, new or live, in its rollups. Of a
	// live generation that days were copied from they are the sums of those facts.
	Sums(ctx context.Context, account string, months []manifest.Entry, copies []Copy, years []YearParts) (map[Level]Sums, error)

	// Lists write all rows of an export under the generation of their ad product.
	InsertCampaigns(ctx context.Context, account string, marketplace uint16, generations Generations, all []platform.Campaign) error
	InsertAdGroups(ctx context.Context, account string, marketplace uint16, generations Generations, all []platform.AdGroup) error
	InsertAds(ctx context.Context, account string, marketplace uint16, generations Generations, all []platform.Ad) error

	// ListedNames are the names of a list of campaigns or ad groups.
	ListedNames(ctx context.Context, account string, generation uint32) (map[adlens.EntityID]string, error)

	Rules(ctx context.Context, account string, generation uint32) ([]records.Rule, error)
	InsertRules(ctx context.Context, account string, generation uint32, all []records.Rule) error
	RuleRuns(ctx context.Context, account string, generation uint32) ([]records.RuleRun, error)
	InsertRuleRuns(ctx context.Context, account string, generation uint32, all []records.RuleRun) error
	Activity(ctx context.Context, account string, generation uint32) ([]records.Activity, error)
	InsertActivity(ctx context.Context, account string, generation uint32, all []records.Activity) error

	Ledger(ctx context.Context, account string) (map[LedgerKey]bool, error)
	InsertLedger(ctx context.Context, account string, lines []LedgerLine) error
}

// Marketplace is a profile of the account with its key in the stored rows.
type Marketplace struct {
	Key uint16
	platform.Profile
}

// Generations are the new generations of a list's ad products.
type Generations map[adlens.AdProduct]uint32

// Copy takes some days of a month over from one generation into another.
type Copy struct {
	Month    adlens.Day // its first day
	From, To uint32
	Days     manifest.Days
}

// YearParts is a year's new generation and those of the months that it sums.
type YearParts struct {
	manifest.Unit
	Generation uint32
	Months     []uint32
	Undivided  []uint32 // those of Months that have no rollup by ad group
}

// Level is the rows of a generation in one of its kind's tables.
type Level struct {
	Table      string
	Generation uint32
}

// LedgerKey tells a loaded report file by its content: the hash is of what its
// object says and of its unpacked download.
type LedgerKey struct{ ReportID, SHA256 string }

// LedgerLine records a loaded report file.
type LedgerLine struct {
	LedgerKey
	File string
	Rows uint64
}
