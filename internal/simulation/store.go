package simulation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/records"
	"adlens/internal/tables"
	"adlens/loader"
)

// store is the store of the loader as one process reaches it.
type store struct{ *process }

var _ loader.Store = store{}

// ledgerRow is a row of the ledger.
type ledgerRow = loader.LedgerLine

func (s store) Tables() tables.Port { return port(s) }

// Lock waits for the account's lock.
func (s store) Lock(ctx context.Context, account string, _ func(string)) (release func() error, err error) {
	w := s.world
	err = s.local(ctx, "lock", account, func() bool { return w.lockFree(s.process, account) }, func() {
		w.claims[account] = append(w.claims[account], s.process)
		s.distrusted, s.lease = false, &lease{holder: s.process}
		s.catchUp()
	})
	if err != nil {
		return nil, err
	}
	return func() error {
		return s.local(context.Background(), "unlock", "", nil, func() { w.release(s.process) })
	}, nil
}

// insertRows writes rows of one generation as one block.
func (s store) insertRows(ctx context.Context, account, table string, generation uint32, rows []tables.Row) error {
	return s.writeOf(ctx, account, "insert "+table, fmt.Sprint(generation, " ", len(rows)), s.piece(s.session, account, table, rows))
}

// piece is one block of an insert. A generation is of one session alone.
func (s store) piece(owner *session, account, table string, rows []tables.Row) func() {
	w := s.world
	return func() {
		for _, r := range rows {
			w.truths[account].numbered(r.Generation, owner)
		}
		w.rows.Rows(table).Append(context.Background(), account, rows...)
	}
}

// rowsOf reads the rows of generations of a table.
func (s store) rowsOf(account, table string, generations ...uint32) []tables.Row {
	all, _ := s.world.rows.Rows(table).Read(context.Background(), account)
	if s.hooks.allAccounts {
		those, _ := s.world.rows.Rows(table).ReadAll(context.Background())
		all = nil
		for _, of := range s.world.plan.Accounts {
			all = append(all, those[of]...)
		}
	}
	return slices.DeleteFunc(all, func(r tables.Row) bool { return !slices.Contains(generations, r.Generation) })
}

// selectValues reads the values of a generation's rows.
func selectValues[V any](ctx context.Context, s store, account, table string, generation uint32) (all []V, err error) {
	err = s.readOf(ctx, account, "select "+table, fmt.Sprint(generation), func() error {
		for _, r := range s.rowsOf(account, table, generation) {
			all = append(all, r.Value.(V))
		}
		return nil
	})
	return all, err
}

func insertValues[V any](ctx context.Context, s store, account, table string, generation uint32, values []V) error {
	if len(values) == 0 {
		return nil
	}
	rows := make([]tables.Row, len(values))
	for i, v := range values {
		rows[i] = tables.Row{Generation: generation, Value: v}
	}
	return s.insertRows(ctx, account, table, generation, rows)
}

func (s store) Marketplaces(ctx context.Context, account string, generation uint32) ([]loader.Marketplace, error) {
	all, err := selectValues[loader.Marketplace](ctx, s, account, "marketplaces", generation)
	slices.SortFunc(all, func(a, b loader.Marketplace) int { return cmp.Compare(a.Key, b.Key) })
	return all, err
}

func (s store) InsertMarketplaces(ctx context.Context, account string, generation uint32, all []loader.Marketplace) error {
	return insertValues(ctx, s, account, "marketplaces", generation, all)
}

// ProfilesElsewhere takes no turn: nothing but a notice follows from it.
func (s store) ProfilesElsewhere(context.Context, string, []string) ([]loader.ProfileHolder, error) {
	return nil, nil
}

// rate is a row of the table rates.
type rate struct {
	currency string
	fetched  bool
	loader.Rate
}

func (s store) Rates(ctx context.Context, account string, generation uint32) (loader.Rates, error) {
	all, err := selectValues[rate](ctx, s, account, "rates", generation)
	slices.SortFunc(all, func(a, b rate) int { return cmp.Or(cmp.Compare(a.currency, b.currency), cmp.Compare(a.Day, b.Day)) })
	rates := loader.NewRates()
	for _, r := range all {
		table := rates.Table(r.fetched)
		table[r.currency] = append(table[r.currency], r.Rate)
	}
	return rates, err
}

func (s store) InsertRates(ctx context.Context, account string, generation uint32, all loader.Rates) error {
	var rows []rate
	for _, fetched := range []bool{false, true} {
		table := all.Table(fetched)
		for _, currency := range slices.Sorted(maps.Keys(table)) {
			for _, r := range table[currency] {
				rows = append(rows, rate{currency, fetched, r})
			}
		}
	}
	return insertValues(ctx, s, account, "rates", generation, rows)
}

// pair is a row of titles.
type pair struct{ key, value string }

func (s store) Titles(ctx context.Context, account string, generation uint32) (map[string]string, error) {
	all, err := selectValues[pair](ctx, s, account, "product_titles", generation)
	found := map[string]string{}
	for _, p := range all {
		found[p.key] = p.value
	}
	return found, err
}

func (s store) InsertTitles(ctx context.Context, account string, generation uint32, all map[string]string) error {
	var rows []pair
	for _, id := range slices.Sorted(maps.Keys(all)) {
		rows = append(rows, pair{id, all[id]})
	}
	return insertValues(ctx, s, account, "product_titles", generation, rows)
}

func (s store) ProductNumbers(ctx context.Context, account string, generation uint32) (numbers map[string]uint32, err error) {
	numbers = map[string]uint32{}
	err = s.readOf(ctx, account, "select products", fmt.Sprint(generation), func() error {
		rows := s.rowsOf(account, "products", generation)
		if s.hooks.allNumbers {
			rows, _ = s.world.rows.Rows("products").Read(ctx, account)
		}
		for _, r := range rows {
			numbers[r.Value.(string)] = r.Key
		}
		return nil
	})
	return numbers, err
}

func (s store) InsertProductNumbers(ctx context.Context, account string, generation uint32, all map[string]uint32) error {
	var rows []tables.Row
	for _, id := range slices.Sorted(maps.Keys(all)) {
		rows = append(rows, tables.Row{Generation: generation, Key: all[id], Value: id})
	}
	return s.insertRows(ctx, account, "products", generation, rows)
}

// entityRow is a row of the table entities.
type entityRow struct {
	adlens.EntityID
	loader.Entity
}

func (s store) Entities(ctx context.Context, account string, generation uint32) (all map[adlens.EntityID]*loader.Entity, err error) {
	all = map[adlens.EntityID]*loader.Entity{}
	err = s.readOf(ctx, account, "select entities", fmt.Sprint(generation), func() error {
		rows := s.rowsOf(account, "entities", generation)
		if s.hooks.allNumbers {
			rows, _ = s.world.rows.Rows("entities").Read(ctx, account)
		}
		for _, r := range rows {
			e := r.Value.(entityRow)
			e.Names = slices.Clone(e.Names)
			all[e.EntityID] = &e.Entity
		}
		return nil
	})
	return all, err
}

func (s store) InsertEntities(ctx context.Context, account string, generation uint32, all map[adlens.EntityID]*loader.Entity) error {
	rows := make([]tables.Row, 0, len(all))
	for of, e := range all {
		rows = append(rows, tables.Row{Generation: generation, Key: e.Key, Value: entityRow{of, loader.Entity{Key: e.Key, Names: slices.Clone(e.Names)}}})
	}
	slices.SortFunc(rows, func(a, b tables.Row) int { return cmp.Compare(a.Key, b.Key) })
	return s.insertRows(ctx, account, "entities", generation, rows)
}

// formRow is a row of the table campaign_forms.
type formRow struct {
	loader.ListedCampaign
	form platform.Form
}

func (s store) Forms(ctx context.Context, account string, generation uint32) (loader.Forms, error) {
	rows, err := selectValues[formRow](ctx, s, account, "campaign_forms", generation)
	all := loader.Forms{}
	for _, r := range rows {
		all[r.ListedCampaign] = r.form
	}
	return all, err
}

func (s store) InsertForms(ctx context.Context, account string, generation uint32, all loader.Forms) error {
	var rows []formRow
	for of, form := range all {
		rows = append(rows, formRow{of, form})
	}
	slices.SortFunc(rows, func(a, b formRow) int {
		return cmp.Or(cmp.Compare(a.Marketplace, b.Marketplace), cmp.Compare(a.ID, b.ID))
	})
	return insertValues(ctx, s, account, "campaign_forms", generation, rows)
}

// Lists are kept as text: nothing is computed from them.

func (s store) InsertCampaigns(ctx context.Context, account string, marketplace uint16, generations loader.Generations, all []platform.Campaign) error {
	return insertList(ctx, s, account, "campaigns", marketplace, generations, all, func(c platform.Campaign) (adlens.AdProduct, string) {
		text := c.ID + " " + c.Name
		if c.Form == platform.OneAdGroup {
			text += legacyMark
		}
		return c.AdProduct, text
	})
}

func (s store) InsertAdGroups(ctx context.Context, account string, marketplace uint16, generations loader.Generations, all []platform.AdGroup) error {
	return insertList(ctx, s, account, "ad_groups", marketplace, generations, all, func(g platform.AdGroup) (adlens.AdProduct, string) { return g.AdProduct, g.ID + " " + g.Name })
}

func (s store) InsertAds(ctx context.Context, account string, marketplace uint16, generations loader.Generations, all []platform.Ad) error {
	return insertList(ctx, s, account, "ads", marketplace, generations, all, func(a platform.Ad) (adlens.AdProduct, string) { return a.AdProduct, a.ID + " " + string(a.State) })
}

// ListedNames takes no turn: nothing that is judged follows from names.
func (s store) ListedNames(_ context.Context, account string, generation uint32) (map[adlens.EntityID]string, error) {
	all := map[adlens.EntityID]string{}
	for kind, table := range map[adlens.EntityType]string{adlens.CampaignEntity: "campaigns", adlens.AdGroupEntity: "ad_groups"} {
		for _, r := range s.rowsOf(account, table, generation) {
			id, name, _ := strings.Cut(strings.TrimSuffix(r.Value.(listed).text, legacyMark), " ")
			all[adlens.EntityID{Type: kind, ID: id}] = name
		}
	}
	return all, nil
}

// legacyMark follows the name of a campaign that reports leave out.
const legacyMark = ", left out of reports"

// listed is a row of a list.
type listed struct {
	slice manifest.Slice
	text  string
}

func insertList[T any](ctx context.Context, s store, account, table string, marketplace uint16, generations loader.Generations, all []T, of func(T) (adlens.AdProduct, string)) error {
	var rows []tables.Row
	for _, t := range all {
		p, text := of(t)
		if generation, ok := generations[p]; ok {
			rows = append(rows, tables.Row{Generation: generation, Value: listed{manifest.Slice{Marketplace: marketplace, AdProduct: p}, text}})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return s.insertRows(ctx, account, table, rows[0].Generation, rows)
}

func (s store) Rules(ctx context.Context, account string, generation uint32) ([]records.Rule, error) {
	all, err := selectValues[records.Rule](ctx, s, account, "rules", generation)
	slices.SortFunc(all, func(a, b records.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all, err
}

func (s store) InsertRules(ctx context.Context, account string, generation uint32, all []records.Rule) error {
	return insertValues(ctx, s, account, "rules", generation, all)
}

func (s store) RuleRuns(ctx context.Context, account string, generation uint32) ([]records.RuleRun, error) {
	return selectValues[records.RuleRun](ctx, s, account, "rule_runs", generation)
}

func (s store) InsertRuleRuns(ctx context.Context, account string, generation uint32, all []records.RuleRun) error {
	return insertValues(ctx, s, account, "rule_runs", generation, all)
}

func (s store) Activity(ctx context.Context, account string, generation uint32) ([]records.Activity, error) {
	return selectValues[records.Activity](ctx, s, account, "activity", generation)
}

func (s store) InsertActivity(ctx context.Context, account string, generation uint32, all []records.Activity) error {
	return insertValues(ctx, s, account, "activity", generation, all)
}

func (s store) Ledger(ctx context.Context, account string) (known map[loader.LedgerKey]bool, err error) {
	known = map[loader.LedgerKey]bool{}
	err = s.readOf(ctx, account, "select ledger", "", func() error {
		for _, line := range s.world.ledger[account] {
			known[line.LedgerKey] = true
		}
		return nil
	})
	return known, err
}

func (s store) InsertLedger(ctx context.Context, account string, lines []loader.LedgerLine) error {
	if err := s.requireHeld(); err != nil {
		return err
	}
	lines = slices.Clone(lines)
	return s.writeOf(ctx, account, "insert ledger", fmt.Sprint(len(lines)), func() { s.world.ledger[account] = append(s.world.ledger[account], lines...) })
}
