package loader_test

import (
	"path/filepath"
	"strings"
	"testing"

	"adlens/internal/platform"
	"adlens/loader"
)

// Profiles that another account has already are loaded, and reported once: they may be another
// client's, and stay. What an interrupted load has left is in no account.
func TestProfilesOfAnotherAccountAreNoticed(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	profile := func(id, country, name string) string {
		return `{"profileId": ` + id + `, "countryCode": "` + country + `", "currencyCode": "EUR", "timezone": "UTC", "accountInfo": {"type": "seller", "name": "` + name + `"}}`
	}
	write := func(dir string, profiles ...string) string {
		path := filepath.Join(t.TempDir(), dir, "profiles.json")
		writeFile(t, path, "["+strings.Join(profiles, ",")+"]")
		return path
	}
	first, second, left, own := t.Name()+"-c01", t.Name()+"-c02", t.Name()+"-left", t.Name()
	shared := []string{profile("7701", "FR", ""), profile("7702", "IT", "Lampade")}
	mustLoad(t, d.store(), first, write("c01", shared...))
	mustLoad(t, d.store(), second, write("c02", shared[1], profile("7703", "ES", "Faros")))
	if err := d.db.Loads.InsertMarketplaces(t.Context(), left, 3, []loader.Marketplace{{Key: 1, Profile: platform.Profile{ID: "7704"}}}); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		paths []string
		want  string // how the notice begins, with the folder of its file; "" for none
	}{
		{[]string{write("own", profile("7704", "DE", "Lampen"))}, ""},
		{[]string{write("a", profile("7705", "BE", "Lampen")), write("b", shared...)}, "b: new profiles of account " + own + " are in other accounts too: profile 7701 (FR) of account " + first +
			", profile 7702 (Lampade, IT) of account " + first + ", profile 7702 (Lampade, IT) of account " + second + "; if that is a mistake"},
		{[]string{write("again", shared...)}, ""},
		{[]string{write("more", shared[0], profile("7703", "ES", "Renamed\u202e"))}, "more: new profiles of account " + own + " are in other accounts too: profile 7703 (Renamed, ES) of account " + second + "; if"},
	} {
		result := load(t, d.store(), own, step.paths...)
		if result.Refused() > 0 {
			t.Fatalf("step %d: %+v", i, result)
		}
		told := ""
		for _, f := range result.Files {
			if f.Notice != "" {
				told += filepath.Base(filepath.Dir(f.File)) + ": " + f.Notice
			}
		}
		if !strings.HasPrefix(told, step.want) || (told == "") != (step.want == "") {
			t.Errorf("step %d: the notice is %q, expected %q", i, told, step.want)
		}
	}
}
