package commits

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"adlens"
	"adlens/internal/flight"
	"adlens/internal/tables"
)

// Loss is something that an account had and has no more.
type Loss struct {
	Account string
	What    string // for people who have to act on it
	Unread  bool   // it cannot be read, and What is what the server says of it this time
}

// Database is the small tables of one database, with what else a look for losses reads.
type Database interface {
	tables.Port
	// Accounts are those of which anything was loaded, as far as that can be read.
	Accounts(ctx context.Context) ([]string, error)
	// CountAll counts the rows of all generations in all tables.
	CountAll(ctx context.Context) ([]tables.Count, error)
	// CountAnswered counts the rows of a table as answers read them, of one account or,
	// for "", of all.
	CountAnswered(ctx context.Context, account, table string) ([]tables.Count, error)
	// DirectoryLosses are what accounts lost of the directory, with an error of kind
	// adlens.Damaged where some of it cannot be read.
	DirectoryLosses(ctx context.Context) ([]Loss, error)
}

// FindLosses returns what accounts lost. Where something of any account cannot be read, it is
// an error of kind adlens.Damaged, and FindLossesEach says of which.
func FindLosses(ctx context.Context, db Database) ([]Loss, error) { return lookTwice(ctx, db, scan) }

// FindLossesEach is FindLosses where something of an account cannot be read: what another one
// lost is read without an error. An account of which something cannot be read is not whole.
func FindLossesEach(ctx context.Context, db Database) ([]Loss, error) {
	return lookTwice(ctx, db, scanEach)
}

// AccountLosses looks once at one account, and not at its directory. Its seals are read before
// the record: what was sealed by then is in it.
func AccountLosses(ctx context.Context, db Database, account string) (all []Loss, err error) {
	seals, err := db.Seals().Read(ctx, account)
	if err != nil {
		return nil, err
	}
	state, err := Read(ctx, db, account)
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(tables.OfGenerations(), func(name string) bool { return name == "facts" })
	counts, err := db.CountRows(ctx, account, others...)
	if err != nil {
		return nil, err
	}
	facts, err := db.CountAnswered(ctx, account, "facts")
	if err != nil {
		return nil, err
	}
	return addFaults(nil, account, Faults(state, seals, append(counts, facts...))), nil
}

func addFaults(all []Loss, account string, faults []string) []Loss {
	for _, fault := range faults {
		all = append(all, Loss{Account: account, What: fault})
	}
	return all
}

// lookTwice looks again where something seems to be missing: what the second look misses
// as well was committed before it began. What cannot be read, at one look or the other, is
// no commit that came between them.
func lookTwice(ctx context.Context, db Database, look func(context.Context, Database) ([]Loss, error)) ([]Loss, error) {
	first, err := look(ctx, db)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	second, err := look(ctx, db)
	return slices.DeleteFunc(second, func(l Loss) bool {
		return !slices.ContainsFunc(first, func(f Loss) bool { return f == l || (f.Unread || l.Unread) && f.Account == l.Account })
	}), err
}

// scan reads the record of commits before it counts rows, so that all that it
// names was there when it was counted.
func scan(ctx context.Context, db Database) (all []Loss, err error) {
	var seals map[string][]tables.Seal
	states, broken, err := ReadAll(ctx, db)
	if err != nil {
		return nil, err
	}
	var counts []tables.Count
	var rows []Loss
	err = flight.Together(func() (err error) {
		seals, err = db.Seals().ReadAll(ctx)
		return err
	}, func() (err error) {
		counts, err = db.CountAll(ctx)
		return err
	}, func() (err error) {
		rows, err = db.DirectoryLosses(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	byAccount := countsByAccount(counts)
	for account := range seals {
		if _, known := states[account]; !known {
			states[account] = State{}
		}
	}
	for account, state := range states {
		if err := broken[account]; err != nil {
			all = append(all, Loss{Account: account, What: err.Error()})
			continue
		}
		all = addFaults(all, account, Faults(state, seals[account], byAccount[account]))
	}
	all = append(all, rows...)
	slices.SortStableFunc(all, func(a, b Loss) int { return cmp.Compare(a.Account, b.Account) })
	return all, nil
}

func countsByAccount(all []tables.Count) map[string][]tables.Count {
	byAccount := map[string][]tables.Count{}
	for _, c := range all {
		byAccount[c.Account] = append(byAccount[c.Account], c)
	}
	return byAccount
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

func scanEach(ctx context.Context, db Database) (all []Loss, err error) {
	e := eachAccount{unread: map[string]error{}}
	if e.accounts, err = db.Accounts(ctx); err != nil {
		return nil, err
	}
	seals, err := readEach(e, func() (map[string][]tables.Seal, error) { return db.Seals().ReadAll(ctx) },
		func(account string) ([]tables.Seal, error) { return db.Seals().Read(ctx, account) })
	if err != nil {
		return nil, err
	}
	states, err := readEach(e, func() (map[string]State, error) {
		states, broken, err := ReadAll(ctx, db)
		maps.Copy(e.unread, broken)
		return states, err
	}, func(account string) (State, error) { return Read(ctx, db, account) })
	if err != nil {
		return nil, err
	}
	counts := map[string][]tables.Count{}
	for _, name := range tables.OfGenerations() {
		counted, err := countEach(ctx, db, e, name)
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
		all = addFaults(all, account, Faults(states[account], seals[account], counts[account]))
	}
	rows, err := db.DirectoryLosses(ctx)
	if adlens.KindOf(err) == adlens.Damaged {
		err = nil
	}
	return append(all, rows...), err
}

// countEach counts the rows of a table as answers read them.
func countEach(ctx context.Context, db Database, e eachAccount, name string) (map[string][]tables.Count, error) {
	count := func(account string) ([]tables.Count, error) { return db.CountAnswered(ctx, account, name) }
	return readEach(e, func() (map[string][]tables.Count, error) {
		all, err := count("")
		return countsByAccount(all), err
	}, count)
}
