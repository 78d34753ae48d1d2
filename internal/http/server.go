package http

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"adlens/internal/auth"
	"adlens/internal/manifest"
	"adlens/internal/query"
	webdocs "adlens/web/docs"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
)

// Config is what a server is made of.
type Config struct {
	Figures     *query.Service
	Admission   *auth.Admission
	Connections ConnectionStore
	Lists       Freshener
	AnswerCache int // bytes of answers that are remembered; 0 is none
	// AnswerMemory is how many bytes all answers take together, about, while they
	// are made and sent; 0 is no bound.
	AnswerMemory int
	// Observe hears of each answer: how is Computed, Remembered, Unchanged, or ""
	// where there was nothing to compute.
	Observe func(route string, status int, how string, took time.Duration)
	// Refused hears of each request beyond a limit, by the limit's name. It and
	// Health may be nil.
	Refused func(limit string)
	Ping    func(context.Context) error // does the engine answer?
	Health  func() Health               // what else is known; it must not wait
	Log     *zap.Logger
	Now     func() time.Time
}

// Server is the API.
type Server struct {
	figures     *query.Service
	admission   *auth.Admission
	endpoints   map[string]endpoint // of figures and lists, by path
	connections ConnectionStore
	freshener   Freshener
	answers     *answers
	observed    func(route string, status int, how string, took time.Duration)
	refused     func(limit string)
	ping        func(context.Context) error
	health      func() Health
	log         *zap.Logger
	now         func() time.Time
	// documentation is made when somebody reads it first.
	documentation func() (*webdocs.Site, error)
	draining      atomic.Bool

	server *http.Server
	open   *openConnections
}

// New returns a server that is not listening yet.
func New(c Config) *Server {
	s := &Server{figures: c.Figures, admission: c.Admission,
		connections: c.Connections, open: newOpenConnections(maxConnections), freshener: c.Lists, answers: newAnswers(c.AnswerCache, c.AnswerMemory),
		observed: c.Observe, refused: c.Refused, ping: c.Ping, health: c.Health, log: c.Log, now: c.Now, documentation: sync.OnceValues(newDocumentation)}
	if s.refused == nil {
		s.refused = func(string) {}
	}
	if s.health == nil {
		s.health = func() Health { return Health{} }
	}
	s.endpoints = s.answering()
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

// Handler returns the routes. However an address spells its letters, it is the
// same one.
func (s *Server) Handler() http.Handler {
	engine := s.engine()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.RawPath = plainLetters(r.URL.RawPath)
		engine.ServeHTTP(w, r)
	})
}

func (s *Server) engine() *gin.Engine {
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
	s.get(engine, "/api/v1/account", s.handle(s.admitCanceled, s.account))
	for path, run := range s.endpoints {
		s.get(engine, path, s.handle(s.admitActive, run))
	}
	s.get(engine, "/api/v1/rules/:rule_id/runs", s.handle(s.admitActive, s.ruleRuns))
	s.get(engine, feedOf+":token", s.handle(s.feed, s.saved))
	s.dashboard(engine)
	s.get(engine, "/healthz", s.healthz)
	s.get(engine, "/readyz", s.readyz)
	s.pages(engine)
}

// answering are the endpoints of figures and lists, by path.
func (s *Server) answering() map[string]endpoint {
	return map[string]endpoint{
		"/api/v1/summary":          figures(s, "summary", query.ParseSummary, s.summary),
		"/api/v1/timeline":         figures(s, "timeline", query.ParseTimeline, s.timeline),
		"/api/v1/reports/products": figures(s, "reports/products", query.ParseProducts, s.products),
		"/api/v1/marketplaces":     lists(s, "marketplaces", query.ParsePlain, s.marketplaces),
		"/api/v1/campaigns":        fresh(s, "campaigns", manifest.Campaigns, query.ParseCampaigns, s.campaigns),
		"/api/v1/ad-groups":        fresh(s, "ad-groups", manifest.AdGroups, query.ParseAdGroups, s.adGroups),
		"/api/v1/rules":            lists(s, "rules", query.ParseRules, s.rules),
		"/api/v1/activity":         lists(s, "activity", query.ParseActivity, s.activity),
	}
}

// get answers HEAD wherever it answers GET.
func (s *Server) get(engine *gin.Engine, path string, h gin.HandlerFunc) {
	engine.GET(path, h)
	engine.HEAD(path, h)
}

// endpoint answers an admitted caller.
type endpoint func(*gin.Context, auth.Caller) (answer, error)

// handle runs an endpoint inside its deadline, for those who are admitted.
func (s *Server) handle(admit func(*gin.Context) (auth.Caller, error), run endpoint) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx, cancel := context.WithTimeout(c.Request.Context(), queryTimeout)
		defer cancel()
		c.Request = c.Request.WithContext(ctx)
		c.Writer.Header().Set("Vary", "Authorization, Accept, Accept-Encoding")
		who, err := admit(c)
		if err != nil {
			s.fail(c, err)
			return
		}
		defer endUse(c)
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

// endUse gives back the memory of the answer, which was sent, or will not be.
func endUse(c *gin.Context) {
	if u, ok := c.Value(keyUse).(*use); ok {
		u.end()
	}
}

// Serve answers on a listener until Shutdown. Connections beyond the bound wait
// in the system's queue until others end or are idle.
func (s *Server) Serve(l net.Listener) error {
	err := s.server.Serve(s.open.on(l))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Drain reports not ready from now on, so that nobody sends more requests
// here. Those that come are answered, and their connections ended.
func (s *Server) Drain() { s.draining.Store(true) }

// Shutdown stops taking requests and waits for the running ones until the
// context ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	return s.server.Shutdown(ctx)
}
