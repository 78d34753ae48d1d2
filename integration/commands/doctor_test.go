package commands_test

import (
	"encoding/json"
	"fmt"
	"maps"
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

// Damage to one account of many, beside a server that runs: what was done is
// named, and nothing else.
func TestTheDoctorNamesWhatIsWrongWithAnAccount(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	h := house.Own(t)
	for _, c := range []struct {
		name   string
		damage string // %s is the account
		want   []sick
	}{
		{"nothing", "SELECT 1 /* %s */", nil},
		{"the total of a day is gone", "ALTER TABLE day_totals DELETE WHERE account_id = '%s' AND day = today() - 2",
			[]sick{{"manifest", "failed", "day_totals: "}, {"rollups", "failed", "day_totals differs from their facts: US 3982475484689176"}}},
		{"the total of a day is another", "ALTER TABLE day_totals UPDATE spend = spend + 0.000001 WHERE account_id = '%s' AND day = today() - 2",
			[]sick{{"rollups", "failed", "day_totals"}}},
		{"the total of a day is of another marketplace", "ALTER TABLE day_totals UPDATE marketplace_key = 7 WHERE account_id = '%s' AND day = today() - 2",
			[]sick{{"rollups", "failed", "day_totals"}}},
		{"what one product has too much another lacks", "ALTER TABLE month_products UPDATE clicks = if(product_key = 1, clicks + 1, clicks - 1) WHERE account_id = '%s'",
			[]sick{{"rollups", "failed", "month_products"}}},
		{"a year has no products", "ALTER TABLE year_products DELETE WHERE account_id = '%s'",
			[]sick{{"manifest", "failed", "year_products: "}, {"rollups", "failed", "year_products differs from their months: US 3982475484689176"}}},
		{"an amount of a campaign in its own currency is another", "ALTER TABLE month_ad_groups UPDATE spend_local_rest = spend_local_rest + 1 WHERE account_id = '%s'",
			[]sick{{"rollups", "failed", "month_ad_groups"}}},
		{"a fact changed", "ALTER TABLE facts UPDATE clicks = clicks + 1 WHERE account_id = '%s' AND day = today() - 2",
			[]sick{{"rollups", "failed", "day_totals"}, {"rollups", "failed", "month_products"}, {"rollups", "failed", "month_ad_groups"}}},
		{"facts are gone", "ALTER TABLE facts DELETE WHERE account_id = '%s' AND day = today() - 2",
			[]sick{{"manifest", "failed", "rows, "}}},
		{"numbers of products are gone", "ALTER TABLE products DELETE WHERE account_id = '%s'",
			[]sick{{"manifest", "failed", "products: the whole has 0 rows, "}}},
		{"titles are gone", "ALTER TABLE product_titles DELETE WHERE account_id = '%s'",
			[]sick{{"manifest", "failed", "product_titles: the whole has 0 rows, "}}},
		{"a load of tomorrow", "ALTER TABLE commits UPDATE committed_at = committed_at + INTERVAL 1 DAY WHERE account_id = '%s'",
			[]sick{{"clock", "failed", "this clock is late, or the database's was early"}}},
		{"a load that died", "INSERT INTO number_blocks SELECT account_id, max(next), max(next) + 1024, 'died' FROM number_blocks WHERE account_id = '%s' GROUP BY account_id",
			[]sick{{"dead_loads", "warning", "a load was interrupted"}}},
		{"an expired key", "INSERT INTO api_keys SELECT * REPLACE (now64(3) - INTERVAL 1 DAY AS expires_at, now64(9) AS updated_at) FROM api_keys WHERE account_id = '%s'",
			[]sick{{"keys", "warning", "expired at"}, {"keys", "warning", "no key or link is valid"}}},
		{"a key that will expire", "INSERT INTO api_keys SELECT * REPLACE (now64(3) + INTERVAL 10 DAY AS expires_at, now64(9) AS updated_at) FROM api_keys WHERE account_id = '%s'",
			[]sick{{"keys", "warning", "expires at"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			account := "doctor-" + house.AccountID(t)[len("testthedoctornameswhatiswrongwithanaccount-"):]
			healthy(t, h.Program, account)
			house.AsWriter(t, h.Program, fmt.Sprintf(c.damage, account))
			for _, f := range doctor(t, h.Program, c.want, "--account", account) {
				if f.Status != "ok" && !f.IsOfScratch() && (f.Account == nil || *f.Account != account) {
					t.Errorf("%s: %s is of no account", f.Check, f.Detail)
				}
			}
		})
	}
}

// Tables that no seal covers are read too. Where nothing depends on the rows of one that
// cannot be read, all keys go on working, and it is a warning.
func TestTheDoctorNamesBookkeepingThatCannotBeRead(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	for table, want := range map[string][]sick{
		"api_key_uses":  {{"bookkeeping", "warning", "api_key_uses cannot be read: "}},
		"day_uses":      {{"bookkeeping", "warning", "day_uses cannot be read: "}},
		"ledger":        {{"bookkeeping", "failed", "ledger cannot be read: "}},
		"number_blocks": {{"bookkeeping", "failed", "number_blocks cannot be read: "}, {"dead_loads", "failed", "it could not be checked"}},
	} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			p := house.OwnProgram(t)
			healthy(t, p, "acme")
			key, err := p.Account("other")
			house.Need(t, err)
			ask := func(change func()) {
				server, err := p.Serve("--limit-day", "1000")
				house.Need(t, err)
				a := house.Get(t, harness.Client{Address: server.Address, Key: key}, "/api/v1/account")
				ready := house.Get(t, harness.Client{Address: server.Address}, "/readyz")
				if a.Status != 200 || ready.Status != 200 {
					t.Errorf("the account: %s; readiness: %s", a, ready)
				}
				change()
				house.Need(t, server.Stop()) // which stores the last use
				house.Need(t, p.StopEngine())
			}
			ask(func() {})
			ask(func() {
				for _, part := range strings.Fields(house.AsWriter(t, p, "SELECT path FROM system.parts WHERE database = 'adlens' AND active AND rows > 0 AND table = '"+table+"'")) {
					house.Need(t, house.Flip(filepath.Join(part, "data.bin")))
				}
			})
			ask(func() {})
			doctor(t, p, want, "--account", "acme")
		})
	}
}

// The newest load counts: one that a clock dated ahead is of the past once another follows.
func TestALoadAtTheRightTimeEndsAFindingOfTheClock(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	h, account := house.Own(t), house.AccountID(t)
	healthy(t, h.Program, account)
	house.AsWriter(t, h.Program, fmt.Sprintf("ALTER TABLE commits UPDATE committed_at = committed_at + INTERVAL 1 DAY WHERE account_id = '%s'", account))
	doctor(t, h.Program, []sick{{"clock", "failed", "this clock is late"}}, "--account", account)
	dir := t.TempDir()
	house.Put(t, dir, "products.csv", []byte("product_id,title\nB0A,Lamp\nB0B,Shade\nB0C,Bulb\n"))
	if l, err := h.Program.Load(account, dir); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	if left := strings.TrimSpace(house.AsWriter(t, h.Program, fmt.Sprintf("SELECT count() > 0 FROM commits WHERE account_id = '%s' AND committed_at > now64(3)", account))); left != "1" {
		t.Fatalf("the loads that were dated ahead are gone: %q", left)
	}
	doctor(t, h.Program, nil, "--account", account)
}

// Links end also where no day was chosen: like keys, they are reported before their end,
// and after it if they were in use.
func TestTheDoctorWarnsOfLinksThatExpire(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	h, account := house.Own(t), house.AccountID(t)
	healthy(t, h.Program, account)
	create := func(command, name string, more ...string) (id string) {
		t.Helper()
		r := h.Run(append([]string{command, "create", "--account", account, "--name", name, "--json"}, more...)...)
		var made map[string]any
		house.Need(t, json.Unmarshal([]byte(r.Stdout), &made))
		return made[command+"_id"].(string)
	}
	soon := time.Now().UTC().AddDate(0, 0, 10).Format(time.DateOnly)
	create("feed", "year", "--request", "/summary")
	create("share", "month", "#/overview")
	feed := create("feed", "sheet", "--request", "/summary", "--expires", soon)
	share := create("share", "board", "#/overview", "--expires", soon)
	if r := h.Run("feed", "revoke", create("feed", "gone", "--request", "/summary", "--expires", soon)); r.Code != 0 {
		t.Fatal(r)
	}
	doctor(t, h.Program, []sick{{"keys", "warning", "feed " + feed + " (sheet) expires at"}, {"keys", "warning", "share link " + share + " (board) expires at"}}, "--account", account)
	house.AsWriter(t, h.Program, fmt.Sprintf("INSERT INTO feeds SELECT * REPLACE (now64(3) - INTERVAL 1 DAY AS expires_at, now64(9) AS updated_at) FROM feeds WHERE feed_id IN ('%s', '%s')", feed, share))
	house.AsWriter(t, h.Program, fmt.Sprintf("INSERT INTO api_key_uses (key_id, last_used_at) VALUES ('%s', now64(3) - INTERVAL 2 DAY)", feed))
	doctor(t, h.Program, []sick{{"keys", "warning", "feed " + feed + " (sheet) expired at"}}, "--account", account)
	house.AsWriter(t, h.Program, fmt.Sprintf("INSERT INTO api_keys SELECT * REPLACE (now64(3) - INTERVAL 1 DAY AS expires_at, now64(9) AS updated_at) FROM api_keys WHERE account_id = '%s'", account))
	doctor(t, h.Program, []sick{{"keys", "warning", "feed " + feed + " (sheet) expired at"}, {"keys", "warning", "expired at"}}, "--account", account) // links are answered still
}

// A reader of such a link gets no reason, so the operator has to see it.
func TestTheDoctorWarnsOfLinksThatAnswerNothing(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	h, account := house.Own(t), house.AccountID(t)
	healthy(t, h.Program, account)
	const profile = "3982475484689176"
	load := func(state string, rows int, generated time.Time) {
		t.Helper()
		dir := t.TempDir()
		row := house.With(house.CampaignRow("22", "Lamps", "USD"), "state", state)
		house.ExportPair(state, profile, "campaigns", generated, row).Write(t, dir)
		figures := house.SpPair("of-"+state, profile, house.DaysAgo(41), 1, generated)
		figures.Rows = figures.Rows[:rows]
		figures.Write(t, dir)
		if l, err := h.Load(account, dir); err != nil || l.Code != 0 {
			t.Fatalf("load: %v %s", err, l.Result)
		}
	}
	load("ENABLED", 1, time.Now().Add(-time.Hour))
	house.Feed(t, h, account, "/timeline?range=last_30_days")
	house.Share(t, h, account, "#/campaigns?marketplace_id="+profile)
	house.Share(t, h, account, "#/ad-groups?marketplace_id="+profile+"&campaign_id=22")
	refused := []string{
		house.Feed(t, h, account, "/ad-groups?marketplace_id="+profile+"&campaign_id=22"),
		house.Feed(t, h, account, "/report?dimensions=date&product_ids=B000,B0A"),
	}
	doctor(t, h.Program, nil, "--account", account)
	load("ARCHIVED", 0, time.Now().Add(-time.Minute))
	for _, path := range refused {
		if a := house.Get(t, harness.Client{Address: h.Server.Address}, path); a.Status != 404 {
			t.Errorf("%s: want 404, got %s", path, a)
		}
	}
	const unlisted, unknown = `(%s) answers 404: campaign_id: "22" is no campaign in the list`, `(sheet) answers 404: product_ids: "B000"`
	doctor(t, h.Program, []sick{{"keys", "warning", fmt.Sprintf(unlisted, "sheet")}, {"keys", "warning", unknown}, {"keys", "warning", fmt.Sprintf(unlisted, "board")}}, "--account", account)
}

func TestTheDoctorLeavesOutWhatTakesLong(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	h := house.Own(t)
	healthy(t, h.Program, house.AccountID(t))
	house.AsWriter(t, h.Program, fmt.Sprintf("ALTER TABLE day_totals UPDATE spend = spend + 0.000001 WHERE account_id = '%s'", house.AccountID(t)))
	for _, f := range doctor(t, h.Program, nil, "--account", house.AccountID(t), "--quick") {
		if f.Check == "rollups" {
			t.Errorf("with --quick: %v", f)
		}
	}
}

// A key that no server starts with is found before the first connection, too.
func TestTheDoctorReadsTheKeyThatIsNamed(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	open := filepath.Join(t.TempDir(), "open")
	house.Need(t, os.WriteFile(open, []byte("short"), 0o644))
	for path, want := range map[string]string{open + ".missing": "is missing", open: "can be read by others"} {
		if r := h.Run("doctor", "--quick", "--secret-key-file", path); r.Code == 0 || !strings.Contains(r.Stdout, want) {
			t.Errorf("%s: %s", path, r)
		}
	}
}

func TestTheDoctorKnowsAnUnknownAccount(t *testing.T) {
	t.Parallel()
	if r := house.Shared(t).Run("doctor", "--account", "nobody-at-all"); r.Code != 1 || !strings.Contains(r.Stderr, `account "nobody-at-all" does not exist`) {
		t.Errorf("%s", r)
	}
}

// An examination leaves everything as it was: no row, no part, no mutation, no
// file more or less.
func TestTheDoctorChangesNothing(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p := house.OwnProgram(t)
	server := house.Serve(t, p)
	healthy(t, p, "acct")
	state := func() string {
		return house.AsWriter(t, p, "SELECT table, sum(rows), countIf(level = 0) FROM system.parts WHERE database = 'adlens' AND active AND table != 'leases' GROUP BY table ORDER BY table") +
			house.AsWriter(t, p, "SELECT count() FROM system.mutations WHERE database = 'adlens'") + outside(t, p.DataDir)
	}
	before := state()
	doctor(t, p, nil)
	if after := state(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if answer, err := (harness.Client{Address: server.Address}).Get("/readyz"); err != nil || answer.Status != 200 {
		t.Errorf("the server meanwhile: %s %v", answer, err)
	}
}

// outside lists the files of a data directory but those of the engine's store.
func outside(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	house.Need(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || path == filepath.Join(dir, "engine", "store") {
			return filepath.SkipDir
		}
		info, err := entry.Info()
		if err == nil {
			fmt.Fprintln(&all, path, info.Mode(), info.Size())
		}
		return err
	}))
	return all.String()
}

func TestTheDoctorLooksAtTheConnection(t *testing.T) {
	t.Parallel()
	p, platform := house.OwnProgram(t), house.PlatformOf(t)
	healthy(t, p, "acct")
	if r := house.SpeakAs(t, p, platform, house.CanarySecret, house.CanaryRefresh, "connect", "--account", "acct", "--region", "NA", "--client-id", standin.DefaultClientID); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
	doctor(t, p, nil)
	platform.Revoke(house.CanaryRefresh)
	house.SpeakAs(t, p, platform, house.CanarySecret, house.CanaryRefresh, "pull", "--account", "acct", "--out", t.TempDir())
	refused := sick{"connection", "failed", "the platform refused its credentials"}
	doctor(t, p, []sick{refused})

	// A server whose platform does not answer at all.
	key, err := p.Key("acct")
	house.Need(t, err)
	server := house.Serve(t, p)
	house.Get(t, harness.Client{Address: server.Address, Key: key}, "/api/v1/campaigns?marketplace_id=3982475484689176")
	logged(t, server, "figures could not be refreshed")
	logged(t, server, "campaigns could not be read")
	all := doctor(t, p, []sick{refused, {"refresh", "warning", "figures could not be refreshed, once"}, {"lists", "warning", "the lists of US 3982475484689176 could not be read, once"}})
	for _, f := range all {
		if strings.Contains(f.Detail, "canary") {
			t.Errorf("a secret: %v", f)
		}
	}
}

// One list that the platform does not give is named, and the others are read.
func TestTheDoctorNamesAListThatFails(t *testing.T) {
	t.Parallel()
	p, platform := house.OwnProgram(t), house.PlatformOf(t)
	healthy(t, p, "acct")
	if r := house.SpeakAs(t, p, platform, house.CanarySecret, house.CanaryRefresh, "connect", "--account", "acct", "--region", "NA", "--client-id", standin.DefaultClientID); r.Code != 0 {
		t.Fatalf("connect: %s", r)
	}
	platform.Inject(standin.Fault{On: standin.SBCampaigns, Times: -1, Do: standin.Error(403, standin.Details, "not now")})
	key, err := p.Key("acct")
	house.Need(t, err)
	server, err := p.Serve(house.PlatformFlags(platform)...)
	house.Need(t, err)
	t.Cleanup(func() { _ = server.Stop() })
	house.Get(t, harness.Client{Address: server.Address, Key: key}, "/api/v1/campaigns?marketplace_id=3982475484689176")
	logged(t, server, "campaigns could not be read")
	logged(t, server, "figures were refreshed")
	doctor(t, p, []sick{{"lists", "warning", "the list of campaigns of SPONSORED_BRANDS of US 3982475484689176 could not be read, once"}})
}

func TestTheDoctorLooksAtRates(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	healthy(t, p, "acct")
	dir := t.TempDir()
	house.ProfilesFile(t, dir, [4]string{"31", "DE", "EUR", "seller"}, [4]string{"32", "EG", "EGP", "seller"}, [4]string{"33", "UK", "GBP", "seller"})
	today := time.Now().UTC()
	day := func(back int) string { return today.AddDate(0, 0, -back).Format(time.DateOnly) }
	house.Put(t, dir, "rates.csv", []byte("date,currency,usd\n"+day(9)+",GBP,1.3\n"+day(20)+",EUR,1.1\n"))
	house.Put(t, dir, "eurofxref-hist.csv", []byte("Date,USD,GBP,\n"+day(1)+",1.1,N/A,\n"))
	if l, err := p.Load("acct", dir); err != nil || l.Code != 0 {
		t.Fatalf("loading: %v %s", err, l.Result)
	}
	doctor(t, p, []sick{{"rates", "warning", "no rate of EGP is held: reports of EG 32 are refused"}, {"rates", "warning", "the newest rate of GBP is of " + day(9) + ", 9 days ago"}})
	house.Put(t, dir, "rates.csv", []byte("date,currency,usd\n"+day(2)+",GBP,1.3\n"+day(0)+",EGP,0.02\n"))
	if l, err := p.Load("acct", dir); err != nil || l.Code != 0 {
		t.Fatalf("loading: %v %s", err, l.Result)
	}
	for _, f := range doctor(t, p, nil) {
		if want := "the newest is of " + day(0) + ", every currency has one of " + day(2) + " or later"; f.Check == "rates" && f.Detail != want {
			t.Errorf("want %s, got %v", want, f)
		}
	}
}

// Campaigns that reports leave out are counted and named.
func TestTheDoctorNamesCampaignsThatReportsLeaveOut(t *testing.T) {
	t.Parallel()
	p := house.OwnProgram(t)
	healthy(t, p, "acct")
	dir := t.TempDir()
	days := []string{house.DaysAgo(5), house.DaysAgo(4), house.DaysAgo(3)} // midnight may pass while the test runs
	report := house.SpPair("brands", "3982475484689176", days[0], len(days), time.Now())
	report.Configuration()["adProduct"], report.Configuration()["reportTypeId"], report.Configuration()["groupBy"] = "SPONSORED_BRANDS", "sbCampaigns", []any{"campaign"}
	report.Configuration()["columns"], report.Rows = []any{"date", "impressions", "clicks", "cost", "purchases", "sales"}, []map[string]any{}
	report.Write(t, dir)
	var rows []map[string]any
	for i, name := range []string{"Old lamp", "Older lamp", "New lamp", "Lamp of next year"} {
		row := house.With(house.CampaignRow(fmt.Sprint(i+1), name, "USD"), "adProduct", "SPONSORED_BRANDS")
		rows = append(rows, house.With(row, "isMultiAdGroupsEnabled", i == 2))
	}
	rows[1]["state"], rows[3]["startDate"] = "ARCHIVED", house.DaysAgo(-300)
	house.ExportPair("campaigns", "3982475484689176", "campaigns", time.Now(), rows...).Write(t, dir)
	if l, err := p.Load("acct", dir); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	doctor(t, p, []sick{{"omissions", "warning", `SPONSORED_BRANDS of US 3982475484689176 are too low: the platform reports none of 2 campaigns with one ad group: "Old lamp" (1), "Older lamp" (2)`}})

	// Legacy reports have them: of the last of the days, and then of all.
	for i, day := range slices.Backward(days) {
		stem := "legacy-" + day
		house.Put(t, dir, stem+".report.json", house.Marshal(t, map[string]any{"reportId": stem, "recordType": "campaigns", "status": "SUCCESS", "creativeType": "all",
			"profileId": "3982475484689176", "reportDate": strings.ReplaceAll(day, "-", ""), "generatedAt": time.Now().UTC().Format(time.RFC3339)}))
		house.Put(t, dir, stem+".json", []byte(`[{"campaignId":1,"impressions":10,"clicks":1,"cost":2.5,"attributedConversions14d":0,"attributedSales14d":0}]`))
		if l, err := p.Load("acct", dir); err != nil || l.Code != 0 {
			t.Fatalf("load: %v %s", err, l.Result)
		}
		var want []sick
		if i > 0 {
			want = []sick{{"omissions", "warning", "2 campaigns with one ad group"}}
		}
		doctor(t, p, want)
	}
}

// logged waits until a server's log has some words.
func logged(t *testing.T, server *harness.Server, words string) {
	t.Helper()
	for until := time.Now().Add(harness.Patience); !strings.Contains(server.Log(), words); <-time.After(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the log never says %q: %s", words, server.Log())
		}
	}
}

func TestTheDoctorLooksAtTheAgeOfFigures(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	account := house.AccountID(t)
	_, err := h.Program.Account(account)
	house.Need(t, err)
	doctor(t, h.Program, []sick{{"data_age", "warning", "no figures are held"}}, "--account", account)
	dir := healthyFiles(t)
	old, err := filepath.Glob(filepath.Join(dir, "half-0.*"))
	house.Need(t, err)
	for _, path := range old {
		house.Need(t, os.Remove(path))
	}
	if l, err := h.Program.Load(account, dir); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	doctor(t, h.Program, []sick{{"data_age", "warning", "11 days ago"}}, "--account", account)
	if r := h.Run("account", "set", account, "--subscription", "canceled"); r.Code != 0 {
		t.Fatal(r)
	}
	doctor(t, h.Program, nil, "--account", account)
}

// Days between others that no report covers, and an ad product that ends before the others,
// are named: their figures are missing in every answer.
func TestTheDoctorNamesDaysThatNoReportCovers(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	account := house.AccountID(t)
	healthy(t, h.Program, account)
	const profile = "3982475484689176" // of a healthy account
	now := time.Now()
	day := func(back int) string { return now.UTC().AddDate(0, 0, -back).Format(time.DateOnly) }
	dir := t.TempDir()
	house.SpPair("older", profile, day(60), 11, now).Write(t, dir)
	display := house.SpPair("display", profile, day(30), 19, now)
	display.RawRows = []byte("[]")
	maps.Copy(display.Configuration(), map[string]any{"adProduct": "SPONSORED_DISPLAY", "reportTypeId": "sdAdvertisedProduct",
		"columns": []any{"date", "campaignId", "promotedAsin", "impressions", "clicks", "cost", "purchases", "sales"}})
	display.Write(t, dir)
	if l, err := h.Program.Load(account, dir); err != nil || l.Code != 0 {
		t.Fatalf("load: %v %s", err, l.Result)
	}
	doctor(t, h.Program, []sick{
		{"data_age", "warning", "no report that is loaded covers " + day(49) + " to " + day(41) + " of US " + profile + " SPONSORED_PRODUCTS"},
		{"data_age", "warning", "the figures of US " + profile + " end on " + day(12) + " for SPONSORED_DISPLAY, those of other ad products on " + day(1)},
	}, "--account", account)
}

func TestTheDoctorAsksRedis(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	account := house.AccountID(t)
	healthy(t, h.Program, account)
	address, stop := house.RedisServer(t)
	doctor(t, h.Program, nil, "--account", account, "--redis", address)
	stop()
	doctor(t, h.Program, []sick{{"limits_store", "failed", "Redis does not answer, or refuses: "}}, "--account", account, "--redis", address)
	for _, f := range doctor(t, h.Program, []sick{{"limits_store", "failed", "no address of a Redis"}}, "--account", account, "--redis", "redis//:s3cret@host") {
		if strings.Contains(f.Detail, "s3cret") {
			t.Errorf("the password is shown: %v", f)
		}
	}
}
