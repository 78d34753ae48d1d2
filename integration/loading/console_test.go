package loading_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/house"
	"adlens/integration/model"
)

// The same facts are the same figures, whether the console or the platform wrote
// them, in whatever order they come.
func TestReportsOfTheConsoleAreThoseOfThePlatform(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	for round := range house.Scaled(1) {
		seed := house.Seed(t)
		account, pairs, err := extracts.WriteConsole(t.TempDir(), seed, time.Now(), 40)
		house.Need(t, err)
		r := rand.New(rand.NewPCG(seed, 1))
		var tenants []*house.Tenant
		for i := range 3 {
			one := &house.Tenant{Files: account, Model: model.New()}
			one.Files.ID = fmt.Sprintf("%s-%d-%d", house.AccountID(t), round, i)
			one.Ask = h.Client(t, one.Files.ID)
			house.Load(t, h.Program, one, account.Base)
			r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
			for rest := pairs; len(rest) > 0; {
				var paths []string
				n := min(len(rest), 1+r.IntN(15))
				for _, pair := range rest[:n] {
					// The first account has the console's, the second the platform's, the third
					// some of both, and some twice.
					if i == 0 || i == 2 && r.IntN(3) > 0 {
						paths = append(paths, pair.Console)
					}
					if i == 1 || i == 2 && len(paths) == 0 || i == 2 && paths[len(paths)-1] != pair.Console {
						paths = append(paths, pair.Platform.Files()...)
					}
				}
				house.Load(t, h.Program, one, paths...)
				rest = rest[n:]
			}
			tenants = append(tenants, one)
		}
		asker := house.NewAsker(r, tenants[0].Model)
		for range 60 {
			house.SameAnswers(t, tenants, asker.Ask())
		}
		for _, one := range tenants[1:] {
			house.CheckAll(t, one.Ask, one.Model)
		}
	}
}

// A copy of a file changes nothing though the note that it was loaded is lost: a loader
// may have died before it.
func TestACopyOfAReportOfTheConsoleTakesNoDaysBack(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	id := house.AccountID(t)
	ask := h.Client(t, id)
	dir := t.TempDir()
	house.ProfilesFile(t, dir, [4]string{"101", "US", "USD", "seller"})
	row := func(day, cost string) string { return `"Nov ` + day + `, 2026",USD,C,G,B0A,10,1,` + cost + ",0,0\n" }
	at := time.Date(2026, 11, 5, 8, 0, 0, 0, time.UTC)
	load := func(name, rows string, at time.Time) {
		t.Helper()
		path := house.Put(t, dir, name, []byte(consoleHeader+rows))
		house.Need(t, os.Chtimes(path, at, at))
		if done, err := h.Load(id, dir); err != nil || done.Code != 0 {
			t.Fatalf("%v %s", err, done.Result)
		}
		house.Need(t, os.Remove(path))
	}
	both := row("02", "8.00") + row("03", "8.00")
	load("both.csv", both, at)
	load("newer.csv", row("02", "12.00"), at.Add(time.Hour))
	house.AsWriter(t, h.Program, "ALTER TABLE ledger DELETE WHERE account_id = '"+id+"'")
	load("copy.csv", both, at.AddDate(0, 0, 5))
	if answer, err := ask.Get("/api/v1/summary?range=all_time"); err != nil || !strings.Contains(string(answer.Body), `"spend":20.00,`) {
		t.Errorf("a copy of older figures took days back: %v %s", err, answer.Body)
	}
}

const consoleHeader = "Date,Currency,Campaign Name,Ad Group Name,Advertised ASIN,Impressions,Clicks,Spend,7 Day Total Sales ,7 Day Total Orders (#)\n"

// What a file of the console does not say comes from the command, or from the only
// profile that fits; else the file is refused. Copies of a file change nothing.
func TestWhatAReportOfTheConsoleDoesNotSay(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	id := house.AccountID(t)
	ask := h.Client(t, id)
	dir := t.TempDir()
	house.ProfilesFile(t, dir, [4]string{"101", "US", "USD", "seller"}, [4]string{"102", "CA", "CAD", "vendor"}, [4]string{"103", "US", "USD", "seller"}, [4]string{"104", "SG", "SGD", "seller"}, [4]string{"105", "DE", "EUR", "seller"})
	house.Put(t, dir, "rates.csv", []byte("date,currency,usd\n2026-11-02,SGD,0.75\n2026-11-02,CAD,0.7\n"))
	load := func(name, content string, at time.Time, args ...string) (status, text string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), name)
		house.Put(t, filepath.Dir(file), name, []byte(content))
		house.Need(t, os.Chtimes(file, at, at))
		done, err := h.Load(id, append(args, file)...)
		house.Need(t, err)
		status, text = done.Status(name)
		for _, f := range done.Files {
			text += f.Notice
		}
		return status, text
	}
	done, err := h.Load(id, dir)
	house.Need(t, err)
	if done.Code != 0 {
		t.Fatal(done.Result)
	}
	row := func(currency, cost string) string {
		return consoleHeader + `"Nov 02, 2026",` + currency + `,C,G,B0A,10,1,` + cost + `,0,0` + "\n"
	}
	unsaid := func(cost string) string { // without a column of the currency
		return strings.NewReplacer("Currency,", "", `2026",,`, `2026",`).Replace(row("", cost))
	}
	of := func(country string) string {
		return strings.Replace(consoleHeader, "Ad Group Name", "Country", 1) + `"Nov 02, 2026",SGD,C,` + country + ",B0A,10,1,1.00,0,0\n"
	}
	old, late := time.Date(2026, 11, 3, 8, 0, 0, 0, time.UTC), time.Date(2026, 11, 9, 8, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		name, content string
		at            time.Time
		args          []string
		status, says  string
		spend         string // of all, afterwards
	}{
		{"a.csv", row("USD", "1.00"), old, nil, "refused", "it could be of several profiles; say which with --profile: 101 (US, USD, seller), 103 (US, USD, seller)", ""},
		{"a.csv", row("GBP", "1.00"), old, nil, "refused", `its Currency is "GBP" and its Country "", expected those of a profile of the account`, ""},
		{"a.csv", row("CAD", "1.00"), old, nil, "refused", "it has no column purchases14d (in the platform's words), which figures of the vendor profile 102 follow from", ""},
		{"a.csv", row("USD", "1.00"), old, []string{"--profile", "104"}, "refused", `its Currency is "USD", expected SGD, the currency of profile 104`, ""},
		{"a.csv", row("USD", "1.00"), old, []string{"--profile", "999"}, "refused", "--profile is 999, expected a profile of the account", ""},
		{"a.csv", of("Italia"), old, nil, "refused", `its Currency is "SGD" and its Country "Italia", expected those of a profile of the account`, ""},
		{"a.csv", of("Italia"), old, []string{"--profile", "104"}, "refused", `its Country is "Italia", expected that of profile 104, SG`, ""},
		{"a.csv", of("Atlantis"), old, nil, "refused", `its Country is "Atlantis", which is not known here; say which profile it is of with --profile`, ""},
		{"a.csv", unsaid("£1.00"), old, []string{"--profile", "104"}, "refused", `its Currency is "GBP", expected SGD, the currency of profile 104`, ""},
		{"a.csv", unsaid("USD 1.00"), old, []string{"--profile", "104"}, "refused", `its Currency is "USD", expected SGD, the currency of profile 104`, ""},
		{"a.csv", unsaid("$1.00"), old, []string{"--profile", "105"}, "refused", `its amounts are marked "$", expected amounts in EUR, the currency of profile 105`, ""},
		{"a.csv", row("SGD", "1.00"), old.AddDate(0, 0, -3), nil, "refused", "the last day of its rows is 2026-11-02, expected a day at most one after 2026-10-31T08:00:00.000Z, when it was generated (the time of the file); say when with --generated-at", ""},
		{"a.csv", row("SGD", "1.00"), time.Now().AddDate(10, 0, 0), nil, "refused", "(the time of the file), more than a day in the future; say when with --generated-at", ""},
		{"other.csv", "a,b\n1,2\n", old, nil, "skipped", "no report of the advertising console", ""},
		{"~$a.xlsx", "lock", old, nil, "skipped", "a lock of a spreadsheet program", ""},
		{"a.csv", row("SGD", "8.00"), old, nil, "loaded", "spAdvertisedProduct of profile 104 (SG), the days 2026-11-02 to 2026-11-02, generated at 2026-11-03T08:00:00.000Z (the time of the file)", "6"},
		{"b.CSV", row("SGD", "12.00"), old.Add(time.Hour), nil, "loaded", "", "9"},
		{"a copy.csv", row("SGD", "8.00"), late, nil, "unchanged", "", "9"}, // its time is no news
		{"a.csv", row("SGD", "8.00"), late, []string{"--generated-at", "2026-11-03T07:00:00Z"}, "unchanged", "", "9"},
		{"a.csv", row("SGD", "8.00"), old, []string{"--generated-at", "2026-11-04T10:00:00+02:00"}, "loaded", "generated at 2026-11-04T08:00:00.000Z (--generated-at)", "6"},
		{"a.csv", row("SGD", "8.00"), old, []string{"--generated-at", "2026-11-04T08:00:00Z"}, "unchanged", "", "6"},
		{"a.csv", row("USD", "5.00"), old, []string{"--profile", "103"}, "loaded", "profile 103 (US)", "11"},
		{"a.csv", row("USD", "5.00"), old, []string{"--profile", "101"}, "loaded", "profile 103 has the figures of this report too: a report is of one profile", "16"},
		{"other.csv", row("SGD", "€1.00"), old, nil, "refused", "row 2: Spend is €1.00, expected an amount in SGD, the file's currency", ""},
		{"cut.csv", strings.TrimSuffix(row("SGD", "8.00"), "\n"), old, nil, "unchanged", "its last line does not end with a line break; if the file is cut off there, load it again once it is whole with --generated-at and a time after 2026-11-", ""},
		{"empty.csv", "", old, nil, "refused", "it is empty", ""},
		{"dollars.csv", unsaid("$4.00"), old.AddDate(0, 0, 1), []string{"--profile", "104"}, "loaded", "profile 104 (SG)", "13"},
		// What was loaded once is known: without the profile that was named, and with a time
		// that would be refused, also when newer reports speak for all of its days.
		{"a.csv", row("USD", "5.00"), old, nil, "unchanged", "", "13"},
		{"a.csv", row("USD", "5.00"), old, []string{"--profile", "104"}, "refused", `its Currency is "USD", expected SGD`, ""},
		{"a.csv", row("SGD", "8.00"), old.AddDate(0, 0, -3), nil, "unchanged", "", "13"},
	} {
		status, text := load(step.name, step.content, step.at, step.args...)
		if status != step.status || !strings.Contains(text, step.says) {
			t.Fatalf("%s of %v %v: %s, %s; expected %s, %s", step.name, step.at, step.args, status, text, step.status, step.says)
		}
		if step.spend == "" {
			continue
		}
		answer, err := ask.Get("/api/v1/summary?range=all_time")
		house.Need(t, err)
		if !strings.Contains(string(answer.Body), `"currency":"USD","spend":`+step.spend+`.00,`) {
			t.Errorf("after %s %v: %s, expected a spend of %s", step.name, step.args, answer.Body, step.spend)
		}
	}
}
