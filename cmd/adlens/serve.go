package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/assistant"
	"adlens/internal/auth"
	"adlens/internal/engine"
	adhttp "adlens/internal/http"
	"adlens/internal/metrics"
	"adlens/internal/oauth"
	"adlens/internal/query"
	"adlens/loader"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// serveOptions are the flags of a server.
type serveOptions struct {
	listen      string
	limitMinute int
	limitDay    int
	redis       string
	answerCache int
	memory      int // of figures
	underWay    int // memory of answers that are made and sent
	logLevel    string
	metrics     string
	drainDelay  time.Duration
	platform    platformOptions

	publicURL      string // that clients see
	noRegistration bool

	isGiven func(flag string) bool // whether a flag has another value than its own
}

// defaultListen is where a server answers without --listen.
const defaultListen = "127.0.0.1:8080"

func (so *serveOptions) addFlags(cmd *cobra.Command, level string) {
	cmd.Flags().StringVar(&so.listen, "listen", defaultListen, "address to answer on; port 0 picks a free one")
	so.addLimitFlags(cmd)
	cmd.Flags().IntVar(&so.answerCache, "answer-cache", 64<<20, "bytes of memory for answers that are requested again; 0 is off")
	cmd.Flags().IntVar(&so.underWay, "answer-memory", 0, "bytes of memory for all answers together while they are made and sent; beyond it requests wait, and then get 503. 0 is a sixteenth of the machine's memory")
	cmd.Flags().StringVar(&so.logLevel, "log-level", level, "debug, info, warn or error; every request is a line of info")
}

// addLimitFlags adds the flags of whatever answers an account.
func (so *serveOptions) addLimitFlags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&so.limitMinute, "limit-minute", 60, "requests of an account in any 60 seconds; 0 is off")
	cmd.Flags().IntVar(&so.limitDay, "limit-day", 10_000, "requests of an account in a UTC day; 0 is off")
	so.isGiven = cmd.Flags().Changed
	cmd.Flags().IntVar(&so.memory, "figure-memory", 512<<20, "bytes of memory for stored figures, from which reports are answered without the database, where it is not given at most an eighth of the machine's memory; 0 is off")
}

// checkValues refuses values that a server would not take, before anything is done.
func (so *serveOptions) checkValues() error {
	if so.answerCache < 0 {
		return fmt.Errorf("--answer-cache %d is negative; expected bytes, 0 is off", so.answerCache)
	}
	if so.underWay < 0 {
		return fmt.Errorf("--answer-memory %d is negative; expected bytes, 0 is a sixteenth of the machine's memory", so.underWay)
	}
	if so.drainDelay < 0 {
		return fmt.Errorf("--drain-delay %s is negative; expected a time like 5s, 0 is none", so.drainDelay)
	}
	if err := so.checkLimits(); err != nil {
		return err
	}
	_, err := newLog(so.logLevel)
	return err
}

// checkLimits is checkValues of the flags of whatever answers an account.
func (so *serveOptions) checkLimits() error {
	if so.memory < 0 {
		return fmt.Errorf("--figure-memory %d is negative; expected bytes, 0 is off", so.memory)
	}
	if so.limitMinute < 0 || so.limitDay < 0 {
		return fmt.Errorf("a limit cannot be negative: --limit-minute %d, --limit-day %d; 0 is off", so.limitMinute, so.limitDay)
	}
	return nil
}

func newServe(o *options) *cobra.Command {
	so := &serveOptions{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer the API",
		Long: `Answer the API until SIGTERM or Ctrl-C, which lets running requests finish.
The address is printed once it answers; the log goes to standard error.

Meanwhile the figures of connected accounts are refreshed once a day, when the
day of a marketplace has ended where it is: the last 14 days daily, the last 60
weekly, and at first all that the platform still has. What it gives is left
below extracts in the data directory; reports that lack exchange rates wait there,
and are loaded once the rates are. Campaigns are read once a day too, and when they
are requested, each marketplace's at most every 30 minutes.
Where a marketplace is in another currency than US dollars, rates of the European
Central Bank are fetched once a day too, also of accounts that are not connected.`,
		Example: `  adlens serve
  adlens serve --listen :8080 --metrics-listen 127.0.0.1:9090`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := o.withUnwatchedDatabase(cmd.Context(), func(d *data) error {
				return o.runServer(cmd.Context(), d, *so, func(address string) error {
					return o.sayAddress(cmd.OutOrStdout(), address)
				})
			})
			if isInterrupted(cmd.Context(), err) { // before it answered: nothing was cut short
				return nil
			}
			return err
		},
	}
	so.addFlags(cmd, "info")
	cmd.Flags().StringVar(&so.redis, "redis", "", "Redis that servers share the limits through, redis://:password@host:6379/0; better given as ADLENS_REDIS")
	cmd.Flags().StringVar(&so.metrics, "metrics-listen", "", "address for /metrics, for Prometheus; off where empty. It needs no key: keep it private")
	cmd.Flags().DurationVar(&so.drainDelay, "drain-delay", 0, "how long to go on answering after SIGTERM while /readyz says 503, so that a balancer sees it; like 5s")
	cmd.Flags().StringVar(&so.publicURL, "public-url", "", "address that clients see, like https://figures.example.com, where a proxy serves it by HTTPS: the documentation names it, and assistants elsewhere connect; without it only those on this machine")
	cmd.Flags().BoolVar(&so.noRegistration, "no-client-registration", false, "assistants' clients that have no metadata document of their own cannot register")
	so.platform.addRatesFlag(cmd)
	so.platform.addFlags(cmd)
	return cmd
}

func (o *options) sayAddress(w io.Writer, address string) error {
	if o.json {
		return printJSON(w, map[string]string{"address": address})
	}
	_, err := fmt.Fprintf(w, "adlens answers at %s\n", address)
	return err
}

const (
	drainPatience = 50 * time.Second // longer than a client has for what it is still being sent
	usageEvery    = 10 * time.Second
	collectEvery  = time.Hour
)

// runServer is the composition root: it puts the rooms together and runs them
// until the context ends. ready is called once the address answers.
func (o *options) runServer(ctx context.Context, d *data, so serveOptions, ready func(address string) error) error {
	if err := so.checkValues(); err != nil {
		return err
	}
	if so.underWay == 0 {
		so.underWay = machineMemory() / answerShare
	}
	so.fitMemory()
	boundHeap(d.engine != nil, so.memory+so.answerCache+so.underWay)
	if so.publicURL != "" {
		public, err := oauth.ParsePublicURL(so.publicURL)
		if err != nil {
			return fmt.Errorf("--public-url: %w", err)
		}
		so.publicURL = public
	}
	log, err := newLog(so.logLevel)
	if err != nil {
		return err
	}
	if d.engine != nil {
		if other := engine.FindOtherVersion(o.dataDir, version); other != nil {
			log.Warn(other.Error())
		}
	}
	inspector := d.newInspector(log)
	if err := inspector.inspectAtStart(ctx); err != nil {
		return err
	}
	if accounts, err := d.Accounts.Accounts(ctx); err == nil && len(accounts) == 0 {
		warning := "there is no account: the database is new and empty; if it should not be, is it the right --data-dir or --clickhouse?"
		if backup, err := d.Sink.Noted(ctx, ""); err == nil && backup != "" {
			warning = "there is no account: a restore of the backup " + backup + " did not end; where none runs, run the same adlens restore again"
		}
		log.Warn(warning, zap.String("data_dir", o.dataDir))
	}
	limits, err := d.newLimits(ctx, so, log)
	if err != nil {
		return err
	}
	// Without this, a write to a standard output or error whose reader has ended ends
	// the process. Programs that it starts do not inherit it, as they would "ignore".
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	background, stop := context.WithCancel(context.Background())
	defer stop()
	counts := metrics.New(limitNames, fileStatuses)
	addBuildMetric(counts)
	d.addDatabaseMetrics(counts)
	inspector.addIntegrityMetrics(counts)
	limits.addLimitMetrics(counts)
	closeMetrics, err := serveMetrics(so.metrics, counts, log)
	if err != nil {
		return err
	}
	defer closeMetrics()
	refresh, err := o.newRefreshers(background, d, so.platform, counts, log)
	if err != nil {
		return err
	}
	refresh.addRefreshMetrics(counts)
	figures := query.NewService(d.Figures, d.Lists)
	if so.memory > 0 {
		figures.Remember(d.Figures, so.memory)
	}
	usage := auth.NewUsage()
	admission := auth.NewAdmission(auth.NewAuthenticator(d.Keys), auth.NewAuthenticator(d.Feeds), limits, usage, d.Accounts)
	answers := answer.New(answer.Config{Figures: figures, Connections: d.Connections, Apps: d.Apps, Uses: d.Keys, Lists: refresh.lists, Cache: so.answerCache, Memory: so.underWay, Now: time.Now,
		Warn: func(account string, err error) {
			log.Warn("it could not be found out whether campaigns have to be read", zap.String("account", account), zap.Error(err))
		}})
	d.answering.Store(answers)
	var toolFailures atomic.Uint64
	addAssistantMetrics(counts, &toolFailures)
	assistants := d.newAssistants(so, admission, answers, log, &toolFailures)
	admission.Trust(d.DirectoryMark)
	server := adhttp.New(adhttp.Config{
		Admission: admission, Answers: answers, Apps: d.Apps, Assistants: assistants, PublicURL: so.publicURL,
		Observe: counts.Request, Refused: counts.Refused, Ping: d.Cluster.Ping, Log: log, Now: time.Now,
		Health: func() adhttp.Health {
			h := inspector.currentHealth()
			h.Limits = limits.limitFault()
			return h
		},
	})
	watchMemories(counts, figures, answers)
	addReadyMetric(counts, server.IsReady)
	listener, err := listenOn("--listen", so.listen)
	if err != nil {
		return err
	}
	owner := ownerOf(listener.Addr(), assistants.OwnerToken, so.publicURL, d.Cluster.Identity())
	if err := o.writeOwnerFile(owner); err != nil {
		log.Warn("adlens mcp on this machine counts its calls by itself", zap.Error(err))
	}
	defer o.removeOwnerFile(assistants.OwnerToken)
	var running sync.WaitGroup
	d.startBackground(background, &running, usage, inspector)
	running.Go(func() { refresh.daily.Run(background) })
	running.Go(func() { limits.keepReservations(background) })
	running.Go(func() {
		runEvery(background, usageEvery, func(ctx context.Context) {
			_ = d.Cluster.SettleIdentity(ctx) // a database that is away says so elsewhere
			owner.Database = d.Cluster.Identity()
			_ = o.claimOwnerFile(owner) // a directory that cannot be written was warned of above
		})
	})
	running.Go(func() { keepFigures(background, figures, log) })
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	d.warmCaches(ctx, figures, log)
	address := "http://" + listener.Addr().String()
	if err = ready(address); err == nil {
		log.Info("serving", zap.String("address", address), zap.String("version", version), zap.Bool("embedded_engine", d.engine != nil))
		select {
		case <-ctx.Done():
			log.Info("stopping", zap.Error(context.Cause(ctx)))
			server.Drain()
			select {
			case <-time.After(so.drainDelay):
			case err = <-served:
			}
		case err = <-served:
		}
	}
	draining, cancel := context.WithTimeout(context.Background(), drainPatience)
	defer cancel()
	err = errors.Join(err, server.Shutdown(draining))
	stop()
	running.Wait()
	refresh.lists.Wait()
	log.Info("stopped", zap.Error(err))
	return err
}

// newAssistants lets assistants ask what the API answers.
func (d *data) newAssistants(so serveOptions, admission *auth.Admission, answers *answer.Service, log *zap.Logger, failures *atomic.Uint64) *adhttp.Assistants {
	authorization := oauth.New(oauth.Config{Apps: d.Apps, Accounts: d.Accounts, PublicURL: so.publicURL, NoRegistration: so.noRegistration, Now: time.Now,
		Log: func(e oauth.Event) {
			level := zap.InfoLevel
			switch e.Kind {
			case oauth.EventReuse:
				level = zap.WarnLevel
			case oauth.EventFailure:
				level = zap.ErrorLevel
			}
			log.Log(level, "assistant", zap.String("event", string(e.Kind)), zap.String("account", e.AccountID), zap.String("key_id", e.AppID), zap.String("app", e.Client),
				zap.Stringer("client", e.Remote), zap.String("code", e.Code), zap.Error(e.Err))
		}})
	admission.AdmitApps(auth.NewAuthenticator(d.Apps), so.limitMinute)
	tools := assistant.New(assistant.Config{Answers: answers, Version: version, Now: time.Now,
		Admit: func(ctx context.Context, extra *mcp.RequestExtra) (auth.Caller, error) {
			app, ok := adhttp.AppOf(extra)
			if !ok {
				return auth.Caller{}, auth.ErrInvalidKey
			}
			return admission.AdmitApp(ctx, app, time.Now())
		},
		Account: func(ctx context.Context, extra *mcp.RequestExtra) adlens.Account {
			app, ok := adhttp.AppOf(extra)
			if !ok {
				return adlens.Account{}
			}
			return admission.AccountOf(ctx, app, time.Now())
		},
		Failed: func(extra *mcp.RequestExtra, tool string, err error) {
			failures.Add(1)
			app, _ := adhttp.AppOf(extra)
			log.Error("a tool failed", zap.String("tool", tool), zap.String("account", app.AccountID), zap.String("key_id", app.ID),
				zap.String("request_id", adhttp.RequestIDOf(extra)), zap.Error(err))
		}})
	return &adhttp.Assistants{Tools: tools, Authorization: authorization, OwnerToken: rand.Text()}
}

// startBackground runs what a server does beside answering.
func (d *data) startBackground(ctx context.Context, running *sync.WaitGroup, usage *auth.Usage, i *inspector) {
	log := i.log
	i.watchEngine(ctx, running)
	running.Go(func() { i.keepInspecting(ctx) })
	running.Go(func() { d.keepUsage(ctx, usage, log) })
	running.Go(func() { d.keepClean(ctx, log) })
}

// keepUsage notes the last uses of keys, and those since the last time when
// the server ends.
func (d *data) keepUsage(ctx context.Context, usage *auth.Usage, log *zap.Logger) {
	put := func(ctx context.Context) {
		uses := usage.Drain()
		if len(uses) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		if err := d.Keys.PutKeyUses(ctx, uses); err != nil {
			usage.PutBack(uses)
			log.Warn("the last use of keys could not be noted", zap.Error(err))
		}
	}
	runEvery(ctx, usageEvery, put)
	put(context.Background())
}

// keepClean deletes superseded rows of accounts that load seldom.
func (d *data) keepClean(ctx context.Context, log *zap.Logger) {
	runEvery(ctx, collectEvery, func(ctx context.Context) {
		if err := d.newLoader(quiet{log}).Collect(ctx, loader.CollectAfter); err != nil && ctx.Err() == nil {
			log.Warn("superseded rows could not be deleted", zap.Error(err))
		}
	})
}

func runEvery(ctx context.Context, interval time.Duration, do func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do(ctx)
		}
	}
}

// logLevels are the values of --log-level, in any case.
var logLevels = []string{"debug", "info", "warn", "error"}

// newLog returns the log of a server on standard error: JSON lines, or at a terminal
// lines for a person to read.
func newLog(level string) (*zap.Logger, error) {
	parsed, err := zapcore.ParseLevel(level)
	if err != nil || !slices.Contains(logLevels, strings.ToLower(level)) { // "", warning and fatal parse too
		return nil, fmt.Errorf("--log-level is %q; expected debug, info, warn or error", level)
	}
	config := zap.NewProductionEncoderConfig()
	config.TimeKey, config.EncodeTime = "time", encodeTime
	encoder := zapcore.NewJSONEncoder(config)
	if _, terminal := terminalOf(screen{file: os.Stderr}); terminal {
		config.EncodeTime, config.ConsoleSeparator = zapcore.TimeEncoderOfLayout(time.TimeOnly), "  "
		encoder = zapcore.NewConsoleEncoder(config)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(screen{file: os.Stderr})), parsed)), nil
}
