package http

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"adlens/internal/auth"
	"adlens/internal/manifest"
	"adlens/internal/query"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
)

// Config is what a server is made of.
type Config struct {
	Figures     *query.Service
	Keys        *auth.Authenticator
	Limiter     Limiter
	Usage       *auth.Usage
	Accounts    AccountStore
	Connections ConnectionStore
	Lists       Freshener
	AnswerCache int // bytes of answers that are remembered; 0 is none
	// Observe hears of each answer: how is Computed, Remembered, Unchanged, or ""
	// where there was nothing to compute.
	Observe func(route string, status int, how string, took time.Duration)
	Ping    func(context.Context) error // does the engine answer?
	Log     *zap.Logger
	Now     func() time.Time
}

// Server is the API.
type Server struct {
	figures     *query.Service
	keys        *auth.Authenticator
	failures    *auth.Failures
	limiter     Limiter
	usage       *auth.Usage
	accounts    *accounts
	connections ConnectionStore
	freshener   Freshener
	answers     *answers
	observed    func(route string, status int, how string, took time.Duration)
	ping        func(context.Context) error
	log         *zap.Logger
	now         func() time.Time
	draining    atomic.Bool

	server *http.Server
	open   openConnections
}

// New returns a server that is not listening yet.
func New(c Config) *Server {
	s := &Server{figures: c.Figures, keys: c.Keys, failures: auth.NewFailures(), limiter: c.Limiter, usage: c.Usage,
		accounts: newAccounts(c.Accounts), connections: c.Connections, open: newOpenConnections(maxConnections), freshener: c.Lists, answers: newAnswers(c.AnswerCache),
		observed: c.Observe, ping: c.Ping, log: c.Log, now: c.Now}
	s.server = &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    hardHeaders,
		ConnState:         s.open.changed,
		ErrorLog:          zap.NewStdLog(c.Log.WithOptions(zap.IncreaseLevel(zap.FatalLevel))), // broken clients are no news
	}
	return s
}

// Handler returns the routes.
func (s *Server) Handler() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	gin.DefaultWriter, gin.DefaultErrorWriter = io.Discard, io.Discard
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	engine.UseRawPath = true      // a rule's id may hold a slash; UnescapePathValues unpacks it
	engine.SetTrustedProxies(nil) // an X-Forwarded-For of a stranger is believed by nobody
	engine.Use(s.identify, s.observe, s.recover, s.measure)
	engine.NoRoute(func(c *gin.Context) { s.fail(c, notFound(printable(c.Request.URL.Path))) })
	engine.NoMethod(func(c *gin.Context) {
		s.fail(c, &problem{code: codeMethod, detail: c.Request.Method + " is not allowed: the API only reads, by GET and HEAD"})
	})
	s.routes(engine)
	return engine
}

func (s *Server) routes(engine *gin.Engine) {
	s.get(engine, "/api/v1/account", s.handle(s.account, true))
	s.get(engine, "/api/v1/summary", s.handle(figures(s, "summary", query.ParseSummary, s.summary), false))
	s.get(engine, "/api/v1/timeline", s.handle(figures(s, "timeline", query.ParseTimeline, s.timeline), false))
	s.get(engine, "/api/v1/reports/products", s.handle(figures(s, "reports/products", query.ParseProducts, s.products), false))
	s.get(engine, "/api/v1/marketplaces", s.handle(lists(s, "marketplaces", query.ParsePlain, s.marketplaces), false))
	s.get(engine, "/api/v1/campaigns", s.handle(fresh(s, "campaigns", manifest.Campaigns, query.ParseCampaigns, s.campaigns), false))
	s.get(engine, "/api/v1/ad-groups", s.handle(fresh(s, "ad-groups", manifest.AdGroups, query.ParseAdGroups, s.adGroups), false))
	s.get(engine, "/api/v1/rules", s.handle(lists(s, "rules", query.ParseRules, s.rules), false))
	s.get(engine, "/api/v1/rules/:rule_id/runs", s.handle(s.ruleRuns, false))
	s.get(engine, "/api/v1/activity", s.handle(lists(s, "activity", query.ParseActivity, s.activity), false))
	s.pageRoutes(engine)
	s.get(engine, "/healthz", s.healthz)
	s.get(engine, "/readyz", s.readyz)
	s.get(engine, docsOfErrors+":code", s.errorPage)
}

// get answers HEAD wherever it answers GET.
func (s *Server) get(engine *gin.Engine, path string, h gin.HandlerFunc) {
	engine.GET(path, h)
	engine.HEAD(path, h)
}

// endpoint answers an admitted caller.
type endpoint func(*gin.Context, caller) (answer, error)

// handle runs an endpoint inside its deadline. With always it answers without
// an active subscription too.
func (s *Server) handle(run endpoint, always bool) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx, cancel := context.WithTimeout(c.Request.Context(), queryTimeout)
		defer cancel()
		c.Request = c.Request.WithContext(ctx)
		c.Writer.Header().Set("Vary", "Authorization, Accept, Accept-Encoding")
		who, err := s.admit(c, always)
		if err != nil {
			s.fail(c, err)
			return
		}
		a, err := run(c, who)
		if err != nil {
			s.fail(c, err)
			return
		}
		if err := s.write(c, a); err != nil {
			s.fail(c, err)
		}
	}
}

// Serve answers on a listener until Shutdown. Connections beyond the bound wait
// in the system's queue for others to end.
func (s *Server) Serve(l net.Listener) error {
	err := s.server.Serve(s.open.on(l))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown stops taking requests, reports not ready, and waits for the
// running ones until the context ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	return s.server.Shutdown(ctx)
}
