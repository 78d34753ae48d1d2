package http

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"adlens/internal/auth"

	"github.com/gin-gonic/gin"
)

// admitCaller lets a request in and writes into its headers what is left of the
// limits. What proxies say about addresses is never trusted.
func (s *Server) admitCaller(c *gin.Context, credentials auth.Credentials) (auth.Caller, error) {
	remote, _ := netip.ParseAddrPort(c.Request.RemoteAddr)
	caller, err := s.Admission.Admit(c.Request.Context(), credentials, remote.Addr(), s.Now())
	logCaller(c, caller.Key)
	writeLimits(c.Writer.Header(), caller.Windows)
	if errors.Is(err, auth.ErrMissingKey) && auth.HoldsKey(c.Request.RequestURI) {
		return caller, &problem{code: codeMissingKey, detail: "the key is in the address, where it is ignored and where others can read it: " +
			"revoke it, make another, and send that in the header Authorization: Bearer key_live_..."}
	}
	return caller, err
}

// logCaller has the access log name a key, link or connection. That may be a revoked or
// expired one, which the answer does not tell from an unknown one.
func logCaller(c *gin.Context, key auth.Record) {
	if key.ID != "" {
		c.Set(keyCaller, key)
	}
}

func writeLimits(h http.Header, windows []auth.Window) {
	if len(windows) == 0 {
		return
	}
	var policy, left []string
	for _, w := range windows {
		policy = append(policy, fmt.Sprintf("%q;q=%d;w=%d", w.Name, w.Quota, w.WindowSeconds))
		left = append(left, fmt.Sprintf("%q;r=%d;t=%d", w.Name, w.Remaining, w.ResetSeconds))
	}
	h.Set("RateLimit-Policy", strings.Join(policy, ", "))
	h.Set("RateLimit", strings.Join(left, ", "))
}
