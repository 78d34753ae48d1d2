package faults_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

// landed is what a version that was released left behind: a data directory, a
// backup of it, the extracts that it had loaded, its keys, and what it answered.
type landed struct{ dir string }

// unpack unpacks one of its archives into a new directory.
func (l landed) unpack(t *testing.T, archive string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(l.dir, archive))
	house.Need(t, err)
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	house.Need(t, err)
	into := t.TempDir()
	for content := tar.NewReader(unpacked); ; {
		header, err := content.Next()
		if errors.Is(err, io.EOF) {
			return into
		}
		house.Need(t, err)
		path := filepath.Join(into, filepath.FromSlash(header.Name))
		switch header.Typeflag {
		case tar.TypeDir:
			house.Need(t, os.MkdirAll(path, 0o700))
		case tar.TypeSymlink:
			house.Need(t, os.Symlink(header.Linkname, path))
		default:
			house.Need(t, os.MkdirAll(filepath.Dir(path), 0o700))
			file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, fs.FileMode(header.Mode))
			house.Need(t, err)
			_, err = io.Copy(file, content)
			house.Need(t, errors.Join(err, file.Close()))
		}
	}
}

// accounts are its accounts with their keys, in order.
func (l landed) accounts(t *testing.T) (accounts []string, keys map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, "keys.txt"))
	house.Need(t, err)
	keys = map[string]string{}
	for line := range strings.Lines(string(text)) {
		account, key, _ := strings.Cut(strings.TrimSpace(line), " ")
		accounts, keys[account] = append(accounts, account), key
	}
	return accounts, keys
}

// apart is what is left out of the comparison: what answers have gained since the
// first of these versions, for members are only ever added, and a request's own id.
var apart = regexp.MustCompile(`"totals":\{[^{}]*\},|"request_id":"[^"]*",`)

// ask puts all questions that the version answered to a server, and visits the
// answers of then, and those of now without what they have gained.
func (l landed) ask(t *testing.T, server *harness.Server, visit func(account, path, want string, a harness.Answer)) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(l.dir, "answers.txt"))
	house.Need(t, err)
	accounts, keys := l.accounts(t)
	asked, account, first := 0, -1, ""
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		path := strings.TrimPrefix(lines[i], "== ")
		if first == "" || path == first { // the questions begin again for the next account
			first, account = path, account+1
		}
		client := harness.Client{Address: server.Address, Key: keys[accounts[account]]}
		answer := house.Get(t, client, "/api/v1/"+path)
		answer.Body = apart.ReplaceAll(answer.Body, nil)
		visit(accounts[account], path, apart.ReplaceAllString(lines[i+1], ""), answer)
		asked++
	}
	if asked < 20 || account != len(accounts)-1 {
		t.Errorf("%d questions of %d accounts were asked", asked, account+1)
	}
}

// wantAnswers compares what a program answers with what the version answered,
// byte for byte.
func (l landed) wantAnswers(t *testing.T, p *harness.Program) {
	t.Helper()
	server, err := p.Serve()
	house.Need(t, err)
	defer func() { house.Have(t, server.Stop()) }()
	l.ask(t, server, func(account, path, want string, a harness.Answer) {
		if got := strings.TrimSpace(string(a.Body)); got != want {
			t.Errorf("account %s, %s:\nnow  %s\nthen %s", account, path, got, want)
		}
	})
}

// wantLoads loads the same extracts again, which says of what campaigns figures are
// and changes no other; once more, which changes nothing; and one that is newer,
// which does.
func (l landed) wantLoads(t *testing.T, p *harness.Program) {
	t.Helper()
	l.wantReports(t, p, l.unpack(t, "extracts.tar.gz"), "product", "month") // of units that have no local amounts in their rollups
	extracts := l.loadAgain(t, p)
	accounts, _ := l.accounts(t)
	for _, account := range accounts {
		if r := p.Run("load", "--account", account, filepath.Join(extracts, account)); r.Code != 0 || !strings.HasPrefix(r.Stdout, "0 loaded, ") {
			t.Errorf("loading the extracts of %s once more: %s", account, r)
		}
	}
	l.wantAnswers(t, p)
	l.wantReports(t, p, extracts, "campaign,ad_group", "product", "month")
	newer := t.TempDir()
	object, err := os.ReadFile(filepath.Join(extracts, accounts[0], "us-2.report.json"))
	house.Need(t, err)
	house.Put(t, newer, "newer.report.json", []byte(strings.NewReplacer(`"us-2"`, `"us-3"`, "2026-02-02T08", "2026-02-03T08").Replace(string(object))))
	house.Put(t, newer, "newer.json", []byte(`[{"date":"2026-01-31","campaignId":1,"adGroupId":2,"advertisedAsin":"NEW","impressions":7,"clicks":3,"cost":1.25,"purchases7d":1,"sales7d":5,"unitsSoldClicks7d":1}]`))
	if r := p.Run("load", "--account", accounts[0], newer); r.Code != 0 || !strings.HasPrefix(r.Stdout, "1 loaded, ") {
		t.Errorf("loading a newer report: %s", r)
	}
	if r := p.Run("doctor"); r.Code != 0 {
		t.Errorf("doctor: %s", r)
	}
}

// knowsCampaigns reports whether the version kept of what campaigns figures are.
func (l landed) knowsCampaigns() bool { return filepath.Base(l.dir) != "schema-17" }

// loadAgain loads the extracts once more, which says of what campaigns figures are
// where the version did not.
func (l landed) loadAgain(t *testing.T, p *harness.Program) (extracts string) {
	t.Helper()
	extracts = l.unpack(t, "extracts.tar.gz")
	accounts, _ := l.accounts(t)
	for _, account := range accounts {
		if r := p.Run("load", "--account", account, filepath.Join(extracts, account)); r.Code != 0 || strings.Contains(r.Stderr, "are loaded again") == l.knowsCampaigns() {
			t.Errorf("loading the extracts of %s again: %s", account, r)
		}
	}
	return extracts
}

// wantReports compares reports by the dimensions with what the oracle makes of the
// extracts, in US dollars and unconverted.
func (l landed) wantReports(t *testing.T, p *harness.Program, extracts string, dimensions ...string) {
	t.Helper()
	server, err := p.Serve()
	house.Need(t, err)
	defer func() { house.Have(t, server.Stop()) }()
	accounts, keys := l.accounts(t)
	for _, account := range accounts {
		oracle := house.Tenant{Model: model.New()}
		oracle.Model.Load(filepath.Join(extracts, account))
		ask := func(path string, query url.Values) {
			query.Set("range", "all_time")
			q := house.Question{Path: path, Query: query}
			house.Check(t, harness.Client{Address: server.Address, Key: keys[account]}, oracle.Model, q)
		}
		for _, by := range dimensions {
			ask("/report", url.Values{"dimensions": {by}, "page_size": {"1000"}})
			ask("/report", url.Values{"dimensions": {"marketplace," + by}, "currency": {"local"}, "page_size": {"1000"}})
		}
		for _, code := range oracle.Model.Codes() {
			ask("/timeline", url.Values{"marketplaces": {code}, "currency": {"local"}, "granularity": {"month"}})
			ask("/reports/products", url.Values{"marketplaces": {code}, "currency": {"local"}, "page_size": {"1000"}})
		}
	}
}

func TestWhatEveryLandedVersionLeftOpensLoadsOnAndRestores(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t) // the data directories are its own
	dirs, err := filepath.Glob("testdata/landed/*")
	house.Need(t, err)
	if len(dirs) == 0 {
		t.Fatal("no landed version is kept")
	}
	for _, dir := range dirs {
		l := landed{dir}
		t.Run(filepath.Base(dir)+"/data", func(t *testing.T) {
			t.Parallel()
			p, err := harness.New(l.unpack(t, "data.tar.gz"))
			house.Need(t, err)
			l.wantAnswers(t, house.Keep(t, p))
			l.wantLoads(t, p)
			l.wantConnections(t, p)
		})
		t.Run(filepath.Base(dir)+"/backup", func(t *testing.T) {
			t.Parallel()
			p := house.EmptyProgram(t)
			if r := p.Run("restore", "--from", l.unpack(t, "backup.tar.gz")); r.Code != 0 {
				t.Fatalf("restore: %s", r)
			}
			l.wantAnswers(t, p)
			if key, err := os.ReadFile(filepath.Join(l.unpack(t, "data.tar.gz"), "secret.key")); err == nil {
				house.Need(t, os.WriteFile(filepath.Join(p.DataDir, "secret.key"), key, 0o600)) // no backup has it
			}
			if r := p.Run("doctor"); r.Code != 0 {
				t.Errorf("doctor after the restore: %s", r)
			}
			l.wantLoads(t, p)
			l.wantConnections(t, p)
		})
	}
}
