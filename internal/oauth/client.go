package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/go-json-experiment/json"
)

const (
	registeredPrefix = "dcr_"
	maxRedirectURIs  = 20 // of a metadata document
	maxRegistered    = 10 // redirect URIs of a registered client; VS Code had six
	maxName          = 100
	maxClientID      = 4 << 10
	unnamedClient    = "An assistant without a name"
)

// client is who asks for access. All clients are public: none has a secret.
type client struct {
	id        string
	name      string // its own word, cleaned
	host      string // of its metadata document; "" if it registered itself
	redirects []string
}

// redirectOf returns the kind of a redirect URI that the client may use. A client
// with one redirect URI has to name it as well: an answer never goes anywhere
// that the request does not say.
func (c client) redirectOf(uri string) (redirectKind, *url.URL, error) {
	kind, u, err := parseRedirectURI(uri)
	if err != nil {
		return 0, nil, err
	}
	if !slices.ContainsFunc(c.redirects, func(registered string) bool { return matchRedirect(registered, uri) }) {
		return 0, nil, fmt.Errorf("redirect URI %q is none of those that the client registered", uri)
	}
	return kind, u, nil
}

// findClient returns the client of an id: that of a metadata document, or one
// that registered itself.
func (s *Server) findClient(ctx context.Context, id string, remote netip.Addr) (client, error) {
	switch {
	case id == "":
		return client{}, errors.New("parameter client_id is missing")
	case len(id) > maxClientID:
		return client{}, fmt.Errorf("client_id is longer than %d bytes", maxClientID)
	case strings.HasPrefix(id, registeredPrefix):
		if !s.registers {
			return client{}, errors.New("clients cannot register themselves with this server: client_id must be the https URL of a metadata document")
		}
		return parseRegistered(id)
	case strings.HasPrefix(id, "https://"):
		return s.documents.find(ctx, id, remote, s.now())
	}
	return client{}, errors.New("client_id is neither the https URL of a metadata document nor that of a registration")
}

// registration is what a registered client's id holds.
type registration struct {
	Name         string   `json:"n"`
	RedirectURIs []string `json:"r"`
}

// formatRegistered makes the id of a registered client: it is the registration,
// so that registrations are stored nowhere and cannot fill anything. There is
// nothing to forge: a program that can write an id can register it as well.
func formatRegistered(r registration) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // texts are valid UTF-8
	}
	return registeredPrefix + base64.RawURLEncoding.EncodeToString(text)
}

// parseRegistered returns the client of an id, which has one spelling only.
func parseRegistered(id string) (client, error) {
	refused := errors.New("client_id is no registration of this server: register again")
	text, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimPrefix(id, registeredPrefix))
	if err != nil {
		return client{}, refused
	}
	var r registration
	if err := json.Unmarshal(text, &r, json.RejectUnknownMembers(true)); err != nil || checkRegistration(&r) != nil || formatRegistered(r) != id {
		return client{}, refused
	}
	return client{id: id, name: r.Name, redirects: r.RedirectURIs}, nil
}

// checkRegistration cleans the name and checks the redirect URIs.
func checkRegistration(r *registration) error {
	if len(r.RedirectURIs) == 0 || len(r.RedirectURIs) > maxRegistered {
		return fmt.Errorf("redirect_uris has %d URIs, expected 1 to %d", len(r.RedirectURIs), maxRegistered)
	}
	for _, uri := range r.RedirectURIs {
		if _, _, err := parseRedirectURI(uri); err != nil {
			return err
		}
	}
	r.Name = cleanName(r.Name)
	if size := len(formatRegistered(*r)); size > maxClientID {
		return fmt.Errorf("redirect_uris and client_name make a client_id of %d bytes, expected at most %d: send fewer or shorter URIs", size, maxClientID)
	}
	return nil
}

func cleanName(name string) string {
	if name = adlens.CleanText(name, maxName); name == "" {
		return unnamedClient
	}
	return name
}

// registrationRequest are the members of RFC 7591 that matter here; a server may
// ignore all others.
type registrationRequest struct {
	RedirectURIs  []string `json:"redirect_uris"`
	Name          string   `json:"client_name"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	Scope         string   `json:"scope"`
}

type registrationResponse struct {
	ClientID        string   `json:"client_id"`
	IssuedAt        int64    `json:"client_id_issued_at"`
	Name            string   `json:"client_name"`
	RedirectURIs    []string `json:"redirect_uris"`
	GrantTypes      []string `json:"grant_types"`
	ResponseTypes   []string `json:"response_types"`
	TokenAuthMethod string   `json:"token_endpoint_auth_method"`
	Scope           string   `json:"scope"`
}

// serveRegister registers a client (RFC 7591). A client that asks for a secret
// is registered without one: RFC 7591 lets a server replace what it asks for.
func (s *Server) serveRegister(w http.ResponseWriter, r *http.Request, _ string) {
	if !s.registers {
		writeOAuthError(w, http.StatusForbidden, "access_denied", "dynamic registration is off: use the https URL of a metadata document as client_id")
		return
	}
	now, remote := s.now(), remoteAddress(r)
	if wait := s.registrations.Wait(remote, now); wait > 0 {
		writeRetryAfter(w, wait)
		writeOAuthError(w, http.StatusTooManyRequests, "temporarily_unavailable", "this address registered too many clients: try again later")
		return
	}
	s.registrations.Note(remote, now)
	text, err := readBody(w, r, "application/json", maxRegisterBody)
	if err != nil {
		writeOAuthError(w, statusOf(err), "invalid_client_metadata", err.Error())
		return
	}
	var request registrationRequest
	if err := json.Unmarshal([]byte(text), &request); err != nil {
		writeOAuthError(w, http.StatusBadRequest, "invalid_client_metadata", "the body is no JSON object of client metadata with each name once")
		return
	}
	if err := checkGrants(request.GrantTypes, request.ResponseTypes); err != nil {
		writeOAuthError(w, http.StatusBadRequest, "invalid_client_metadata", err.Error())
		return
	}
	registered := registration{Name: request.Name, RedirectURIs: request.RedirectURIs}
	if err := checkRegistration(&registered); err != nil {
		writeOAuthError(w, http.StatusBadRequest, "invalid_redirect_uri", err.Error())
		return
	}
	writeJSON(w, http.StatusCreated, registrationResponse{ClientID: formatRegistered(registered), IssuedAt: now.Unix(), Name: registered.Name,
		RedirectURIs: registered.RedirectURIs, GrantTypes: []string{grantCode, grantRefresh}, ResponseTypes: []string{"code"}, TokenAuthMethod: "none", Scope: scopeRead})
}

// checkGrants checks that a client can use the one grant that there is; both
// lists have it as their default.
func checkGrants(grants, responses []string) error {
	if len(grants) > 0 && !slices.Contains(grants, grantCode) {
		return errors.New("grant_types lacks authorization_code, the only grant that begins a connection")
	}
	if len(responses) > 0 && !slices.Contains(responses, "code") {
		return errors.New("response_types lacks code, the only one there is")
	}
	return nil
}

func writeRetryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(auth.WholeSeconds(wait)))
}
