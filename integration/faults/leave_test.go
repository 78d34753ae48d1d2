package faults_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/bank"
	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/standin"
)

// regions is the account of a landed version that has two connections.
const regions = "regions"

// TestLeaveWhatALandedVersionLeaves makes the folder of testdata/landed of the program
// that it is given, which is one that was released: the accounts of the version before
// it, and one with two connections, rates of the bank and a campaign that reports
// leave out.
func TestLeaveWhatALandedVersionLeaves(t *testing.T) {
	into := os.Getenv("ADLENS_TEST_LANDED")
	if into == "" {
		t.Skip("ADLENS_TEST_LANDED names no folder to leave it in")
	}
	house.NeedEngine(t)
	before, err := filepath.Glob("testdata/landed/*")
	house.Need(t, err)
	then := landed{before[len(before)-1]}
	extracts, p := then.unpack(t, "extracts.tar.gz"), house.EmptyProgram(t)
	house.Put(t, filepath.Join(extracts, "lists"), "brands.export.json", []byte(`{"exportId":"brands","profileId":3318640271905824,"entity":"campaigns","adProductFilter":["SPONSORED_BRANDS"],"status":"COMPLETED","createdAt":"2026-11-09T09:59:00Z","generatedAt":"2026-11-09T10:00:00Z","url":null}`))
	house.Put(t, filepath.Join(extracts, "lists"), "brands.json", []byte(`[{"campaignId":77,"adProduct":"SPONSORED_BRANDS","name":"Video, legacy","state":"ENABLED","startDate":"2026-01-15","endDate":null,"isMultiAdGroupsEnabled":false,"budgetCaps":{"recurrenceTimePeriod":"DAILY","budgetType":"MONETARY","budgetValue":{"monetaryBudget":{"currencyCode":"USD","amount":25}}}}]`))
	accounts, _ := then.accounts(t)
	var keys strings.Builder
	for _, account := range append(accounts, regions) {
		key, err := p.Account(account)
		house.Need(t, err)
		fmt.Fprintln(&keys, account, key)
	}
	for _, account := range accounts {
		if r := p.Run("load", "--account", account, filepath.Join(extracts, account)); r.Code != 0 {
			t.Fatalf("load: %s", r)
		}
	}
	pulled := filepath.Join(extracts, regions)
	pullRegions(t, p, pulled)
	house.Put(t, pulled, "profiles.json", []byte(`[{"profileId":1,"countryCode":"US","currencyCode":"USD","timezone":"America/Los_Angeles","accountInfo":{"type":"seller","name":"Lamps"}},{"profileId":2,"countryCode":"DE","currencyCode":"EUR","timezone":"Europe/Paris","accountInfo":{"type":"seller","name":"Lampen"}}]`))
	house.Need(t, os.MkdirAll(into, 0o755))
	house.Put(t, into, "keys.txt", []byte(keys.String()))
	leaveAnswers(t, p, then, landed{into})
	backup := t.TempDir()
	if r := p.Run("backup", "--to", backup); r.Code != 0 {
		t.Fatalf("backup: %s", r)
	}
	house.Need(t, p.StopEngine())
	for name, dir := range map[string]string{"data": p.DataDir, "backup": backup, "extracts": extracts} {
		pack(t, dir, filepath.Join(into, name+".tar.gz"))
	}
}

// regionsPlatform is the platform of the account with two connections: profile 1 is
// American, profile 2 German.
func regionsPlatform(t *testing.T, facts ...standin.Fact) *standin.Platform {
	t.Helper()
	p := standin.New(standin.Config{
		ClientSecret: house.CanarySecret,
		Grants:       []standin.Grant{{RefreshToken: house.CanaryRefresh, Profiles: []int64{1, 2}}},
		Profiles:     []standin.Profile{{ID: 1, Country: "US"}, {ID: 2, Country: "DE"}},
		Facts:        facts,
	})
	t.Cleanup(p.Close)
	return p
}

// soldLately is what a product sold some days ago by UTC; one day ago is today in the west.
func soldLately(profile int64, before int, cost, sales string) standin.Fact {
	f := house.Fact("B0A", time.Now().UTC().AddDate(0, 0, -before).Format(time.DateOnly), cost, sales)
	f.Profile = profile
	return f
}

// pullRegions connects the account with two regions, and pulls.
func pullRegions(t *testing.T, p *harness.Program, out string) {
	t.Helper()
	platform := regionsPlatform(t, soldLately(1, 3, "1.25", "10"), soldLately(1, 9, "2", "20.5"), soldLately(2, 3, "3", "30"), soldLately(2, 4, "4.44", "40"))
	rates := bank.New(time.Now())
	defer rates.Close()
	for _, args := range [][]string{
		{"connect", "--region", "NA", "--client-id", standin.DefaultClientID},
		{"connect", "--region", "EU", "--name", "europe", "--countries", "DE", "--client-id", standin.DefaultClientID},
		{"pull", "--days", "14", "--out", out, "--poll", "10ms", "--rates-url", rates.URL()},
	} {
		if r := house.SpeakAs(t, p, platform, house.CanarySecret, house.CanaryRefresh, append(args, "--account", regions)...); r.Code != 0 {
			t.Fatalf("%v: %s", args, r)
		}
	}
}

// leaveAnswers puts the questions of the version before, and those that are new, and
// keeps the answers.
func leaveAnswers(t *testing.T, p *harness.Program, then, now landed) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(then.dir, "answers.txt"))
	house.Need(t, err)
	var paths []string
	for line := range strings.Lines(string(text)) {
		path, isPath := strings.CutPrefix(strings.TrimSpace(line), "== ")
		if isPath && len(paths) > 0 && path == paths[0] {
			break
		}
		if isPath {
			paths = append(paths, path)
		}
	}
	const report = "report?start_date=2025-11-01&end_date=2026-11-30&dimensions="
	for _, more := range []string{"marketplace,campaign,ad_group", "product,week", "marketplace,month&currency=local"} {
		if !strings.Contains(string(text), "== "+report+more+"\n") {
			paths = append(paths, report+more)
		}
	}
	server, err := p.Serve()
	house.Need(t, err)
	accounts, keys := now.accounts(t)
	var answers strings.Builder
	for _, account := range accounts {
		for _, path := range paths {
			a := house.Get(t, harness.Client{Address: server.Address, Key: keys[account]}, "/api/v1/"+path)
			fmt.Fprintf(&answers, "== %s\n%s\n", path, strings.TrimSpace(string(a.Body)))
		}
	}
	house.Need(t, server.Stop())
	house.Put(t, now.dir, "answers.txt", []byte(answers.String()))
}

// pack packs a directory; locks and sockets are left out.
func pack(t *testing.T, dir, archive string) {
	t.Helper()
	f, err := os.Create(archive)
	house.Need(t, err)
	packed, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	house.Need(t, err)
	w := tar.NewWriter(packed)
	house.Need(t, errors.Join(w.AddFS(os.DirFS(dir)), w.Close(), packed.Close(), f.Close()))
}

// wantConnections demands that the account still has its connections, and that their
// credentials are read: a pull brings what the platform has restated since.
func (l landed) wantConnections(t *testing.T, p *harness.Program) {
	t.Helper()
	accounts, keys := l.accounts(t)
	if accounts[len(accounts)-1] != regions {
		return // an older version: one connection at most
	}
	r := p.Run("connection", "list", "--account", regions)
	for _, want := range []string{"NA", "europe"} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("connection list has no %s: %s", want, r)
		}
	}
	platform, rates := regionsPlatform(t, soldLately(1, 2, "5", "50"), soldLately(2, 2, "6", "60")), bank.New(time.Now())
	defer rates.Close()
	if r := house.SpeakAs(t, p, platform, "", "", "pull", "--account", regions, "--days", "14", "--out", t.TempDir(), "--poll", "10ms", "--rates-url", rates.URL()); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	server, err := p.Serve()
	house.Need(t, err)
	defer func() { house.Have(t, server.Stop()) }()
	q := url.Values{"range": {"last_7_days"}, "currency": {"local"}, "dimensions": {"marketplace"}, "figures": {"spend"}}
	a := house.Get(t, harness.Client{Address: server.Address, Key: keys[regions]}, "/api/v1/report?"+q.Encode())
	for _, want := range []string{`"currency":"USD","spend":5.00`, `"currency":"EUR","spend":6.00`} {
		if !strings.Contains(string(a.Body), want) {
			t.Errorf("want %s after a pull, got %s", want, a)
		}
	}
}
