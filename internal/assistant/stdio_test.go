package assistant

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adlens/internal/answer"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func pingOf(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }

func initializeAs(id, revision string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
}

// passed reads all messages that a connection passes on, and what it answered itself. No
// request is answered, for which the end of the stream waits.
func passed(t *testing.T, text string) (messages, answers []string) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		connection, err := Stdio(strings.NewReader(text), &out).Connect(t.Context())
		for err == nil {
			var message jsonrpc.Message
			if message, err = connection.Read(t.Context()); err == nil {
				encoded, encodeErr := jsonrpc.EncodeMessage(message)
				messages, err = append(messages, string(encoded)), encodeErr
			}
		}
		if answers = nonEmpty(out.String()); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	})
	return messages, answers
}

func nonEmpty(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}

func TestAWrongLineIsAnsweredAndTheNextOneRead(t *testing.T) {
	const next = `{"jsonrpc":"2.0","id":"next","method":"ping"}`
	long := strings.Repeat("x", maxLine-len(`""`))
	for line, want := range map[string]string{
		`{"jsonrpc":`:                `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is no JSON; expected one message on each line"}}`,
		ping + ping:                  `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is no JSON; expected one message on each line"}}`,
		"\x00\xff":                   `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is no JSON; expected one message on each line"}}`,
		`17`:                         `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`null`:                       `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`{"id":"a","method":"ping"}`: `{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"invalid message version tag`,
		`{"jsonrpc":"2.0","id":12345678901234567890}`:         "",
		`{"jsonrpc":"2.0","id":9007199254740993,"method":7}`:  `{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32600,`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:           `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		pingOf("9007199254740992"):                            "",
		pingOf("-9007199254740992.0"):                         "",
		pingOf("9007199254740993"):                            `{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32600,"message":"the id is 9007199254740993; expected a text, or a whole number from -9007199254740992 to 9007199254740992"}}`,
		pingOf("-9223372036854775808"):                        `{"jsonrpc":"2.0","id":-9223372036854775808,"error":{"code":-32600,"message":"the id is -9223372036854775808; `,
		pingOf("1.5"):                                         `{"jsonrpc":"2.0","id":1.5,"error":{"code":-32600,"message":"the id is 1.5; `,
		pingOf("1e3"):                                         `{"jsonrpc":"2.0","id":1e3,"error":{"code":-32600,"message":"the id is 1e3; `,
		pingOf("null"):                                        `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the id is null; `,
		`{"jsonrpc":"2.0","ID":null,"method":"ping"}`:         "",
		`{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`: "",
		ping + "\n" + ping:                                    `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the id 1 is that of a request that is not answered yet"}}`,
		`[]`:                                                  `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the batch is empty"}}`,
		`[` + ping + `]`:                                      "",
		`[1, {"id":"a"}]`:                                     `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		`[` + initializeAs("2", "x") + `]`:                    `[{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"initialize is no part of a batch`,
		`[` + strings.Repeat(ping+",", maxBatch) + ping + `]`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the batch has more than 1000 messages"}}`,
		`"` + long + `x"`:                                     `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is longer than`,
		`"` + long + `"`:                                      `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`,
		"":                                                    "",
		"  \r":                                                "",
		ping + "\r":                                           "",
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`: "",
	} {
		messages, answers := passed(t, line+"\n"+next)
		if len(messages) == 0 || messages[len(messages)-1] != next {
			t.Errorf("%.60q: the next line is not read: %v", line, messages)
		}
		if all := strings.Join(answers, "\n"); (want == "") != (len(answers) == 0) || len(answers) > 1 || !strings.HasPrefix(all, want) {
			t.Errorf("%.60q is answered %s, want %s", line, all, want)
		}
	}
}

// spoken is a session with a server of the protocol, line by line.
type spoken struct {
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan error
}

func speak() spoken {
	inRead, in := io.Pipe()
	out, outWrite := io.Pipe()
	s := spoken{in, bufio.NewReader(out), make(chan error, 1)}
	go func() {
		err := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil).Run(context.Background(), Stdio(inRead, outWrite))
		inRead.Close() // for what still writes or reads
		outWrite.Close()
		s.ended <- err
	}()
	return s
}

type fataler interface{ Fatalf(string, ...any) }

// say writes lines, and does not wait until they are read.
func (s spoken) say(lines ...string) { go io.WriteString(s.in, strings.Join(lines, "\n")+"\n") }

// hear returns the next line of the server.
func (s spoken) hear(t fataler) string {
	line, err := s.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the session ended: %v, %v", err, <-s.ended)
	}
	return strings.TrimSuffix(line, "\n")
}

// mustGoOn says lines and a ping, and reads until the ping is answered.
func (s spoken) mustGoOn(t fataler, lines ...string) {
	s.say(append(lines, pingOf(`"last"`))...)
	for s.hear(t) != `{"jsonrpc":"2.0","id":"last","result":{}}` {
	}
	s.in.Close()
	go io.Copy(io.Discard, s.out)
	if err := <-s.ended; err != nil {
		t.Fatalf("the session ended with %v", err)
	}
}

// A file is at its end before its first request is answered.
func TestTheEndOfTheStreamWaitsForAnswers(t *testing.T) {
	for took, want := range map[time.Duration]string{0: "1 2 3", 20 * time.Second: "1 2 3", time.Hour: "1 2"} {
		synctest.Test(t, func(t *testing.T) {
			server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			mcp.AddTool(server, &mcp.Tool{Name: "slow"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
				select {
				case <-time.After(took):
					return &mcp.CallToolResult{}, nil, nil
				case <-ctx.Done():
					return nil, nil, ctx.Err()
				}
			})
			var out bytes.Buffer
			began := time.Now()
			err := server.Run(t.Context(), Stdio(strings.NewReader(strings.Join([]string{initializeAs("1", "2025-06-18"), initialized, pingOf("2"),
				`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"slow"}}`}, "\n")), &out))
			waited := time.Since(began)
			var got []string
			for _, line := range nonEmpty(out.String()) {
				var said struct{ ID json.RawMessage }
				if err := json.Unmarshal([]byte(line), &said); err != nil {
					t.Fatal(err)
				}
				got = append(got, string(said.ID))
			}
			slices.Sort(got)
			if strings.Join(got, " ") != want || waited > answer.Timeout {
				t.Errorf("a call of %s: answers to %v after %s, want those to %s: %v", took, got, waited, want, err)
			}
		})
	}
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

func TestABatchIsAnsweredByOneLine(t *testing.T) {
	s := speak()
	s.say(initializeAs("1", "2025-03-26"), initialized)
	s.hear(t)
	for batch, want := range map[string][]string{
		"[" + pingOf("2") + "," + initialized + "," + pingOf(`"b"`) + "]": {`"b":{}`, `2:{}`},
		"[" + initialized + "," + pingOf("2") + "]":                       {`2:{}`},
		"[" + pingOf("2") + "]":                                           {`2:{}`},
		"[1," + pingOf("2") + "," + pingOf("2") + "]":                     {`2:{}`, `null:-32600`, `null:-32600`},
		"[" + initialized + "]\n[" + pingOf("3") + "]":                    {`3:{}`}, // an array of none would be no answer
	} {
		for range 2 {
			s.say(batch)
			var answers []struct {
				ID     json.RawMessage
				Result json.RawMessage
				Error  struct{ Code int }
			}
			line := s.hear(t)
			if err := json.Unmarshal([]byte(line), &answers); err != nil {
				t.Fatalf("%s is answered %s: %v", batch, line, err)
			}
			var got []string
			for _, a := range answers {
				if a.Result == nil {
					a.Result = fmt.Append(nil, a.Error.Code)
				}
				got = append(got, fmt.Sprintf("%s:%s", a.ID, a.Result))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s is answered %s", batch, line)
			}
		}
	}
	s.mustGoOn(t)
}

// Which batches are taken follows the answer to initialize, not what it asks.
func TestTheAgreedRevisionSaysWhetherThereAreBatches(t *testing.T) {
	without := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	for name, c := range map[string]struct {
		before []string // each with one answer
		taken  bool
	}{
		"none yet":              {nil, true},
		"2024-11-05":            {[]string{initializeAs("1", "2024-11-05")}, true},
		"2025-06-18":            {[]string{initializeAs("1", "2025-06-18")}, false},
		"missing":               {[]string{without}, false},
		"empty":                 {[]string{initializeAs("1", "")}, false},
		"unknown":               {[]string{initializeAs("1", "2099-01-01")}, false},
		"in another case":       {[]string{strings.Replace(initializeAs("1", "2025-03-26"), "protocol", "Protocol", 1)}, false},
		"a second newer one":    {[]string{initializeAs("1", "2025-03-26"), initializeAs("2", "2025-06-18")}, true},
		"a second older one":    {[]string{initializeAs("1", "2025-06-18"), initializeAs("2", "2025-03-26")}, false},
		"in a batch":            {[]string{"[" + initializeAs("1", "2025-06-18") + "]"}, true},
		"in a batch, and alone": {[]string{"[" + initializeAs("1", "2025-03-26") + "]", initializeAs("1", "2025-11-25")}, false},
	} {
		s := speak()
		for _, line := range c.before {
			s.say(line)
			s.hear(t)
		}
		for range 2 {
			s.say("[" + ping + "]")
			want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"revision `
			if c.taken {
				want = `[{"jsonrpc":"2.0","id":1,"result":{}}]`
			}
			if line := s.hear(t); !strings.HasPrefix(line, want) {
				t.Errorf("%s: a batch is answered %s", name, line)
			}
		}
		s.mustGoOn(t)
	}
}

// Whatever comes, the session goes on, and each line of the server is JSON.
func TestNoLineEndsTheSession(t *testing.T) {
	nested := strings.Repeat("[", 998) + strings.Repeat("]", 998)
	deep := `{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":` + nested + `}}` // 1000 deep, 1001 in a batch
	params := []string{"", `,"params":null`, `,"params":{}`, `,"params":[]`, `,"params":{"requestId":1}`, `,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`}
	methods := []string{"initialize", "ping", "tools/list", "tools/call", "resources/read", "prompts/get", "completion/complete", "logging/setLevel", "server/discover", "subscriptions/listen",
		"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed", ""}
	message := rapid.Custom(func(t *rapid.T) string {
		id := rapid.SampledFrom([]string{"", `,"id":1`, `,"id":"1"`, `,"id":null`, `,"id":2.5`}).Draw(t, "id")
		return fmt.Sprintf(`{"jsonrpc":"2.0"%s,"method":%q%s}`, id, rapid.SampledFrom(methods).Draw(t, "method"), rapid.SampledFrom(params).Draw(t, "params"))
	})
	part := rapid.OneOf(message, rapid.SampledFrom([]string{ping, deep, `{"jsonrpc":"2.0","id":1,"result":{}}`, "{}", "null", "1",
		initializeAs("1", "2024-11-05"), initializeAs("2", "2025-03-26"), initializeAs("1", "2025-06-18"), initializeAs("3", ""), strings.Replace(initializeAs("1", "2025-03-26"), "protocol", "Protocol", 1)}))
	line := rapid.OneOf(part, rapid.Custom(func(t *rapid.T) string {
		return "[" + strings.Join(rapid.SliceOfN(part, 0, 4).Draw(t, "batch"), ",") + "]"
	}), rapid.String(), rapid.SampledFrom([]string{"[", " ", nested + nested, "[" + deep + "]"}))
	rapid.Check(t, func(t *rapid.T) {
		speak().mustGoOn(t, rapid.SliceOfN(line, 0, 12).Draw(t, "lines")...)
	})
}
