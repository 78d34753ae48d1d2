package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"adlens"
	"adlens/internal/clickhouse"
	adhttp "adlens/internal/http"
	"adlens/loader"

	"go.uber.org/zap"
)

const (
	inspectEvery = 10 * time.Minute // whether all rows are there
	agesEvery    = time.Minute
	// deepRest is how long the reading of all figures, which takes a while,
	// rests after it was done.
	deepRest = time.Minute
)

// inspector finds out whether what is stored is what was loaded, and how old it
// is: figures are right or they are not shown at all.
type inspector struct {
	*data
	log       *zap.Logger
	restarted chan struct{} // has a value after the engine was started anew

	mu       sync.Mutex
	ages     clickhouse.Ages
	restarts int

	broken []string // the damaged parts that the engine is known to have set aside
	deep   time.Time
	said   map[string]int // faults of each account that the log names already
}

func (d *data) inspector(log *zap.Logger) *inspector {
	return &inspector{data: d, log: log, restarted: make(chan struct{}, 1), said: map[string]int{}}
}

// begin looks at everything before anything is answered.
func (i *inspector) begin(ctx context.Context) error {
	if err := i.Guard(ctx); err != nil {
		return err
	}
	if err := i.setAside(ctx); err != nil {
		return err
	}
	if i.Damage().Unread != nil {
		if err := i.readAll(ctx); err != nil {
			return err
		}
	}
	i.readAges(ctx)
	var faults []error
	for account, missing := range i.Damage().Lost {
		faults = append(faults, fmt.Errorf("account %s: %s", account, missing))
	}
	if len(faults) > 0 {
		return fmt.Errorf("the data is damaged, and answers would be wrong: restore a backup, or load the extracts into a new data directory (%w)", errors.Join(faults...))
	}
	return nil
}

// run goes on looking until the context ends: for rows that are missing seldom
// and after each restart of the engine, which has passed over what it did not
// find; at all figures where something could not be read.
func (i *inspector) run(ctx context.Context) {
	inspect, ages := time.NewTicker(inspectEvery), time.NewTicker(agesEvery)
	defer inspect.Stop()
	defer ages.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-ages.C:
			i.readAges(ctx)
			continue
		case <-i.restarted:
			err = errors.Join(i.Inspect(ctx), i.setAside(ctx))
		case <-inspect.C:
			err = errors.Join(i.Inspect(ctx), i.setAside(ctx))
			if i.Damage().Unread != nil {
				err = errors.Join(err, i.readAll(ctx))
			}
		case <-i.Alarms():
			if unread := i.Damage().Unread; unread != nil {
				i.log.Error("rows cannot be read; all figures are held against what was loaded", zap.Error(unread))
				err = i.readAll(ctx)
			}
		}
		if err != nil && ctx.Err() == nil {
			i.log.Warn("the stored data could not be looked through", zap.Error(err))
		}
		i.sayDamage()
	}
}

// engineRestarted is told by whoever watches the engine.
func (i *inspector) engineRestarted() {
	i.mu.Lock()
	i.restarts++
	i.mu.Unlock()
	i.log.Warn("the engine was started anew; it is looked through for what it may have lost")
	select {
	case i.restarted <- struct{}{}:
	default:
	}
}

// setAside has all figures read where the engine found parts damaged that were
// not known to be: what was in them is in no answer any more. It may have been
// of no account, as that of a load which a power cut ended.
func (i *inspector) setAside(ctx context.Context) error {
	parts, err := i.DamagedParts(ctx)
	if err != nil || !slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(i.broken, part) }) {
		return err
	}
	i.broken = parts
	i.log.Warn("the database set damaged parts aside; everything is held against what was loaded", zap.Strings("parts", parts))
	return i.readAll(ctx)
}

// readAll reads every figure and withholds the accounts of which some are
// wrong.
func (i *inspector) readAll(ctx context.Context) error {
	if time.Since(i.deep) < deepRest {
		return nil
	}
	defer func() { i.deep = time.Now() }()
	accounts, err := i.Accounts(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if len(i.Damage().Lost[a.ID]) > 0 {
			continue // nothing of it is shown anyhow
		}
		faults, err := loader.Verify(clickhouse.Inspecting(ctx), clickhouse.LoadStore{DB: i.DB, Locker: i.locker}, a.ID)
		if adlens.KindOf(err) == adlens.Damaged {
			faults, err = []string{err.Error()}, nil
		}
		if err != nil {
			return err
		}
		if len(faults) > 0 {
			i.Withhold(a.ID, faults...)
		}
	}
	if len(i.Damage().Lost) == 0 {
		i.Calm()
		i.log.Info("all figures are what was loaded")
	}
	return nil
}

// sayDamage logs what is new of what is wrong.
func (i *inspector) sayDamage() {
	for account, missing := range i.Damage().Lost {
		if i.said[account] != len(missing) {
			i.said[account] = len(missing)
			i.log.Error("the data of an account is damaged; nothing of it is answered until it is restored from a backup, or loaded into a new data directory",
				zap.String("account", account), zap.Int("faults", len(missing)), zap.Stringer("missing", missing))
		}
	}
}

func (i *inspector) readAges(ctx context.Context) {
	ages, err := i.Ages(ctx)
	if err != nil {
		return // the engine's own check says it
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ages = ages
}

// health is what is known now, for everybody to see.
func (i *inspector) health() adhttp.Health {
	i.mu.Lock()
	ages := i.ages
	i.mu.Unlock()
	h := adhttp.Health{NewestLoad: ages.NewestLoad, OldestLoad: ages.OldestLoad, OldestRefresh: ages.OldestRefresh}
	switch d := i.Damage(); {
	case len(d.Lost) > 0:
		h.NoData = uint64(len(d.Lost)) >= ages.Loaded
		h.Data = "stored data is damaged, and the accounts that it is of are not answered: the log names what is missing; restore a backup, or load the extracts into a new data directory"
	case d.Unread != nil:
		h.NoData = true // whose they are is found out now
		h.Data = "stored rows cannot be read, and what needs them is not answered: the log says which; look after the disk, and restore a backup"
	}
	return h
}
