package api

import (
	"strconv"
	"strings"
)

// Kind says what sort of failure an Error is; errors.Is(err, api.Refused)
// asks for one.
type Kind string

// The kinds of failure.
const (
	Invalid      Kind = "invalid"       // the caller asked for something impossible; nothing was sent
	Unauthorized Kind = "unauthorized"  // the stored connection is not accepted: it must be made again
	Refused      Kind = "refused"       // the platform refused the call; the same call would be refused again
	NotOffered   Kind = "not offered"   // the platform never gives this profile such a thing; no connection mends it
	Closed       Kind = "closed"        // the platform took a new token, and not for this profile: for good, or for some minutes
	LinkExpired  Kind = "link expired"  // a download's address is over, or the storage refuses it
	Unavailable  Kind = "unavailable"   // no usable answer within the tries: throttled, failing or unreachable
	BadAnswer    Kind = "bad answer"    // an answer that is damaged, of another form or not to be trusted
	TooLarge     Kind = "too large"     // more bytes, rows or pages than any honest answer has
	Incomplete   Kind = "incomplete"    // the pages of a list do not add up, however often it is read
	ReportFailed Kind = "report failed" // the platform gave a report up
)

func (k Kind) Error() string { return string(k) }

// Error is a failure of a call to the platform. Its text holds no secret and
// no control character, whatever the platform answered.
type Error struct {
	Kind      Kind
	Call      string // such as "POST /reporting/reports"; "" where nothing was sent
	Status    int    // of HTTP; 0 where there was no answer
	RequestID string // by which the platform's support finds the call; "" if none
	Reason    string // a sentence
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Call != "" {
		b.WriteString(e.Call + ": ")
	}
	if e.Status != 0 {
		b.WriteString("the platform answered " + strconv.Itoa(e.Status) + ": ")
	}
	b.WriteString(e.Reason)
	if e.RequestID != "" {
		b.WriteString(" (request " + e.RequestID + ")")
	}
	return b.String()
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Is makes what is not offered or not open a refusal, too.
func (e *Error) Is(kind error) bool {
	return kind == Refused && (e.Kind == NotOffered || e.Kind == Closed)
}
