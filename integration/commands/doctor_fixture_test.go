package commands_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// sick is a finding that is not ok, as a test expects it: the detail contains
// the words, and there is advice.
type sick struct{ check, status, words string }

// doctor runs the examination and demands these findings and no others that
// are not ok. The exit code goes with them.
func doctor(t *testing.T, p *harness.Program, want []sick, args ...string) []house.Finding {
	t.Helper()
	return examined(t, p.Run(append([]string{"doctor", "--json"}, args...)...), want)
}

func examined(t *testing.T, r harness.Result, want []sick) []house.Finding {
	t.Helper()
	var said struct{ Checks []house.Finding }
	if err := json.Unmarshal([]byte(r.Stdout), &said); err != nil || len(said.Checks) == 0 {
		t.Fatalf("doctor --json: %v: %s", err, r)
	}
	code := 0
	left := slices.Clone(want)
	for _, f := range said.Checks {
		if f.Status == "failed" {
			code = 1
		}
		if f.Status == "ok" {
			continue
		}
		i := slices.IndexFunc(left, func(s sick) bool {
			return s.check == f.Check && s.status == f.Status && strings.Contains(f.Detail, s.words)
		})
		if i < 0 && f.IsOfScratch() {
			continue
		}
		if i < 0 {
			t.Errorf("not expected: %s %s: %s", f.Check, f.Status, f.Detail)
			continue
		}
		if f.Advice == nil || *f.Advice == "" {
			t.Errorf("%s: %s: what is to be done?", f.Check, f.Detail)
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		t.Errorf("not found: %v in %s", left, r.Stdout)
	}
	if r.Code != code {
		t.Errorf("want exit code %d, got %s", code, r)
	}
	return said.Checks
}

// healthy makes an account with 40 days of figures up to yesterday, titles, a
// list of campaigns and a key.
func healthy(t *testing.T, p *harness.Program, account string) {
	t.Helper()
	_, err := p.Account(account)
	house.Need(t, err)
	l, err := p.Load(account, healthyFiles(t))
	if err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
}

func healthyFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	house.ProfilesFile(t, dir, [4]string{"3982475484689176", "US", "USD", "seller"})
	house.Put(t, dir, "products.csv", []byte("product_id,title\nB0A,Lamp\nB0B,Shade\n"))
	yesterday := time.Now().UTC().AddDate(0, 0, -1)
	columns := []string{"date", "advertisedAsin", "impressions", "clicks", "cost", "purchases7d", "sales7d"}
	var rows []map[string]any
	for back := range 40 {
		day := yesterday.AddDate(0, 0, -back).Format(time.DateOnly)
		for i, product := range []string{"B0A", "B0B"} {
			rows = append(rows, map[string]any{"date": day, "advertisedAsin": product, "impressions": 100 + back, "clicks": 5 + i,
				"cost": json.Number(fmt.Sprintf("%d.25", back)), "purchases7d": 1, "sales7d": json.Number("19.99")})
		}
	}
	// Two reports, so that the months have rows of both.
	for i, half := range [][]map[string]any{rows[:20], rows[20:]} {
		house.Put(t, dir, fmt.Sprintf("half-%d.report.json", i), house.Marshal(t, map[string]any{
			"reportId": fmt.Sprintf("half-%d", i), "profileId": "3982475484689176", "status": "COMPLETED",
			"startDate": half[len(half)-1]["date"], "endDate": half[0]["date"], "generatedAt": time.Now().UTC().Format(time.RFC3339),
			"configuration": map[string]any{"adProduct": "SPONSORED_PRODUCTS", "reportTypeId": "spAdvertisedProduct", "timeUnit": "DAILY",
				"groupBy": []string{"advertiser"}, "columns": columns},
		}))
		house.Put(t, dir, fmt.Sprintf("half-%d.json", i), house.Marshal(t, half))
	}
	return dir
}
