package oauth

import (
	"net/http"

	"adlens/internal/auth"

	"github.com/go-json-experiment/json"
)

// resourceName is how clients may call the resource when they ask a person.
const resourceName = "adlens: read-only figures of an advertising account"

// resourceMetadata is RFC 9728.
type resourceMetadata struct {
	Resource      string   `json:"resource"`
	Issuers       []string `json:"authorization_servers"`
	Scopes        []string `json:"scopes_supported"`
	BearerMethods []string `json:"bearer_methods_supported"`
	Name          string   `json:"resource_name"`
}

// serveResource answers the metadata of the protected resource (RFC 9728). The
// path without /mcp has the same: clients look there second.
func (s *Server) serveResource(w http.ResponseWriter, _ *http.Request, base string) {
	writeMetadata(w, resourceMetadata{Resource: Resource(base), Issuers: []string{base}, Scopes: []string{scopeRead}, BearerMethods: []string{"header"}, Name: resourceName})
}

// issuerMetadata is RFC 8414. The types of the SDK would write empty members, such as
// jwks_uri, which clients parse as a URL.
type issuerMetadata struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	RevocationEndpoint    string   `json:"revocation_endpoint"`
	RegistrationEndpoint  string   `json:"registration_endpoint,omitempty"`
	ScopesSupported       []string `json:"scopes_supported"`
	ResponseTypes         []string `json:"response_types_supported"`
	ResponseModes         []string `json:"response_modes_supported"`
	GrantTypes            []string `json:"grant_types_supported"`
	TokenAuthMethods      []string `json:"token_endpoint_auth_methods_supported"`
	RevocationAuthMethods []string `json:"revocation_endpoint_auth_methods_supported"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	ClientDocuments       bool     `json:"client_id_metadata_document_supported"`
	IssuerInResponses     bool     `json:"authorization_response_iss_parameter_supported"`
}

// serveIssuer answers the metadata of the authorization server (RFC 8414).
func (s *Server) serveIssuer(w http.ResponseWriter, _ *http.Request, base string) {
	m := issuerMetadata{
		Issuer:                base,
		AuthorizationEndpoint: base + pathAuthorize,
		TokenEndpoint:         base + pathToken,
		RevocationEndpoint:    base + pathRevoke,
		ScopesSupported:       []string{scopeRead},
		ResponseTypes:         []string{"code"},
		ResponseModes:         []string{"query"},
		GrantTypes:            []string{grantCode, grantRefresh},
		TokenAuthMethods:      []string{"none"},
		RevocationAuthMethods: []string{"none"},
		ChallengeMethods:      []string{"S256"},
		ClientDocuments:       true,
		IssuerInResponses:     true,
	}
	if s.registers {
		m.RegistrationEndpoint = base + pathRegister
	}
	writeMetadata(w, m)
}

// writeMetadata writes a document that depends on the address alone. Without a
// public URL that is the Host header, so shared caches must not keep it.
func writeMetadata(w http.ResponseWriter, document any) {
	w.Header().Set("Cache-Control", "private, max-age=300")
	writeJSON(w, http.StatusOK, document)
}

func writeJSON(w http.ResponseWriter, status int, document any) {
	text, err := json.Marshal(document)
	if err != nil {
		panic(err) // all documents are of fixed types
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(text)
}

// writeOAuthError writes an error as RFC 6749 has it.
func writeOAuthError(w http.ResponseWriter, status int, code, description string) {
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, status, map[string]string{"error": code, "error_description": errorText(description)})
}

// errorText replaces what RFC 6749 does not allow in a description, and masks secrets.
func errorText(text string) string {
	ascii := auth.MaskSecrets([]byte(text))
	for i, b := range ascii {
		if b < ' ' || b > '~' || b == '"' || b == '\\' {
			ascii[i] = '\''
		}
	}
	return string(ascii)
}
