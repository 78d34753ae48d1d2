package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/integration/standin"
	"adlens/internal/secret"
	"adlens/loader"
)

// unchanging is a loader that refuses profiles in another currency than US dollars.
type unchanging struct{ taken }

func (u unchanging) Load(ctx context.Context, account string, paths []string) (loader.Result, error) {
	if text, err := os.ReadFile(paths[0]); err != nil || strings.Contains(string(text), `"EUR"`) {
		why := "its figures are kept in USD"
		return loader.Result{Files: []loader.FileResult{{File: "profiles.json", Status: loader.Refused, Error: &why}}}, err
	}
	return u.taken.Load(ctx, account, paths)
}

// A profile that cannot be read any more is named, and keeps no other from being read:
// each pull fails for it, and a server tells of it once a day.
func TestAProfileThatCannotBeReadKeepsNoOtherBack(t *testing.T) {
	t.Parallel()
	seller := func(id int64, country string) standin.Profile {
		return standin.Profile{ID: id, Country: country, Currency: "USD", AccountID: "A1"}
	}
	p := standin.New(standin.Config{Profiles: []standin.Profile{seller(1, "US"), seller(2, "CA"), seller(3, "MX"), seller(4, "BR")}})
	defer p.Close()
	key, err := secret.ReadOrMakeKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	store := newNoted("one", 1<<30)
	now := time.Now()
	var notices []string
	daily := &Daily{Dir: t.TempDir(), Poll: time.Millisecond, Connector: New(Config{Now: func() time.Time { return now }, Store: store, Loader: unchanging{taken{store}}, Locks: store,
		BaseURL: Addresses{all: p.URL()}, TokenURL: Addresses{all: p.TokenURL()}, Key: func() (secret.Key, error) { return key, nil }, Notice: func(_, text string) { notices = append(notices, text) }})}
	connect := func(choice adlens.Choice) error {
		var err error
		store.profiles, err = daily.Connector.Connect(t.Context(), adlens.Connection{Account: "one", Name: "NA", Region: "NA", ClientID: standin.DefaultClientID, Choice: choice},
			Secrets{standin.DefaultClientSecret, standin.DefaultRefreshToken})
		return err
	}
	if err := connect(adlens.Choice{}); err != nil || len(store.profiles) != 4 {
		t.Fatalf("%v, %v", store.profiles, err)
	}

	changed, unsound, other := seller(1, "US"), seller(2, "CA"), seller(9, "US")
	changed.Currency, unsound.Extra = "EUR", map[string]any{"timezone": ""}
	other.AccountID, other.Extra = "A2", map[string]any{"countryCode": "odd"}
	p.SetProfiles(changed, unsound, seller(4, "BR"), other)
	wantNamed := func(what string, err error) {
		t.Helper()
		text := "none"
		if err != nil {
			text = err.Error()
		}
		for _, want := range []string{"profile 1 (US) is left out: profiles.json: its figures are kept in USD", "profile 2 (CA) is left out: row 2: timezone is missing", "no longer lists profile 3,"} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%s: %s, want %q", what, text, want)
			}
		}
		if strings.Contains(text, "profile 9") {
			t.Errorf("%s: %s", what, text)
		}
	}
	out := t.TempDir()
	kept := filepath.Join(out, "profiles.json")
	if err := os.WriteFile(kept, []byte(`[{"profileId": 77, "accountInfo": {"type": "agency"}}, {"profileId": 4, "countryCode": "XX"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = daily.Connector.Pull(t.Context(), "one", PullOptions{Days: 1, Out: out, Poll: time.Millisecond, Fetched: func(int, int) {}})
	wantNamed("a pull", err)
	if n := p.Calls(standin.ReportCreate); n != len(lookBack) || len(store.visible) != n {
		t.Errorf("%d reports were requested, %d loaded, want those of one profile", n, len(store.visible))
	}
	// Those that were read are kept with their reports, after what another connection left.
	var profiles []map[string]any
	text, err := os.ReadFile(kept)
	if err = errors.Join(err, json.Unmarshal(text, &profiles)); err != nil || len(profiles) != 2 || profiles[0]["profileId"] != 77. || profiles[1]["profileId"] != 4. || profiles[1]["countryCode"] != "BR" {
		t.Errorf("the profiles that are kept are %s, %v", text, err)
	}
	store.profiles = store.profiles[3:]
	for day := range 3 {
		notices = nil
		for range 2 {
			if _, did, err := daily.refreshConnection(t.Context(), store.connection); did != refreshed || err != nil {
				t.Errorf("a refresh of day %d: %v, %v", day, did, err)
			}
			store.refreshed = map[string]adlens.Refreshed{}
		}
		wantNamed(fmt.Sprintf("day %d", day), errors.New(strings.Join(notices, "\n")))
		now = now.Add(24 * time.Hour)
	}
	// An account that was given up with its shard holds none, until a refresh takes them again.
	store.profiles, store.refreshed = nil, map[string]adlens.Refreshed{}
	before := p.Calls(standin.ReportCreate)
	if _, did, _ := daily.refreshConnection(t.Context(), store.connection); did != refreshed || p.Calls(standin.ReportCreate) == before {
		t.Errorf("a refresh without a held profile: %v, %d reports were requested", did, p.Calls(standin.ReportCreate)-before)
	}

	for text, want := range map[string]string{
		`{`: "; remove it, and it is written again",
		`[{"profileId": 999, "countryCode": "US", "currencyCode": "USD", "timezone": "UTC", "accountInfo": {"type": "seller"}}]`: "it has profile 999, which is none of account one",
	} {
		if err := os.WriteFile(kept, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = daily.Connector.Pull(t.Context(), "one", PullOptions{Days: 1, Out: out, Poll: time.Millisecond, Fetched: func(int, int) {}})
		if err == nil || !strings.Contains(err.Error(), kept+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("a file of profiles %s: %v", text, err)
		}
		if left, err := os.ReadFile(kept); string(left) != text || err != nil {
			t.Errorf("%s became %s, %v", text, left, err)
		}
	}

	// Connected again without a choice, it keeps them all.
	if err = connect(adlens.Choice{}); err == nil || strings.Join(store.connection.Profiles, " ") != "1 2 3 4" {
		t.Errorf("connected again it has %v, %v", store.connection.Profiles, err)
	}

	// Chosen without the one that is listed no more, the others are named.
	err = connect(adlens.Choice{Profiles: []string{"1", "2", "4"}})
	if len(store.profiles) != 1 || err == nil || strings.Contains(err.Error(), "profile 3") {
		t.Errorf("connected with %v, %v", store.profiles, err)
	}
	if ids := strings.Join(store.connection.Profiles, " "); ids != "1 2 4" {
		t.Errorf("the connection has %s", ids)
	}
}
