package oauth

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"adlens"
)

const maxRedirectURI = 500 // bytes

// deniedSchemes are those of no program that waits for a code: they run, show,
// open or send something.
var deniedSchemes = []string{"about", "blob", "chrome", "data", "facetime", "feed", "file", "filesystem", "ftp", "ftps", "git", "intent", "itms",
	"jar", "javascript", "ldap", "ldaps", "mailto", "mhtml", "mk", "res", "resource", "rtsp", "search", "search-ms", "sftp", "shell", "skype", "sms", "smb",
	"ssh", "tel", "telnet", "urn", "vbs", "vbscript", "view-source", "vnc", "ws", "wss"}

// reservedParameters are those of the answer: a redirect URI that brings its own
// would make it ambiguous.
var reservedParameters = []string{"code", "state", "iss", "error", "error_description", "error_uri"}

// redirectKind says where a redirect URI leads.
type redirectKind int

const (
	redirectWeb      redirectKind = iota // https, to a host
	redirectLoopback                     // http, to a program on this computer
	redirectPrivate                      // to the program that the system opens for a scheme
)

// parseRedirectURI checks that a client may register a redirect URI: https with
// a host; http to localhost, 127.0.0.1 or [::1]; or a private-use scheme.
// Characters that browsers and servers read differently are refused.
func parseRedirectURI(text string) (redirectKind, *url.URL, error) {
	refuse := func(why string) (redirectKind, *url.URL, error) {
		return 0, nil, fmt.Errorf("redirect URI %q %s", adlens.CleanText(text, 100), why)
	}
	if text == "" || len(text) > maxRedirectURI {
		return refuse(fmt.Sprintf("is empty or longer than %d bytes", maxRedirectURI))
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\\\"'<>^`{|}#*", r) }); i >= 0 {
		return refuse("has a character that is not allowed; fragments are not either")
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Opaque != "" || !strings.HasPrefix(text, u.Scheme+":/") {
		return refuse("is no absolute URI without user information, in lower case")
	}
	if hasDotSegment(u.Path) {
		return refuse("has a path with . or ..")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.ForceQuery {
		return refuse("has a query that does not parse")
	}
	for name := range query {
		if slices.Contains(reservedParameters, name) {
			return refuse("has the parameter " + name + ", which the answer adds")
		}
	}
	switch {
	case u.Scheme == "https":
		if port := u.Port(); !isRedirectHost(u.Hostname()) || strings.Contains(u.Host, ":") && !isPort(port) || !strings.HasPrefix(text, "https://"+u.Host) {
			return refuse("has no host name that can be reached by https")
		}
		return redirectWeb, u, nil
	case u.Scheme == "http":
		if _, _, ok := splitLoopback(text); !ok {
			return refuse("is http: only localhost, 127.0.0.1 and [::1] may be; use https")
		}
		return redirectLoopback, u, nil
	case len(u.Scheme) < 3 || slices.Contains(deniedSchemes, u.Scheme) || strings.HasPrefix(u.Scheme, "ms-") || strings.HasPrefix(u.Scheme, "http") ||
		strings.HasPrefix(u.Scheme, "chrome-") || strings.HasPrefix(u.Scheme, "moz-"):
		return refuse("has a scheme that leads to no assistant")
	}
	return redirectPrivate, u, nil
}

// isRedirectHost reports whether https may lead to a host: a name, or localhost.
func isRedirectHost(host string) bool { return isHostName(host) || host == "localhost" }

// hasDotSegment reports whether an unescaped path has a segment . or .., which
// programs resolve at different times.
func hasDotSegment(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// matchRedirect reports whether a client that registered one redirect URI may
// use another: only the same one. A native program learns its port when it
// starts, so that of a loopback address may differ (RFC 8252, section 7.3).
//
// It compares texts, not parsed URIs: nothing is normalized, so nothing can be
// normalized in two ways.
func matchRedirect(registered, requested string) bool {
	if registered == requested {
		return true
	}
	host, rest, ok := splitLoopback(registered)
	if !ok {
		return false
	}
	requestedHost, requestedRest, ok := splitLoopback(requested)
	return ok && host == requestedHost && rest == requestedRest
}

// splitLoopback returns the host of a loopback redirect URI and what follows its
// port; ok is false for all other texts.
func splitLoopback(text string) (host, rest string, ok bool) {
	text, ok = strings.CutPrefix(text, "http://")
	if !ok {
		return "", "", false
	}
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost"} {
		rest, found := strings.CutPrefix(text, host)
		if !found {
			continue
		}
		if port, colon := strings.CutPrefix(rest, ":"); colon {
			end := strings.IndexAny(port, "/?")
			if end < 0 {
				end = len(port)
			}
			if !isPort(port[:end]) {
				return "", "", false
			}
			rest = port[end:]
		}
		return host, rest, rest == "" || rest[0] == '/' || rest[0] == '?'
	}
	return "", "", false
}

// formatRedirect adds the parameters of an answer to a redirect URI.
func formatRedirect(uri string, parameters url.Values) string {
	separator := "?"
	if strings.Contains(uri, "?") {
		separator = "&"
	}
	return uri + separator + parameters.Encode()
}
