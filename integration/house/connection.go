package house

import (
	"bytes"
	"context"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/standin"
)

var metricsAddress = regexp.MustCompile(`"address":"(http://[^"]+/metrics)"`)

// MetricsOf finds the address of the metrics in the log and reads them.
func MetricsOf(t *testing.T, s *harness.Server) (address, text string) {
	t.Helper()
	found := metricsAddress.FindStringSubmatch(s.Log())
	if found == nil {
		t.Fatalf("the log does not say where the metrics are: %s", s.Log())
	}
	a := Get(t, harness.Client{Address: strings.TrimSuffix(found[1], "/metrics"), Other: true}, "/metrics")
	if a.Status != http.StatusOK {
		t.Fatal(a)
	}
	return strings.TrimSuffix(found[1], "/metrics"), string(a.Body)
}

// Canaries: if one of them is found anywhere but in the process that was given
// it, a secret leaks.
const (
	CanarySecret  = "canary-client-secret-7f3a"
	CanaryRefresh = "Atzr|canary-refresh-91bc"
)

// PlatformOf starts a stand-in with one marketplace that has figures.
func PlatformOf(t *testing.T, facts ...standin.Fact) *standin.Platform {
	t.Helper()
	p := standin.New(standin.Config{
		ClientSecret: CanarySecret, Grants: []standin.Grant{{RefreshToken: CanaryRefresh}},
		Profiles: []standin.Profile{{ID: 3982475484689176, Country: "US"}, {ID: 77, Country: "US", Type: "agency"}},
		Facts:    facts,
	})
	t.Cleanup(p.Close)
	return p
}

// Fact is a day of a product in that marketplace.
func Fact(product, day, cost, sales string) standin.Fact {
	return standin.Fact{Profile: 3982475484689176, AdProduct: "SPONSORED_PRODUCTS", Day: day, CampaignID: 1, AdGroupID: 2, AdID: 3,
		Product: product, Impressions: 1000, Clicks: 10, Cost: cost, Purchases7d: 1, Purchases14d: 1, Sales7d: sales, Sales14d: sales}
}

// speak runs a command that talks to the stand-in, with the credentials in its
// environment.
func speak(t *testing.T, h *House, p *standin.Platform, secret string, args ...string) harness.Result {
	t.Helper()
	return SpeakAs(t, h.Program, p, secret, CanaryRefresh, args...)
}

// PlatformFlags are the flags that put a stand-in in the place of the platform, each
// region's host in that of its own.
func PlatformFlags(p *standin.Platform) []string {
	hosts := make([]string, 0, 3)
	for _, region := range []standin.Region{standin.NA, standin.EU, standin.FE} {
		hosts = append(hosts, string(region)+"="+p.RegionURL(region))
	}
	return append(AtPace(), "--platform-url", strings.Join(hosts, ","), "--platform-token-url", p.TokenURL())
}

// pace divides the pauses of refreshes: a stand-in is at hand.
const pace = 6

// AtPace are the flags that make a server wait seconds where it waits minutes for the
// platform.
func AtPace() []string { return []string{"--platform-pace", strconv.Itoa(pace)} }

// SeveralLooks is a time in which a server at that pace looks at the connections, which
// it does every five seconds otherwise, several times; failures rest for longer.
const SeveralLooks = 3 * 5 * time.Second / pace

// SpeakAs runs a command with these credentials.
func SpeakAs(t *testing.T, program *harness.Program, p *standin.Platform, secret, refresh string, args ...string) harness.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	command := program.Command(ctx, append(args, PlatformFlags(p)...)...)
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

// Connect connects an account.
func Connect(t *testing.T, h *House, p *standin.Platform, account, secret string) harness.Result {
	t.Helper()
	return speak(t, h, p, secret, "connect", "--account", account, "--region", "NA", "--client-id", standin.DefaultClientID)
}

// Pull fetches two weeks of reports into a directory.
func Pull(t *testing.T, h *House, p *standin.Platform, account, out string) harness.Result {
	t.Helper()
	return speak(t, h, p, "not needed any more", "pull", "--account", account, "--days", "14", "--out", out, "--poll", "10ms")
}

// NoCanary looks for secrets in every file that is left.
func NoCanary(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		Need(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // the engine moves its files about
			}
			if text, err := os.ReadFile(path); err == nil && (bytes.Contains(text, []byte(CanarySecret)) || bytes.Contains(text, []byte(CanaryRefresh))) {
				t.Errorf("a secret stands in %s", path)
			}
			return nil
		}))
	}
}
