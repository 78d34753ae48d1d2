package assistant

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// batched are the revisions of the protocol that have batches: those before 2025-06-18
// (its change log; 2025-03-26 says that they must be taken). Before a revision is agreed
// a client may send one too.
var batched = []string{"", "2024-11-05", "2025-03-26"}

// maxBatch is how many messages a batch has at most: each has an answer, which a line
// of many short wrong ones would multiply.
const maxBatch = 1000

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
	parts := splitBatch(line)
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

// splitBatch returns the parts of a JSON array, one more than maxBatch at most.
func splitBatch(line []byte) (parts []json.RawMessage) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.Token() // [
	for decoder.More() && len(parts) <= maxBatch {
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
