package connector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adlens"
	"adlens/internal/ecb"
	"adlens/internal/platform"
	"adlens/internal/query/period"
	"adlens/loader"
)

// Bank is the server of the European Central Bank.
type Bank interface {
	Daily(ctx context.Context) (ecb.Table, error)   // the newest day
	History(ctx context.Context) (ecb.Table, error) // all days
}

// RatesFile is the extract in which fetched rates are kept. It is written as the bank
// writes its history, so that loading it again anywhere gives the same rates, which
// rates that are loaded by hand go before.
const RatesFile = "eurofxref-hist.csv"

const (
	// ratesBack is for how many days rates are fetched at first: the longest range of
	// a report, the days that a rate serves for, and some of waiting.
	ratesBack = 95 + loader.RateReach + 18
	// The bank publishes the rates of a working day around 16:00 in Frankfurt.
	publishedHour, publishedMinute = 16, 5
	bankZone                       = "Europe/Berlin"
	// Bounds of looking for rates that are due. Those of a weekday on which the bank
	// does not work are looked for with growing pauses.
	ratesRetry       = time.Minute
	ratesRetryFactor = 2
)

// errNotPublished says that the bank has no rates yet of the day that is due.
var errNotPublished = errors.New("not published yet")

// ratesWork is the name under which one process at a time fetches rates for an
// account.
func ratesWork(account string) string { return "rates/" + account }

// freshenRates fetches the bank's rates that an account needs and does not hold, keeps
// them among its extracts and loads them. It does nothing where all marketplaces
// are in US dollars, another process is at it, or the last try was a moment ago.
func (c *Connector) freshenRates(ctx context.Context, account, dir string, now time.Time) error {
	due, err := c.ratesDue(ctx, account, now)
	if err != nil || !due {
		return err
	}
	w := work{store: c.Store, locks: c.Locks, name: ratesWork(account), rest: exponentialBackoff(c.paced(ratesRetry), ratesRetryFactor, longestRest)}
	end, turn, err := w.beginWork(ctx)
	if err != nil || turn != free {
		return err
	}
	err = c.takeRates(ctx, account, dir, now)
	ending := end(err)
	if errors.Is(err, errNotPublished) {
		err = nil
	}
	return errors.Join(err, ending)
}

// pullRates is freshenRates at once, after any other process: a person waits for it.
func (c *Connector) pullRates(ctx context.Context, account, dir string, now time.Time) error {
	release, err := c.Locks.Lock(ctx, ratesWork(account), func(string) {})
	if err != nil {
		return err
	}
	due, err := c.ratesDue(ctx, account, now)
	if err == nil && !due { // what is left in a directory of its own can be loaded anywhere
		_, missing := os.Stat(filepath.Join(dir, RatesFile))
		due, err = c.needsRates(ctx, account)
		due = due && errors.Is(missing, os.ErrNotExist)
	}
	if err == nil && due {
		err = c.takeRates(ctx, account, dir, now)
	}
	if errors.Is(err, errNotPublished) {
		err = nil
	}
	return errors.Join(err, release())
}

// ratesDue reports whether an account needs rates that it does not hold.
func (c *Connector) ratesDue(ctx context.Context, account string, now time.Time) (bool, error) {
	needs, err := c.needsRates(ctx, account)
	if err != nil || !needs {
		return false, err
	}
	held, ok, err := c.heldRates(ctx, account)
	return err == nil && (!ok || !reachesBack(held.First, now) || held.Last < lastPublished(now)), err
}

// heldRates are the days of which an account holds rates of the bank.
func (c *Connector) heldRates(ctx context.Context, account string) (held loader.RateSpan, ok bool, err error) {
	all, err := c.Store.RateSpans(ctx, account)
	// Each of the bank's files with a rate of the dollar gives one of the euro.
	i := slices.IndexFunc(all, func(s loader.RateSpan) bool { return s.Fetched && s.Currency == "EUR" })
	if err != nil || i < 0 {
		return held, false, err
	}
	return all[i], true, nil
}

// needsRates reports whether an account has marketplaces in other currencies, and there is
// a bank.
func (c *Connector) needsRates(ctx context.Context, account string) (bool, error) {
	if c.Bank == nil {
		return false, nil
	}
	profiles, err := c.Store.Profiles(ctx, account)
	return err == nil && slices.ContainsFunc(profiles, func(p platform.Profile) bool { return p.Currency != "USD" }), err
}

// reachesBack reports whether rates from a day on serve for all days of reports.
func reachesBack(first adlens.Day, now time.Time) bool {
	return first <= adlens.DayOf(now.UTC())-ratesBack+loader.RateReach
}

// lastPublished is the newest weekday whose rates the bank has published. On a few
// weekdays of a year it does not work.
func lastPublished(now time.Time) adlens.Day {
	zone, err := period.Zone(bankZone)
	if err != nil { // the zones are in the binary
		zone = time.UTC
	}
	there := now.In(zone)
	day := period.DayIn(zone, now)
	if there.Before(time.Date(there.Year(), there.Month(), there.Day(), publishedHour, publishedMinute, 0, 0, zone)) {
		day--
	}
	for isWeekend(day) {
		day--
	}
	return day
}

func isWeekend(day adlens.Day) bool {
	weekday := day.Time().Weekday()
	return weekday == time.Saturday || weekday == time.Sunday
}

// takeRates fetches what is missing in the kept file, writes that and loads it. The
// file comes first: what a kill keeps from being loaded is loaded by the next try. Without
// the history, what is new alone is loaded: the rest would undo corrections of the bank
// that a person has loaded since.
func (c *Connector) takeRates(ctx context.Context, account, dir string, now time.Time) error {
	path := filepath.Join(dir, RatesFile)
	kept, err := readKeptRates(path)
	if err != nil {
		c.Notice(account, fmt.Sprintf("%s cannot be used and is written again: %v", path, err))
		kept = ecb.Table{}
	}
	unloaded, err := c.bringsRates(ctx, account, kept)
	if err != nil {
		return err
	}
	brought, failure := c.fetchRates(ctx, kept, now)
	if len(brought) > 0 {
		if err := writeRates(path, kept); err != nil {
			return err
		}
	}
	if unloaded {
		brought = kept
	}
	if len(brought) > 0 {
		err = c.loadRates(ctx, account, path, kept, brought)
	}
	if err != nil && errors.Is(failure, errNotPublished) { // it is no failure, and would hide this one
		failure = nil
	}
	return errors.Join(failure, err)
}

func writeRates(path string, rates ecb.Table) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), writeAtomic(path, func(f *os.File) error { return rates.Write(f) }))
}

// loadRates loads the kept rates, or of these the ones that were brought, from a file of
// their own.
func (c *Connector) loadRates(ctx context.Context, account, path string, kept, brought ecb.Table) (err error) {
	if len(brought) < len(kept) {
		dir := filepath.Join(filepath.Dir(path), ".brought")
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		path = filepath.Join(dir, filepath.Base(path))
		if err := writeRates(path, brought); err != nil {
			return err
		}
	}
	result, err := c.Loader.Load(ctx, account, []string{path})
	return errors.Join(err, refusedFiles(result))
}

// bringsRates reports whether kept rates are of days of which an account holds none.
func (c *Connector) bringsRates(ctx context.Context, account string, kept ecb.Table) (bool, error) {
	held, ok, err := c.heldRates(ctx, account)
	days := kept.Days()
	return len(days) > 0 && (!ok || days[0] < held.First || held.Last < days[len(days)-1]), err
}

func readKeptRates(path string) (ecb.Table, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return ecb.Table{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ecb.Read(f)
}

// fetchRates puts into the kept rates what the bank has published since: the newest day,
// and with it the history, in which alone the bank corrects days before. brought is what
// has to be loaded: all where the history was read and anything is new.
func (c *Connector) fetchRates(ctx context.Context, kept ecb.Table, now time.Time) (brought ecb.Table, err error) {
	from := adlens.DayOf(now.UTC()) - ratesBack
	whole := false
	if days := kept.Days(); len(days) > 0 {
		from, whole = min(from, days[0]), reachesBack(days[0], now)
		if whole && days[len(days)-1] >= lastPublished(now) {
			return nil, nil
		}
	}
	daily, err := c.Bank.Daily(ctx)
	if err == nil {
		err = refuseFuture(daily, now)
	}
	if err != nil {
		return nil, err
	}
	before, newest, read := maps.Clone(kept), slices.Max(daily.Days()), false
	if _, known := kept[newest]; !known || !whole {
		var history ecb.Table
		if history, err = c.Bank.History(ctx); err == nil {
			err = refuseFuture(history, now)
		}
		if err != nil && (!whole || misses(kept, newest)) {
			return nil, err // the newest day alone would hide that days before it are missing
		}
		if err == nil {
			kept.Put(history, from)
			read = true
		}
	}
	kept.Put(daily, from)
	if err == nil && newest < lastPublished(now) {
		err = fmt.Errorf("the newest rates are of %s: those of %s are %w", newest, lastPublished(now), errNotPublished)
	}
	brought = maps.Clone(kept)
	maps.DeleteFunc(brought, func(day adlens.Day, rates map[string]adlens.Amount) bool { return maps.Equal(before[day], rates) })
	if read && len(brought) > 0 {
		brought = kept
	}
	return brought, err
}

// misses reports whether the kept rates lack a day between theirs and the newest.
func misses(kept ecb.Table, newest adlens.Day) bool {
	days := kept.Days()
	for day := days[len(days)-1] + 1; day < newest; day++ {
		if !isWeekend(day) {
			return true
		}
	}
	return false
}

// refuseFuture refuses rates of days that have not come.
func refuseFuture(t ecb.Table, now time.Time) error {
	if last := slices.Max(t.Days()); last > adlens.DayOf(now.UTC())+1 {
		return fmt.Errorf("the bank's file has rates of %s, expected none after %s", last, adlens.DayOf(now.UTC()))
	}
	return nil
}
