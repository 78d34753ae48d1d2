package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/clickhouse/audit"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/commits"
	adhttp "adlens/internal/http"

	"go.uber.org/zap"
)

const (
	inspectEvery = 10 * time.Minute // whether all rows are there
	agesEvery    = time.Minute
	// returnsEvery is how often accounts that are withheld are asked whether a
	// restore or a load has changed them.
	returnsEvery = 2 * time.Second
	// deepRest is how long the reading of all figures, which takes a while,
	// rests after it was done.
	deepRest = time.Minute
)

// inspector finds out whether what is stored is what was loaded, and how old it
// is: figures are right or they are not shown at all.
type inspector struct {
	*data
	log       *zap.Logger
	only      string        // the account that is answered; "" for all
	restarted chan struct{} // has a value after the engine, or the server of a shard, was restarted

	mu       sync.Mutex
	ages     audit.Ages
	replicas []audit.Replica
	restarts int

	broken []string // the damaged parts that the engine is known to have set aside
	deep   time.Time
	due    bool           // all figures have to be read once more
	said   map[string]int // faults of each account that the log names already
	looked map[string]look

	later func(do func()) // does something once what is being answered now is answered
}

// look is when an account that is withheld was looked through, and how far its
// loads and restores were then.
type look struct {
	at       time.Time
	progress string
}

func (d *data) newInspector(log *zap.Logger) *inspector {
	i := &inspector{data: d, log: log, restarted: make(chan struct{}, 1), said: map[string]int{}, looked: map[string]look{}, later: func(do func()) { time.AfterFunc(answer.Timeout, do) }}
	i.Inspector.OnRenewal(func() {
		i.forgetTwice("")
		if len(i.Cluster.Shards()) > 1 { // an older copy of the first shard places accounts where they were
			i.ringRestarted()
		}
	})
	i.Cluster.Placements().OnMove(i.forgetTwice)
	return i
}

// inspectAtStart looks at everything before anything is answered. What is damaged is
// not answered, and keeps no other account from it. For one account, parts that were set
// aside are no reason to read all its figures: that its rows are all there is known.
func (i *inspector) inspectAtStart(ctx context.Context) error {
	err := i.Inspector.Begin(ctx)
	if err != nil {
		return err
	}
	if i.only == "" {
		err = i.setAside(ctx)
	}
	if err == nil && i.Inspector.Damage().Unread != nil {
		err = i.readAll(ctx)
	}
	if err != nil && adlens.KindOf(err) != adlens.Damaged {
		return err
	}
	i.readAges(ctx)
	if i.only == "" {
		i.readReplicas(ctx)
	}
	i.sayDamage()
	return nil
}

// watchEngine replaces an engine that freezes, until the context ends.
func (i *inspector) watchEngine(ctx context.Context, running *sync.WaitGroup) {
	if i.engine != nil {
		running.Go(func() {
			i.engine.Watch(ctx, func(err error) { i.log.Warn("the engine did not answer", zap.Error(err)) }, i.engineRestarted)
		})
	}
}

// keepInspecting goes on looking until the context ends: for rows that are missing seldom
// and after each restart of the engine, which has passed over what it did not
// find; at all figures where something could not be read.
func (i *inspector) keepInspecting(ctx context.Context) {
	inspect, ages, returns := time.NewTicker(inspectEvery), time.NewTicker(agesEvery), time.NewTicker(returnsEvery)
	defer inspect.Stop()
	defer ages.Stop()
	defer returns.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-ages.C:
			i.readAges(ctx)
			i.readReplicas(ctx)
		case <-returns.C:
			if err := i.returnWhole(ctx); err != nil {
				i.log.Debug("withheld accounts could not be looked through", zap.Error(err)) // it is tried again at once
			}
			continue
		case <-i.restarted:
			err = errors.Join(i.Inspector.InspectAll(ctx), i.setAside(ctx))
		case <-inspect.C:
			err = errors.Join(i.Inspector.InspectAll(ctx), i.Inspector.SealDirectory(ctx), i.setAside(ctx))
			if i.Inspector.Damage().Unread != nil {
				err = errors.Join(err, i.readAll(ctx))
			}
		case <-i.Inspector.Alarms():
			if unread := i.Inspector.Damage().Unread; unread != nil {
				i.log.Error("rows cannot be read; all figures are compared with what was loaded", zap.Error(unread))
				err = i.readAll(ctx)
			}
		}
		if err != nil && ctx.Err() == nil {
			i.log.Warn("the stored data could not be looked through", zap.Error(err))
		}
		i.sayDamage()
	}
}

// engineRestarted is called by the watch of the engine.
func (i *inspector) engineRestarted() {
	i.mu.Lock()
	i.restarts++
	i.mu.Unlock()
	i.log.Warn("the engine was restarted; it is looked through for what it may have lost")
	i.ringRestarted()
}

// ringRestarted has everything looked through at once.
func (i *inspector) ringRestarted() {
	select {
	case i.restarted <- struct{}{}:
	default:
	}
}

// setAside has all figures read where the engine found parts damaged that were
// not known to be: what was in them is in no answer any more. It may have been
// of no account, as that of a load which a power cut ended.
func (i *inspector) setAside(ctx context.Context) error {
	parts, err := i.Inspector.DamagedParts(ctx)
	if err != nil || !slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(i.broken, part) }) {
		return err
	}
	i.broken = parts
	i.log.Warn("the database set damaged parts aside; everything is compared with what was loaded", zap.Strings("parts", parts))
	return i.readAll(ctx)
}

// readAll reads every figure and withholds the accounts of which some are
// wrong. Where it was done a moment ago, it is done again once it has rested.
func (i *inspector) readAll(ctx context.Context) error {
	i.due = true
	if time.Since(i.deep) < deepRest {
		return nil
	}
	select {
	case <-i.Inspector.Alarms(): // what rang it is read now
	default:
	}
	calm := i.Inspector.Calmer()
	defer func() { i.deep = time.Now() }()
	accounts, err := i.Source.Shown(conn.Inspecting(ctx), i.only)
	if err != nil {
		return err
	}
	for _, account := range accounts {
		if len(i.Inspector.Damage().Lost[account]) > 0 {
			continue // nothing of it is shown anyhow
		}
		faults, err := i.Inspector.Faults(ctx, account)
		if err != nil {
			return err
		}
		if len(faults) > 0 {
			i.Inspector.Withhold(account, faults...)
		}
	}
	i.due = false
	if len(i.Inspector.Damage().Lost) == 0 {
		calm()
		i.log.Info("all figures are what was loaded")
	}
	return nil
}

// returnWhole looks through accounts that are withheld, where a restore or a load
// has changed them, and else seldom. Those that are whole are answered again.
func (i *inspector) returnWhole(ctx context.Context) error {
	for account := range i.Inspector.Damage().Lost {
		now, err := i.Inspector.Progress(ctx, account)
		if err != nil && adlens.KindOf(err) != adlens.Damaged {
			return err
		}
		if last, ok := i.looked[account]; ok && last.progress == now && time.Since(last.at) < inspectEvery {
			continue
		}
		i.forget(account)
		whole, err := i.Inspector.LookAgain(ctx, account)
		if err != nil {
			return err
		}
		i.looked[account] = look{time.Now(), now}
		if whole {
			delete(i.said, account)
			delete(i.looked, account)
			// What was begun before the account was withheld may only now be kept.
			i.later(func() { i.forget(account) })
			i.log.Info("the data of an account is whole again; it is answered", zap.String("account", account))
		}
	}
	if d := i.Inspector.Damage(); i.due || len(d.Lost) == 0 && d.Unread != nil {
		return i.readAll(ctx)
	}
	return nil
}

// forgetTwice drops what was read of an account, of all where it is "". A server that was
// restarted may have an older copy of its disk, and another place of an account may be that
// of a backup: after either, loads have the numbers of others once more.
func (i *inspector) forgetTwice(account string) {
	i.forget(account)
	i.later(func() { i.forget(account) }) // and what was begun before
}

// forget drops what was read of an account, of all where it is "".
func (i *inspector) forget(account string) {
	i.Figures.Forget(account)
	if answers := i.answering.Load(); answers != nil {
		answers.Forget(account)
	}
}

// sayDamage logs what is new of what is wrong.
func (i *inspector) sayDamage() {
	d := i.Inspector.Damage()
	for _, err := range d.Refused {
		if i.said[err.Error()] == 0 {
			i.said[err.Error()] = 1
			i.log.Error("a database is not the one that its accounts are in; they are not answered", zap.Error(err))
		}
	}
	for _, err := range d.Lacking {
		if i.said[err.Error()] == 0 {
			i.said[err.Error()] = 1
			i.log.Warn("a replica is not used; the others of its shard answer", zap.Error(i.remote.Explain(err)))
		}
	}
	for account, missing := range d.Lost {
		if i.said[account] != len(missing) {
			i.said[account] = len(missing)
			i.log.Error("the data of an account is damaged; nothing of it is answered until it is restored from a backup: adlens restore --from PLACE --account ID",
				zap.String("account", account), zap.Int("faults", len(missing)), zap.String("missing", commits.Summary(missing)))
		}
	}
}

// readReplicas looks whether each replica is ready, and logs where that has changed: of the
// start, sayDamage says it.
func (i *inspector) readReplicas(ctx context.Context) {
	all := i.Audit.Replicas(ctx)
	if ctx.Err() != nil {
		return
	}
	i.mu.Lock()
	before := i.replicas
	i.replicas = all
	i.mu.Unlock()
	for n, r := range all {
		if len(before) == 0 {
			break
		}
		of := []zap.Field{zap.Uint16("shard", r.Shard), zap.String("replica", r.Address)}
		switch was := before[n].IsReady(); {
		case was && r.Err != nil:
			i.log.Warn("a replica does not answer; the others of its shard do", append(of, zap.Error(i.remote.Explain(r.Err)))...)
		case was && !r.IsReady():
			i.log.Warn("a replica lacks tables and is not used; the others of its shard are", of...)
		case !was && r.IsReady():
			i.log.Info("a replica is ready again", of...)
		}
	}
}

func (i *inspector) readAges(ctx context.Context) {
	ages, err := i.Audit.Ages(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	if err == nil {
		i.ages = ages
	} else if ages.Accounts > 0 { // of a damaged table; the engine's own check says it
		i.ages.Accounts = ages.Accounts
	}
}

// currentHealth is what is known now, for everybody to see.
func (i *inspector) currentHealth() adhttp.Health {
	i.mu.Lock()
	ages := i.ages
	i.mu.Unlock()
	h := adhttp.Health{NewestLoad: ages.NewestLoad, OldestLoad: ages.OldestLoad, OldestRefresh: ages.OldestRefresh, Connections: map[string]adhttp.ConnectionStates{}}
	for _, c := range ages.Connections {
		states := h.Connections[c.Region]
		if c.Accepted {
			states.Accepted += int(c.Count)
		} else {
			states.Refused += int(c.Count)
		}
		h.Connections[c.Region] = states
	}
	switch d := i.Inspector.Damage(); {
	case len(d.Refused) > 0:
		h.Data = "a database is not the one that its accounts are in, and they are not answered: the log names it; put the right one back"
	case len(d.Lost) > 0:
		h.NoData = ages.Accounts > 0 && uint64(len(d.Lost)) >= ages.Accounts
		h.Data = "stored data is damaged, and the accounts that it is of are not answered: the log names them and what is missing; restore a backup of each in its place: adlens restore --from PLACE --account ID"
	case d.Unread != nil:
		h.NoData = true // whose they are is found out now
		h.Data = "stored rows cannot be read, and what needs them is not answered: the log says which; look after the disk, and restore a backup of what is damaged: adlens restore --from PLACE --account ID"
	}
	return h
}
