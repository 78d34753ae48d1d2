package extracts_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/model"
)

var now = time.Date(2026, 11, 20, 17, 30, 0, 0, time.UTC)

func TestTheModelReadsEveryExtract(t *testing.T) {
	t.Parallel()
	for _, big := range []bool{false, true} {
		accounts, err := extracts.Write(t.TempDir(), extracts.Options{Seed: 7, Accounts: 3, Reports: 50, Now: now, Big: big, Legacy: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range accounts {
			checkReadable(t, a)
		}
	}
}

func checkReadable(t *testing.T, a extracts.Account) {
	t.Helper()
	m := model.New()
	statuses := map[string]int{}
	take := func(paths ...string) {
		for _, r := range m.Load(paths...) {
			if r.Err != nil {
				t.Errorf("%s refused: %v", r.Path, r.Err)
			}
			statuses[r.Status]++
		}
	}
	take(a.Base)
	for _, r := range a.Reports {
		take(r.Files()...)
	}
	take(a.LateRates)
	take(a.NewRates)
	if statuses[model.Unchanged] == 0 || statuses[model.Loaded] < 20 {
		t.Errorf("want repeated or superseded reports among loaded ones, got %v", statuses)
	}
	answer, err := m.Products(url.Values{"range": {"all_time"}}, now)
	if err != nil || len(answer["data"].([]any)) < 5 {
		t.Errorf("want some product rows, got %v, %v", answer, err)
	}
	checkCampaigns(t, m)
}

// checkCampaigns demands products in many campaigns on one day, groups without an id,
// ad groups of several campaigns, and names of reports and of lists.
func checkCampaigns(t *testing.T, m *model.Account) {
	t.Helper()
	answer, err := m.Report(url.Values{"range": {"all_time"}, "dimensions": {"date,marketplace,product,campaign,ad_group"}, "page_size": {"all"}}, now)
	if err != nil {
		t.Fatal(err)
	}
	parts, parents, seen, most := map[string]int{}, map[any]map[any]bool{}, map[string]bool{}, 0
	for _, element := range answer["data"].([]any) {
		row := element.(map[string]any)
		day := fmt.Sprint(row["date"], row["marketplace_id"], row["product_id"])
		parts[day]++
		most = max(most, parts[day])
		campaign, adGroup := row["campaign_id"], row["ad_group_id"]
		seen["no campaign"] = seen["no campaign"] || campaign == nil
		seen["no ad group"] = seen["no ad group"] || adGroup == nil && row["product_id"] != nil
		for _, column := range []string{"campaign_name", "ad_group_name"} {
			name, _ := row[column].(string)
			seen["a name of a report"] = seen["a name of a report"] || strings.Contains(name, ".")
			seen["a name of a list"] = seen["a name of a list"] || name != "" && !strings.Contains(name, ".")
		}
		if parents[adGroup] == nil {
			parents[adGroup] = map[any]bool{}
		}
		parents[adGroup][campaign] = true
		seen["an ad group of two campaigns"] = seen["an ad group of two campaigns"] || adGroup != nil && len(parents[adGroup]) > 2
	}
	if most < 9 || len(seen) != 5 {
		t.Errorf("want a product's day of 9 campaigns and ad groups at least, got %d", most)
	}
	for what, found := range seen {
		if !found {
			t.Errorf("want %s in an account's extracts", what)
		}
	}
}

func TestTheSameSeedWritesTheSameFiles(t *testing.T) {
	t.Parallel()
	options := extracts.Options{Seed: 9, Accounts: 2, Reports: 12, Now: now}
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		if _, err := extracts.Write(dir, options); err != nil {
			t.Fatal(err)
		}
	}
	err := fs.WalkDir(os.DirFS(one), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		a, errA := os.ReadFile(filepath.Join(one, path))
		b, errB := os.ReadFile(filepath.Join(two, path))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s differs: %v %v", path, errA, errB)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A failure is repeated by its seed on a later day, at another time: all dates are moved.
func TestADayLaterTheSameSeedWritesTheSameReports(t *testing.T) {
	t.Parallel()
	const later = 3
	write := func(now time.Time) []extracts.Account {
		accounts, err := extracts.Write(t.TempDir(), extracts.Options{Seed: 11, Accounts: 2, Reports: 60, Now: now, Legacy: true})
		if err != nil {
			t.Fatal(err)
		}
		return accounts
	}
	moved := write(now.AddDate(0, 0, later).Add(-17 * time.Hour))
	for i, account := range write(now) {
		for n, report := range account.Reports {
			want, got := describe(t, report), describe(t, moved[i].Reports[n])
			if day, err := time.Parse(time.DateOnly, want.StartDate); err == nil {
				want.StartDate = day.AddDate(0, 0, later).Format(time.DateOnly)
			}
			if got != want {
				t.Fatalf("account %d, report %d: %+v, want %+v", i+1, n+1, got, want)
			}
		}
	}
}

// described is what a report's object has of it; nothing but the name is there of those of
// the console.
type described struct{ name, ReportID, StartDate string }

func describe(t *testing.T, r extracts.Report) described {
	t.Helper()
	d := described{name: filepath.Base(r.Files()[0])}
	if text, err := os.ReadFile(r.Files()[0]); err == nil && strings.HasSuffix(d.name, ".report.json") {
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
	}
	return d
}
