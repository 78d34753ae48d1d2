package assistant_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// BenchmarkACallBesideItsRequest sends a call of a tool and the request of the API
// that it asks in turn, over the same server, and prints how much a call adds.
func BenchmarkACallBesideItsRequest(b *testing.B) {
	p, err := harness.New(b.TempDir())
	house.Need(b, err)
	server, err := p.Demo()
	house.Need(b, err)
	defer func() { house.Need(b, server.Stop()) }()
	key, err := p.Key(harness.DemoAccount)
	house.Need(b, err)
	c := connect(b, p, server, harness.DemoAccount, "bench")
	ask := func(method, path, token, body string) time.Duration {
		r, err := http.NewRequest(method, server.Address+path, strings.NewReader(body))
		house.Need(b, err)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		began := time.Now()
		said, text := asks(b, r)
		took := time.Since(began)
		if said.StatusCode != http.StatusOK || strings.Contains(text, `"isError":true`) {
			b.Fatalf("%s: %d %s", path, said.StatusCode, text)
		}
		return took
	}
	var api, tool []time.Duration
	for b.Loop() {
		api = append(api, ask(http.MethodGet, "/api/v1/report?dimensions=campaign&figures=spend,sales,acos,purchases&sort=spend&page_size=10", key, ""))
		tool = append(tool, ask(http.MethodPost, "/mcp", c.access, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rank","arguments":{}}}`))
	}
	slices.Sort(api)
	slices.Sort(tool)
	middle := len(api) / 2
	b.ReportMetric(float64(api[middle].Microseconds()), "µs/request")
	b.ReportMetric(float64(tool[middle].Microseconds()), "µs/call")
	b.ReportMetric(float64((tool[middle] - api[middle]).Microseconds()), "µs-added")
	b.ReportMetric(0, "ns/op")
}
