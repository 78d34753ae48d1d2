package http

import "strings"

// notModified is the answer that the client holds already, by the tag under
// which it holds it.
type notModified struct{ tag string }

func (notModified) fields(*writer) {}

// heldTag finds a tag in a client's If-None-Match. Tags are compared weakly, as
// the header asks for, and those of all codings of the answer are the same: it
// is the client's copy that did not change, however that was sent.
func heldTag(headers []string, tag string) (held string, ok bool) {
	for _, candidate := range strings.Split(strings.Join(headers, ","), ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == "*" || candidate == tag {
			return tag, true
		}
		for _, coding := range codings {
			if candidate == tagOf(tag, coding) {
				return candidate, true
			}
		}
	}
	return "", false
}
