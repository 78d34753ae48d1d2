package simulation

import (
	"context"
	"math/rand/v2"
	"slices"

	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// lost returns the table of which an account lost rows, or any account for "".
func (w *world) lost(account string) string {
	for _, of := range w.plan.Accounts {
		if t := w.truths[of]; t.vanished != "" && (account == "" || account == of) {
			return t.vanished
		}
	}
	return ""
}

// lostSince reports whether an account, or any account for "", lacks rows or has
// done so since a step.
func (w *world) lostSince(account string, step int) bool {
	return slices.ContainsFunc(w.plan.Accounts, func(of string) bool {
		t := w.truths[of]
		return (account == "" || account == of) && (t.vanished != "" || len(t.copies) > 0 || t.mended > step)
	})
}

// losable are the tables that lose rows, some of them more often.
var losable = append([]string{"commits", "commit_units", "seals", "number_blocks", "accounted", "dead_generations", "facts", "day_totals", "products"}, tables.OfGenerations()...)

// losableMeanwhile are tables of which a load takes over rows.
var losableMeanwhile = []string{"facts", "facts", "month_products", "month_ad_groups", "products", "entities"}

// vanish loses what some inserts of one of some accounts wrote into one of some tables, of
// several shards at one of them.
func (w *world) vanish(r *rand.Rand, accounts, names []string) {
	if at := w.everywhere(); len(at) > 1 && w.here == nil {
		w.on(at[r.IntN(len(at))], func() { w.vanish(r, accounts, names) })
		return
	}
	table, account := names[r.IntN(len(names))], accounts[r.IntN(len(accounts))]
	if w.lost(account) != "" {
		return
	}
	odds, dropped, inserts := 1+r.IntN(3), 0, 0
	w.rows.DropBlocks(table, account, func(int) bool { inserts++; return false })
	spoils := w.plan.Seed/16%4 == 3 // in every fourth world of each kind bytes change
	if hasGuards(w.plan) {
		spoils = r.IntN(2) == 0
	}
	if spoils && inserts > 0 {
		w.spoil(table, account, r.IntN(inserts))
		return
	}
	newest := r.IntN(2) == 0 // the last one alone
	w.rows.DropBlocks(table, account, func(place int) bool {
		if newest && place != inserts-1 || !newest && r.IntN(odds+1) < odds {
			return false
		}
		dropped++
		return true
	})
	if dropped == 0 {
		return
	}
	w.trace.add("%d %d inserts of %s of %s are gone", w.steps, dropped, account, table)
	w.truths[account].lose(table)
}

// lose notes that a table lost rows at the shard whose call is carried out, or at the only
// server. Those of a copy count once the account is there.
func (t *truth) lose(table string) {
	if at := t.world.here; at != nil && at != t.world.shardOf(t.account) {
		t.copies[at] = table
		return
	}
	t.vanished, t.lostAt = table, t.world.steps
	t.recount()
}

// leave makes sure that a move does not delete rows which the account's own shard lost, at the
// shard whose call is carried out, where it could have seen that.
func (t *truth) leave(ctx context.Context, mover *op) {
	if t.vanished == "" || t.lostAt >= mover.looked {
		return
	}
	here := t.countGenerations(ctx)
	t.world.on(t.world.shardOf(t.account), func() {
		state, _ := commits.Read(ctx, t.world.rows, t.account)
		own := t.countGenerations(ctx)
		for _, kind := range manifest.Kinds {
			for _, e := range state.Manifest.Of(kind) {
				for _, table := range tables.OfKind(kind) {
					if of := (tables.Count{Table: table, Generation: e.Generation}); here[of] > own[of] {
						t.fail("a move deletes rows of %s that were lost before it looked where the account is", table)
					}
				}
			}
		}
	})
}

// countGenerations counts the rows of each generation of a table.
func (t *truth) countGenerations(ctx context.Context) map[tables.Count]uint64 {
	all, _ := t.world.rows.CountRows(ctx, t.account, tables.OfGenerations()...)
	rows := map[tables.Count]uint64{}
	for _, c := range all {
		rows[tables.Count{Table: c.Table, Generation: c.Generation}] = c.Rows
	}
	return rows
}

// clear notes that a table of a copy has no rows any more.
func (t *truth) clear(table string) {
	if at := t.world.here; at != nil && t.copies[at] == table {
		delete(t.copies, at)
		t.mended = t.world.steps
	}
}

// spoil changes bytes of an insert, which cannot be read from then on. A restore in place
// reads the record of commits and the numbers itself: it is refused where these are spoilt.
func (w *world) spoil(table, account string, place int) {
	if w.plan.World == Repairs && (table == "commits" || table == "number_blocks") {
		return
	}
	w.trace.add("%d insert %d of %s into %s cannot be read any more", w.steps, place, account, table)
	w.rows.SpoilBlock(table, account, place)
	t := w.truths[account]
	t.spoiled = true
	t.lose(table)
}

// setAside has the engine go on without what cannot be read of an account.
func (w *world) setAside(account string) {
	w.rows.SetAside(account)
	w.truths[account].spoiled = false
}
