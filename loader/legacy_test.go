package loader_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/loader"
)

// brandsReport is a report of Sponsored Brands of a test: a v3 one where legacy is
// false. Rows are impressions and cost by campaign; "" is a campaign that is not
// named.
type brandsReport struct {
	id, profile, start, end string // of a legacy one both are the same
	legacy                  bool
	generated               time.Time
	rows                    []brandsRow
}

type brandsRow struct {
	day, campaign     string
	impressions, cost string
}

// write writes the report into a directory of its own and returns it.
func (r brandsReport) write(t testing.TB, dir string) string {
	t.Helper()
	object := map[string]any{"reportId": r.id, "profileId": r.profile, "generatedAt": r.generated}
	var rows []string
	for _, row := range r.rows {
		if r.legacy {
			rows = append(rows, fmt.Sprintf(`{"campaignId":%s,"campaignName":"c","impressions":%s,"clicks":1,"cost":%s,"attributedConversions14d":null,"attributedSales14d":%s}`,
				row.campaign, row.impressions, row.cost, row.cost))
			continue
		}
		campaign := ""
		if row.campaign != "" {
			campaign = `"campaignId":` + row.campaign + ","
		}
		rows = append(rows, fmt.Sprintf(`{"date":%q,%s"impressions":%s,"clicks":1,"cost":%s,"purchases":0,"sales":%s,"unitsSold":3}`, row.day, campaign, row.impressions, row.cost, row.cost))
	}
	if r.legacy {
		maps.Copy(object, map[string]any{"recordType": "campaigns", "status": "SUCCESS", "creativeType": "all", "reportDate": strings.ReplaceAll(r.start, "-", "")})
	} else {
		maps.Copy(object, map[string]any{"status": "COMPLETED", "startDate": r.start, "endDate": r.end, "configuration": map[string]any{
			"adProduct": "SPONSORED_BRANDS", "reportTypeId": "sbCampaigns", "timeUnit": "DAILY", "groupBy": []string{"campaign"},
			"columns": []string{"date", "campaignId", "impressions", "clicks", "cost", "purchases", "sales", "unitsSold"}}})
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, r.id)
	writeFile(t, filepath.Join(dir, "x.report.json"), string(text))
	writeFile(t, filepath.Join(dir, "x.json"), "["+strings.Join(rows, ",\n")+"]")
	return dir
}

// brandsList is an export of campaigns with what it says of their forms: one of
// true, false and null by campaign.
type brandsList struct {
	id, profile string
	generated   time.Time
	says        map[string]string
}

func (l brandsList) write(t testing.TB, dir string) string {
	t.Helper()
	object, err := json.Marshal(map[string]any{"exportId": l.id, "profileId": l.profile, "entity": "campaigns", "status": "COMPLETED", "generatedAt": l.generated, "adProductFilter": []string{"SPONSORED_BRANDS"}})
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, id := range slices.Sorted(maps.Keys(l.says)) {
		rows = append(rows, fmt.Sprintf(`{"campaignId":%q,"adProduct":"SPONSORED_BRANDS","name":"c","state":"ENABLED","isMultiAdGroupsEnabled":%s}`, id, l.says[id]))
	}
	dir = filepath.Join(dir, l.id)
	writeFile(t, filepath.Join(dir, "x.export.json"), string(object))
	writeFile(t, filepath.Join(dir, "x.json"), "["+strings.Join(rows, ",")+"]")
	return dir
}

// brandsOracle computes the figures of Sponsored Brands by campaign from all files
// that it was given, in the plainest way.
type brandsOracle struct {
	reports []brandsReport
	lists   []brandsList
	rates   map[string]*big.Rat // of euros, by day
}

// speaks is the report of a kind that speaks for a day, nil for none.
func (o *brandsOracle) speaks(legacy bool, profile, day string) *brandsReport {
	var best *brandsReport
	for i := range o.reports {
		r := &o.reports[i]
		if r.legacy != legacy || r.profile != profile || day < r.start || day > r.end {
			continue
		}
		if best == nil || r.generated.After(best.generated) || r.generated.Equal(best.generated) && r.id > best.id {
			best = r
		}
	}
	return best
}

// isLegacy reports whether a list ever said that a campaign has one ad group.
func (o *brandsOracle) isLegacy(profile, campaign string) bool {
	return slices.ContainsFunc(o.lists, func(l brandsList) bool { return l.profile == profile && l.says[campaign] == "false" })
}

// facts are impressions, own cost and dollars, by profile, day and campaign.
func (o *brandsOracle) facts(t testing.TB, profiles, days []string) map[string]string {
	all := map[string]string{}
	for _, profile := range profiles {
		for _, day := range days {
			sums := map[string][2]*big.Rat{}
			add := func(r brandsRow) {
				if sums[r.campaign][0] == nil {
					sums[r.campaign] = [2]*big.Rat{{}, {}}
				}
				for i, n := range []string{r.impressions, r.cost} {
					sums[r.campaign][i].Add(sums[r.campaign][i], number(t, n))
				}
			}
			if r := o.speaks(false, profile, day); r != nil {
				for _, row := range r.rows {
					if row.day == day {
						add(row)
					}
				}
			}
			v3 := maps.Clone(sums)
			if r := o.speaks(true, profile, day); r != nil {
				for _, row := range r.rows {
					_, twice := v3[row.campaign]
					if _, unclear := v3[""]; !twice && !unclear && o.isLegacy(profile, row.campaign) {
						add(row)
					}
				}
			}
			dollars := o.shares(profile, day, sums)
			for campaign, s := range sums {
				all[profile+" "+day+" "+campaign] = s[0].FloatString(0) + " " + s[1].FloatString(9) + " " + dollars[campaign]
			}
		}
	}
	return all
}

// shares are the dollars of the campaigns of a day, rounded together.
func (o *brandsOracle) shares(profile, day string, sums map[string][2]*big.Rat) map[string]string {
	rate := big.NewRat(1, 1)
	if profile == profileDE {
		rate = o.rates[day]
	}
	scale := new(big.Rat).Mul(rate, big.NewRat(1_000_000, 1))
	ids := slices.Sorted(maps.Keys(sums)) // none first: it is the last of equals
	if len(ids) > 0 && ids[0] == "" {
		ids = append(ids[1:], "")
	}
	total := new(big.Rat)
	whole, rest := map[string]*big.Int{}, map[string]*big.Rat{}
	left := new(big.Int)
	for _, id := range ids {
		exact := new(big.Rat).Mul(sums[id][1], scale)
		whole[id] = new(big.Int).Quo(exact.Num(), exact.Denom())
		rest[id] = new(big.Rat).Sub(exact, new(big.Rat).SetInt(whole[id]))
		total.Add(total, exact)
		left.Sub(left, whole[id])
	}
	rounded, _ := new(big.Int).SetString(total.FloatString(0), 10)
	left.Add(left, rounded)
	slices.SortStableFunc(ids, func(a, b string) int { return rest[b].Cmp(rest[a]) })
	shares := map[string]string{}
	for i, id := range ids {
		n := new(big.Int).Set(whole[id])
		if int64(i) < left.Int64() {
			n.Add(n, big.NewInt(1))
		}
		shares[id] = n.String()
	}
	return shares
}

// brandsFacts are the same as they are stored, of the slices that are answered.
func (d *database) brandsFacts(t testing.TB, account string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, c := range d.query(t, account, `SELECT marketplace_id, toString(day), entity_id, sum(impressions),
 toString(CAST(sum(toDecimal128(spend_local, 9)) + sum(toDecimal128(spend_local_rest, 9)) / 100000000000000, 'Decimal(38, 9)')), sum(reinterpretAsUInt64(spend))
FROM facts
LEFT JOIN (SELECT entity_key AS campaign_key, entity_id FROM entities WHERE account_id = {account:String} AND generation IN `+live+`) AS e USING (campaign_key)
INNER JOIN (SELECT marketplace_key, marketplace_id FROM marketplaces WHERE account_id = {account:String} AND generation IN `+live+`) AS m USING (marketplace_key)
WHERE account_id = {account:String} AND ad_product = 2 AND generation IN `+live+`
 AND generation NOT IN (SELECT generation FROM commit_units WHERE account_id = {account:String} AND kind = 1 AND ad_product = 4)
GROUP BY ALL`) {
		cost := number(t, c[4])
		all[c[0]+" "+c[1]+" "+c[2]] = c[3] + " " + cost.FloatString(9) + " " + c[5]
	}
	return all
}

// Reports of both kinds, lists that say one thing and another, and rates, in any
// order: after every step the figures are those of the files so far, each campaign
// counts once a day, and dollars are rounded once for a day.
func TestLegacyReportsCountWhatV3OnesLeaveOut(t *testing.T) {
	d := openShared(t)
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			u := newBrandsUniverse(t, rand.New(rand.NewPCG(seed, 11)))
			account := t.Name()
			mustLoad(t, d.store(), account, u.base)
			for left := u.random.Perm(len(u.steps)); len(left) > 0; {
				n := min(len(left), 1+u.random.IntN(4))
				var paths []string
				for _, i := range left[:n] {
					paths = append(paths, u.steps[i].path)
					u.steps[i].take(&u.oracle)
				}
				left = left[n:]
				mustLoad(t, d.store(), account, paths...)
				want, got := u.oracle.facts(t, []string{profileUS, profileDE}, u.days), d.brandsFacts(t, account)
				for _, key := range slices.Sorted(maps.Keys(want)) {
					if got[key] != want[key] {
						t.Errorf("%s: %s is held, expected %s", key, got[key], want[key])
					}
				}
				if len(got) != len(want) {
					t.Errorf("%d campaigns' days are held, expected %d", len(got), len(want))
				}
				if faults, err := loader.Verify(t.Context(), d.store(), account); err != nil || len(faults) > 0 {
					t.Errorf("%v %v", faults, err)
				}
				if t.Failed() {
					t.Fatalf("after %v", paths)
				}
			}
		})
	}
}

// brandsUniverse is files of all kinds that have to do with legacy reports.
type brandsUniverse struct {
	random *rand.Rand
	base   string
	days   []string
	steps  []brandsStep
	oracle brandsOracle
}

type brandsStep struct {
	path string
	take func(*brandsOracle)
}

func newBrandsUniverse(t testing.TB, random *rand.Rand) *brandsUniverse {
	u := &brandsUniverse{random: random, oracle: brandsOracle{rates: map[string]*big.Rat{}}}
	dir := t.TempDir()
	var rates []string
	for day := range 6 {
		date := fmt.Sprintf("2026-01-%02d", 28+day)
		if day > 3 {
			date = fmt.Sprintf("2026-02-%02d", day-3)
		}
		u.days = append(u.days, date)
		u.oracle.rates[date] = number(t, "1.0873217")
		rates = append(rates, date+",EUR,1.0873217")
	}
	u.base = writeBase(t, rates...)
	at := func(hours int) time.Time { return time.Date(2026, 2, 3+random.IntN(3), hours, 0, 0, 0, time.UTC) }
	for n, profile := range []string{profileUS, profileDE} {
		everyCampaign := map[string]string{}
		for c := range 6 {
			everyCampaign[campaignOf(n, c)] = []string{"false", "true", "null"}[random.IntN(3)]
		}
		first := brandsList{fmt.Sprint("list-0-", n), profile, at(5), everyCampaign}
		u.oracle.lists = append(u.oracle.lists, first)
		first.write(t, u.base)
		for i := range 3 {
			l := brandsList{fmt.Sprint("list-", i+1, "-", n), profile, at(5), map[string]string{}}
			for c := range 6 {
				if random.IntN(3) > 0 {
					l.says[campaignOf(n, c)] = []string{"false", "true", "null"}[random.IntN(3)]
				}
			}
			u.steps = append(u.steps, brandsStep{l.write(t, dir), func(o *brandsOracle) { o.lists = append(o.lists, l) }})
		}
		for i := range 10 {
			r := u.drawReport(n, i, i%2 == 0)
			r.profile, r.generated = profile, at(6)
			u.steps = append(u.steps, brandsStep{r.write(t, dir), func(o *brandsOracle) { o.reports = append(o.reports, r) }})
		}
	}
	rated := u.days[random.IntN(len(u.days))]
	var later []string
	for _, day := range u.days {
		if day >= rated {
			later = append(later, day+",EUR,1.1919193")
		}
	}
	rateDir := t.TempDir()
	writeRates(t, rateDir, later...)
	u.steps = append(u.steps, brandsStep{rateDir, func(o *brandsOracle) {
		for _, line := range later {
			o.rates[line[:10]] = number(t, "1.1919193")
		}
	}})
	return u
}

func campaignOf(profile, n int) string { return fmt.Sprint(144158449488730000 + 100*profile + n) }

func (u *brandsUniverse) drawReport(n, i int, legacy bool) brandsReport {
	first := u.random.IntN(len(u.days))
	last := first
	if !legacy {
		last = min(len(u.days)-1, first+u.random.IntN(4))
	}
	r := brandsReport{id: fmt.Sprintf("r%d-%d-%d", u.random.IntN(5), i, n), start: u.days[first], end: u.days[last], legacy: legacy}
	for day := first; day <= last; day++ {
		for c := range 6 {
			if u.random.IntN(3) > 0 {
				continue
			}
			row := brandsRow{u.days[day], campaignOf(n, c), fmt.Sprint(u.random.IntN(50) + 1), fmt.Sprintf("%d.%03d", u.random.IntN(9), u.random.IntN(1000))}
			if !legacy && u.random.IntN(25) == 0 {
				row.campaign = ""
			}
			r.rows = append(r.rows, row)
		}
	}
	return r
}

// What of a legacy report is wrong is refused by name, and changes nothing.
func TestLegacyReportsAreRefusedByName(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	mustLoad(t, d.store(), t.Name(), writeBase(t), brandsList{"l", profileUS, time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), map[string]string{"7": "false"}}.write(t, t.TempDir()))
	good := brandsReport{id: "o", profile: profileUS, start: "2026-01-30", legacy: true, generated: time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC), rows: []brandsRow{{"", "7", "5", "1.5"}}}
	for says, change := range map[string][2]string{
		`creativeType is video, expected all`:                       {`"creativeType":"all"`, `"creativeType":"video"`},
		`creativeType is missing, expected all`:                     {`"creativeType":"all",`, ``},
		`status is IN_PROGRESS, expected SUCCESS`:                   {`SUCCESS`, `IN_PROGRESS`},
		`recordType is keywords, expected campaigns`:                {`"recordType":"campaigns"`, `"recordType":"keywords"`},
		`reportDate is 2026-01-30, expected a day written YYYYMMDD`: {`20260130`, `2026-01-30`},
		`reportDate is 20260230, expected a day written YYYYMMDD`:   {`20260130`, `20260230`},
		`at most one after the report's generatedAt`:                {`20260130`, `20260204`},
		`profileId is 3, expected a profile of the account`:         {`"profileId":"1001"`, `"profileId":3`},
		`row 1: campaignId is 9, expected a campaign`:               {`"campaignId":7`, `"campaignId":9`},
		`row 1: campaignId is missing, expected a campaign`:         {`"campaignId":7`, `"campaignId":null`},
		`attributedSales14d is missing, expected a value`:           {`,"attributedSales14d":1.5`, ``},
		`cost is -1.5, expected an amount`:                          {`"cost":1.5`, `"cost":-1.5`},
	} {
		dir := good.write(t, t.TempDir())
		for _, name := range []string{"x.report.json", "x.json"} {
			text := strings.Replace(readText(t, filepath.Join(dir, name)), change[0], change[1], 1)
			writeFile(t, filepath.Join(dir, name), text)
		}
		result := load(t, d.store(), t.Name(), dir)
		if f := result.Files[0]; f.Status != loader.Refused || !strings.Contains(*f.Error, says) {
			t.Errorf("want %q, got %s", says, f.Status)
			if f.Error != nil {
				t.Error(*f.Error)
			}
		}
	}
	if held := d.brandsFacts(t, t.Name()); len(held) > 0 {
		t.Errorf("%v is held", held)
	}
}

// Rows without figures need no list, and what does not count is reported.
func TestWhatOfLegacyReportsDoesNotCountIsSaid(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	at := time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)
	legacy := brandsReport{id: "o", profile: profileUS, start: "2026-01-30", legacy: true, generated: at,
		rows: []brandsRow{{"", "7", "5", "1.5"}, {"", "8", "5", "1.5"}, {"", "6", "5", "1.5"}, {"", "7", "5", "0.25"}, {"", "5", "4", "2"}, {"", "4", "3", "1"}}}
	v3 := brandsReport{id: "n", profile: profileUS, start: "2026-01-30", end: "2026-01-30", generated: at, rows: []brandsRow{{"2026-01-30", "7", "2", "1"}, {"2026-01-30", "4", "3", "1"}}}
	mustLoad(t, d.store(), t.Name(), writeBase(t), v3.write(t, t.TempDir()))
	// All in one command: the list comes before the legacy report.
	result := load(t, d.store(), t.Name(), legacy.write(t, t.TempDir()), brandsList{"l", profileUS, at, map[string]string{"4": "null", "5": "null", "6": "true", "7": "false", "8": "false"}}.write(t, t.TempDir()))
	// Of campaign 4 no list says its form, but the v3 report has its figures.
	const want = "2 campaigns left to sbCampaigns, because they may have several ad groups; refused campaign 5: no list says isMultiAdGroupsEnabled of it, so its figures may be missing; refused campaign 7: sbCampaigns reports it on that day too"
	if f := result.Files[1]; f.Status != loader.Loaded || !strings.HasSuffix(f.Notice, want) {
		t.Errorf("%+v, want the notice %q", f, want)
	}
	held := d.brandsFacts(t, t.Name())
	if len(held) != 3 || held[profileUS+" 2026-01-30 7"] != "2 1.000000000 1000000" || held[profileUS+" 2026-01-30 8"] != "5 1.500000000 1500000" {
		t.Errorf("held is %v", held)
	}
	// What no list said, a list says later, and counts then.
	mustLoad(t, d.store(), t.Name(), brandsList{"k", profileUS, at.Add(-time.Hour), map[string]string{"5": "false"}}.write(t, t.TempDir()))
	if held := d.brandsFacts(t, t.Name()); len(held) != 4 || held[profileUS+" 2026-01-30 5"] != "4 2.000000000 2000000" {
		t.Errorf("after the older list, held is %v", held)
	}
	if !d.countsLegacy(t, t.Name(), "2026-01-30") {
		t.Error("the legacy report does not speak for its day")
	}
	unnamed := brandsReport{id: "m", profile: profileUS, start: "2026-01-30", end: "2026-01-30", generated: at.Add(time.Hour), rows: []brandsRow{{"2026-01-30", "", "2", "1"}}}
	mustLoad(t, d.store(), t.Name(), unnamed.write(t, t.TempDir()))
	if held := d.brandsFacts(t, t.Name()); len(held) != 1 {
		t.Errorf("next to a report that names no campaigns, %v is held", held)
	}
	if d.countsLegacy(t, t.Name(), "2026-01-30") {
		t.Error("the legacy report speaks for a day of which nothing of it counts: answers would not say that campaigns are left out")
	}
}

// The v3 report takes a campaign from a legacy one that was loaded before, and a
// notice says so.
func TestAV3ReportSaysWhatItTakesFromALegacyOne(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	at := time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)
	legacy := brandsReport{id: "o", profile: profileUS, start: "2026-01-30", legacy: true, generated: at, rows: []brandsRow{{"", "6", "5", "1"}, {"", "7", "5", "1.5"}}}
	v3 := brandsReport{id: "n", profile: profileUS, start: "2026-01-30", end: "2026-01-30", generated: at, rows: []brandsRow{{"2026-01-30", "7", "2", "1"}}}
	mustLoad(t, d.store(), t.Name(), writeBase(t), brandsList{"l", profileUS, at, map[string]string{"6": "true", "7": "false"}}.write(t, t.TempDir()), legacy.write(t, t.TempDir()))
	h := &heard{}
	l := loader.Loader{Store: d.store(), Progress: h}
	if _, err := l.Load(t.Context(), t.Name(), []string{v3.write(t, t.TempDir())}); err != nil {
		t.Fatal(err)
	}
	const want = "of the legacy report o: refused campaign 7: sbCampaigns reports it on that day too"
	if !slices.Equal(h.notices, []string{want}) {
		t.Errorf("said is %q, want %q alone", h.notices, want)
	}
}

// heard keeps the notices of a load.
type heard struct {
	silent
	notices []string
}

func (h *heard) Notice(text string) { h.notices = append(h.notices, text) }

// A day's dollars are rounded once. Where a legacy report is restated without the
// campaign whose share was rounded with the others', theirs go back.
func TestDollarsOfAV3ReportFollowTheLegacyOne(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	at := time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)
	const day = "2026-01-30"
	list := brandsList{"l", profileDE, at, map[string]string{"2": "false"}}
	v3 := brandsReport{id: "n", profile: profileDE, start: day, end: day, generated: at, rows: []brandsRow{{day, "1", "1", "0.6"}}}
	legacy := brandsReport{id: "o", profile: profileDE, start: day, legacy: true, generated: at, rows: []brandsRow{{"", "2", "1", "0.8"}}}
	empty := legacy
	empty.id, empty.generated, empty.rows = "p", at.Add(time.Hour), nil
	mustLoad(t, d.store(), t.Name(), writeBase(t, day+",EUR,1.000001"), list.write(t, t.TempDir()))
	for i, step := range []struct {
		report brandsReport
		want   string
	}{{v3, "600001"}, {legacy, "600000 800001"}, {empty, "600001"}} {
		mustLoad(t, d.store(), t.Name(), step.report.write(t, t.TempDir()))
		var got []string
		held := d.brandsFacts(t, t.Name())
		for _, key := range slices.Sorted(maps.Keys(held)) {
			fields := strings.Fields(held[key])
			got = append(got, fields[len(fields)-1])
		}
		if strings.Join(got, " ") != step.want {
			t.Errorf("step %d: dollars %v, want %s millionths", i, got, step.want)
		}
	}
}

func readText(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
