package assistant_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"adlens/integration/house"
)

// spoken is an answer of adlens mcp, as it is written.
type spoken struct {
	ID    any
	Error *struct {
		Code    int
		Message string
	}
	Result json.RawMessage
}

// streams are those of a running adlens mcp.
type streams struct {
	in  io.Writer
	out *bufio.Reader
}

// speak starts adlens mcp; end ends its input, after which it must end well.
func speak(t *testing.T) (s streams, end func()) {
	t.Helper()
	h := house.Shared(t)
	account := house.AccountID(t)
	_, err := h.Account(account)
	house.Need(t, err)
	command := h.Program.Command(context.Background(), "mcp", "--account", account)
	in, err := command.StdinPipe()
	house.Need(t, err)
	out, err := command.StdoutPipe()
	house.Need(t, err)
	house.Need(t, command.Start())
	return streams{in, bufio.NewReader(out)}, func() {
		t.Helper()
		house.Need(t, in.Close())
		house.Need(t, command.Wait())
	}
}

// write writes a line, which may have no answer.
func (s streams) write(t *testing.T, line string) {
	t.Helper()
	_, err := io.WriteString(s.in, line+"\n")
	house.Need(t, err)
}

// say writes a line and reads its answer, one or a batch's array.
func say[A spoken | []spoken](t *testing.T, s streams, line string) (answer A) {
	t.Helper()
	s.write(t, line)
	text, err := s.out.ReadBytes('\n')
	house.Need(t, err)
	house.Need(t, json.Unmarshal(text, &answer))
	return answer
}

// initializeAs asks for a revision of the protocol.
func initializeAs(revision string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
}

const (
	list        = `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// A client that writes what is no message hears so, and the session goes on.
func TestAWrongLineDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	s, end := speak(t)
	wrong := func(line string, code int) {
		t.Helper()
		if a := say[spoken](t, s, line); a.Error == nil || a.Error.Code != code || a.ID != nil {
			t.Errorf("%s is answered %+v, want code %d without an id", line, a, code)
		}
	}
	wrong("GET / HTTP/1.1", -32700)
	if a := say[spoken](t, s, initializeAs("2025-06-18")); a.Error != nil || a.Result == nil {
		t.Fatalf("initialize: %+v", a)
	}
	s.write(t, initialized)
	for _, line := range []string{`{"jsonrpc":"2.0","id":2,`, list + list} {
		wrong(line, -32700)
	}
	wrong("["+list+"]", -32600)
	wrong("{}", -32600)
	if a := say[spoken](t, s, strings.Replace(initializeAs("2025-03-26"), `"id":1`, `"id":3`, 1)); a.Error == nil {
		t.Errorf("initialize again: %+v", a)
	}
	wrong("["+list+"]", -32600) // as it was agreed first
	if a := say[spoken](t, s, list); a.Error != nil || a.ID != 7.0 || len(a.Result) < 1000 {
		t.Errorf("the list of tools after wrong lines: %+v", a)
	}
	end()
}

// Revision 2025-03-26 has batches: each is answered by one array, whatever is in it and
// however often its ids come again.
func TestABatchIsAnswered(t *testing.T) {
	t.Parallel()
	s, end := speak(t)
	if a := say[[]spoken](t, s, "["+initializeAs("2025-06-18")+"]"); len(a) != 1 || a[0].Error == nil || a[0].Error.Code != -32600 {
		t.Fatalf("initialize in a batch: %+v", a)
	}
	if a := say[spoken](t, s, initializeAs("2025-03-26")); a.Error != nil {
		t.Fatalf("initialize: %+v", a)
	}
	deep := `{"jsonrpc":"2.0","id":8,"method":"ping","params":{"a":` + strings.Repeat("[", 998) + strings.Repeat("]", 998) + `}}`
	s.write(t, "["+initialized+"]")
	for range 3 {
		got := map[any]spoken{}
		for _, a := range say[[]spoken](t, s, "["+list+","+initialized+","+deep+",1]") {
			got[a.ID] = a
		}
		if a := got[7.0]; len(got) != 3 || a.Error != nil || len(a.Result) < 1000 || got[8.0].ID == nil || got[nil].Error == nil {
			t.Fatalf("the batch is answered %+v", got)
		}
	}
	s.write(t, list)
	s.write(t, list) // is answered too, or refused if the first is not answered yet
	for range 2 {
		_, err := s.out.ReadBytes('\n')
		house.Need(t, err)
	}
	if a := say[spoken](t, s, `{"jsonrpc":"2.0","id":"p","method":"ping"}`); a.ID != "p" || a.Error != nil {
		t.Errorf("ping after batches: %+v", a)
	}
	end()
}
