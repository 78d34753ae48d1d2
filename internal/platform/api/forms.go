package api

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"html"
	"slices"
	"strconv"
	"strings"
)

// A server may send a secret back in another coding than it was sent: a gateway
// shows the Authorization header or the form that it got, a log line is hex.

// forms are a secret's codings by which it is found.
type forms struct {
	plain, hex []byte
	base64     [][]byte // what is the same wherever it is in what was coded, as after a client id and a colon
}

// leastCore is how much of a base64 is surely the secret's and no other word.
const leastCore = 6

func formsOf(secret string) forms {
	f := forms{plain: []byte(secret), hex: []byte(hex.EncodeToString([]byte(secret)))}
	for before := range 3 {
		coded := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		// The characters at its ends hold bits of its neighbours too.
		first, end := (before*8+5)/6, (before+len(secret))*8/6
		if end-first >= leastCore {
			f.base64 = append(f.base64, []byte(coded[first:end]))
		}
	}
	return f
}

// unescaped is a text as it is, or with its escapes resolved.
type unescaped struct {
	text []byte
	at   []int // where each byte begins in the text as it is, and its end
}

// unescapedVariants are a text as it is, unescaped, and unescaped twice.
func unescapedVariants(text string) []unescaped {
	as := unescaped{[]byte(text), make([]int, len(text)+1)}
	for i := range as.at {
		as.at[i] = i
	}
	once := as.unescapeText()
	return []unescaped{as, once, once.unescapeText()}
}

// unescapeText resolves what addresses, JSON and HTML escape.
func (r unescaped) unescapeText() unescaped {
	plain := unescaped{}
	for i := 0; i < len(r.text); {
		char, size := unescapeFirst(r.text[i:])
		plain.text, plain.at = append(plain.text, char), append(plain.at, r.at[i])
		i += size
	}
	plain.at = append(plain.at, r.at[len(r.text)])
	return plain
}

func unescapeFirst(text []byte) (char byte, size int) {
	number := func(from, to, base int) bool {
		if to > len(text) {
			return false
		}
		n, err := strconv.ParseUint(string(text[from:to]), base, 8)
		char, size = byte(n), to
		return err == nil
	}
	switch text[0] {
	case '%':
		if number(1, 3, 16) {
			return char, size
		}
	case '\\':
		if len(text) > 1 && strings.IndexByte(`/"\`, text[1]) >= 0 {
			return text[1], 2
		}
		if len(text) > 1 && text[1] == 'u' && number(2, 6, 16) {
			return char, size
		}
	case '&':
		const longest = len("&quot;") + 1
		if end := bytes.IndexByte(text[:min(longest, len(text))], ';'); end > 0 {
			if named := html.UnescapeString(string(text[:end+1])); len(named) == 1 {
				return named[0], end + 1
			}
		}
	}
	return text[0], 1
}

// span is a part of a text.
type span struct{ from, to int }

// findSecrets returns where secrets are, in the text as it is.
func (r unescaped) findSecrets(secrets []forms) (found []span) {
	lower, standard := bytes.Clone(r.text), bytes.Clone(r.text)
	for i, c := range r.text {
		switch {
		case 'A' <= c && c <= 'Z':
			lower[i] = c + 'a' - 'A'
		case c == '-':
			standard[i] = '+'
		case c == '_':
			standard[i] = '/'
		}
	}
	note := func(from, to int) { found = append(found, span{r.at[from], r.at[to]}) }
	for _, secret := range secrets {
		eachIndex(r.text, secret.plain, note)
		eachIndex(lower, secret.hex, note)
		for _, core := range secret.base64 {
			eachIndex(standard, core, func(from, to int) {
				// What is next to it was coded with it, and has bits of it.
				for from > 0 && inBase64(standard[from-1]) {
					from--
				}
				for to < len(standard) && (inBase64(standard[to]) || standard[to] == '=') {
					to++
				}
				note(from, to)
			})
		}
	}
	return found
}

func eachIndex(text, part []byte, note func(from, to int)) {
	for from := 0; len(part) > 0; {
		i := bytes.Index(text[from:], part)
		if i < 0 {
			return
		}
		note(from+i, from+i+len(part))
		from += i + len(part)
	}
}

func inBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/'
}

// hideForms puts the stand-in in the place of secrets in any of their forms.
func hideForms(text string, secrets []forms) string {
	var found []span
	for _, r := range unescapedVariants(text) {
		found = append(found, r.findSecrets(secrets)...)
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	shown := 0
	for _, s := range found {
		if s.from >= shown {
			b.WriteString(text[shown:s.from] + hidden)
		}
		shown = max(shown, s.to)
	}
	return b.String() + text[shown:]
}
