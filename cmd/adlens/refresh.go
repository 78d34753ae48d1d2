package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"adlens/internal/connector"
	"adlens/internal/metrics"
	"adlens/internal/query"
	"adlens/internal/secret"
	"adlens/loader"

	"go.uber.org/zap"
)

// extractsDir is where what the platform gave is left, in a directory for each
// account.
func (o *options) extractsDir() string { return filepath.Join(o.dataDir, "extracts") }

// refreshers are what a server does about connected accounts.
type refreshers struct {
	lists *connector.Lists
	daily *connector.Daily
}

// addRefreshMetrics shows what stands in the way of reports.
func (r refreshers) addRefreshMetrics(m *metrics.Metrics) {
	m.Gauge("reports_waiting", "Downloaded reports of connected accounts that are not loaded yet, such as those that wait for exchange rates.", func() float64 { return float64(r.daily.Waiting()) })
	m.Counter("report_types_not_offered_total", "Refreshes of a profile's report type that the platform never gives this profile.", func() float64 { return float64(r.daily.Connector.NotOffered()) })
	m.Counter("reports_outside_retention_total", "Reports that were not fetched, or from a later day on, because the platform has their days no more.", func() float64 { return float64(r.daily.Connector.OutsideRetention()) })
}

// newRefreshers returns them for a server; lists are read until the context ends.
func (o *options) newRefreshers(ctx context.Context, d *data, po platformOptions, counts *metrics.Metrics, log *zap.Logger) (refreshers, error) {
	c := o.newConnector(d, po, d.loadsInTurn(quiet{log}, counts), secret.ReadKey, func(account, text string) {
		log.Info("platform", zap.String("account", account), zap.String("notice", text))
	})
	bank, err := po.newBank()
	if err = errors.Join(err, po.checkPace()); err != nil {
		return refreshers{}, err
	}
	c.Bank = bank
	if err = c.Check(); err == nil {
		err = po.checkKey()
	}
	r := refreshers{
		daily: &connector.Daily{Connector: c, Dir: o.extractsDir(), Poll: pollEvery, Mark: d.DirectoryMark,
			Unread: func(err error) {
				log.Warn("connections could not be read; they are once the database answers", zap.Error(err))
			},
			Report: func(account, connection string, result loader.Result, took time.Duration, err error) {
				counts.Refresh(took, err)
				if n, days := connector.MissingRates(result); n > 0 {
					log.Warn("reports wait for rates; they are loaded by themselves once these are loaded",
						zap.String("account", account), zap.String("connection", connection), zap.Int("reports", n), zap.String("missing", days))
				}
				if err := connector.UnlistedError(result); err != nil {
					log.Warn("a report waits for a list of campaigns; it is loaded by itself once a list names them",
						zap.String("account", account), zap.String("connection", connection), zap.Error(err))
				}
				about := []zap.Field{zap.String("account", account), zap.String("connection", connection), zap.Int("reports", len(result.Files)), zap.Duration("took", took)}
				if err != nil {
					log.Warn("figures could not be refreshed; those that are held stay", append(about, zap.Error(err))...)
					return
				}
				log.Info("figures were refreshed", about...)
			}},
	}
	r.lists = connector.NewLists(ctx, c, func(account, marketplaceID string, took time.Duration, err error) {
		r.daily.LookAgain(account)
		counts.CampaignRead(took, err)
		about := []zap.Field{zap.String("account", account), zap.String("marketplace_id", marketplaceID), zap.Duration("took", took)}
		if err != nil {
			log.Warn("campaigns could not be read; lists that failed stay as they are", append(about, zap.Error(err))...)
			return
		}
		log.Info("campaigns were read", about...)
	})
	r.daily.Lists = r.lists
	return r, err
}

// pollEvery is the first wait between two looks at a report.
const pollEvery = 30 * time.Second

// oneAtATime loads for one account after the other: a server has other things
// to do. It loads nothing by itself into an account that is withheld: the days that the
// platform still has would pass for all, as where an account is placed on the wrong shard.
type oneAtATime struct {
	loader *loader.Loader
	admit  func(account string) error
	counts *metrics.Metrics
	turn   chan struct{} // of one place: the load that runs
}

func (d *data) loadsInTurn(progress loader.Progress, counts *metrics.Metrics) *oneAtATime {
	admit := func(account string) error { return d.Inspector.Admit(query.Text(account)) }
	return &oneAtATime{d.newLoader(progress), admit, counts, make(chan struct{}, 1)}
}

func (o *oneAtATime) Load(ctx context.Context, account string, paths []string) (loader.Result, error) {
	if err := o.admit(account); err != nil {
		return loader.Result{}, err
	}
	began := time.Now()
	result, err := o.newTurn(func() { began = time.Now() }).Load(ctx, account, paths)
	files, rows := map[string]int{}, 0
	for _, f := range result.Files {
		if f.MissingRates != nil {
			f.Status = loader.Waiting
		}
		files[string(f.Status)]++
		rows += f.Rows
	}
	o.counts.Loaded(files, rows, time.Since(began), err)
	return result, err
}

func (o *oneAtATime) ReplaceLists(ctx context.Context, account string, read loader.Lists) error {
	if err := o.admit(account); err != nil {
		return err
	}
	return o.newTurn(func() {}).ReplaceLists(ctx, account, read)
}

// newTurn returns the loader for a load that takes its turn; begin is called when it
// has it.
func (o *oneAtATime) newTurn(begin func()) *loader.Loader {
	one := *o.loader
	one.Store = turnStore{o.loader.Store, o.turn, begin}
	return &one
}

// turnStore is a store for a load that takes its turn among those of a server. It waits
// for the account's lock without the turn, since another process may hold that for long;
// and for the turn without the lock, since others may load for the account meanwhile.
type turnStore struct {
	loader.Store
	turn  chan struct{}
	begin func()
}

func (s turnStore) Lock(ctx context.Context, account string, waiting func(holder string)) (release func() error, err error) {
	for {
		unlock, err := s.Store.Lock(ctx, account, waiting)
		if err != nil {
			return nil, err
		}
		select {
		case s.turn <- struct{}{}:
			return s.beginTurn(unlock), nil
		default:
		}
		if err := unlock(); err != nil {
			return nil, err
		}
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		unlock, free, err := s.lockFree(ctx, account)
		if free && err == nil {
			return s.beginTurn(unlock), nil
		}
		<-s.turn
		if err != nil {
			return nil, err
		}
	}
}

// lockFree takes the lock of an account unless it is held.
func (s turnStore) lockFree(ctx context.Context, account string) (unlock func() error, free bool, err error) {
	trying, cancel := context.WithCancel(ctx)
	isHeld := false
	release, err := s.Store.Lock(trying, account, func(string) {
		isHeld = true
		cancel()
	})
	if err != nil {
		cancel()
		if isHeld && ctx.Err() == nil {
			err = nil
		}
		return nil, false, err
	}
	return func() error {
		defer cancel()
		return release()
	}, true, nil
}

func (s turnStore) beginTurn(unlock func() error) (release func() error) {
	s.begin()
	return func() error {
		<-s.turn
		return unlock()
	}
}

// quiet is the progress of a load without a watcher.
type quiet struct{ log *zap.Logger }

func (quiet) Step(string, int, int) {}
func (quiet) Rows(int)              {}
func (q quiet) Notice(text string)  { q.log.Info("load", zap.String("notice", text)) }
