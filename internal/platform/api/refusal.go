package api

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxReason    = 400 // bytes of a refusal's own words
	maxRequestID = 80
	maxBeginning = 80 // bytes of a wrong answer that an error shows
)

// reasonFields are where the platform's services put their words: reporting,
// the general model, the gateway, the token endpoint.
var reasonFields = []string{"detail", "details", "message", "error_description", "errors"}

// requestIDHeaders are where the platform and its storage put a call's id.
var requestIDHeaders = []string{"X-Amzn-RequestId", "X-Amz-RequestId", "X-Amzn-Request-Id", "X-Amz-Request-Id", "X-Amz-Rid"}

// storageMessage is the sentence in an error of the storage, which is XML.
// Its other fields repeat credentials.
var storageMessage = regexp.MustCompile(`(?s)<Message>(.*?)</Message>`)

// notOffered are the refusals that say of a profile what it never has: any
// other 400 may be about the request. The words are those that are recorded in
// public (airbytehq/airbyte, source-amazon-ads: ERRORS of the report streams and
// test_given_known_error_when_read_brands_v3_report_then_skip_report; the second
// with its marketplace in pull/15951).
var notOffered = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\bKDP authors do not have access to Sponsored Brands functionality\b`),
	regexp.MustCompile(`(?i)\bTactic T[0-9]{5} is not supported for report API in marketplace [A-Z0-9]+\b`),
}

// refusalError makes an answer that is no success an error of a kind.
func (c *Client) refusalError(kind Kind, name string, a *answer) *Error {
	reason, id := refusalWords(a)
	if kind == Refused && a.status == http.StatusBadRequest &&
		slices.ContainsFunc(notOffered, func(says *regexp.Regexp) bool { return says.MatchString(reason) }) {
		kind = NotOffered
	}
	return &Error{Kind: kind, Call: name, Status: a.status,
		Reason: c.scrub.cleanText(reason, maxReason), RequestID: c.scrub.cleanText(id, maxRequestID)}
}

// refusalWords are an error answer's own words and its request id.
func refusalWords(a *answer) (reason, id string) {
	var fields map[string]jsontext.Value
	if json.Unmarshal(a.body, &fields) == nil {
		reason, id = firstWords(fields, reasonFields...), firstWords(fields, "requestId", "requestID")
	} else if m := storageMessage.FindSubmatch(a.body); m != nil {
		reason = string(m[1])
	}
	for _, name := range requestIDHeaders {
		if id == "" {
			id = a.header.Get(name)
		}
	}
	if strings.TrimSpace(reason) == "" {
		reason = plainReason(a)
	}
	return reason, id
}

// firstWords returns the first of some fields that says something: its text,
// or its JSON where it is no text.
func firstWords(fields map[string]jsontext.Value, names ...string) string {
	for _, name := range names {
		raw := fields[name]
		switch raw.Kind() {
		case '"':
			if text, err := jsontext.AppendUnquote(nil, raw); err == nil && len(text) > 0 {
				return string(text)
			}
		case '{', '[', '0':
			return string(raw)
		}
	}
	return ""
}

// plainReason is for error bodies of none of the known shapes. It is cut after
// secrets are hidden, so here it is whole.
func plainReason(a *answer) string {
	if len(strings.TrimSpace(string(a.body))) > 0 {
		return "it begins " + string(a.body)
	}
	if text := http.StatusText(a.status); text != "" {
		return text
	}
	return "it gives no reason"
}

// badAnswer is the error of an answer that is called a success but is not
// what was requested.
func (c *Client) badAnswer(name string, a *answer, why error) *Error {
	_, id := refusalWords(&answer{header: a.header})
	return &Error{Kind: BadAnswer, Call: name, Status: a.status, RequestID: c.scrub.cleanText(id, maxRequestID),
		Reason: c.scrub.cleanText(why.Error(), maxReason) + `; it begins "` + c.bodyExcerpt(a.body) + `"`}
}

// bodyExcerpt shows the first characters of a foreign text.
func (c *Client) bodyExcerpt(body []byte) string {
	// Secrets are hidden before the cut, or half of one would remain.
	return c.scrub.cleanText(string(body[:min(len(body), 16<<10)]), maxBeginning)
}
