package assistant

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// batched are the revisions of the protocol that have batches: those before 2025-06-18
// (its change log; 2025-03-26 says that they must be taken). Before a revision is agreed
// a client may send one too.
var batched = []string{"", "2024-11-05", "2025-03-26"}

// maxBatch is how many messages a batch has at most: each has an answer, which a line
// of many short wrong ones would multiply.
const maxBatch = 1000

// maxBodyBatch is how many messages a batch has at most that comes over HTTP, where it
// is no owner's: the library answers all of a batch at once, and has all answers in
// memory while a client is slow to read the first.
const maxBodyBatch = 20

// batch collects the answers to an array of messages (JSON-RPC 2.0, section 6).
type batch struct {
	missing int // answers
	answers [][]byte
}

// takeBatch queues the messages of an array, and answers what is none of them with the
// others.
func (c *lineConnection) takeBatch(line []byte) error {
	if !slices.Contains(batched, c.revision) {
		return c.writeLine(refuse(nil, jsonrpc.CodeInvalidRequest, "revision %s of the protocol has no batches; send each message on a line of its own", c.revision))
	}
	parts := splitBatch(line, maxBatch)
	switch {
	case len(parts) == 0:
		return c.writeLine(refuse(nil, jsonrpc.CodeInvalidRequest, "the batch is empty"))
	case len(parts) > maxBatch:
		return c.writeLine(refuse(nil, jsonrpc.CodeInvalidRequest, "the batch has more than %d messages", maxBatch))
	}
	b := &batch{}
	for _, part := range parts {
		if refusal := c.takeMessage(part, b); refusal != nil {
			b.answers = append(b.answers, refusal)
		}
	}
	return c.writeLine(b.whole())
}

// RefuseBody returns the answer to a body that must not come to the library's transport
// over HTTP, and nil where it may.
func RefuseBody(body []byte) []byte {
	if !json.Valid(body) { // what is read as JSON in another way would be counted in another way
		return refuse(nil, jsonrpc.CodeParseError, "the body is no JSON; expected one message")
	}
	parts := []json.RawMessage{body}
	if body = bytes.TrimSpace(body); body[0] == '[' {
		if parts = splitBatch(body, maxBodyBatch); len(parts) > maxBodyBatch {
			return refuse(nil, jsonrpc.CodeInvalidRequest, "the batch has more than %d messages", maxBodyBatch)
		}
	}
	used := map[jsonrpc.ID]bool{}
	for _, part := range parts {
		if refusal := refuseID(part); refusal != nil {
			return refusal
		}
		if message, err := jsonrpc.DecodeMessage(part); err == nil {
			if r, ok := message.(*jsonrpc.Request); ok && r.IsCall() {
				if used[r.ID] { // the library would answer one of them
					return refuse(nil, jsonrpc.CodeInvalidRequest, "the id %v is that of two requests of the batch", r.ID.Raw())
				}
				used[r.ID] = true
			}
		}
	}
	return nil
}

// refuseID returns the answer to a request whose id would not come back as it was sent,
// and nil to any other message. The library reads a number as a float64, cuts off its
// fraction, and takes a request whose id is null for a notification.
func refuseID(text []byte) []byte {
	var sent map[string]json.RawMessage // unlike fields, names are those of the same case alone
	if json.Unmarshal(text, &sent) != nil || sent["method"] == nil {
		return nil
	}
	id, ok := sent["id"]
	if !ok || id[0] == '"' {
		return nil
	}
	if n, ok := parseWhole(string(id)); !ok || n < -maxWholeID || n > maxWholeID {
		return refuse(text, jsonrpc.CodeInvalidRequest, "the id is %.40s; expected a text, or a whole number from %d to %d", id, int64(-maxWholeID), int64(maxWholeID))
	}
	return nil
}

// parseWhole reads a whole number as JSON has it, where 10.0 is one too.
func parseWhole(text string) (n int64, ok bool) {
	digits, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && strings.Trim(fraction, "0") == ""
}

// maxWholeID is the largest number up to which a float64 has all whole ones.
const maxWholeID = 1 << 53

// splitBatch returns the parts of a JSON array, one more than a batch may have at most.
func splitBatch(line []byte, most int) (parts []json.RawMessage) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.Token() // [
	for decoder.More() && len(parts) <= most {
		var part json.RawMessage
		if decoder.Decode(&part) != nil {
			break
		}
		parts = append(parts, part)
	}
	return parts
}

// whole returns the array of a batch's answers, nil while one is missing or where there
// are none: notifications have no answer.
func (b *batch) whole() []byte {
	if b.missing > 0 || len(b.answers) == 0 {
		return nil
	}
	return slices.Concat([]byte{'['}, bytes.Join(b.answers, []byte{','}), []byte{']'})
}
