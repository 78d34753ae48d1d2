package standin

import (
	"net/http"
	"strconv"
	"strings"
)

const (
	clientHeader = "Amazon-Advertising-Api-Clientid"
	scopeHeader  = "Amazon-Advertising-Api-Scope"
)

// account lets a call through that has a good token and its client's id.
func (p *Platform) account(next handler) handler {
	return func(q *query) reply {
		text, bearer := strings.CutPrefix(q.Header.Get("Authorization"), "Bearer ")
		grant, good := p.tokens.grant(text, p.config.Now())
		if !bearer || !good {
			return refuse(http.StatusUnauthorized, Message, invalidToken)
		}
		if q.Header.Get(clientHeader) != p.config.ClientID {
			return refuse(http.StatusUnauthorized, Details, "Not authorized to manage this profile. Please check permissions and consent from the advertiser")
		}
		q.grant = grant
		return next(q)
	}
}

// profile lets a call through that also names a profile which the grant sees
// and which belongs to the host's region.
func (p *Platform) profile(next handler) handler {
	return p.account(func(q *query) reply {
		scope := q.Header.Get(scopeHeader)
		if scope == "" {
			return refuse(http.StatusBadRequest, Details, "Missing scope: the header Amazon-Advertising-API-Scope is required")
		}
		id, err := strconv.ParseInt(scope, 10, 64)
		if err != nil {
			return refuse(http.StatusBadRequest, Details, "Invalid scope: %s", scope)
		}
		profile, known := p.data.profile(id)
		if !known || !q.grant.sees(id) || profile.region() != q.region {
			return refuse(http.StatusUnauthorized, Details, "Not authorized to access scope")
		}
		if profile.Type == "agency" {
			return refuse(http.StatusBadRequest, Details, "Advertiser ID cannot be decrypted")
		}
		q.profile = profile
		return next(q)
	})
}
