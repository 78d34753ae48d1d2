package freshness_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/standin"
)

// connection is what /account says.
func connection(t *testing.T, c harness.Client) (connected bool, at any) {
	t.Helper()
	var body struct {
		Platform struct {
			Connected   bool `json:"connected"`
			ConnectedAt any  `json:"connected_at"`
		} `json:"platform"`
	}
	house.Need(t, json.Unmarshal(house.Get(t, c, "/api/v1/account").Body, &body))
	return body.Platform.Connected, body.Platform.ConnectedAt
}

func TestAConnectedAccountPullsWhatThePlatformHolds(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	account := house.AccountID(t)
	ask := h.Client(t, account)
	day := time.Now().UTC().AddDate(0, 0, -5).Format(time.DateOnly)
	p := house.PlatformOf(t, house.Fact("B0A", day, "12.34", "50"), house.Fact("B0B", day, "0.66", "0"))
	if connected, _ := connection(t, ask); connected {
		t.Error("connected before it was")
	}
	if r := house.Connect(t, h, p, account, house.CanarySecret); r.Code != 0 || !strings.Contains(r.Stdout, "3982475484689176") {
		t.Fatalf("connect: %s", r)
	}
	if connected, at := connection(t, ask); !connected || at == nil {
		t.Errorf("connected: %v at %v", connected, at)
	}
	out := t.TempDir()
	if r := house.Pull(t, h, p, account, out); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	mustSum(t, ask, `"spend":13.00,"sales":50.00`)

	p.Restate(house.Fact("B0A", day, "12.34", "80"))
	if r := house.Pull(t, h, p, account, out); r.Code != 0 {
		t.Fatalf("pull again: %s", r)
	}
	mustSum(t, ask, `"spend":13.00,"sales":80.00`)

	// What pull leaves are extracts like any others.
	again := h.Client(t, account+"-again")
	if l, err := h.Program.Load(account+"-again", out); err != nil || l.Code != 0 {
		t.Fatalf("loading what was pulled: %v %s", err, l.Result)
	}
	mustSum(t, again, `"spend":13.00,"sales":80.00`)
	house.NoCanary(t, h.Program.DataDir, out)
}

func mustSum(t *testing.T, c harness.Client, want string) {
	t.Helper()
	if a := house.Get(t, c, "/api/v1/summary?range=last_30_days"); !strings.Contains(string(a.Body), want) {
		t.Errorf("want %s, got %s", want, a)
	}
}

func TestCredentialsThatThePlatformRefusesAreNotKept(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	account := house.AccountID(t)
	ask := h.Client(t, account)
	p := house.PlatformOf(t)
	r := house.Connect(t, h, p, account, "a wrong secret")
	if r.Code == 0 || strings.Contains(r.Stderr+r.Stdout, "a wrong secret") || strings.Contains(r.Stderr, house.CanaryRefresh) {
		t.Errorf("connect: %s", r)
	}
	if connected, at := connection(t, ask); connected || at != nil {
		t.Errorf("connected: %v at %v", connected, at)
	}
	if calls := p.Calls(standin.Token); calls > 2 {
		t.Errorf("the platform was asked %d times for a token", calls)
	}
	if r := house.Pull(t, h, p, account, t.TempDir()); r.Code == 0 || !strings.Contains(r.Stderr, "adlens connect") {
		t.Errorf("pull without a connection: %s", r)
	}
}

// A fault of what the platform lists quotes the value, which may be what it was sent.
func TestAProfileThatRepeatsASecretDoesNotShowIt(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	account := house.AccountID(t)
	h.Client(t, account)
	p := house.PlatformOf(t)
	for name, secret := range map[string]string{"plain": house.CanarySecret, "base64": base64.StdEncoding.EncodeToString([]byte(house.CanarySecret))} {
		p.Change(3982475484689176, func(profile *standin.Profile) { profile.Currency = secret })
		r := house.Connect(t, h, p, account, house.CanarySecret)
		if r.Code == 0 || strings.Contains(r.Stderr+r.Stdout, secret) || !strings.Contains(r.Stderr, "currencyCode") {
			t.Errorf("%s: connect: %s", name, r)
		}
	}
}

func TestARevokedConnectionIsSaidAndNotHammered(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	account := house.AccountID(t)
	ask := h.Client(t, account)
	p := house.PlatformOf(t)
	if r := house.Connect(t, h, p, account, house.CanarySecret); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
	p.Revoke(house.CanaryRefresh)
	before := p.Calls(standin.Token)
	if r := house.Pull(t, h, p, account, t.TempDir()); r.Code == 0 || !strings.Contains(r.Stderr, "adlens connect") {
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
func connectedWithAFigure(t *testing.T) (*house.House, *standin.Platform, string, harness.Client) {
	t.Helper()
	h := house.Shared(t)
	account := house.AccountID(t)
	ask := h.Client(t, account)
	day := time.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly)
	p := house.PlatformOf(t, house.Fact("B0A", day, "1.50", "6"))
	if r := house.Connect(t, h, p, account, house.CanarySecret); r.Code != 0 {
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
	if r := house.Pull(t, h, p, account, t.TempDir()); r.Code != 0 {
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
	r := house.Pull(t, h, p, account, t.TempDir())
	if r.Code == 0 || !strings.Contains(r.Stderr, "sdAdvertisedProduct") || !strings.Contains(r.Stderr, "out of order") {
		t.Errorf("pull: %s", r)
	}
	mustSum(t, ask, `"spend":1.50,"sales":6.00`)
}
