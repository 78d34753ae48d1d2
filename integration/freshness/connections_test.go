package freshness_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/standin"
)

// login is an account of a program, and a consent given to its platform.
type login struct {
	*harness.Program
	platform *standin.Platform
	account  string
	refresh  string
	ask      harness.Client
}

// newLogin makes an account, and a platform with some profiles.
func newLogin(t *testing.T, profiles ...standin.Profile) login {
	t.Helper()
	h := house.Shared(t)
	account := house.AccountID(t)
	p := standin.New(standin.Config{ClientSecret: house.CanarySecret, Grants: []standin.Grant{{RefreshToken: house.CanaryRefresh}}, Profiles: profiles})
	t.Cleanup(p.Close)
	return login{h.Program, p, account, house.CanaryRefresh, h.Client(t, account)}
}

// as is the same account with another consent.
func (l login) as(refresh string, profiles ...int64) login {
	l.platform.SetGrant(standin.Grant{RefreshToken: refresh, Profiles: profiles})
	l.refresh = refresh
	return l
}

func (l login) connect(t *testing.T, args ...string) harness.Result {
	t.Helper()
	return house.SpeakAs(t, l.Program, l.platform, house.CanarySecret, l.refresh,
		append([]string{"connect", "--account", l.account, "--client-id", standin.DefaultClientID}, args...)...)
}

func (l login) mustConnect(t *testing.T, args ...string) {
	t.Helper()
	if r := l.connect(t, args...); r.Code != 0 {
		t.Fatalf("connect %v: %s", args, r)
	}
}

func (l login) pull(t *testing.T) harness.Result {
	t.Helper()
	return house.SpeakAs(t, l.Program, l.platform, "", "", "pull", "--account", l.account, "--days", "14", "--out", t.TempDir(), "--poll", "10ms")
}

// refused demands that a command failed with some words.
func refused(t *testing.T, r harness.Result, words ...string) {
	t.Helper()
	for _, w := range words {
		if r.Code == 0 || !strings.Contains(r.Stderr, w) {
			t.Errorf("want it to fail with %q: %s", w, r)
		}
	}
}

// connected is one of the account's connections as the command lists them.
type connected struct {
	Name, Region, State       string
	Profiles, Chosen, Untaken []string
}

func (l login) connections(t *testing.T) (all []connected) {
	t.Helper()
	r := l.Run("connection", "list", "--account", l.account, "--json")
	var body struct{ Data []connected }
	house.Need(t, json.Unmarshal([]byte(r.Stdout), &body))
	return body.Data
}

// wantConnections compares name, state, profiles and what was not taken.
func (l login) wantConnections(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for _, c := range l.connections(t) {
		got = append(got, strings.TrimSpace(fmt.Sprint(c.Name, " ", c.State, " ", strings.Join(c.Profiles, ","), " ", strings.Join(c.Untaken, ","))))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the connections are %q, want %q", got, want)
	}
}

// wantMarketplaces compares the account's marketplaces by their ids.
func (l login) wantMarketplaces(t *testing.T, want ...string) {
	t.Helper()
	var body struct {
		Data []struct {
			ID string `json:"marketplace_id"`
		}
	}
	house.Need(t, json.Unmarshal(house.Get(t, l.ask, "/api/v1/marketplaces").Body, &body))
	var got []string
	for _, m := range body.Data {
		got = append(got, m.ID)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the marketplaces are %v, want %v", got, want)
	}
}

// finding is what the doctor says in one of its checks, all of it.
func (l login) finding(t *testing.T, check string) string {
	t.Helper()
	r := l.Run("doctor", "--json", "--quick", "--account", l.account)
	var body struct{ Checks []house.Finding }
	house.Need(t, json.Unmarshal([]byte(r.Stdout), &body))
	text := ""
	for _, f := range body.Checks {
		if f.Check == check {
			text += fmt.Sprintln(f.Status+":", f.Detail)
		}
	}
	return text
}

func (l login) wantFinding(t *testing.T, check, words string) {
	t.Helper()
	if text := l.finding(t, check); !strings.Contains(text, words) {
		t.Errorf("want the doctor to say %q of %s, got %s", words, check, text)
	}
}

func day(before int) string { return time.Now().UTC().AddDate(0, 0, -before).Format(time.DateOnly) }

func sold(profile int64, before int, cost, sales string) standin.Fact {
	f := house.Fact("B0A", day(before), cost, sales)
	f.Profile = profile
	return f
}

// loadRates loads a pound's price of two dollars.
func loadRates(t *testing.T, p *harness.Program, account string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rates.csv")
	text := "date,currency,usd\n"
	for before := range 100 {
		text += day(before) + ",GBP,2\n"
	}
	house.Need(t, os.WriteFile(path, []byte(text), 0o600))
	if l, err := p.Load(account, path); err != nil || l.Code != 0 {
		t.Fatalf("rates: %v %s", err, l.Result)
	}
}

func TestASecondRegionIsAConnectionBesideTheFirst(t *testing.T) {
	t.Parallel()
	l := newLogin(t, standin.Profile{ID: 1, Country: "US"}, standin.Profile{ID: 2, Country: "UK"})
	loadRates(t, l.Program, l.account)
	l.platform.Restate(sold(1, 3, "1", "10"), sold(2, 3, "2", "20"))
	eu := l.as("Atzr|europe", 2)
	l.mustConnect(t, "--region", "NA")
	_, first := connection(t, l.ask)
	eu.mustConnect(t, "--region", "EU")
	l.wantConnections(t, "EU accepted 2", "NA accepted 1")
	l.wantMarketplaces(t, "1", "2")
	if yes, at := connection(t, l.ask); !yes || at != first {
		t.Errorf("connected is %v at %v, want true at the first's %v", yes, at, first)
	}
	if r := l.pull(t); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	mustSum(t, l.ask, `"spend":5.00,"sales":50.00`)
	refused(t, l.connect(t, "--region", "NA", "--name", "EU"), `connection "EU"`, "is of region EU, not NA")
	refused(t, l.connect(t, "--region", "NA", "--name", "a name"), `"a name"`)

	// One that fails leaves the other.
	l.platform.Revoke(eu.refresh)
	l.platform.Restate(sold(1, 3, "1", "11"), sold(2, 3, "2", "99"))
	refused(t, l.pull(t), "connection EU: ", "invalid_grant")
	mustSum(t, l.ask, `"spend":5.00,"sales":51.00`)
	l.wantConnections(t, "EU refused 2", "NA accepted 1")
	if yes, at := connection(t, l.ask); yes || at != first {
		t.Errorf("connected is %v at %v, want false at %v", yes, at, first)
	}
	l.wantFinding(t, "connection", "failed: connection EU: the platform refused its credentials the last time")
	if text := l.finding(t, "connection"); strings.Contains(text, "connection NA") {
		t.Errorf("the doctor complains of the sound connection: %s", text)
	}
	server, err := l.Serve("--metrics-listen", "127.0.0.1:0")
	house.Need(t, err)
	defer server.Kill()
	ready := string(house.Get(t, harness.Client{Address: server.Address}, "/readyz").Body)
	_, metrics := house.MetricsOf(t, server)
	if !strings.Contains(ready, `"status":"ready"`) || !strings.Contains(ready, "the last time: adlens doctor names them") || !strings.Contains(ready, `"EU":{"accepted":`) {
		t.Errorf("readyz: %s", ready)
	}
	for _, want := range []string{`adlens_platform_connections{region="NA",state="accepted"} `, `adlens_platform_connections{region="EU",state="refused"} `} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}

	// Connecting again renews it.
	l.as(eu.refresh, 2).mustConnect(t, "--region", "EU")
	l.as(house.CanaryRefresh, 1).mustConnect(t, "--region", "NA")
	if yes, at := connection(t, l.ask); !yes || at != first {
		t.Errorf("renewed, connected is %v at %v, want true at the first's %v", yes, at, first)
	}
	if r := l.pull(t); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	mustSum(t, l.ask, `"spend":5.00,"sales":209.00`)
}

func TestProfilesAreChosen(t *testing.T) {
	t.Parallel()
	l := newLogin(t, standin.Profile{ID: 1, Country: "US", AccountID: "A1"}, standin.Profile{ID: 2, Country: "CA", AccountID: "A1"},
		standin.Profile{ID: 3, Country: "US", AccountID: "A2"}, standin.Profile{ID: 4, Country: "UK", AccountID: "A1"}, standin.Profile{ID: 5, Country: "DE", AccountID: "A1"})
	l.platform.Restate(sold(1, 3, "1", "10"), sold(3, 3, "7", "70"))
	refused(t, l.connect(t, "--region", "NA", "--profiles", "1,9"), "profile 9 is not among", "1 (US), 2 (CA), 3 (US)")
	refused(t, l.connect(t, "--region", "NA", "--countries", "us,br"), "no profile of BR", "1 (US), 2 (CA), 3 (US)")
	refused(t, l.connect(t, "--region", "NA", "--profiles", "1", "--countries", "US"), "one of the two")
	refused(t, l.connect(t, "--region", "NA", "--profiles", "1,,2"), `--profiles has ""`)
	refused(t, l.connect(t, "--region", "NA", "--countries", "USA"), `--countries has "USA"`)
	l.wantConnections(t)
	l.wantMarketplaces(t)

	l.mustConnect(t, "--region", "NA", "--profiles", "1, 2")
	l.mustConnect(t, "--region", "EU", "--countries", "gb")
	l.wantConnections(t, "EU accepted 4", "NA accepted 1,2")
	l.wantMarketplaces(t, "1", "2", "4")
	refused(t, l.connect(t, "--region", "NA", "--name", "other", "--countries", "US"), `profile 1 (US) belongs to connection "NA"`)
	l.mustConnect(t, "--region", "NA", "--name", "other", "--profiles", "3")
	l.wantConnections(t, "EU accepted 4", "NA accepted 1,2", "other accepted 3")
	loadRates(t, l.Program, l.account)
	if r := l.pull(t); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	mustSum(t, l.ask, `"spend":8.00,"sales":80.00`)
	for _, call := range l.platform.Recorded(standin.ReportCreate) {
		if call.Scope() == "5" {
			t.Error("a report was requested of a profile that was not chosen")
		}
	}

	// Renewing keeps the choice; another choice replaces it.
	l.mustConnect(t, "--region", "NA")
	if all := l.connections(t); !slices.Equal(all[1].Chosen, []string{"1", "2"}) {
		t.Errorf("chosen is %v after renewing", all[1].Chosen)
	}
	l.mustConnect(t, "--region", "NA", "--countries", "CA")
	l.wantConnections(t, "EU accepted 4", "NA accepted 2", "other accepted 3")
	l.wantFinding(t, "connection", "refreshed no more, because no connection has the profile: US 1")
	mustSum(t, l.ask, `"spend":8.00,"sales":80.00`)
}

func TestSeveralAdvertisersAreNotMixed(t *testing.T) {
	t.Parallel()
	for name, profiles := range map[string][]standin.Profile{
		"two sellers":           {{ID: 1, Country: "US", AccountID: "A1"}, {ID: 2, Country: "CA", AccountID: "A2"}},
		"two brands":            {{ID: 1, Country: "US", AccountID: "ENTITY1", Type: "vendor"}, {ID: 2, Country: "US", AccountID: "ENTITY2", Type: "vendor"}},
		"a seller and a vendor": {{ID: 1, Country: "US", AccountID: "A1"}, {ID: 2, Country: "CA", AccountID: "A1", Type: "vendor"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLogin(t, profiles...)
			r := l.connect(t, "--region", "NA")
			refused(t, r, "more than one advertiser", "adlens connect --account "+l.account+" --name NA --region NA", "--profiles ID,ID")
			if !strings.Contains(r.Stdout, "  1  United States (US), USD") || !strings.Contains(r.Stdout, profiles[1].AccountID) {
				t.Errorf("what was found is not listed: %s", r)
			}
			if asJSON := l.connect(t, "--region", "NA", "--json"); asJSON.Code == 0 || !strings.Contains(asJSON.Stdout, `"connection":null`) || !strings.Contains(asJSON.Stdout, `"advertiser_id":"`+profiles[1].AccountID) {
				t.Errorf("as JSON: %s", asJSON)
			}
			l.wantConnections(t)
			l.wantMarketplaces(t)
			l.mustConnect(t, "--region", "NA", "--profiles", "2")
			l.wantMarketplaces(t, "2")
		})
	}
	l := newLogin(t, standin.Profile{ID: 1, Country: "US", AccountID: "ENTITY1", Type: "vendor"}, standin.Profile{ID: 2, Country: "CA", AccountID: "ENTITY2", Type: "vendor"})
	l.mustConnect(t, "--region", "NA")
	l.wantConnections(t, "NA accepted 1,2")
}

func TestWhatThePlatformListsLaterIsNotTakenSilently(t *testing.T) {
	t.Parallel()
	l := newLogin(t, standin.Profile{ID: 1, Country: "US", AccountID: "A1"})
	l.mustConnect(t, "--region", "NA")
	l.platform.AddProfiles(standin.Profile{ID: 2, Country: "CA", AccountID: "A1"})
	loadRates(t, l.Program, l.account)
	if r := l.pull(t); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	l.wantConnections(t, "NA accepted 1,2")
	l.wantMarketplaces(t, "1", "2")

	l.platform.AddProfiles(standin.Profile{ID: 3, Country: "MX", AccountID: "A2"})
	r := l.pull(t)
	if r.Code != 0 || !strings.Contains(r.Stderr, "3 (MX)") || !strings.Contains(r.Stderr, "--profiles ID,ID") {
		t.Errorf("pull: %s", r)
	}
	l.wantConnections(t, "NA accepted 1,2 3")
	l.wantMarketplaces(t, "1", "2")
	l.wantFinding(t, "connection", "warning: connection NA: the platform also lists 3, not taken")
	l.mustConnect(t, "--region", "NA") // renewing needs no choice
	l.wantConnections(t, "NA accepted 1,2 3")

	l.mustConnect(t, "--region", "NA", "--profiles", "1,2,3")
	l.wantConnections(t, "NA accepted 1,2,3")
	l.platform.AddProfiles(standin.Profile{ID: 4, Country: "BR", AccountID: "A1"})
	if r := l.pull(t); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	l.wantMarketplaces(t, "1", "2", "3")
}

func TestAProfileInAnotherCurrencyKeepsNoOtherFromBeingRead(t *testing.T) {
	t.Parallel()
	l := newLogin(t, standin.Profile{ID: 1, Country: "US"}, standin.Profile{ID: 2, Country: "BR", Currency: "USD"})
	l.platform.Restate(sold(1, 3, "1", "10"), sold(2, 3, "2", "20"))
	l.mustConnect(t, "--region", "NA")
	if r := l.pull(t); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	l.platform.Change(1, func(p *standin.Profile) { p.Currency = "EUR" })
	l.platform.Restate(sold(1, 3, "1", "99"), sold(2, 3, "2", "21"))
	refused(t, l.pull(t), "connection NA: profile 1 (US) is left out: ", "currencyCode is EUR, expected USD, in which its figures are kept")
	refused(t, l.connect(t, "--region", "NA"), "adlens: profile 1 (US) is left out: ")
	mustSum(t, l.ask, `"spend":3.00,"sales":31.00`)
}

func TestARemovedConnectionLeavesWhatItRead(t *testing.T) {
	t.Parallel()
	l := newLogin(t, standin.Profile{ID: 1, Country: "US"}, standin.Profile{ID: 2, Country: "UK"})
	loadRates(t, l.Program, l.account)
	l.platform.Restate(sold(1, 3, "1", "10"), sold(2, 3, "2", "20"))
	l.mustConnect(t, "--region", "NA")
	l.mustConnect(t, "--region", "EU")
	if r := l.pull(t); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	refused(t, l.Run("connection", "remove", "--account", l.account, "--name", "brand"), `no connection "brand"`, `"EU", "NA"`)
	if r := l.Run("connection", "remove", "--account", l.account, "--name", "EU", "--json"); r.Code != 0 || !strings.Contains(r.Stdout, `"state":"removed"`) {
		t.Fatalf("remove: %s", r)
	}
	l.wantConnections(t, "NA accepted 1")
	l.platform.Restate(sold(1, 3, "1", "11"), sold(2, 3, "2", "99"))
	if r := l.pull(t); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	mustSum(t, l.ask, `"spend":5.00,"sales":51.00`)
	l.wantFinding(t, "connection", "UK 2 (of connection EU, which was removed)")
	if syncing := house.Get(t, l.ask, "/api/v1/campaigns?marketplace_id=2"); !strings.Contains(string(syncing.Body), `"syncing":false`) {
		t.Errorf("a list of a removed connection: %s", syncing)
	}
	if r := l.Run("connection", "remove", "--account", l.account, "--name", "NA"); r.Code != 0 || !strings.Contains(r.Stdout, "refreshed no more: 1") {
		t.Fatalf("remove: %s", r)
	}
	if yes, at := connection(t, l.ask); yes || at != nil {
		t.Errorf("connected is %v at %v", yes, at)
	}
	refused(t, l.pull(t), "is not connected")
	mustSum(t, l.ask, `"spend":5.00,"sales":51.00`)
	l.mustConnect(t, "--region", "EU")
	l.wantConnections(t, "EU accepted 2")
}

// A connection that the platform refuses keeps the daily refresh, and the lists, of
// no other back.
func TestEachConnectionIsRefreshedByItself(t *testing.T) {
	t.Parallel()
	l := liveHouse(t)
	m := l.merchant(t, "US", "UK")
	m.planReports(whole)
	loadRates(t, l.Program, m.Files.ID)
	l.platform.Restate(m.sale(0, standin.SponsoredProducts, m.back(t, 0, 2), "1.00", "10"), m.sale(1, standin.SponsoredProducts, m.back(t, 1, 2), "2.00", "20"))
	l.platform.SetGrant(standin.Grant{RefreshToken: m.refresh + "-eu", Profiles: []int64{m.profiles[1].ID}})
	m.connectTo(t, "EU", m.refresh+"-eu")
	sums(t, m.Ask, "range=all_time", `"spend":4.00,"sales":40.00`)
	l.platform.Revoke(m.refresh + "-eu")
	m.connectTo(t, "NA", m.refresh)
	sums(t, m.Ask, "range=all_time", `"spend":5.00,"sales":50.00`)
	m.settled(t, 0)
	if m.creates(0) != firstRequests || m.creates(1) != firstRequests {
		t.Errorf("%d and %d reports were requested, want %d of each", m.creates(0), m.creates(1), firstRequests)
	}
}

func TestTheDoctorNamesAWaitingReportOnce(t *testing.T) {
	t.Parallel()
	l := newLogin(t, standin.Profile{ID: 1, Country: "US"}, standin.Profile{ID: 2, Country: "EG"})
	l.platform.Restate(sold(2, 3, "2", "20")) // the bank has no rate of the Egyptian pound
	l.mustConnect(t, "--region", "NA")
	l.mustConnect(t, "--region", "EU")
	refused(t, l.pull(t), "1 reports were downloaded and wait for rates: EGP")
	text := ""
	house.Eventually(t, "the doctor names what waits", func() bool { // not while the server tries to load it
		text = l.finding(t, "reports")
		return strings.Contains(text, "want of rates of EGP")
	})
	if strings.Count(text, "want of rates of EGP") != 1 {
		t.Errorf("want the report once, beside a connection that has none: %s", text)
	}
}
