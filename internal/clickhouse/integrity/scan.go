package integrity

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/directory"
	smalltables "adlens/internal/clickhouse/tables"
	"adlens/internal/commits"
	"adlens/internal/flight"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// Loss is something that an account had and has no more.
type Loss struct {
	Account string
	What    string // for people who have to act on it
	Unread  bool   // it cannot be read, and What is what the server says of it this time
}

// lookTwice looks again where something seems to be missing: what the second look misses
// as well was committed before it began. What cannot be read, at one look or the other, is
// no commit that came between them.
func lookTwice(ctx context.Context, c *conn.Session, look func(context.Context, *conn.Session) ([]Loss, error)) ([]Loss, error) {
	first, err := look(ctx, c)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	second, err := look(ctx, c)
	return slices.DeleteFunc(second, func(l Loss) bool {
		return !slices.ContainsFunc(first, func(f Loss) bool { return f == l || (f.Unread || l.Unread) && f.Account == l.Account })
	}), err
}

// eachAccount is a scan of accounts of which some cannot be read.
type eachAccount struct {
	accounts []string
	unread   map[string]error // by account
}

// readEach reads all accounts at once or, where that cannot be read, each for itself: there
// may be thousands, and most tables are whole.
func readEach[R any](e eachAccount, all func() (map[string]R, error), one func(account string) (R, error)) (map[string]R, error) {
	read, err := all()
	if adlens.KindOf(err) != adlens.Damaged {
		return read, err
	}
	read = map[string]R{}
	for _, account := range e.accounts {
		of, err := one(account)
		switch {
		case adlens.KindOf(err) == adlens.Damaged:
			e.unread[account] = err
		case err != nil:
			return nil, err
		}
		read[account] = of
	}
	return read, nil
}

// scanEach is scan where something of an account cannot be read: what another one lost is
// read without an error. An account of which something cannot be read is not whole.
func scanEach(ctx context.Context, c *conn.Session) (all []Loss, err error) {
	port := smalltables.OfSession(c)
	e := eachAccount{unread: map[string]error{}}
	if e.accounts, err = readAccounts(ctx, c); err != nil {
		return nil, err
	}
	seals, err := readEach(e, func() (map[string][]tables.Seal, error) { return port.Seals().ReadAll(ctx) },
		func(account string) ([]tables.Seal, error) { return port.Seals().Read(ctx, account) })
	if err != nil {
		return nil, err
	}
	states, err := readEach(e, func() (map[string]commits.State, error) {
		states, broken, err := commits.ReadAll(ctx, port)
		maps.Copy(e.unread, broken)
		return states, err
	}, func(account string) (commits.State, error) { return commits.Read(ctx, port, account) })
	if err != nil {
		return nil, err
	}
	counts := map[string][]tables.Count{}
	for _, name := range tables.OfGenerations() {
		counted, err := countEach(ctx, c, port, e, name)
		if err != nil {
			return nil, err
		}
		for account, of := range counted {
			counts[account] = append(counts[account], of...)
		}
	}
	for _, account := range e.accounts {
		if err := e.unread[account]; err != nil {
			all = append(all, Loss{Account: account, What: err.Error(), Unread: true})
			continue
		}
		for _, fault := range commits.Faults(states[account], seals[account], counts[account]) {
			all = append(all, Loss{Account: account, What: fault})
		}
	}
	rows, err := directoryLosses(ctx, c, "")
	if adlens.KindOf(err) == adlens.Damaged {
		err = nil
	}
	return append(all, rows...), err
}

// readAccounts reads of which accounts anything was loaded.
func readAccounts(ctx context.Context, c *conn.Session) ([]string, error) {
	accounts := map[string]bool{}
	for _, table := range []string{"commits", "seals"} {
		err := c.Read(ctx, "SELECT DISTINCT account_id FROM "+table, nil, conn.EachRow(func(scan conn.Scan) error {
			var account string
			err := scan(&account)
			accounts[account] = true
			return err
		}))
		if err != nil && adlens.KindOf(err) != adlens.Damaged {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(accounts)), nil
}

// countEach counts the rows of a table as answers read them.
func countEach(ctx context.Context, c *conn.Session, port smalltables.Port, e eachAccount, name string) (map[string][]tables.Count, error) {
	count := func(account string) ([]tables.Count, error) { return port.CountRows(ctx, account, name) }
	if name == "facts" {
		count = func(account string) ([]tables.Count, error) {
			if account == "" {
				return readFacts(ctx, c, "true", nil)
			}
			return readFacts(ctx, c, "account_id = {account:String}", conn.Params{"account": query.Text(account)})
		}
	}
	return readEach(e, func() (map[string][]tables.Count, error) {
		all, err := count("")
		byAccount := map[string][]tables.Count{}
		for _, c := range all {
			byAccount[c.Account] = append(byAccount[c.Account], c)
		}
		return byAccount, err
	}, count)
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
		counts, err = countRows(ctx, c, port)
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
			all = append(all, Loss{Account: account, What: err.Error()})
			continue
		}
		for _, fault := range commits.Faults(state, seals[account], byAccount[account]) {
			all = append(all, Loss{Account: account, What: fault})
		}
	}
	all = append(all, rows...)
	slices.SortStableFunc(all, func(a, b Loss) int { return cmp.Compare(a.Account, b.Account) })
	return all, nil
}

// scanAccount is scan of one account, whose seals are read before the record: what was
// sealed by then is in it.
func scanAccount(ctx context.Context, c *conn.Session, account string) (all []Loss, err error) {
	port := smalltables.OfSession(c)
	seals, err := port.Seals().Read(ctx, account)
	if err != nil {
		return nil, err
	}
	state, err := commits.Read(ctx, port, account)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(tables.OfGenerations(), func(name string) bool { return name == "facts" })
	counts, err := port.CountRows(ctx, account, others...)
	if err != nil {
		return nil, err
	}
	facts, err := readFacts(ctx, c, "account_id = {account:String}", conn.Params{"account": query.Text(account)})
	if err != nil {
		return nil, err
	}
	for _, fault := range commits.Faults(state, seals, append(counts, facts...)) {
		all = append(all, Loss{Account: account, What: fault})
	}
	return all, nil
}

// countRows counts the rows of all generations. Those of facts are counted by a
// projection, which has files of its own: where the parts say that they have another
// number of rows, one of the two changed on the disk, and rows are counted as answers
// read them.
func countRows(ctx context.Context, c *conn.Session, port smalltables.Port) ([]tables.Count, error) {
	const stored = "SELECT count() FROM facts"
	var before, after, counted uint64
	if err := c.ReadAll(ctx, stored, conn.ScanInto(&before)); err != nil {
		return nil, err
	}
	counts, err := port.CountRows(ctx, "", tables.OfGenerations()...)
	if err != nil {
		return nil, err
	}
	if err := c.ReadAll(ctx, stored, conn.ScanInto(&after)); err != nil {
		return nil, err
	}
	for _, c := range counts {
		if c.Table == "facts" {
			counted += c.Rows
		}
	}
	if counted == before || counted == after { // a load may have added or deleted some meanwhile
		return counts, nil
	}
	read, err := readFacts(ctx, c, "true", nil)
	if adlens.KindOf(err) == adlens.Damaged {
		return counts, nil // the alarm is raised: reading all figures shows whose rows they are
	}
	counts = slices.DeleteFunc(counts, func(c tables.Count) bool { return c.Table == "facts" })
	return append(counts, read...), err
}

// readFacts counts the facts of some accounts as answers read them.
func readFacts(ctx context.Context, c *conn.Session, of string, params conn.Params) (read []tables.Count, err error) {
	err = c.Read(ctx, `
SELECT account_id, generation, count()
FROM facts
WHERE `+of+`
GROUP BY account_id, generation
SETTINGS optimize_use_projections = 0, optimize_use_implicit_projections = 0, optimize_aggregation_in_order = 1`, params, conn.EachRow(func(scan conn.Scan) error {
		count := tables.Count{Table: "facts"}
		err := scan(&count.Account, &count.Generation, &count.Rows)
		read = append(read, count)
		return err
	}))
	return read, err
}

func directoryLosses(ctx context.Context, at conn.Reader, account string) (all []Loss, err error) {
	faults, err := directory.FindFaults(ctx, at, account)
	for _, account := range slices.Sorted(maps.Keys(faults)) {
		for _, fault := range faults[account] {
			all = append(all, Loss{Account: account, What: fault})
		}
	}
	return all, err
}
