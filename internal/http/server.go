// Package http is the API as clients see it: routes, headers, status codes,
// conditional and range requests, content codings, pages and health. Gin is used
// in no other room.
//
// Handlers return an error or have written an answer; one function writes
// answers, one writes errors, and one table has the status of each error. What a
// request passes, in the contract's order: size, path, method, key, limit,
// subscription and scope, parameters, thing.
package http

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/flight"
	"adlens/internal/lru"
	webdocs "adlens/web/docs"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
)

// Config is what a server is made of.
type Config struct {
	Admission *auth.Admission
	Answers   *answer.Service
	Apps      AppStore // nil where no assistant can be connected
	// Observe hears of each answer: how is answer.Computed, answer.Remembered,
	// unchanged, or "" where there was nothing to compute.
	Observe func(route string, status int, how string, took time.Duration)
	// Refused hears of each request beyond a limit, by the limit's name. It and
	// Health may be nil.
	Refused func(limit string)
	Ping    func(context.Context) error // does the engine answer?
	Health  func() Health               // what else is known; it must not wait
	Log     *zap.Logger
	Now     func() time.Time
	// Assistants is nil where none are let in.
	Assistants *Assistants
	// PublicURL is the address that clients see, without a final slash, for the pages
	// and the API's document; "" is the address of each request.
	PublicURL string
}

// Server is the API.
type Server struct {
	Config
	pings  flight.Group[struct{}, struct{}]
	bodies map[string]bool // paths whose requests have a body, which their handlers read and bound
	// documentation is made when it is first read.
	documentation func() (*webdocs.Site, error)
	encoded       *lru.Cache[string, []byte] // files of pages, by their tags
	draining      atomic.Bool

	server     *http.Server
	maxSending time.Duration
	open       *openConnections
}

// New returns a server that is not listening yet.
func New(c Config) *Server {
	if c.Refused == nil {
		c.Refused = func(string) {}
	}
	if c.Health == nil {
		c.Health = func() Health { return Health{} }
	}
	s := &Server{Config: c, bodies: map[string]bool{}, documentation: sync.OnceValues(newDocumentation), encoded: newEncodedFiles(), maxSending: maxSending, open: newOpenConnections(boundConnections(c.Log))}
	s.server = &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    hardHeaders,
		ConnState:         s.open.trackState,
		ConnContext:       withConnection,
		// OPTIONS * is answered as all other addresses are that are none.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     zap.NewStdLog(c.Log.WithOptions(zap.IncreaseLevel(zap.FatalLevel))), // broken clients are no news
	}
	return s
}

// Handler returns the routes. However an address spells its letters, it is the
// same one.
func (s *Server) Handler() http.Handler {
	engine := s.newEngine()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Gin reads a plus of an escaped path as a space, which it is in queries alone.
		r.URL.RawPath = strings.ReplaceAll(plainLetters(r.URL.RawPath), "+", "%2B")
		engine.ServeHTTP(w, r)
	})
}

// silenceGin sets what all of Gin shares.
var silenceGin = sync.OnceFunc(func() {
	gin.SetMode(gin.ReleaseMode)
	gin.DefaultWriter, gin.DefaultErrorWriter = io.Discard, io.Discard
})

func (s *Server) newEngine() *gin.Engine {
	silenceGin()
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	engine.UseRawPath = true      // a rule's id may hold a slash; UnescapePathValues unpacks it
	engine.SetTrustedProxies(nil) // an X-Forwarded-For is never trusted
	engine.Use(s.assignRequestID, s.logAccess, s.recoverPanic, s.limitSize)
	engine.NoRoute(func(c *gin.Context) { s.writeError(c, notFound(answer.Printable(c.Request.URL.Path))) })
	engine.NoMethod(func(c *gin.Context) {
		allow, detail := c.Writer.Header().Get("Allow"), " is not allowed: the API only reads, by GET and HEAD"
		if c.Request.URL.Path == assistantPath { // the protocol refuses the others that are routed there
			allow = http.MethodPost
		}
		if allow == http.MethodPost {
			detail = " is not allowed here; expected POST"
		}
		s.writeError(c, &problem{code: codeMethod, allow: allow, detail: c.Request.Method + detail})
	})
	s.addRoutes(engine)
	return engine
}

func (s *Server) addRoutes(engine *gin.Engine) {
	for _, name := range answer.Endpoints() {
		path := answer.APIPath + "/" + name
		if name == answer.RuleRuns {
			path = answer.APIPath + "/rules/:rule_id/runs"
		}
		s.addGet(engine, path, s.endpointHandler(name))
	}
	s.addGet(engine, feedPath+":token", s.wrapHandler(s.answerFeed))
	s.addShares(engine)
	s.addDashboard(engine)
	if s.Assistants != nil {
		s.addAssistants(engine)
	}
	s.addApps(engine)
	s.addGet(engine, "/healthz", s.serveHealthz)
	s.addGet(engine, "/readyz", s.serveReadyz)
	s.addPages(engine)
}

// addGet answers HEAD wherever it answers GET.
func (s *Server) addGet(engine *gin.Engine, path string, h gin.HandlerFunc) {
	engine.GET(path, h)
	engine.HEAD(path, h)
}

// Serve answers on a listener until Shutdown. Connections beyond the bound wait
// in the system's queue until others end or are idle.
func (s *Server) Serve(l net.Listener) error {
	err := s.server.Serve(s.open.boundListener(l))
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Drain reports not ready from now on, so that no more requests are sent
// here. Those that come are answered, and their connections ended.
func (s *Server) Drain() { s.draining.Store(true) }

// Shutdown stops taking requests and waits for the running ones until the
// context ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	return s.server.Shutdown(ctx)
}
