package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/query"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"go.uber.org/zap"
)

// problemKind is an error as clients know it: its status, and the words of its
// page in the documentation.
type problemKind struct {
	Code   adlens.Code
	Status int
	Title  string
	Help   string // what it means
	Remedy string // what to do about it
}

// The problems that are no fault of a parameter.
const (
	codeMissingKey  adlens.Code = "missing_key"
	codeInvalidKey  adlens.Code = "invalid_key"
	codeInactive    adlens.Code = "subscription_inactive"
	codeScope       adlens.Code = "insufficient_scope"
	codeNotFound    adlens.Code = "not_found"
	codeMethod      adlens.Code = "method_not_allowed"
	codeTooLarge    adlens.Code = "request_too_large"
	codeRateLimited adlens.Code = "rate_limited"
	codeUnavailable adlens.Code = "engine_unavailable"
	codeOverloaded  adlens.Code = "overloaded"
	codeTimeout     adlens.Code = "query_timeout"
	codeInternal    adlens.Code = "internal"
)

// statusClientIsGone is for the log; no client reads it.
const statusClientIsGone = 499

// problemKinds is the only map from errors to statuses.
var problemKinds = []problemKind{
	{adlens.UnknownValue, 400, "Unknown value", "A parameter has a value that is not among those it can have. The detail names it, and allowed or did_you_mean say what would be right. Nothing is answered rather than an answer to another question.",
		"Send one of the values in allowed. The marketplaces that an account has, with their ids, are listed by /api/v1/marketplaces."},
	{adlens.InvalidParameter, 400, "Invalid parameter", "A parameter is not written as it must be: a day that does not exist, a number out of bounds, an empty value, a parameter given twice that is no list, or a query string that does not parse.",
		"Write the value as the detail says. In a query string, join name=value pairs by & and write other characters as %XX."},
	{adlens.UnknownParameter, 400, "Unknown parameter", "The request has a parameter that this endpoint does not know. It is refused because a misspelt filter would otherwise silently widen the answer.",
		"Correct the name, or leave it out. The detail lists the names that this endpoint knows."},
	{adlens.MissingParameter, 400, "Missing parameter", "A parameter is needed that was not sent. start_date and end_date go together.",
		"Send it. The ids of marketplaces are listed by /api/v1/marketplaces."},
	{adlens.ConflictingParameters, 400, "Conflicting parameters", "Two parameters exclude each other, such as a named range and dates, or a separator and a format other than csv. The detail names them.",
		"Leave one of them out."},
	{adlens.PeriodTooLong, 400, "Period too long", "end_date may lie at most six calendar years after start_date. For everything, send range=all_time.",
		"Send an earlier end, or ask for the years one after the other. For everything, send range=all_time."},
	{adlens.GranularityTooFine, 400, "Granularity too fine", "Days are shown for periods of up to 92 days. Send granularity=week, month, or auto.",
		"Send granularity=week, month or auto, or a shorter period."},
	{codeMissingKey, 401, "Missing API key", "Send the header Authorization: Bearer key_live_... with a key made by: adlens key create.",
		"Send the header Authorization: Bearer key_live_... A key in the address is not looked for, as others can read it there; revoke one that stood there."},
	{codeInvalidKey, 401, "Invalid API key", "The Authorization header does not hold exactly one valid key. The key may be misspelt, unknown, revoked or expired.",
		"Compare the key's first characters with those that adlens key list shows, and make another where it is revoked, expired or lost."},
	{codeInactive, 403, "Subscription inactive", "The account's subscription is canceled. The account endpoint still answers.",
		"Have the subscription renewed. The server's operator changes it with adlens account set."},
	{codeScope, 403, "Insufficient scope", "The key was made without the scope that this endpoint needs.",
		"Make a key that has the scope, and send that."},
	{codeNotFound, 404, "Not found", "There is no such address, or no such thing in this account.",
		"Compare the address with the reference. An id of a rule is one that /api/v1/rules lists for this key's account."},
	{codeMethod, 405, "Method not allowed", "The API only reads: GET and HEAD.",
		"Send a GET, or a HEAD for the headers alone."},
	{codeTooLarge, 413, "Request too large", "An address may have 16 KiB, all headers together as much, and a body 1 KiB, although no endpoint needs one.",
		"Send a shorter address: fewer values in a list, or none where all are meant. Send no body."},
	{codeRateLimited, 429, "Too many requests", "The account's limit of requests in a minute or in a UTC day is reached, over all its keys, or the key's own; or your address sent too many keys that are not valid (limit says which). Wait for as many seconds as Retry-After says.",
		"Wait for as many seconds as Retry-After says; a retry is let in then. To stay below the limit, ask for everything at once (page_size=all) and not page by page."},
	{codeUnavailable, 503, "Engine unavailable", "The database cannot be reached, most often because it restarts; or stored data of the account is damaged, until it is restored. The detail says which. Try again after Retry-After.",
		"Wait for as many seconds as Retry-After says and ask again. Where it stays, the server's operator examines the installation with adlens doctor; what the engine said last is in engine/engine.log of the data directory."},
	{codeOverloaded, 503, "Overloaded", "The server has more to do than it can. Try again after Retry-After, or ask for a shorter period.",
		"Wait for as many seconds as Retry-After says and ask again, one request at a time, or for a shorter period."},
	{codeTimeout, 504, "Query timed out", "The request took longer than the server allows. Ask for a shorter period or fewer rows.",
		"Ask for a shorter period, for one marketplace, or for a page rather than all rows."},
	{codeInternal, 500, "Internal error", "Something went wrong inside. The log has it under the request id.",
		"Ask again once. Where it stays, tell the server's operator the request_id."},
}

func kindOf(code adlens.Code) problemKind {
	for _, k := range problemKinds {
		if k.Code == code {
			return k
		}
	}
	return kindOf(codeInternal)
}

// problem is an error on its way to the client.
type problem struct {
	code   adlens.Code
	status int // where it is not the code's
	detail string
	faults []adlens.Fault
	limit  string
	allow  string // the methods that are, where another is not
	retry  time.Duration
	size   int   // in bytes, of an answer that does not have the part requested
	cause  error // for the log alone
}

func (p *problem) Error() string { return p.detail }

func (p *problem) Unwrap() error { return p.cause }

// clientIsGone is an error that no client reads. It is none of the codes.
func clientIsGone() *problem {
	return &problem{status: statusClientIsGone, detail: "the client went away before it was answered"}
}

func notFound(path string) *problem {
	return &problem{code: codeNotFound, detail: fmt.Sprintf("%s does not exist here", path)}
}

// problemOf finds out what an error means to the client.
func problemOf(err error) *problem {
	var p *problem
	var faults *query.FaultsError
	var limit *auth.LimitError
	var scope *auth.ScopeError
	var missing *answer.NotFoundError
	var link *auth.UnknownLinkError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &faults):
		return &problem{code: faults.Faults[0].Code, faults: faults.Faults, detail: faults.Error()}
	case errors.Is(err, auth.ErrMissingKey):
		return &problem{code: codeMissingKey, detail: "the request has no API key; send the header Authorization: Bearer key_live_..."}
	case errors.Is(err, auth.ErrInvalidKey):
		return &problem{code: codeInvalidKey, detail: "the API key is not valid; send one valid key as Authorization: Bearer key_live_..."}
	case errors.As(err, &limit):
		return &problem{code: codeRateLimited, limit: limit.Limit, retry: limit.RetryAfter, detail: limit.Error()}
	case errors.As(err, &link):
		return &problem{code: codeNotFound, detail: link.Error()}
	case errors.Is(err, auth.ErrCanceled):
		return &problem{code: codeInactive, detail: err.Error()}
	case errors.As(err, &scope):
		return &problem{code: codeScope, detail: scope.Error()}
	case errors.As(err, &missing):
		return &problem{code: codeNotFound, detail: missing.Detail}
	case errors.Is(err, answer.ErrOverloaded):
		return &problem{code: codeOverloaded, retry: unavailableRetry, detail: err.Error()}
	case errors.Is(err, context.Canceled):
		return clientIsGone()
	}
	return storeProblem(err)
}

// storeProblem keeps what the store says to the log.
func storeProblem(err error) *problem {
	switch adlens.KindOf(err) {
	case adlens.Damaged:
		return &problem{code: codeUnavailable, retry: damagedRetry, cause: err,
			detail: "the disk lost or changed a part of what is stored of the account; nothing is answered rather than a wrong figure, until its operator has restored it"}
	case adlens.EngineUnavailable:
		return &problem{code: codeUnavailable, retry: unavailableRetry, cause: err, detail: "the database cannot be reached at the moment"}
	case adlens.Overloaded:
		return &problem{code: codeOverloaded, retry: unavailableRetry, cause: err, detail: "the database has more to do than it can at the moment"}
	case adlens.DiskFull:
		return &problem{code: codeOverloaded, retry: damagedRetry, cause: err, detail: "the disk of the database is full, and the request needs some of it: ask for a shorter period, or again once its operator has made room"}
	case adlens.QueryTimeout:
		return &problem{code: codeTimeout, cause: err, detail: fmt.Sprintf("the request took longer than %s; ask for a shorter period", answer.Timeout)}
	case adlens.Cancelled:
		return clientIsGone()
	}
	return &problem{code: codeInternal, cause: err, detail: "something went wrong inside; the log has it under the request id"}
}

type problemBody struct {
	Type      string      `json:"type"`
	Title     string      `json:"title"`
	Status    int         `json:"status"`
	Detail    string      `json:"detail"`
	Code      adlens.Code `json:"code"`
	RequestID string      `json:"request_id"`
	Limit     string      `json:"limit,omitempty"`
	Errors    []faultBody `json:"errors,omitempty"`
}

type faultBody struct {
	Parameter  string      `json:"parameter"`
	Value      *string     `json:"value"`
	Code       adlens.Code `json:"code"`
	Detail     string      `json:"detail"`
	Allowed    []string    `json:"allowed,omitempty"`
	DidYouMean string      `json:"did_you_mean,omitempty"`
}

// writeError is the only place that writes an error.
func (s *Server) writeError(c *gin.Context, err error) {
	p := problemOf(err)
	if p.status == statusClientIsGone {
		c.AbortWithStatus(p.status)
		return
	}
	kind := kindOf(p.code)
	status := cmp.Or(p.status, kind.Status)
	h := c.Writer.Header()
	h.Set("Cache-Control", "no-store")
	h.Del("ETag")
	if status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" { // an assistant's says where its client begins
		h.Set("WWW-Authenticate", "Bearer")
	}
	if status == http.StatusMethodNotAllowed {
		h.Set("Allow", p.allow)
	}
	if status == http.StatusRequestedRangeNotSatisfiable {
		h.Set("Content-Range", fmt.Sprintf("bytes */%d", p.size))
	}
	if p.limit != "" {
		s.Refused(p.limit)
		c.Set(keyLimit, p.limit)
	}
	if p.retry > 0 {
		h.Set("Retry-After", fmt.Sprint(auth.WholeSeconds(p.retry)))
	}
	if p.cause != nil {
		c.Set(keyCause, p.cause)
	}
	c.Set(keyCode, p.code)
	c.Abort()
	if isForPeople(c) {
		shown := sharedView{Fault: string(auth.MaskSecrets([]byte(p.detail))), Gone: status == http.StatusNotFound}
		if p.retry > 0 {
			shown.Wait = auth.WholeSeconds(p.retry)
		}
		writeSharePage(c, status, shown)
		return
	}
	body := problemBody{Type: docsOfErrors + string(p.code), Title: kind.Title, Status: status, Detail: p.detail,
		Code: p.code, RequestID: requestID(c), Limit: p.limit, Errors: faultBodies(p.faults)}
	text, err := json.Marshal(body)
	if err != nil {
		s.Log.Error("an error could not be written", zap.Error(err))
	}
	writeBody(c, status, "application/problem+json", auth.MaskSecrets(text))
}

// writeBody writes an answer whose other headers are set.
func writeBody(c *gin.Context, status int, mediaType string, body []byte) {
	h := c.Writer.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", fmt.Sprint(len(body)))
	c.Writer.WriteHeader(status)
	c.Writer.Write(body)
}

func faultBodies(faults []adlens.Fault) []faultBody {
	var bodies []faultBody
	for _, f := range faults {
		body := faultBody{Parameter: f.Parameter, Code: f.Code, Detail: f.Detail, Allowed: f.Allowed, DidYouMean: f.DidYouMean}
		if f.Code != adlens.MissingParameter {
			body.Value = &f.Value
		}
		bodies = append(bodies, body)
	}
	return bodies
}
