// Package oauth is the authorization server of assistants: it lets a person
// connect a program to an account by the Model Context Protocol's profile of
// OAuth 2.1, with one grant (authorization code with PKCE), one scope (read),
// and a one-time code of the owner in place of a password (contract D4).
//
// It keeps nothing but the rows of auth.AppStore: a client is described by the
// document at its id, or by its id itself.
package oauth

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"adlens/internal/auth"
	"adlens/internal/lru"
)

// The lifetimes of secrets.
const (
	InviteLifetime  = 10 * time.Minute
	codeLifetime    = time.Minute
	accessLifetime  = time.Hour
	refreshLifetime = 30 * 24 * time.Hour
)

// Bounds of one request.
const (
	maxQuery        = 16 << 10 // bytes
	maxConsentBody  = 16 << 10
	maxTokenBody    = 8 << 10
	maxRegisterBody = 5 << 10
	maxState        = 2 << 10
)

// Config is what a server needs.
type Config struct {
	Apps     auth.AppStore
	Accounts auth.AccountStore
	// PublicURL is the address that clients see, as ParsePublicURL returns it. If
	// it is empty, only clients on this machine are let in.
	PublicURL      string
	NoRegistration bool // switches dynamic registration off

	// Dial connects to the host of a client's metadata document. Tests replace it;
	// nil is the real one, which connects to public addresses only. Roots are the
	// certificates trusted there; nil is the system's.
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Roots *x509.CertPool

	Now func() time.Time
	Log func(Event) // hears of connections and failures; may be nil
}

// EventKind is what happened.
type EventKind string

// The kinds of events.
const (
	EventConsent  EventKind = "consent"      // a person let an assistant in
	EventConnect  EventKind = "connect"      // a code became tokens
	EventRefresh  EventKind = "refresh"      // tokens were rotated
	EventReuse    EventKind = "reuse"        // a replaced or misused secret ended a connection
	EventRevoke   EventKind = "revoke"       // the assistant ended its connection
	EventGuess    EventKind = "wrong_invite" // a code of no invitation was entered
	EventDocument EventKind = "bad_document" // a client's metadata document was refused
	EventRefused  EventKind = "refused"      // a request for tokens, or to end some, was refused
	EventFailure  EventKind = "failure"      // the store failed
)

// Event is something that an operator may want to read in the log. It holds no
// secret; texts of clients are cleaned and bounded.
type Event struct {
	Kind      EventKind
	AppID     string
	AccountID string
	Client    string // name of the client, or its id if it has none yet
	Remote    netip.Addr
	Code      string // with which it was refused, of RFC 6749
	Err       error
}

// Server is the authorization server. It is safe for concurrent use.
type Server struct {
	apps      auth.AppStore
	accounts  auth.AccountStore
	publicURL string
	registers bool
	now       func() time.Time
	log       func(Event)

	documents     *documents
	guesses       *guesses // of invitations
	wrongSecrets  *guesses // codes and tokens
	registrations *auth.Failures
	refreshes     *auth.Limiter // by the ids of connections
	locks         familyLocks
	unsent        *lru.Cache[[32]byte, unsent] // by their families
}

// registrationsAllowed bounds the work that registrations make: an address may
// register so many clients in any minute.
const registrationsAllowed = 20

// New returns a server.
func New(c Config) *Server {
	s := &Server{apps: c.Apps, accounts: c.Accounts, publicURL: strings.TrimSuffix(c.PublicURL, "/"), registers: !c.NoRegistration, now: c.Now,
		documents: newDocuments(c.Dial, c.Roots), guesses: newGuesses(), wrongSecrets: newGuesses(), registrations: auth.NewFailuresUpTo(registrationsAllowed),
		refreshes: auth.NewLimiter(refreshesAllowed, 0), locks: newFamilyLocks(), unsent: lru.New(unsentKept, func([32]byte, unsent) int { return 1 })}
	if s.now == nil {
		s.now = time.Now
	}
	s.log = func(e Event) {
		if c.Log != nil {
			c.Log(e.masked())
		}
	}
	return s
}

// masked returns the event without secrets that were sent in a field of another: people
// enter a key as the client's id.
func (e Event) masked() Event {
	e.Client = string(auth.MaskSecrets([]byte(e.Client)))
	if e.Err == nil {
		return e
	}
	if text := e.Err.Error(); string(auth.MaskSecrets([]byte(text))) != text {
		e.Err = errors.New(string(auth.MaskSecrets([]byte(text))))
	}
	return e
}

// The paths of the server.
const (
	pathResource   = "/.well-known/oauth-protected-resource"
	pathResourceOf = pathResource + ResourcePath
	pathIssuer     = "/.well-known/oauth-authorization-server"
	pathAuthorize  = "/oauth/authorize"
	pathToken      = "/oauth/token"
	pathRevoke     = "/oauth/revoke"
	pathRegister   = "/oauth/register"
)

// Paths returns all paths that Handler answers.
func Paths() []string {
	return []string{pathResource, pathResourceOf, pathIssuer, pathAuthorize, pathToken, pathRevoke, pathRegister}
}

// route is what answers a path.
type route struct {
	methods []string
	serve   func(w http.ResponseWriter, r *http.Request, base string)
}

// Handler returns the routes. Other paths are not found; none is redirected.
func (s *Server) Handler() http.Handler {
	read, both, post := []string{"GET", "HEAD"}, []string{"GET", "HEAD", "POST"}, []string{"POST"}
	routes := map[string]route{
		pathResource:   {read, s.serveResource},
		pathResourceOf: {read, s.serveResource},
		pathIssuer:     {read, s.serveIssuer},
		pathAuthorize:  {both, s.serveAuthorize},
		pathToken:      {post, s.serveToken},
		pathRevoke:     {post, s.serveRevoke},
		pathRegister:   {post, s.serveRegister},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		found, known := routes[r.URL.Path]
		if !known {
			writeOAuthError(w, http.StatusNotFound, "not_found", "there is no such path")
			return
		}
		if !slices.Contains(found.methods, r.Method) {
			h.Set("Allow", strings.Join(found.methods, ", "))
			writeOAuthError(w, http.StatusMethodNotAllowed, "invalid_request", "this path takes "+strings.Join(found.methods, ", "))
			return
		}
		base, err := s.Base(r)
		if err != nil {
			writeOAuthError(w, http.StatusForbidden, "access_denied", err.Error())
			return
		}
		found.serve(w, r, base)
	})
}

// remoteAddress returns the other end of the connection. What proxies say about
// it is never trusted.
func remoteAddress(r *http.Request) netip.Addr {
	remote, _ := netip.ParseAddrPort(r.RemoteAddr)
	return remote.Addr()
}

// logFailure reports a failure of the store.
func (s *Server) logFailure(r *http.Request, err error) {
	s.log(Event{Kind: EventFailure, Remote: remoteAddress(r), Err: err})
}
