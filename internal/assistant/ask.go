package assistant

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/query"

	"github.com/go-json-experiment/json/jsontext"
)

// readWeight is about how many bytes the values of an answer take for each byte of its
// body: its members are copied, then its rows, then their values.
const readWeight = 4

// heldQuestion is the question whose answer a call works on: the last one. It counts
// against the memory for answers until the next one or until the result is written.
type heldQuestion struct{ question *answer.Question }

func (h *heldQuestion) release() {
	if h.question != nil {
		h.question.Close()
		h.question = nil
	}
}

// ask asks an endpoint of the API and returns its answer, and the address that asks
// for it again. The answer before has to be done with: an account that still held a
// large one could wait for its own memory.
func (c call) ask(r answer.Request) (said object, address string, err error) {
	c.held.release()
	r.Format, r.Moment = query.JSON, c.moment
	question, err := c.Answers.Ask(c.ctx, c.caller, r)
	if err != nil {
		return said, "", err
	}
	c.held.question = question
	a, err := question.Answer(c.ctx)
	if err != nil {
		return said, "", err
	}
	if err := question.CountCopy(c.ctx, readWeight*len(a.Body)); err != nil {
		return said, "", err
	}
	said, err = readObject(a.Body)
	return said, question.Address(), err
}

// object is a JSON object with its names in their order.
type object struct {
	names  []string
	values map[string]jsontext.Value
}

// readObject reads the members of an object, which stay as they are written: a
// number keeps its digits.
func readObject(text jsontext.Value) (o object, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return o, fmt.Errorf("an answer is no object but %.20q: %w", text, err)
	}
	o.values = map[string]jsontext.Value{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return o, err
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return o, err
		}
		o.names, o.values[text] = append(o.names, text), value.Clone()
	}
	return o, nil
}

// readList reads the elements of a list.
func readList(text jsontext.Value) (all []jsontext.Value, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '[' {
		return nil, fmt.Errorf("a part of an answer is no list but %.20q: %w", text, err)
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		all = append(all, value.Clone())
	}
	return all, nil
}

// maxText bounds the characters of a name or title in a result, maxSentence those of a
// sentence, which may have names in it, and maxID the bytes of an id.
const (
	maxText     = 80
	maxSentence = 300
	maxID       = 200
)

// sentences are the members that say what was done, or why.
var sentences = map[string]bool{"summary": true, "reason": true}

// isNull reports whether a member is null or not there.
func isNull(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }

// textOf returns a value's text, "" for what is no text.
func textOf(v jsontext.Value) string {
	if len(v) == 0 || v.Kind() != '"' {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, v)
	return string(text)
}

// textValue writes a text as a value.
func textValue(text string) jsontext.Value {
	v, _ := jsontext.AppendQuote(nil, text)
	return v
}

// numberOf returns a number exactly, or nil for null.
func numberOf(v jsontext.Value) *big.Rat {
	if len(v) == 0 || v.Kind() != '0' {
		return nil
	}
	n, _ := new(big.Rat).SetString(string(v))
	return n
}

// numberValue writes a number with so many decimals, rounded half away from zero as
// the API's figures are; nil is null.
func numberValue(n *big.Rat, decimals int) jsontext.Value {
	if n == nil {
		return jsontext.Value("null")
	}
	text := n.FloatString(decimals)
	if new(big.Rat).Abs(n).Cmp(big.NewRat(1, 2*pow10(decimals))) < 0 {
		text = new(big.Rat).FloatString(decimals) // no -0.00
	}
	return jsontext.Value(text)
}

func pow10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// cleanMember makes the value of a column fit for a result. Ids that people can see
// stay as they are, because calls name them.
func cleanMember(name string, v jsontext.Value) jsontext.Value {
	switch {
	case len(v) == 0 || v.Kind() != '"':
	case strings.HasSuffix(name, "_id") && len(v) <= maxID && !strings.ContainsFunc(textOf(v), adlens.IsHidden):
		return v
	case sentences[name]:
		return textValue(adlens.CleanText(textOf(v), maxSentence))
	}
	return cleanValue(v)
}

// cleanValue makes the texts of a value fit for a result.
func cleanValue(v jsontext.Value) jsontext.Value {
	switch {
	case len(v) == 0:
		return jsontext.Value("null")
	case v.Kind() == '"':
		return textValue(adlens.CleanText(textOf(v), maxText))
	case v.Kind() == '[':
		all, err := readList(v)
		if err != nil {
			return jsontext.Value("null")
		}
		list := []byte{'['}
		for i, one := range all {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, cleanValue(one)...)
		}
		return append(list, ']')
	case v.Kind() == '{':
		o, err := readObject(v)
		if err != nil {
			return jsontext.Value("null")
		}
		members := []byte{'{'}
		for i, name := range o.names {
			if i > 0 {
				members = append(members, ',')
			}
			members = append(append(append(members, textValue(name)...), ':'), cleanMember(name, o.values[name])...)
		}
		return append(members, '}')
	}
	return v
}
