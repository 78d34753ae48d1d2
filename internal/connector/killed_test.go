package connector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"adlens"
	"adlens/integration/standin"
	"adlens/internal/platform"
	"adlens/internal/secret"
	"adlens/loader"
)

// noted is a store that keeps what a refresh notes, until it has taken so many
// notes: then nothing comes through any more, as after a kill.
type noted struct {
	*memory
	connection adlens.Connection
	profiles   []platform.Profile
	requests   map[string]adlens.ReportRequest // the last of each profile, type and days
	made       map[string]adlens.ReportRequest // all, by id
	refreshed  map[string]adlens.Refreshed     // by profile and report type
	visible    map[string]bool                 // ids of loaded reports
	rates      uint32
	notes      int // that are still taken
}

func readKey(profileID, reportType string) string { return profileID + " " + reportType }

func newNoted(account string, notes int) *noted {
	return &noted{memory: newMemory(account), notes: notes, visible: map[string]bool{}, refreshed: map[string]adlens.Refreshed{},
		requests: map[string]adlens.ReportRequest{}, made: map[string]adlens.ReportRequest{}}
}

var errKilled = errors.New("the process was killed")

// note takes one note. A note is as whole as its insert.
func (n *noted) note(take func()) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.notes == 0 {
		return errKilled
	}
	n.notes--
	take()
	return nil
}

func (n *noted) Connections(context.Context, string) ([]adlens.Connection, error) {
	if n.connection.Name == "" {
		return nil, nil
	}
	return []adlens.Connection{n.connection}, nil
}

func (n *noted) PutConnection(_ context.Context, c adlens.Connection) error {
	n.connection = c
	return nil
}

func (n *noted) Forgive(context.Context, string, string) error { return nil }

func (n *noted) Profiles(context.Context, string) ([]platform.Profile, error) {
	return n.profiles, nil
}

func (n *noted) OpenRequests(context.Context, string) (open []adlens.ReportRequest, _ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.requests {
		if !r.Done {
			open = append(open, r)
		}
	}
	return open, nil
}

func (n *noted) PutRequest(_ context.Context, r adlens.ReportRequest) error {
	return n.note(func() {
		n.requests[requestName(r.MarketplaceID, r.ReportType, r.Start, r.End)], n.made[r.ReportID] = r, r
	})
}

func (n *noted) LoadedReports(context.Context, string) (map[string]bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.visible), nil
}

func (n *noted) AwaitedVersion(context.Context, string) (uint32, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.rates, nil
}

func (n *noted) Refreshed(context.Context, string) (all []adlens.Refreshed, _ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.refreshed {
		all = append(all, r)
	}
	return all, nil
}

func (n *noted) PutRefreshed(_ context.Context, all []adlens.Refreshed) error {
	return n.note(func() {
		for _, r := range all {
			n.refreshed[readKey(r.MarketplaceID, r.ReportType)] = r
		}
	})
}

// Work that was killed holds no lock, and rests no longer in this test.
func (n *noted) Attempt(context.Context, string) (adlens.Attempt, bool, error) {
	return adlens.Attempt{}, false, nil
}

// taken is a loader that takes every report.
type taken struct{ *noted }

func (t taken) Load(_ context.Context, _ string, paths []string) (r loader.Result, _ error) {
	for _, path := range paths {
		if report, err := readReport(path); err == nil {
			t.mu.Lock()
			t.visible[report.ID] = true
			t.mu.Unlock()
		}
		r.Files = append(r.Files, loader.FileResult{File: path, Status: loader.Loaded})
	}
	return r, nil
}

func (taken) ReplaceLists(context.Context, string, loader.Lists) error { return nil }

// A report that the platform made once is not asked of it again, whichever
// note a refresh was killed at.
func TestAKilledRefreshAsksForNoReportAgain(t *testing.T) {
	t.Parallel()
	const account, askedFor = "one", 4 + 2 + 3
	for notes := 0; ; notes++ {
		ended := false
		t.Run(fmt.Sprintf("killed after %d notes", notes), func(t *testing.T) {
			p := standin.New(standin.Config{Profiles: []standin.Profile{{ID: 7, Country: "US"}}})
			defer p.Close()
			key, err := secret.ReadOrMakeKey(filepath.Join(t.TempDir(), "key"))
			if err != nil {
				t.Fatal(err)
			}
			store := newNoted(account, notes)
			begin := func() *Daily {
				return &Daily{Dir: t.TempDir(), Poll: time.Millisecond, Connector: New(Config{Store: store, Loader: taken{store}, Locks: store,
					BaseURL: Addresses{all: p.URL()}, TokenURL: Addresses{all: p.TokenURL()}, Key: func() (secret.Key, error) { return key, nil }, Notice: func(string, string) {}})}
			}
			store.profiles, err = begin().Connector.Connect(t.Context(), adlens.Connection{Account: account, Name: "NA", Region: "NA", ClientID: standin.DefaultClientID},
				Secrets{standin.DefaultClientSecret, standin.DefaultRefreshToken})
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = begin().refreshConnection(t.Context(), store.connection)
			if ended = err == nil; !ended && !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			lost := p.Calls(standin.ReportCreate) - len(store.made)
			store.notes = 1 << 30
			if _, _, err := begin().refreshConnection(t.Context(), store.connection); err != nil {
				t.Fatal(err)
			}
			if n := p.Calls(standin.ReportCreate); n != askedFor+lost {
				t.Errorf("%d reports were requested, %d of them before their ids could be noted; want %d", n, lost, askedFor+lost)
			}
			for _, r := range store.requests {
				if ended && !r.Done {
					t.Errorf("a report of %s to %s is still waited for when all is read", r.Start, r.End)
				}
			}
			if len(store.refreshed) != len(lookBack) {
				t.Errorf("%d report types are noted as read, want %d", len(store.refreshed), len(lookBack))
			}
		})
		if ended || t.Failed() {
			return
		}
	}
}
