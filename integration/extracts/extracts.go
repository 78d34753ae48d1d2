package extracts

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"adlens/internal/made"
)

// Options say what to write.
type Options struct {
	Seed     uint64
	Accounts int
	Reports  int       // for each account
	Now      time.Time // reports reach up to this moment's day
	Days     int       // how far back they reach, 62 or more; 420 when zero
	Big      bool      // amounts and counts up to the contract's limits
	// PlatformOnly leaves out reports of the console, for oracles that do not read them.
	PlatformOnly bool
	// Legacy adds half as many legacy reports of Sponsored Brands, behind all others.
	Legacy bool
}

// Account is one account's files.
type Account struct {
	ID        string
	Base      string   // a directory: profiles, rates, products, and some lists of campaigns and ad groups
	LateRates string   // a directory: rates for days that had none, and no other
	NewRates  string   // a directory: other rates for days that had one
	Profiles  []string // ids
	Reports   []Report
}

// Report is one report object, or an export's, and its download.
type Report = made.Pair

type writer struct {
	Options
	*rand.Rand
	today    time.Time
	profiles []profile
	last     []description // what was written, for ties and restatements
}

// Write writes the extracts below dir and returns where everything is.
func Write(dir string, o Options) ([]Account, error) {
	if o.Days == 0 {
		o.Days = 420
	}
	w := &writer{Options: o, Rand: rand.New(rand.NewPCG(o.Seed, 7)), today: midnightUTC(o.Now)}
	var accounts []Account
	for i := range o.Accounts {
		account, err := w.writeAccount(filepath.Join(dir, fmt.Sprintf("account%d", i+1)), i)
		if err != nil {
			return nil, err
		}
		accounts = append(accounts, account)
	}
	return accounts, nil
}

func midnightUTC(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

func (w *writer) writeAccount(dir string, i int) (Account, error) {
	w.profiles, w.last = w.pickProfiles(), nil
	account := Account{
		ID:   fmt.Sprintf("acct-%d-%d", w.Seed, i+1),
		Base: filepath.Join(dir, "base"), LateRates: filepath.Join(dir, "late"), NewRates: filepath.Join(dir, "new"),
	}
	for _, p := range w.profiles {
		account.Profiles = append(account.Profiles, p.id)
	}
	for _, path := range []string{account.Base, account.LateRates, account.NewRates, filepath.Join(dir, "reports")} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return account, err
		}
	}
	if err := w.writeBase(account); err != nil {
		return account, err
	}
	if err := w.writeNames(account.Base); err != nil {
		return account, err
	}
	for n := range w.Reports {
		report, err := w.writeReport(filepath.Join(dir, "reports"), n)
		if err != nil {
			return account, err
		}
		account.Reports = append(account.Reports, report)
	}
	if w.Legacy {
		return account, w.writeLegacy(&account, filepath.Join(dir, "reports"))
	}
	return account, nil
}

// fork gives a writer with random numbers of its own: however many are drawn of them on
// one day or another, what is written next is the same.
func (w *writer) fork() *writer {
	own := *w
	own.Rand = rand.New(rand.NewPCG(w.Uint64(), w.Uint64()))
	return &own
}

// percentChance is true in n of a hundred cases.
func (w *writer) percentChance(n int) bool { return w.IntN(100) < n }

func pickOne[T any](w *writer, from []T) T { return from[w.IntN(len(from))] }
