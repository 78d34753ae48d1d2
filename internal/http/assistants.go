package http

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"adlens/internal/assistant"
	"adlens/internal/auth"
	"adlens/internal/oauth"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	mcpauth "github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The addresses of assistants (contract D4). ownersPath is for the owner of the data
// directory, who runs adlens mcp next to the server.
const (
	assistantPath = oauth.ResourcePath
	ownersPath    = assistantPath + "/calls"
)

// maxCall bounds a call of an assistant.
const maxCall = 64 << 10

// Assistants is what a server needs to answer assistants.
type Assistants struct {
	Tools         *assistant.Server
	Authorization *oauth.Server
	OwnerToken    string // of adlens mcp on the same machine
}

// appKey is the context's key for the connection whose token a request has.
type appKey struct{}

// What the protocol's server is told of the request that a call came with.
const (
	appInfo     = "app"
	requestInfo = keyRequestID
)

// AppOf returns the connection that sent a call.
func AppOf(extra *mcp.RequestExtra) (app auth.Record, ok bool) {
	if extra == nil || extra.TokenInfo == nil {
		return app, false
	}
	app, ok = extra.TokenInfo.Extra[appInfo].(auth.Record)
	return app, ok
}

// RequestIDOf returns the id of the request that a call came with, "" where none is known.
func RequestIDOf(extra *mcp.RequestExtra) string {
	if extra == nil || extra.TokenInfo == nil {
		return ""
	}
	id, _ := extra.TokenInfo.Extra[requestInfo].(string)
	return id
}

// addAssistants adds the protocol and what gives its clients their tokens.
func (s *Server) addAssistants(engine *gin.Engine) {
	options := &mcp.StreamableHTTPOptions{Stateless: true, MaxRequestBodyBytes: maxCall, PropagateRequestCancellation: true,
		DisableLocalhostProtection: true} // Base judges Host, for proxies on the same machine too
	assistant.PrepareTransport(options)
	tools := checkMessages(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.Assistants.Tools.Protocol() }, options))
	s.bodies[assistantPath] = true
	engine.Any(assistantPath, s.wrapWithin(assistantTimeout, func(c *gin.Context) error { return s.serveAssistant(c, tools) }))
	engine.POST(ownersPath, s.wrapHandler(s.countOwnersCall))
	for _, path := range oauth.Paths() {
		s.bodies[path] = true
		engine.Any(path, gin.WrapH(s.Assistants.Authorization.Handler()))
	}
}

// serveAssistant lets a client with a token speak the protocol. A request that no
// such client sends, as one that a page of another site makes a browser send, is
// refused before anything is read.
func (s *Server) serveAssistant(c *gin.Context, tools http.Handler) error {
	c.Writer.Header().Set("Cache-Control", "no-store")
	w := &firmHeaders{c.Writer, c.Writer.Header().Clone()}
	base, err := s.Assistants.Authorization.Base(c.Request)
	if err != nil {
		http.Error(c.Writer, err.Error(), http.StatusForbidden)
		return nil
	}
	if err := http.NewCrossOriginProtection().Check(c.Request); err != nil {
		http.Error(c.Writer, "a page of another site may not call an assistant's tools", http.StatusForbidden)
		return nil
	}
	if assistant.AdmitsWithoutToken() {
		tools.ServeHTTP(w, c.Request)
		return nil
	}
	app, err := s.authenticateApp(c, base)
	logCaller(c, app)
	if err != nil {
		return err
	}
	r := c.Request.WithContext(context.WithValue(c.Request.Context(), appKey{}, app))
	mcpauth.RequireBearerToken(tokenInfoOf(requestID(c)), nil)(tools).ServeHTTP(w, r)
	return nil
}

// firmHeaders is a response whose headers stay as they were set before: the protocol's
// library keeps connections of its own accord, also those of a server that is about to
// stop, and lets answers be stored.
type firmHeaders struct {
	http.ResponseWriter
	firm http.Header
}

func (w *firmHeaders) WriteHeader(status int) {
	maps.Copy(w.Header(), w.firm)
	w.ResponseWriter.WriteHeader(status)
}

func (w *firmHeaders) Write(b []byte) (int, error) {
	maps.Copy(w.Header(), w.firm)
	return w.ResponseWriter.Write(b)
}

// FlushError is what http.ResponseController flushes by.
func (w *firmHeaders) FlushError() error {
	maps.Copy(w.Header(), w.firm)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// checkMessages refuses a body that the protocol's library must not be given. The
// library itself refuses one that is too long or does not arrive.
func checkMessages(tools http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(io.LimitReader(r.Body, maxCall+1))
			if refusal := assistant.RefuseBody(body); refusal != nil && err == nil && len(body) <= maxCall {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				w.Write(refusal)
				return
			}
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body)) // net/http closes it
		}
		tools.ServeHTTP(w, r)
	})
}

// tokenInfoOf tells the protocol's server whose request it is, and its id.
func tokenInfoOf(id string) mcpauth.TokenVerifier {
	return func(ctx context.Context, _ string, _ *http.Request) (*mcpauth.TokenInfo, error) {
		app, ok := ctx.Value(appKey{}).(auth.Record)
		if !ok || app.ExpiresAt == nil {
			return nil, mcpauth.ErrInvalidToken
		}
		return &mcpauth.TokenInfo{Scopes: app.Scopes, Expiration: *app.ExpiresAt, UserID: app.ID, Extra: map[string]any{appInfo: app, requestInfo: id}}, nil
	}
}

// authenticateApp finds the connection whose access token a request has. A token is
// for one resource (RFC 8707): that of another address of the server is refused.
func (s *Server) authenticateApp(c *gin.Context, base string) (auth.Record, error) {
	h := c.Writer.Header()
	challenge := fmt.Sprintf("Bearer resource_metadata=%q, scope=%q", oauth.ResourceMetadataURL(base), auth.ScopeRead)
	sent := c.Request.Header.Values("Authorization")
	if len(sent) == 0 {
		h.Set("WWW-Authenticate", challenge)
		return auth.Record{}, &problem{code: codeMissingKey, detail: "the request has no access token; the client gets one by asking the account's owner: see " + oauth.ResourceMetadataURL(base)}
	}
	remote, _ := netip.ParseAddrPort(c.Request.RemoteAddr)
	scheme, token, _ := strings.Cut(sent[0], " ")
	isBearer := strings.EqualFold(scheme, "Bearer") // RFC 7235, 2.1
	app, err := auth.Record{}, error(auth.ErrInvalidKey)
	if isBearer && len(sent) == 1 {
		app, err = s.Admission.AuthenticateApp(c.Request.Context(), token, remote.Addr(), s.Now())
	}
	if err == nil && app.Request != oauth.Resource(base) {
		err = auth.ErrInvalidKey
	}
	if errors.Is(err, auth.ErrInvalidKey) {
		h.Set("WWW-Authenticate", challenge+`, error="invalid_token"`)
		return app, &problem{code: codeInvalidKey, detail: "the access token is not valid: it may be expired, revoked, or for another server"}
	}
	return app, err
}

// countOwnersCall counts a call of adlens mcp against the limits of an account, and
// says whether it is let in.
func (s *Server) countOwnersCall(c *gin.Context) error {
	token := strings.TrimPrefix(c.GetHeader("Authorization"), "Bearer ")
	if s.Assistants.OwnerToken == "" || subtle.ConstantTimeCompare([]byte(token), []byte(s.Assistants.OwnerToken)) != 1 {
		return notFound(ownersPath)
	}
	app := OwnersApp(c.Query("account"))
	logCaller(c, app)
	if _, err := s.Admission.AdmitApp(c.Request.Context(), app, s.Now()); err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	return nil
}

// OwnersApp returns the connection of adlens mcp, which needs no consent: the owner of
// the data directory runs it.
func OwnersApp(account string) auth.Record {
	return auth.Record{ID: "mcp:" + account, AccountID: account, Name: "adlens mcp", Scopes: []string{auth.ScopeRead}, CreatedAt: time.Time{}}
}

// ownersPatience bounds how long a server takes to count a call.
const ownersPatience = 5 * time.Second

// ownersClient sends the owner's token to the server alone: through no proxy of the
// environment, and no redirect takes it elsewhere.
var ownersClient = &http.Client{Transport: &http.Transport{Proxy: nil, IdleConnTimeout: time.Minute},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// CountOwnersCall has a running server count a call of adlens mcp. running is false
// where none answers at the address, or another program or server than the token is of.
// The error is an *auth.RefusedError.
func CountOwnersCall(ctx context.Context, address, token, account string) (running bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, ownersPatience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address+ownersPath+"?account="+url.QueryEscape(account), http.NoBody)
	if err != nil {
		return false, nil
	}
	r.Header.Set("Authorization", "Bearer "+token)
	said, err := ownersClient.Do(r)
	if err != nil {
		return false, nil // it ended without removing its file
	}
	defer said.Body.Close()
	if said.StatusCode == http.StatusNoContent {
		return true, nil
	}
	var body problemBody
	err = json.UnmarshalRead(io.LimitReader(said.Body, maxCall), &body)
	if err != nil || body.Code == codeNotFound || body.Detail == "" || kindOf(body.Code).Code != body.Code {
		return false, nil // after a server that was killed another program may have its port
	}
	return true, &auth.RefusedError{Detail: body.Detail}
}
