package limits_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// manyProducts writes a report of one day with so many products, and returns
// what is to be loaded.
func manyProducts(t *testing.T, products int) string {
	t.Helper()
	folder := t.TempDir()
	put := func(name, text string) { house.Need(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600)) }
	put("profiles.json", `[{"profileId":101,"countryCode":"US","currencyCode":"USD","timezone":"America/New_York","accountInfo":{"id":"A1","type":"seller","name":"Shop"}}]`)
	var rows, titles strings.Builder
	for i := range products {
		fmt.Fprintf(&rows, `,{"date":"2026-10-05","advertisedAsin":"B0%06d","impressions":%d,"clicks":%d,"cost":%d.25,"purchases7d":%d,"sales7d":%d.5}`, i, 1000+i, 10+i%90, i%500, i%7, i%900)
		fmt.Fprintf(&titles, "B0%06d,Lamp %d with a title as long as most of them are on the platform\n", i, i)
	}
	put("day.report.json", `{"reportId":"r1","profileId":101,"startDate":"2026-10-05","endDate":"2026-10-05","status":"COMPLETED","generatedAt":"2026-11-01T08:00:00Z",
"configuration":{"adProduct":"SPONSORED_PRODUCTS","reportTypeId":"spAdvertisedProduct","timeUnit":"DAILY","groupBy":["advertiser"],"format":"GZIP_JSON",
"columns":["date","impressions","clicks","cost","purchases7d","sales7d","advertisedAsin"]}}`)
	put("day.json", "["+rows.String()[1:]+"]")
	put("products.csv", "product_id,title\n"+titles.String())
	return folder
}

func TestManyLargeAnswersAtOnceTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	const products, requests, bound = 30_000, 60, 96 << 20
	p := house.OwnProgram(t)
	key, err := p.Account("acct")
	house.Need(t, err)
	loaded, err := p.Load("acct", manyProducts(t, products))
	house.Need(t, err)
	if loaded.Code != 0 {
		t.Fatal(loaded)
	}
	server, err := p.Serve("--answer-memory", fmt.Sprint(bound), "--answer-cache", "0")
	house.Need(t, err)
	defer server.Stop()
	ask := harness.Client{Address: server.Address, Key: key}
	if a := house.Get(t, ask, "/api/v1/reports/products?start_date=2026-10-01&end_date=2026-10-31"); a.Status != http.StatusOK {
		t.Fatal(a)
	}
	before := server.PeakMemory()
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range requests {
		all.Go(func() {
			path := fmt.Sprintf("/api/v1/reports/products?start_date=2026-09-%02d&end_date=2026-10-31&page_size=all&format=csv&sort=%s", 1+i%30, []string{"spend", "clicks"}[i/30])
			a, err := ask.Get(path)
			mu.Lock()
			defer mu.Unlock()
			statuses[a.Status]++
			switch {
			case err != nil:
				t.Errorf("%s: %v", path, err)
			case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "" && strings.Contains(string(a.Body), `"overloaded"`):
			case a.Status != http.StatusOK:
				t.Errorf("%s: %d %.300s", path, a.Status, a.Body)
			default:
				if lines := strings.Count(string(a.Body), "\r\n"); lines != products+1 || !strings.HasSuffix(string(a.Body), "\r\n") {
					t.Errorf("%s: %d lines of %d", path, lines, products+1)
				}
			}
		})
	}
	all.Wait()
	t.Logf("statuses %v; %d MB before, %d MB at most", statuses, before>>20, server.PeakMemory()>>20)
	if statuses[http.StatusOK] == 0 {
		t.Error("no request was answered")
	}
	// Go lets garbage grow to as much again, and what is kept of figures and
	// names, and the buffers of connections, come on top.
	if grown := server.PeakMemory() - before; grown > 3*bound {
		t.Errorf("the server grew by %d MB, expected no more than three times the %d MB of --answer-memory", grown>>20, bound>>20)
	}
}
