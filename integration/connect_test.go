package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/standin"
)

// Canaries: if one of them is found anywhere but in the process that was given
// it, a secret leaks.
const (
	canarySecret  = "canary-client-secret-7f3a"
	canaryRefresh = "Atzr|canary-refresh-91bc"
)

func platformOf(t *testing.T, facts ...standin.Fact) *standin.Platform {
	t.Helper()
	p := standin.New(standin.Config{
		ClientSecret: canarySecret, Grants: []standin.Grant{{RefreshToken: canaryRefresh}},
		Profiles: []standin.Profile{{ID: 3982475484689176, Country: "US"}, {ID: 77, Country: "US", Type: "agency"}},
		Facts:    facts,
	})
	t.Cleanup(p.Close)
	return p
}

func fact(product, day, cost, sales string) standin.Fact {
	return standin.Fact{Profile: 3982475484689176, AdProduct: "SPONSORED_PRODUCTS", Day: day, CampaignID: 1, AdGroupID: 2, AdID: 3,
		Product: product, Impressions: 1000, Clicks: 10, Cost: cost, Purchases7d: 1, Purchases14d: 1, Sales7d: sales, Sales14d: sales}
}

// speak runs a command that talks to the stand-in, with the credentials in its
// environment.
func speak(t *testing.T, h *house, p *standin.Platform, secret string, args ...string) harness.Result {
	t.Helper()
	return speakAs(t, h.Program, p, secret, canaryRefresh, args...)
}

func speakAs(t *testing.T, program *harness.Program, p *standin.Platform, secret, refresh string, args ...string) harness.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := program.Command(ctx, append(args, "--platform-url", p.URL(), "--platform-token-url", p.TokenURL())...)
	command.Env = append(command.Env, "ADLENS_CLIENT_SECRET="+secret, "ADLENS_REFRESH_TOKEN="+refresh)
	var out, trouble bytes.Buffer
	command.Stdout, command.Stderr = &out, &trouble
	if err := command.Run(); err != nil {
		if _, exit := err.(*exec.ExitError); !exit {
			t.Fatal(err)
		}
	}
	return harness.Result{Code: command.ProcessState.ExitCode(), Stdout: out.String(), Stderr: trouble.String()}
}

func connect(t *testing.T, h *house, p *standin.Platform, account, secret string) harness.Result {
	t.Helper()
	return speak(t, h, p, secret, "connect", "--account", account, "--region", "NA", "--client-id", standin.DefaultClientID)
}

func pull(t *testing.T, h *house, p *standin.Platform, account, out string) harness.Result {
	t.Helper()
	return speak(t, h, p, "not needed any more", "pull", "--account", account, "--days", "14", "--out", out, "--poll", "10ms")
}

// connection is what /account says.
func connection(t *testing.T, c harness.Client) (connected bool, at any) {
	t.Helper()
	var body struct {
		Platform struct {
			Connected   bool `json:"connected"`
			ConnectedAt any  `json:"connected_at"`
		} `json:"platform"`
	}
	need(t, json.Unmarshal(get(t, c, "/api/v1/account").Body, &body))
	return body.Platform.Connected, body.Platform.ConnectedAt
}

func TestAConnectedAccountPullsWhatThePlatformHolds(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	account := name(t)
	ask := h.account(t, account)
	day := time.Now().UTC().AddDate(0, 0, -5).Format(time.DateOnly)
	p := platformOf(t, fact("B0A", day, "12.34", "50"), fact("B0B", day, "0.66", "0"))
	if connected, _ := connection(t, ask); connected {
		t.Error("connected before it was")
	}
	if r := connect(t, h, p, account, canarySecret); r.Code != 0 || !strings.Contains(r.Stdout, "3982475484689176") {
		t.Fatalf("connect: %s", r)
	}
	if connected, at := connection(t, ask); !connected || at == nil {
		t.Errorf("connected: %v at %v", connected, at)
	}
	out := t.TempDir()
	if r := pull(t, h, p, account, out); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	mustSum(t, ask, `"spend":13.00,"sales":50.00`)

	p.Restate(fact("B0A", day, "12.34", "80"))
	if r := pull(t, h, p, account, out); r.Code != 0 {
		t.Fatalf("pull again: %s", r)
	}
	mustSum(t, ask, `"spend":13.00,"sales":80.00`)

	// What pull leaves are extracts like any others.
	again := h.account(t, account+"-again")
	profilesFile(t, out, [4]string{"3982475484689176", "US", "USD", "seller"})
	if l, err := h.Program.Load(account+"-again", out); err != nil || l.Code != 0 {
		t.Fatalf("loading what was pulled: %v %s", err, l.Result)
	}
	mustSum(t, again, `"spend":13.00,"sales":80.00`)
	noCanary(t, h.Program.DataDir, out)
}

func mustSum(t *testing.T, c harness.Client, want string) {
	t.Helper()
	if a := get(t, c, "/api/v1/summary?range=last_30_days"); !strings.Contains(string(a.Body), want) {
		t.Errorf("want %s, got %s", want, a)
	}
}

// noCanary looks for secrets in every file that is left.
func noCanary(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		need(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // the engine moves its files about
			}
			if text, err := os.ReadFile(path); err == nil && (bytes.Contains(text, []byte(canarySecret)) || bytes.Contains(text, []byte(canaryRefresh))) {
				t.Errorf("a secret stands in %s", path)
			}
			return nil
		}))
	}
}

func TestCredentialsThatThePlatformRefusesAreNotKept(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	account := name(t)
	ask := h.account(t, account)
	p := platformOf(t)
	r := connect(t, h, p, account, "a wrong secret")
	if r.Code == 0 || strings.Contains(r.Stderr+r.Stdout, "a wrong secret") || strings.Contains(r.Stderr, canaryRefresh) {
		t.Errorf("connect: %s", r)
	}
	if connected, at := connection(t, ask); connected || at != nil {
		t.Errorf("connected: %v at %v", connected, at)
	}
	if calls := p.Calls(standin.Token); calls > 2 {
		t.Errorf("the platform was asked %d times for a token", calls)
	}
	if r := pull(t, h, p, account, t.TempDir()); r.Code == 0 || !strings.Contains(r.Stderr, "adlens connect") {
		t.Errorf("pull without a connection: %s", r)
	}
}

func TestARevokedConnectionIsSaidAndNotHammered(t *testing.T) {
	t.Parallel()
	h := sharedHouse(t)
	account := name(t)
	ask := h.account(t, account)
	p := platformOf(t)
	if r := connect(t, h, p, account, canarySecret); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
	p.Revoke(canaryRefresh)
	before := p.Calls(standin.Token)
	if r := pull(t, h, p, account, t.TempDir()); r.Code == 0 || !strings.Contains(r.Stderr, "adlens connect") {
		t.Errorf("pull: %s", r)
	}
	if calls := p.Calls(standin.Token) - before; calls > 2 {
		t.Errorf("the platform was asked %d times for a token", calls)
	}
	if connected, at := connection(t, ask); connected || at == nil {
		t.Errorf("connected: %v at %v", connected, at)
	}
}

// connectedWithAFigure is a connected account of whose figures the platform
// holds one, 1.50 spent for 6.00.
func connectedWithAFigure(t *testing.T) (*house, *standin.Platform, string, harness.Client) {
	t.Helper()
	h := sharedHouse(t)
	account := name(t)
	ask := h.account(t, account)
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	p := platformOf(t, fact("B0A", day, "1.50", "6"))
	if r := connect(t, h, p, account, canarySecret); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
	return h, p, account, ask
}

func TestAPullSurvivesWhatThePlatformDoes(t *testing.T) {
	t.Parallel()
	h, p, account, ask := connectedWithAFigure(t)
	p.PlanReports(standin.JobPlan{PendingPolls: 1, ProcessingPolls: 1})
	p.Inject(standin.Fault{On: standin.ReportPoll, Nth: 2, Times: 1, Do: standin.ExpiredToken()})
	p.Inject(standin.Fault{On: standin.ReportCreate, Nth: 1, Times: 1, Do: standin.ServerError(500)})
	p.Inject(standin.Fault{On: standin.ReportFile, Nth: 1, Times: 1, Do: standin.CutBody()})
	if r := pull(t, h, p, account, t.TempDir()); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	mustSum(t, ask, `"spend":1.50,"sales":6.00`)
}

func TestOneFailedReportDoesNotKeepTheOthersBack(t *testing.T) {
	t.Parallel()
	h, p, account, ask := connectedWithAFigure(t)
	p.PlanReportsBy(func(o standin.ReportOrder) standin.JobPlan {
		if o.ReportTypeID == "sdAdvertisedProduct" {
			return standin.JobPlan{FailureReason: "the platform is out of order"}
		}
		return standin.JobPlan{}
	})
	r := pull(t, h, p, account, t.TempDir())
	if r.Code == 0 || !strings.Contains(r.Stderr, "sdAdvertisedProduct") || !strings.Contains(r.Stderr, "out of order") {
		t.Errorf("pull: %s", r)
	}
	mustSum(t, ask, `"spend":1.50,"sales":6.00`)
}
