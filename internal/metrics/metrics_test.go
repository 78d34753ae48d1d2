package metrics

import (
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestWhatIsCountedIsShown(t *testing.T) {
	m := New([]string{"minute", "day"}, []string{"loaded", "refused"})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- m.Serve(listener) }()
	m.Request("/api/v1/summary", 200, "remembered", 3*time.Millisecond)
	m.Request("", 404, "", time.Millisecond)
	m.BuildInfo(map[string]string{"version": "1.2.3", "goversion": "go1"})
	m.Gauge("places", "Places.", func() float64 { return 4 })
	m.Counter("statements_total", "Statements.", func() float64 { return 7 })
	m.CampaignRead(2*time.Second, errors.New("the platform is out of order"))
	m.Refresh(time.Minute, nil)
	m.Refused("day")
	m.Loaded(map[string]int{"refused": 2}, 70, 5*time.Second, nil)
	m.Remembers("things", func() Memory { return Memory{Weight: 11, Values: 12, Hits: 13, Misses: 14, Dropped: 15} })
	m.ByStates("connections", "Connections.", [2]string{"region", "state"}, func() map[[2]string]float64 {
		return map[[2]string]float64{{"EU", "refused"}: 3}
	})
	response, err := http.Get("http://" + listener.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`adlens_http_request_duration_seconds_count{answer="remembered",route="/api/v1/summary",status="200"} 1`,
		`adlens_http_request_duration_seconds_count{answer="",route="none",status="404"} 1`, "adlens_places 4", "adlens_statements_total 7",
		`adlens_campaign_reads_total{result="failed"} 1`, `adlens_campaign_reads_total{result="done"} 0`,
		`adlens_limit_refusals_total{limit="minute"} 0`, `adlens_limit_refusals_total{limit="day"} 1`,
		`adlens_loaded_files_total{status="loaded"} 0`, `adlens_loaded_files_total{status="refused"} 2`,
		"adlens_loaded_rows_total 70", `adlens_loads_total{result="done"} 1`, "adlens_loads_duration_seconds_sum 5\n",
		`adlens_http_request_duration_seconds_sum{answer="remembered",route="/api/v1/summary",status="200"} 0.003`,
		"adlens_things_memory_bytes 11", "adlens_things_memory_values 12", "adlens_things_memory_hits_total 13", "adlens_things_memory_misses_total 14",
		"adlens_things_memory_dropped_total 15", `adlens_connections{region="EU",state="refused"} 3`,
		`adlens_refreshes_total{result="done"} 1`, `go_goroutines`, `adlens_build_info{goversion="go1",version="1.2.3"} 1`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not shown", want)
		}
	}
	_, after, _ := strings.Cut(string(text), `adlens_refreshes_last_end_timestamp_seconds{result="done"} `)
	last, _, _ := strings.Cut(after, "\n")
	if end, err := strconv.ParseFloat(last, 64); err != nil || math.Abs(float64(time.Now().Unix())-end) > 60 {
		t.Errorf("the last refresh ended at %q, expected now: %v", last, err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
