package connector

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/integration/standin"
	"adlens/internal/secret"
)

// several is a store of an account with several connections.
type several struct {
	*noted
	all    []adlens.Connection
	broken error // of what the lists say
}

func (s *several) LegacyProfiles(context.Context, string) (map[string]bool, error) {
	return nil, s.broken
}

func (s *several) Connections(context.Context, string) ([]adlens.Connection, error) {
	return slices.Clone(s.all), nil
}

func (s *several) PutConnection(_ context.Context, c adlens.Connection) error {
	s.noted.mu.Lock()
	defer s.noted.mu.Unlock()
	s.all = append(slices.DeleteFunc(s.all, func(o adlens.Connection) bool { return o.Name == c.Name }), c)
	return nil
}

// pulled is an account of two connections that is pulled by hand, NA with profile 7 and EU
// with profile 8.
type pulled struct {
	t         *testing.T
	platform  *standin.Platform
	store     *several
	connector *Connector
	out       string
	now       time.Time
	calls     int // that were counted
}

func newPulled(t *testing.T) *pulled {
	t.Helper()
	p := &pulled{t: t, store: &several{noted: newNoted("one", 1<<30)}, out: t.TempDir(), now: time.Date(2026, 9, 1, 20, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return p.now }
	p.platform = standin.New(standin.Config{Profiles: []standin.Profile{{ID: 7, Country: "US"}, {ID: 8, Country: "UK"}}, Now: clock})
	t.Cleanup(p.platform.Close)
	key, err := secret.ReadOrMakeKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := ParseAddresses("NA=" + p.platform.RegionURL(standin.NA) + ",EU=" + p.platform.RegionURL(standin.EU))
	if err != nil {
		t.Fatal(err)
	}
	p.connector = New(Config{Store: p.store, Loader: taken{p.store.noted}, Locks: p.store, Now: clock, Notice: func(string, string) {},
		BaseURL: addresses, TokenURL: Addresses{all: p.platform.TokenURL()}, Key: func() (secret.Key, error) { return key, nil }})
	for region, profile := range map[string]string{"NA": "7", "EU": "8"} {
		c := adlens.Connection{Account: "one", Name: region, Region: region, ClientID: standin.DefaultClientID, Choice: adlens.Choice{Profiles: []string{profile}}}
		found, err := p.connector.Connect(t.Context(), c, Secrets{standin.DefaultClientSecret, standin.DefaultRefreshToken})
		if err != nil {
			t.Fatal(err)
		}
		p.store.profiles = append(p.store.profiles, found...)
	}
	return p
}

// wantRequests pulls, and demands that so many reports of each profile were requested.
func (p *pulled) wantRequests(when, failure string, na, eu int) {
	p.t.Helper()
	_, err := p.connector.Pull(p.t.Context(), "one", PullOptions{Out: p.out, Poll: time.Millisecond, Fetched: func(int, int) {}})
	if (err == nil) != (failure == "") || err != nil && !strings.Contains(err.Error(), failure) {
		p.t.Errorf("%s: %v, want %q", when, err, failure)
	}
	all := p.platform.Recorded(standin.ReportCreate)
	got := map[string]int{}
	for _, call := range all[p.calls:] {
		got[call.Scope()]++
	}
	if p.calls = len(all); got["7"] != na || got["8"] != eu {
		p.t.Errorf("%s, %d and %d reports were requested, want %d and %d", when, got["7"], got["8"], na, eu)
	}
}

// Where reports of one connection fail, the next pull fetches those alone, and nothing of
// the others. What changes is read again on the next day all the same, and the requests
// are forgotten within a week, however long the connection fails.
func TestWhatFailsOfOneConnectionHasNoOtherFetchedAgain(t *testing.T) {
	t.Parallel()
	const all, again, daily = 4 + 2 + 3, 3 * 2, 3
	p := newPulled(t)
	p.platform.PlanReportsBy(func(o standin.ReportOrder) standin.JobPlan {
		if o.Profile == 8 && o.AdProduct == standin.SponsoredBrands {
			return standin.JobPlan{FailureReason: "out of order"}
		}
		return standin.JobPlan{}
	})
	p.wantRequests("at first", "out of order", all, all)
	p.wantRequests("after a failure", "out of order", 0, 2)
	p.now = p.now.AddDate(0, 0, 1)
	p.wantRequests("on the next day", "out of order", daily, 2+2)
	p.now = p.now.AddDate(0, 0, 6)
	p.wantRequests("a week later", "out of order", 3*3, 3+3+2) // the days read on the second one are between the others
	for _, r := range p.store.requests {
		if !r.Done && p.now.Sub(r.RequestedAt) > 6*24*time.Hour {
			t.Errorf("a report of %s to %s is open, which was requested at %s", r.Start, r.End, r.RequestedAt)
		}
	}
	p.platform.PlanReports(standin.JobPlan{})
	p.wantRequests("once it can be read", "", 0, 2)
	p.wantRequests("after a pull of all", "", again, again)
}

// A pull that ends before it requests anything, as one that is interrupted while it reads
// lists, has read nothing.
func TestAPullThatRequestedNothingHasReadNothing(t *testing.T) {
	t.Parallel()
	p := newPulled(t)
	p.store.broken = context.Canceled
	p.wantRequests("interrupted", "context canceled", 0, 0)
	if len(p.store.refreshed) > 0 {
		t.Errorf("noted as read are %v", p.store.refreshed)
	}
	p.store.broken = nil
	p.wantRequests("afterwards", "", 4+2+3, 4+2+3)
}

// A report that the platform made and no longer gives is requested again by the next pull,
// and the error says so.
func TestAReportThatIsNoLongerGivenIsRequestedAgain(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]standin.Fault{
		"expired": {On: standin.ReportFile, Times: -1, Do: standin.Error(403, standin.Detail, "no more")},
		"gone":    {On: standin.ReportPoll, Times: -1, Do: standin.Error(404, standin.Detail, "no more")},
	} {
		p := newPulled(t)
		p.platform.Inject(fault)
		p.wantRequests(name, "no more; the next pull requests this report again", 4+2+3, 4+2+3)
		p.platform.Heal()
		p.wantRequests("after it is "+name, "", 4+2+3, 4+2+3)
	}
}
