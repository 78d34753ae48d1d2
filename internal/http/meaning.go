package http

import "strings"

// meaning is what an answer is of: an endpoint, and what was asked there.
type meaning struct {
	endpoint string
	question question
}

// address asks for the answer again, however the client spelled it, but for
// its format.
func (m meaning) address() string {
	return strings.TrimSuffix("/api/v1/"+m.endpoint+"?"+m.question.Spelled(), "?")
}

// maxFileName bounds a name: ids that clients chose are in it.
const maxFileName = 120

// fileName is what the answer is called where it is saved, without its ending.
func (m meaning) fileName() string {
	words := append([]string{strings.TrimPrefix(m.endpoint, "reports/")}, m.question.About()...)
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, strings.Join(words, "_"))
	return name[:min(len(name), maxFileName)]
}
