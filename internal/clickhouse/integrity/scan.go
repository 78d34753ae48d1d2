package integrity

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/commits"
	"adlens/internal/flight"
	"adlens/internal/tables"
)

// Loss is something that an account had and has no more.
type Loss struct {
	Account string
	What    string // for people who have to act on it
}

// scanTwice scans again where something seems to be missing: what the second scan
// misses as well was committed before it began.
func scanTwice(ctx context.Context, c *conn.Session) ([]Loss, error) {
	first, err := scan(ctx, c)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	second, err := scan(ctx, c)
	return slices.DeleteFunc(second, func(l Loss) bool { return !slices.Contains(first, l) }), err
}

// scan reads the record of commits before it counts rows, so that all that it
// names was there when it was counted.
func scan(ctx context.Context, c *conn.Session) (all []Loss, err error) {
	port := smalltables.OfSession(c)
	var seals map[string][]tables.Seal
	states, broken, err := commits.ReadAll(ctx, port)
	if err != nil {
		return nil, err
	}
	var counts []tables.Count
	var rows []Loss
	err = flight.Together(func() (err error) {
		seals, err = port.Seals().ReadAll(ctx)
		return err
	}, func() (err error) {
		counts, err = port.CountRows(ctx, "", tables.OfGenerations()...)
		return err
	}, func() (err error) {
		rows, err = directoryLosses(ctx, c, "")
		return err
	})
	if err != nil {
		return nil, err
	}
	byAccount := map[string][]tables.Count{}
	for _, c := range counts {
		byAccount[c.Account] = append(byAccount[c.Account], c)
	}
	for account := range seals {
		if _, known := states[account]; !known {
			states[account] = commits.State{}
		}
	}
	for account, state := range states {
		if err := broken[account]; err != nil {
			all = append(all, Loss{account, err.Error()})
			continue
		}
		for _, fault := range commits.Faults(state, seals[account], byAccount[account]) {
			all = append(all, Loss{account, fault})
		}
	}
	all = append(all, rows...)
	slices.SortStableFunc(all, func(a, b Loss) int { return cmp.Compare(a.Account, b.Account) })
	return all, nil
}

func directoryLosses(ctx context.Context, at conn.Reader, account string) (all []Loss, err error) {
	faults, err := directory.FindFaults(ctx, at, account)
	for _, account := range slices.Sorted(maps.Keys(faults)) {
		for _, fault := range faults[account] {
			all = append(all, Loss{account, fault})
		}
	}
	return all, err
}
