package assistant

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"adlens/internal/answer"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio returns a transport over two streams that no line ends: a wrong one is answered
// with the error of JSON-RPC, and the next one is read (JSON-RPC 2.0, section 5.1). The
// transport of the protocol's library ends at the first one. Both streams stay open when
// the transport is closed.
func Stdio(in io.Reader, out io.Writer) mcp.Transport { return stdio{in, out} }

type stdio struct {
	in  io.Reader
	out io.Writer
}

// Connect begins to read lines.
func (s stdio) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConnection{out: s.out, lines: make(chan []byte), closed: make(chan struct{}), answered: make(chan struct{}, 1), unanswered: map[jsonrpc.ID]request{}}
	go c.readLines(bufio.NewReader(s.in))
	return c, nil
}

// lineConnection passes on the messages of lines and of batches one by one, and answers
// all other lines itself. The library hears of no batch: it ends the session at one that
// it does not take.
type lineConnection struct {
	lines   chan []byte // closed at the end of the stream
	readErr error       // why it ended, set before lines is closed
	queue   []jsonrpc.Message
	close   sync.Once
	closed  chan struct{}
	// answered has an element where a request was answered since it was last read.
	answered chan struct{}

	mu         sync.Mutex // of what is below, and of writing a line whole
	out        io.Writer
	revision   string // of the protocol, as initialize was answered; "" before
	unanswered map[jsonrpc.ID]request
}

// request is what is known of a request until it is answered.
type request struct {
	method string
	batch  *batch // that it came in, nil for a line of its own
}

// maxLine is how many bytes a line has at most, as in the library's transport.
const maxLine = mcp.DefaultMaxLineLength - 1

// readLines reads lines to the end of the stream, outside Read, so that Close ends a
// Read that waits.
func (c *lineConnection) readLines(in *bufio.Reader) {
	defer close(c.lines)
	for {
		line, err := readLine(in)
		if len(line) > 0 {
			select {
			case c.lines <- line:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			c.readErr = err
			return
		}
	}
}

// readLine reads a line to its end, and keeps a byte more than a line may have.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Read returns the next message.
func (c *lineConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case line, more := <-c.lines:
			if !more {
				c.awaitAnswers(ctx)
				return nil, c.readErr
			}
			if err := c.takeLine(line); err != nil {
				return nil, err
			}
		}
	}
	next := c.queue[0]
	c.queue = c.queue[1:]
	return next, nil
}

// awaitAnswers waits until all requests are answered, for as long as one may take: the
// library ends them once the stream has ended, as that of a file does at once.
func (c *lineConnection) awaitAnswers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, answer.Timeout)
	defer cancel()
	for c.hasUnanswered() {
		select {
		case <-c.answered:
		case <-ctx.Done():
			return
		case <-c.closed:
			return
		}
	}
}

func (c *lineConnection) hasUnanswered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.unanswered) > 0
}

// takeLine queues the messages of a line, and answers what is none. It returns an error
// where an answer cannot be written.
func (c *lineConnection) takeLine(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	tooLong := len(bytes.TrimRight(line, "\r\n")) > maxLine
	line = bytes.TrimSpace(line)
	switch {
	case tooLong:
		return c.writeLine(refuse(nil, jsonrpc.CodeParseError, "the line is longer than %d bytes", maxLine))
	case len(line) == 0:
		return nil
	case !json.Valid(line):
		return c.writeLine(refuse(nil, jsonrpc.CodeParseError, "the line is no JSON; expected one message on each line"))
	case line[0] == '[':
		return c.takeBatch(line)
	}
	return c.writeLine(c.takeMessage(line, nil))
}

// takeMessage queues a message, or returns the answer that refuses it.
func (c *lineConnection) takeMessage(text []byte, of *batch) []byte {
	message, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return refuse(text, jsonrpc.CodeInvalidRequest, "%v", err)
	}
	if refusal := refuseID(text); refusal != nil {
		return refusal
	}
	if r, ok := message.(*jsonrpc.Request); ok && r.IsCall() {
		if _, used := c.unanswered[r.ID]; used { // its id would name the other one's answer
			return refuse(nil, jsonrpc.CodeInvalidRequest, "the id %v is that of a request that is not answered yet", r.ID.Raw())
		}
		if of != nil {
			if r.Method == "initialize" { // its revision says whether there are batches
				return refuse(text, jsonrpc.CodeInvalidRequest, "initialize is no part of a batch; send it on a line of its own")
			}
			of.missing++
		}
		c.unanswered[r.ID] = request{r.Method, of}
	}
	c.queue = append(c.queue, message)
	return nil
}

// Write writes a message, an answer to a part of a batch when the batch's others are
// there.
func (c *lineConnection) Write(_ context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if said, ok := message.(*jsonrpc.Response); ok {
		r := c.unanswered[said.ID]
		delete(c.unanswered, said.ID)
		select {
		case c.answered <- struct{}{}:
		default:
		}
		if r.method == "initialize" && said.Error == nil {
			c.noteRevision(said.Result)
		}
		if r.batch != nil {
			r.batch.missing--
			r.batch.answers = append(r.batch.answers, text)
			text = r.batch.whole()
		}
	}
	return c.writeLine(text)
}

func (c *lineConnection) noteRevision(result json.RawMessage) {
	var agreed struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &agreed) == nil {
		c.revision = agreed.ProtocolVersion
	}
}

// writeLine writes a line, nothing where there is none.
func (c *lineConnection) writeLine(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	_, err := c.out.Write(append(text, '\n'))
	return err
}

// Close ends Read, and leaves the streams open: the program still has them.
func (c *lineConnection) Close() error {
	c.close.Do(func() { close(c.closed) })
	return nil
}

// SessionID returns none: there is one session on the streams.
func (*lineConnection) SessionID() string { return "" }

// refuse returns the answer to a text that is no message that can be taken, with the
// text's id where it can be read, else null.
func refuse(text []byte, code int64, format string, values ...any) []byte {
	var sent struct {
		ID any `json:"id"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	decoder.Decode(&sent)
	switch sent.ID.(type) {
	case string, json.Number:
	default:
		sent.ID = nil
	}
	answer, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", sent.ID, &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, values...)}})
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	return answer
}
