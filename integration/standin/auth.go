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

// requireToken lets a call through that has a good token and its client's id.
func (p *Platform) requireToken(next handler) handler {
	return func(q *query) reply {
		text, bearer := strings.CutPrefix(q.Header.Get("Authorization"), "Bearer ")
		grant, good := p.tokens.findGrant(text, p.config.Now())
		if !bearer || !good {
			return refuseCall(http.StatusUnauthorized, Message, invalidToken)
		}
		if q.Header.Get(clientHeader) != p.config.ClientID {
			return refuseCall(http.StatusUnauthorized, Details, "Not authorized to manage this profile. Please check permissions and consent from the advertiser")
		}
		q.grant = grant
		return next(q)
	}
}

// requireProfile lets a call through that also names a profile which the grant sees
// and which belongs to the host's region.
func (p *Platform) requireProfile(next handler) handler {
	return p.requireToken(func(q *query) reply {
		scope := q.Header.Get(scopeHeader)
		if scope == "" {
			return refuseCall(http.StatusBadRequest, Details, "Missing scope: the header Amazon-Advertising-API-Scope is required")
		}
		id, err := strconv.ParseInt(scope, 10, 64)
		if err != nil {
			return refuseCall(http.StatusBadRequest, Details, "Invalid scope: %s", scope)
		}
		profile, known := p.data.findProfile(id)
		if !known || !q.grant.seesProfile(id) || profile.homeRegion() != q.region {
			return refuseCall(http.StatusUnauthorized, Details, "Not authorized to access scope")
		}
		if profile.Type == "agency" {
			return refuseCall(http.StatusBadRequest, Details, "Advertiser ID cannot be decrypted")
		}
		q.profile = profile
		return next(q)
	})
}
