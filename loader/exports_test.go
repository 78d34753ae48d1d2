package loader_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/platform"
	"adlens/loader"
)

// An export of one ad product whose object does not say so would empty the lists of the others
// without a word.
func TestAnExportThatEmptiesAListSaysSo(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	mustLoad(t, d.store(), t.Name(), writeBase(t))
	campaign := func(id string, p adlens.AdProduct) string {
		return fmt.Sprintf(`{"campaignId":%q,"adProduct":%q,"name":"n","state":"ENABLED"}`, id, p)
	}
	for i, step := range []struct {
		filter, rows string
		says         string
	}{
		{"", campaign("1", adlens.SponsoredProducts) + "," + campaign("2", adlens.SponsoredBrands) + "," + campaign("3", adlens.SponsoredBrands), ""},
		{`"adProductFilter":["SPONSORED_PRODUCTS"],`, campaign("1", adlens.SponsoredProducts), ""},
		{"", campaign("1", adlens.SponsoredProducts), "it has no campaigns of some ad products, and those that were listed are listed no more: 2 of SPONSORED_BRANDS; if the export was narrowed, load a newer one that has these too"},
		{"", campaign("1", adlens.SponsoredProducts), ""},
		{`"adProductFilter":["SPONSORED_BRANDS"],`, campaign("2", adlens.SponsoredBrands), ""},
		{"", "", "listed no more: 1 of SPONSORED_PRODUCTS, 1 of SPONSORED_BRANDS; if"},
	} {
		path := filepath.Join(t.TempDir(), "x.export.json")
		writeFile(t, path, fmt.Sprintf(`{"exportId":"%d","profileId":"1001","entity":"campaigns",%s"status":"COMPLETED","generatedAt":"2026-01-%02dT12:00:00Z"}`, i, step.filter, i+1))
		writeFile(t, filepath.Join(filepath.Dir(path), "x.json"), "["+step.rows+"]")
		if got := load(t, d.store(), t.Name(), path).Files[0]; got.Status != loader.Loaded || !strings.Contains(got.Notice, step.says) || step.says == "" && got.Notice != "" {
			t.Errorf("step %d: %s with %q, expected %q", i, got.Status, got.Notice, step.says)
		}
	}
}

// Of two contents of one export, which does not change, one is damaged, and the time
// does not say which.
func TestAnExportWithAnotherContentIsRefused(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	mustLoad(t, d.store(), t.Name(), writeBase(t))
	put := func(id, name string) loader.FileResult {
		path := filepath.Join(t.TempDir(), "x.export.json")
		writeFile(t, path, `{"exportId":"`+id+`","profileId":"1001","entity":"campaigns","status":"COMPLETED","generatedAt":"2026-01-05T12:00:00Z"}`)
		writeFile(t, filepath.Join(filepath.Dir(path), "x.json"), `[{"campaignId":"1","adProduct":"SPONSORED_PRODUCTS","name":"`+name+`","state":"ENABLED"}]`)
		return load(t, d.store(), t.Name(), path).Files[0]
	}
	for _, step := range []struct {
		id, name string
		status   loader.Status
		held     string
	}{{"b", "one", loader.Loaded, "one"}, {"b", "two", loader.Refused, "one"}, {"b", "one", loader.Unchanged, "one"}, {"a", "two", loader.Unchanged, "one"}, {"c", "two", loader.Loaded, "two"}, {"b", "other", loader.Unchanged, "two"}} {
		got := put(step.id, step.name)
		if held := d.lists(t, t.Name()); got.Status != step.status || !strings.HasSuffix(held, step.held+"\n") {
			t.Errorf("export %s with %s is %s, and held is %s; expected %s and %s", step.id, step.name, got.Status, held, step.status, step.held)
		}
		if got.Status == loader.Refused && !strings.Contains(*got.Error, "export b was loaded before with another content") {
			t.Error(*got.Error)
		}
	}
}

// An export that a wrong clock has dated goes after lists that are read from the platform,
// however often it is loaded, and is reported where that is by more than a day. Of exports
// the newest counts, whatever its time.
func TestAnExportOfTheFutureReplacesNoListThatWasRead(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	export := func(name string, at time.Time) string {
		dir := filepath.Join(t.TempDir(), name)
		writeFile(t, filepath.Join(dir, "x.export.json"), fmt.Sprintf(`{"exportId":%q,"profileId":"1001","entity":"campaigns","adProductFilter":["SPONSORED_PRODUCTS"],"status":"COMPLETED","generatedAt":%q}`, name, at.Format(time.RFC3339)))
		writeFile(t, filepath.Join(dir, "x.json"), `[{"campaignId":"1","adProduct":"SPONSORED_PRODUCTS","name":"`+name+`","state":"ENABLED"}]`)
		return dir
	}
	now := time.Now()
	future, further, past := export("future", now.AddDate(2, 0, 0)), export("further", now.AddDate(3, 0, 0)), export("past", now.AddDate(0, 0, -9))
	soon, later := export("soon", now.Add(8*time.Hour)), export("later", now.Add(23*time.Hour))
	read := func(t *testing.T, at time.Time) {
		t.Helper()
		lists := loader.Lists{ProfileID: profileUS, Currency: "USD", Read: []loader.List{{ListName: loader.ListName{Entity: platform.Campaigns, AdProduct: adlens.SponsoredProducts}, ReadAt: at, Sure: true,
			Campaigns: []platform.Campaign{{ID: "1", Name: "read", AdProduct: adlens.SponsoredProducts, State: platform.Enabled}}}}}
		if err := replace(t.Context(), d.store(), t.Name(), lists); err != nil {
			t.Fatal(err)
		}
	}
	const ahead = "ahead"                            // a list that is read by a clock that is years ahead
	const apart = "apart"                            // by one that is minutes ahead
	for name, steps := range map[string][][2]string{ // each an export, "" for a list that is read, and what is held then
		"of the platform": {{future, "future"}, {further, "further"}, {"", "read"}, {future, "read"}, {further, "read"}},
		"hours ahead":     {{soon, "soon"}, {"", "read"}, {soon, "read"}, {later, "read"}},
		"other exports":   {{future, "future"}, {past, "future"}, {further, "further"}, {future, "further"}, {"", "read"}, {past, "read"}},
		"read in future":  {{past, "past"}, {ahead, "read"}, {past, "past"}},
		"clocks apart":    {{apart, "read"}, {past, "read"}, {soon, "read"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mustLoad(t, d.store(), t.Name(), writeBase(t))
			for i, step := range steps {
				switch path := step[0]; path {
				case "":
					read(t, time.Now())
				case ahead:
					read(t, now.AddDate(5, 0, 0))
				case apart:
					read(t, time.Now().Add(loader.ClockSlack*9/10))
				default:
					f := load(t, d.store(), t.Name(), path).Files[0]
					if wrong := path == future || path == further; f.Status == loader.Refused || strings.Contains(f.Notice, "more than a day in the future: exports") != wrong {
						t.Errorf("step %d: %s %q", i, f.Status, f.Notice)
					}
				}
				if held := d.lists(t, t.Name()); !strings.HasSuffix(held, step[1]+"\n") {
					t.Errorf("after step %d %q is held, expected %q", i, held, step[1])
				}
			}
		})
	}
}

// A name that a list alone gave stays known when a newer list does not have the campaign
// or ad group, whichever of the lists is loaded first; but not that of a wrong time.
func TestNamesOfListsStayKnown(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	dir := t.TempDir()
	export := func(at time.Time, entity, rows string) string {
		path := filepath.Join(dir, entity+at.Format("20060102"), "x.export.json")
		writeFile(t, path, fmt.Sprintf(`{"exportId":"1","profileId":"1001","entity":%q,"adProductFilter":["SPONSORED_PRODUCTS"],"status":"COMPLETED","generatedAt":%q}`, entity, at.Format(time.RFC3339)))
		writeFile(t, filepath.Join(filepath.Dir(path), "x.json"), "["+rows+"]")
		return path
	}
	campaign := func(id, name string) string {
		return fmt.Sprintf(`{"campaignId":%q,"adProduct":"SPONSORED_PRODUCTS","name":%q,"state":"ENABLED"}`, id, name)
	}
	day := func(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }
	lists := []string{
		export(day(1), "campaigns", campaign("1", "Lamp")+","+campaign("2", "Chair")),
		export(day(2), "campaigns", campaign("2", "Stool")),
		export(day(3), "campaigns", campaign("3", "Table")),
		export(day(1), "adGroups", `{"adGroupId":"7",`+campaign("1", "Group")[1:]),
		export(day(2), "adGroups", ""),
	}
	for i, order := range [][]int{{0, 1, 2, 3, 4}, {0, 2, 1, 4, 3}, {1, 0, 2, 3, 4}, {1, 2, 0, 4, 3}, {2, 0, 1, 3, 4}, {2, 1, 0, 4, 3}} {
		account := fmt.Sprint(t.Name(), i)
		mustLoad(t, d.store(), account, writeBase(t))
		for _, n := range order {
			mustLoad(t, d.store(), account, lists[n])
		}
		for _, again := range load(t, d.store(), account, lists...).Files {
			if again.Status != loader.Unchanged {
				t.Errorf("loaded again after %v, %s is %s", order, again.File, again.Status)
			}
		}
		if i == 0 {
			mustLoad(t, d.store(), account, export(time.Now().AddDate(1, 0, 0), "campaigns", campaign("9", "wrong")))
			if err := replace(t.Context(), d.store(), account, listsOf(0, time.Now(), true)); err != nil {
				t.Fatal(err)
			}
		}
		var known []string
		for _, cells := range d.query(t, account, `SELECT entity_id, name FROM entities WHERE account_id = {account:String} AND generation IN `+live+` ORDER BY entity_id`) {
			known = append(known, strings.Join(cells, " "))
		}
		want := "1 Lamp, 2 Stool, 7 Group"
		if i == 0 {
			want = "1 Lamp, 2 Stool, 3 Table, 7 Group"
		}
		if got := strings.Join(known, ", "); got != want {
			t.Errorf("after %v %s are known, expected %s", order, got, want)
		}
	}
}
