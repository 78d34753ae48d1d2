package freshness_test

import (
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens/integration/bank"
	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/standin"
)

// abroad is a platform with a British, a German and an Arab marketplace, and the
// bank whose rates convert them. Each has a figure of some days.
type abroad struct {
	platform *standin.Platform
	bank     *bank.Bank
	days     []time.Time
}

const (
	profileUK = 5_001
	profileDE = 5_002
	profileAE = 5_003
)

var currencyOf = map[int64]string{profileUK: "GBP", profileDE: "EUR", profileAE: "AED"}

func newAbroad(t *testing.T) *abroad {
	t.Helper()
	now := time.Now().UTC()
	a := &abroad{bank: bank.New(now)}
	t.Cleanup(a.bank.Close)
	var facts []standin.Fact
	for i, back := range []int{3, 4, 5, 6, 40, 90} {
		day := time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, time.UTC)
		a.days = append(a.days, day)
		for profile := range currencyOf {
			f := house.Fact(fmt.Sprint("B0", i), day.Format(time.DateOnly), a.cost(i), "50.05")
			f.Profile = profile
			facts = append(facts, f)
		}
	}
	a.platform = standin.New(standin.Config{Region: standin.EU, ClientSecret: house.CanarySecret, Grants: []standin.Grant{{RefreshToken: house.CanaryRefresh}},
		Profiles: []standin.Profile{{ID: profileUK, Country: "UK"}, {ID: profileDE, Country: "DE"}, {ID: profileAE, Country: "AE"}}, Facts: facts})
	t.Cleanup(a.platform.Close)
	return a
}

// cost is what one product of a day cost in each marketplace.
func (a *abroad) cost(i int) string { return fmt.Sprintf("1%d.37", i) }

// spend asks for what was spent, and says what it should be: the figures converted by
// the bank's rates as they were published.
func (a *abroad) spend(t *testing.T, c harness.Client) (answer harness.Answer, want string) {
	t.Helper()
	total := new(big.Rat)
	for i, day := range a.days {
		for _, currency := range currencyOf {
			cost, _ := new(big.Rat).SetString(a.cost(i))
			dollars, _ := new(big.Rat).SetString(cost.Mul(cost, a.bank.Dollars(currency, day)).FloatString(6))
			total.Add(total, dollars)
		}
	}
	return a.ask(t, c), fmt.Sprintf(`"spend":%s,`, total.FloatString(2))
}

// ask asks for all days.
func (a *abroad) ask(t *testing.T, c harness.Client) harness.Answer {
	t.Helper()
	from := a.days[len(a.days)-1].Format(time.DateOnly)
	return house.Get(t, c, "/api/v1/summary?start_date="+from+"&end_date="+time.Now().UTC().Format(time.DateOnly))
}

func (a *abroad) wantSpend(t *testing.T, c harness.Client) {
	t.Helper()
	if answer, want := a.spend(t, c); !strings.Contains(string(answer.Body), want) {
		t.Errorf("want %s, got %s", want, answer)
	}
}

func (a *abroad) run(t *testing.T, h *house.House, args ...string) harness.Result {
	t.Helper()
	return house.SpeakAs(t, h.Program, a.platform, house.CanarySecret, house.CanaryRefresh, args...)
}

func (a *abroad) pull(t *testing.T, h *house.House, account, out string, args ...string) harness.Result {
	t.Helper()
	return a.run(t, h, append([]string{"pull", "--account", account, "--out", out, "--poll", "10ms", "--rates-url", a.bank.URL()}, args...)...)
}

func (a *abroad) connect(t *testing.T, h *house.House, account string) {
	t.Helper()
	if r := a.run(t, h, "connect", "--account", account, "--region", "EU", "--client-id", standin.DefaultClientID); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
}

func TestRatesComeBeforeTheReportsThatNeedThem(t *testing.T) {
	t.Parallel()
	h, a, account, out := house.Shared(t), newAbroad(t), house.AccountID(t), t.TempDir()
	ask := h.Client(t, account)
	a.connect(t, h, account)
	if r := a.pull(t, h, account, out); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	a.wantSpend(t, ask)
	if daily, history := a.bank.Calls(bank.Daily), a.bank.Calls(bank.History); daily != 1 || history != 1 {
		t.Errorf("the daily file was fetched %d times, the history %d times; expected each once", daily, history)
	}
	if r := a.pull(t, h, account, out); r.Code != 0 {
		t.Fatalf("pull again: %s", r)
	}
	if daily := a.bank.Calls(bank.Daily); daily != 1 {
		t.Errorf("rates that are held were fetched again: %d times", daily)
	}

	// What is kept gives the same figures, and rates of one's own go before it, even
	// where they are loaded first.
	again, own := account+"-again", account+"-own"
	asks := map[string]harness.Client{again: h.Client(t, again), own: h.Client(t, own)}
	rates := "date,currency,usd\n"
	for _, day := range a.days {
		for _, currency := range currencyOf {
			rates += day.Format(time.DateOnly) + "," + currency + ",2\n"
		}
	}
	rates = house.Put(t, t.TempDir(), "rates.csv", []byte(rates))
	for _, load := range [][]string{{again, out}, {own, rates}, {own, out}} {
		if l, err := h.Program.Load(load[0], load[1]); err != nil || l.Code != 0 {
			t.Fatalf("loading %s: %v %s", load[1], err, l.Result)
		}
	}
	a.wantSpend(t, asks[again])
	twice := new(big.Rat)
	for i := range a.days {
		cost, _ := new(big.Rat).SetString(a.cost(i))
		twice.Add(twice, cost.Mul(cost, big.NewRat(int64(2*len(currencyOf)), 1)))
	}
	if answer, want := a.ask(t, asks[own]), fmt.Sprintf(`"spend":%s,`, twice.FloatString(2)); !strings.Contains(string(answer.Body), want) {
		t.Errorf("want %s, got %s", want, answer)
	}
}

// Whatever the bank's server answers: nothing that is held changes, and the next pull
// without the fault has the rates.
func TestAPullSurvivesWhatTheBankDoes(t *testing.T) {
	t.Parallel()
	h, a, account, out := house.Shared(t), newAbroad(t), house.AccountID(t), t.TempDir()
	ask := h.Client(t, account)
	a.connect(t, h, account)
	whole, err := bank.Zip("eurofxref.csv", "Date, USD, \n02 January 2026, 1.1, ")
	house.Need(t, err)
	future, err := bank.Zip("eurofxref.csv", "Date, USD, \n02 January 2099, 1.1, ")
	house.Need(t, err)
	for name, c := range map[string]struct {
		instead http.HandlerFunc
		want    string
	}{
		"is down":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "status 503, expected 200"},
		"is not there": {http.NotFound, "status 404, expected 200"},
		"sends a page": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>maintenance") }, `it begins with "<html>maintenance"`},
		"sends half":   {func(w http.ResponseWriter, _ *http.Request) { w.Write(whole[:len(whole)/2]) }, "damaged zip archive"},
		"breaks off":   {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1000"); w.Write(whole) }, "the answer broke off"},
		"sends elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		}, `it redirects to "http://169.254.169.254/latest", which is not followed`},
		"is ahead":       {func(w http.ResponseWriter, _ *http.Request) { w.Write(future) }, "has rates of 2099-01-02, expected none after"},
		"sends no rates": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Date, USD, \n02 January 2026, -1, \n") }, `row 2: USD is "-1", expected units`},
	} {
		a.bank.Instead(c.instead)
		r := a.pull(t, h, account, out, "--days", "14")
		if r.Code == 0 || !strings.Contains(r.Stderr, c.want) || !strings.Contains(r.Stderr, "no rate for EUR on") {
			t.Errorf("the bank %s: want %s, got %s", name, c.want, r)
		}
		if _, err := os.Stat(filepath.Join(out, "eurofxref-hist.csv")); err == nil {
			t.Errorf("the bank %s: a file of rates was kept", name)
		}
	}
	a.bank.Instead(nil)
	if r := a.pull(t, h, account, out); r.Code != 0 {
		t.Fatalf("pull: %s", r)
	}
	a.wantSpend(t, ask)
}

func TestRatesAreNotFetchedWhereNoneAreNeededOrWanted(t *testing.T) {
	t.Parallel()
	h, account := house.Shared(t), house.AccountID(t)
	h.Client(t, account)
	b := bank.New(time.Now())
	t.Cleanup(b.Close)
	p := house.PlatformOf(t)
	if r := house.Connect(t, h, p, account, house.CanarySecret); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
	pull := func(url string) harness.Result {
		return house.SpeakAs(t, h.Program, p, house.CanarySecret, house.CanaryRefresh, "pull", "--account", account, "--days", "2", "--out", t.TempDir(), "--poll", "10ms", "--rates-url", url)
	}
	if r := pull(b.URL()); r.Code != 0 || b.Calls(bank.Daily) != 0 {
		t.Errorf("an account in US dollars fetched rates %d times: %s", b.Calls(bank.Daily), r)
	}
	for _, address := range []string{"http://example.com/eurofxref.zip", "ftp://127.0.0.1/eurofxref.zip", "nothing"} {
		if r := pull(address); r.Code == 0 || !strings.Contains(r.Stderr, "--rates-url: the address of rates is \""+address+"\"; expected") {
			t.Errorf("%s: %s", address, r)
		}
	}
	a := newAbroad(t)
	abroad := account + "-abroad"
	h.Client(t, abroad)
	a.connect(t, h, abroad)
	if r := a.pull(t, h, abroad, t.TempDir(), "--rates-url", "none", "--days", "14"); r.Code == 0 || !strings.Contains(r.Stderr, "no rate for") || a.bank.Calls(bank.Daily) != 0 {
		t.Errorf("without rates: %s", r)
	}
}

// A server fetches what is missing by itself, also where the bank was down at first,
// and a restart does not fetch it again.
func TestAServerFetchesRatesWhenTheBankIsBack(t *testing.T) {
	t.Parallel()
	a := newAbroad(t)
	program := house.OwnProgram(t)
	key, err := program.Account("acme")
	house.Need(t, err)
	h := &house.House{Program: program}
	a.connect(t, h, "acme")
	a.bank.Instead(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	flags := append(house.AtPace(), "--metrics-listen", "127.0.0.1:0", "--platform-url", a.platform.URL(), "--platform-token-url", a.platform.TokenURL(), "--rates-url", a.bank.URL())
	server, err := program.Serve(flags...)
	house.Need(t, err)
	ask := harness.Client{Address: server.Address, Key: key}
	until := func(what string, reached func() bool) {
		t.Helper()
		for end := time.Now().Add(harness.Patience); !reached(); <-time.After(200 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %s", what, server.Log())
			}
		}
	}
	until("the failure was not logged", func() bool { return strings.Contains(server.Log(), "rates could not be fetched") })
	a.bank.Instead(nil)
	until("the rates did not come", func() bool { return a.bank.Calls(bank.History) == 1 })
	until("the reports were not loaded", func() bool {
		answer, want := a.spend(t, ask)
		return strings.Contains(string(answer.Body), want)
	})
	newest := fmt.Sprintf("adlens_newest_rate_timestamp_seconds %s\n", strconv.FormatFloat(float64(a.bank.Newest().Unix()), 'g', -1, 64))
	until("the metrics do not know the newest rate", func() bool {
		_, text := house.MetricsOf(t, server)
		return strings.Contains(text, newest)
	})
	house.Need(t, server.Stop())
	// The rates of another account are fetched after a look at this one.
	daily := a.bank.Calls(bank.Daily)
	_, err = program.Account("later")
	house.Need(t, err)
	a.connect(t, h, "later")
	server, err = program.Serve(flags...)
	house.Need(t, err)
	kept := filepath.Join(program.DataDir, "extracts", "later", "eurofxref-hist.csv")
	until("the other account has no rates", func() bool {
		_, err := os.Stat(kept)
		return err == nil
	})
	house.Need(t, server.Stop())
	if again := a.bank.Calls(bank.Daily); again != daily+1 {
		t.Errorf("a restart fetched the daily file %d times, expected once, for the account without rates", again-daily)
	}
}

// The rates of an account that is not connected come too, and its reports can be loaded.
// One in US dollars needs none.
func TestAServerFetchesRatesOfAnAccountThatIsNotConnected(t *testing.T) {
	t.Parallel()
	program, b := house.OwnProgram(t), bank.New(time.Now())
	t.Cleanup(b.Close)
	for id, profile := range map[string][4]string{"dollars": {"71", "US", "USD", "seller"}, "abroad": {"72", "DE", "EUR", "seller"}} {
		_, err := program.Account(id)
		house.Need(t, err)
		if l, err := program.Load(id, house.ProfilesFile(t, t.TempDir(), profile)); err != nil || l.Code != 0 {
			t.Fatalf("loading the profiles of %s: %v %s", id, err, l.Result)
		}
	}
	server, err := program.Serve(append(house.AtPace(), "--rates-url", b.URL())...)
	house.Need(t, err)
	house.Eventually(t, "the report has its rates", func() bool {
		report := house.SpPair("euros", "72", house.DaysAgo(5), 3, time.Now().Add(-time.Hour)).Write(t, t.TempDir())
		l, err := program.Load("abroad", report...)
		house.Need(t, err)
		return l.Code == 0
	})
	<-time.After(house.SeveralLooks)
	house.Need(t, server.Stop())
	if daily, history := b.Calls(bank.Daily), b.Calls(bank.History); daily != 1 || history != 1 {
		t.Errorf("the daily file was fetched %d times, the history %d times; expected each once", daily, history)
	}
	if _, err := os.Stat(filepath.Join(program.DataDir, "extracts", "dollars")); err == nil {
		t.Error("an account in US dollars has extracts")
	}
}
