package faults_test

import (
	"path/filepath"
	"strings"
	"testing"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// older is what commit 66ffd15d, the last one with 24 steps of the schema, left of an
// account "a": a data directory and the extracts that it had loaded. Its lists do not say
// which campaigns reports leave out, and have no hashes; its rates of the bank do not say
// when the file that they are from ends.
var older = landed{"testdata/older/schema-24"}

// wantStatus loads a folder into the account, and wants one outcome of one of its files.
func (l landed) wantStatus(t *testing.T, p *harness.Program, folder, stem, want string) {
	t.Helper()
	loaded, err := p.Load("a", folder)
	house.Need(t, err)
	if got, fault := loaded.Status(stem); got != want {
		t.Errorf("%s of %s is %q %s, expected %q", stem, folder, got, fault, want)
	}
}

// readFigures prints what the API answers of some days.
func readFigures(t *testing.T, p *harness.Program, first, last string) string {
	t.Helper()
	r := p.Run("figures", "--account", "a", "--json", "summary", "start_date="+first, "end_date="+last)
	if r.Code != 0 {
		t.Fatalf("figures: %s", r)
	}
	return r.Stdout
}

// An export that is loaded again after an upgrade brings what the older version did not
// read of it, once, and no older export takes that back.
func TestAnOlderDirectorysExportIsLoadedAgainOnce(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p, extracts := ownProgramAt(t, older.unpack(t, "data.tar.gz")), older.unpack(t, "extracts.tar.gz")
	before := t.TempDir()
	house.Put(t, before, "before.export.json", []byte(`{"exportId":"before","profileId":3318640271905824,"entity":"campaigns","adProductFilter":["SPONSORED_BRANDS"],"status":"COMPLETED","generatedAt":"2026-11-08T10:00:00Z"}`))
	house.Put(t, before, "before.json", []byte(`[{"campaignId":78,"adProduct":"SPONSORED_BRANDS","name":"Other","state":"ENABLED","isMultiAdGroupsEnabled":true}]`))
	names := func(want bool) {
		t.Helper()
		if said := readFigures(t, p, "2026-10-01", "2026-11-08"); strings.Contains(said, `"campaigns":[{"campaign_id":"77","campaign_name":"Video, legacy"}]`) != want {
			t.Errorf("the campaign that reports leave out is named: %v, expected %v: %s", !want, want, said)
		}
		if r := p.Run("doctor"); strings.Contains(r.Stdout, `"Video, legacy" (77)`) != want {
			t.Errorf("doctor names it: %v, expected %v: %s", !want, want, r)
		}
	}
	tells := func(want bool) {
		t.Helper()
		if r := p.Run("doctor", "--quick"); strings.Contains(r.Stdout, `the export "brands" of `) != want {
			t.Errorf("doctor asks for the export: %v, expected %v: %s", !want, want, r)
		}
	}
	names(false)
	tells(true)
	older.wantStatus(t, p, before, "before", "loaded") // its campaign was not known
	names(false)
	older.wantStatus(t, p, extracts, "brands", "loaded")
	names(true)
	tells(false)
	older.wantStatus(t, p, extracts, "brands", "unchanged")
	older.wantStatus(t, p, before, "before", "unchanged")
	names(true)
	other := house.Put(t, filepath.Join(t.TempDir(), "other"), "brands.json", []byte(`[{"campaignId":77,"adProduct":"SPONSORED_BRANDS","name":"Other","state":"ENABLED"}]`))
	object := house.Put(t, filepath.Dir(other), "brands.export.json", []byte(`{"exportId":"brands","profileId":3318640271905824,"entity":"campaigns","adProductFilter":["SPONSORED_BRANDS"],"status":"COMPLETED","generatedAt":"2026-11-09T10:00:00Z"}`))
	older.wantStatus(t, p, filepath.Dir(object), "brands", "refused") // its hash is known now
	names(true)
}

// Without a hash it is not known whether an export has the content that is held: names of
// campaigns that it lacks are kept, as those that leave a newer list are.
func TestAnOlderDirectorysExportTakesNoNameAway(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p, folder := ownProgramAt(t, older.unpack(t, "data.tar.gz")), t.TempDir()
	house.Put(t, folder, "brands.export.json", []byte(`{"exportId":"brands","profileId":3318640271905824,"entity":"campaigns","adProductFilter":["SPONSORED_BRANDS"],"status":"COMPLETED","generatedAt":"2026-11-09T10:00:00Z"}`))
	house.Put(t, folder, "brands.json", []byte(`[{"campaignId":78,"adProduct":"SPONSORED_BRANDS","name":"Other","state":"ENABLED"}]`))
	house.Put(t, folder, "newer.report.json", []byte(`{"reportId":"newer","profileId":3318640271905824,"status":"COMPLETED","startDate":"2026-11-06","endDate":"2026-11-06","generatedAt":"2026-11-10T08:00:00Z",
"configuration":{"adProduct":"SPONSORED_BRANDS","reportTypeId":"sbCampaigns","timeUnit":"DAILY","groupBy":["campaign"],"columns":["date","campaignId","impressions","clicks","cost","purchases","sales"]}}`))
	house.Put(t, folder, "newer.json", []byte(`[{"date":"2026-11-06","campaignId":77,"impressions":9,"clicks":3,"cost":1.5,"purchases":0,"sales":0}]`))
	older.wantStatus(t, p, folder, "brands", "loaded")
	older.wantStatus(t, p, folder, "brands", "unchanged")
	r := p.Run("figures", "--account", "a", "--json", "start_date=2026-11-06", "end_date=2026-11-06", "dimensions=campaign")
	if !strings.Contains(r.Stdout, `"Video, legacy"`) {
		t.Errorf("the campaign has no name: %s", r)
	}
}

// A file that ends earlier replaces nothing that an older version held of the bank; one that
// ends later or on the same day does.
func TestAnOlderDirectorysRatesAreNotTakenBack(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p, extracts := ownProgramAt(t, older.unpack(t, "data.tar.gz")), older.unpack(t, "extracts.tar.gz")
	rates := func(days ...string) string {
		dir := t.TempDir()
		house.Put(t, dir, "eurofxref-hist.csv", []byte("Date,USD,\n"+strings.Join(days, ",\n")+",\n"))
		return dir
	}
	earlier := rates("2026-11-06,1.99", "2026-11-02,1.99", "2026-09-01,1.11")
	for _, step := range []struct{ name, folder, status, spend string }{
		{"one that ends earlier adds its days alone", earlier, "loaded", "39.08"},
		{"loaded again", earlier, "unchanged", "39.08"},
		{"the one that is held", extracts, "unchanged", "39.08"},
		{"a correction of the same day", rates("2026-11-09,1.3", "2026-11-02,1.5"), "loaded", "50.10"},
		{"a correction of a later day", rates("2026-11-10,1.3", "2026-11-02,1.6"), "loaded", "53.44"},
		{"the one that was held", extracts, "unchanged", "53.44"},
		{"one that ends earlier once more", earlier, "unchanged", "53.44"},
	} {
		older.wantStatus(t, p, step.folder, "eurofxref-hist", step.status)
		if said := readFigures(t, p, "2026-11-02", "2026-11-02"); !strings.Contains(said, `"spend":`+step.spend+",") {
			t.Errorf("%s: expected a spend of %s: %s", step.name, step.spend, said)
		}
	}
}
