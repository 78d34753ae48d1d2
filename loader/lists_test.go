package loader_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/loader"

	"github.com/google/go-cmp/cmp"
)

// listsOf are lists of the US profile with n campaigns of each ad product,
// each with an ad group and an ad.
func listsOf(n int, at time.Time, sure bool) loader.Lists {
	read := loader.Lists{ProfileID: profileUS, Currency: "USD"}
	for _, name := range loader.ListNames() {
		l := loader.List{ListName: name, ReadAt: at, Sure: sure}
		for i := range n {
			p, id := name.AdProduct, fmt.Sprintf("9007199254740993%d%d", name.AdProduct, i)
			switch name.Entity {
			case platform.Campaigns:
				l.Campaigns = append(l.Campaigns, platform.Campaign{ID: id, Name: "of " + at.Format(time.TimeOnly), AdProduct: p, State: platform.Enabled})
			case platform.AdGroups:
				l.AdGroups = append(l.AdGroups, platform.AdGroup{ID: "g" + id, CampaignID: id, AdProduct: p, State: platform.Paused})
			case platform.Ads:
				l.Ads = append(l.Ads, platform.Ad{ID: "a" + id, AdGroupID: "g" + id, AdProduct: p, State: platform.Enabled})
			}
		}
		read.Read = append(read.Read, l)
	}
	return read
}

func replace(ctx context.Context, store loader.Store, account string, read loader.Lists) error {
	l := loader.Loader{Store: store, Progress: silent{}}
	return l.ReplaceLists(ctx, account, read)
}

// lists are all live rows of an account's lists, in one text.
func (d *database) lists(t testing.TB, account string) string {
	t.Helper()
	var b strings.Builder
	for _, cells := range d.query(t, account, `SELECT * FROM (
SELECT 'campaign', ad_product, campaign_id, name FROM campaigns WHERE account_id = {account:String} AND generation IN `+live+`
UNION ALL SELECT 'group', ad_product, ad_group_id, campaign_id FROM ad_groups WHERE account_id = {account:String} AND generation IN `+live+`
UNION ALL SELECT 'ad', ad_product, ad_id, ad_group_id FROM ads WHERE account_id = {account:String} AND generation IN `+live+`)
ORDER BY ALL`) {
		fmt.Fprintln(&b, strings.Join(cells, " "))
	}
	return b.String()
}

func TestListsThatAreReadTakeThePlaceOfOlderOnes(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	mustLoad(t, d.store(), t.Name(), writeBase(t))
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	put := func(read loader.Lists) (string, error) {
		err := replace(t.Context(), d.store(), t.Name(), read)
		return d.lists(t, t.Name()), err
	}
	four, err := put(listsOf(4, noon, false))
	if err != nil || strings.Count(four, "\n") != 36 {
		t.Fatalf("the first lists have %d rows, expected 36: %v", strings.Count(four, "\n"), err)
	}
	d.isAccounted(t, t.Name())
	if seen, err := put(listsOf(5, noon.Add(-time.Hour), false)); err != nil || seen != four {
		t.Errorf("older lists changed something: %v", err)
	}
	two, err := put(listsOf(2, noon.Add(time.Hour), false))
	if err != nil || strings.Count(two, "\n") != 18 {
		t.Errorf("half of the rows are not believed: %v", err)
	}
	var lost *loader.LostMost
	if seen, err := put(listsOf(0, noon.Add(2*time.Hour), false)); !errors.As(err, &lost) || lost.Held != 2 || lost.Read != 0 || seen != two {
		t.Errorf("lists that lost most of their rows: %v", err)
	}
	if seen, err := put(listsOf(0, noon.Add(2*time.Hour), true)); err != nil || seen != "" {
		t.Errorf("lists that are sure to be empty: %v", err)
	}
	empty := listsOf(0, noon.Add(3*time.Hour), true)
	empty.Read, empty.Refused = empty.Read[:6], []adlens.AdProduct{adlens.SponsoredDisplay}
	if _, err := put(empty); err != nil {
		t.Errorf("lists without an ad product of which no row is held: %v", err)
	}
	tomorrow := time.Now().AddDate(0, 0, 1)
	if _, err := put(listsOf(1, tomorrow, true)); err != nil {
		t.Error(err)
	}
	if seen, err := put(listsOf(3, time.Now(), true)); err != nil || strings.Count(seen, "\n") != 27 {
		t.Errorf("lists of tomorrow stay in the way: %v", err)
	}
	var leftOut *loader.LeftOut
	part := listsOf(1, time.Now(), true)
	part.Read, part.Refused = part.Read[:6], []adlens.AdProduct{adlens.SponsoredDisplay}
	if seen, err := put(part); !errors.As(err, &leftOut) || leftOut.AdProduct != adlens.SponsoredDisplay || strings.Count(seen, "\n") != 27 {
		t.Errorf("lists without an ad product that is held: %v", err)
	}
	other := listsOf(4, time.Now(), true)
	other.Currency = "EUR"
	if seen, err := put(other); err == nil || !strings.Contains(err.Error(), "lists it in EUR, expected USD") || strings.Count(seen, "\n") != 27 {
		t.Errorf("lists of amounts in another currency: %v", err)
	}
	if err := replace(t.Context(), d.store(), t.Name(), loader.Lists{ProfileID: "4711"}); err == nil || !strings.Contains(err.Error(), "4711") {
		t.Errorf("lists of an unknown profile: %v", err)
	}
}

// A list that could not be read stays as it is held, with its time, and keeps no
// other back.
func TestAListThatWasNotReadStaysAndTheOthersAreReplaced(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	mustLoad(t, d.store(), t.Name(), writeBase(t))
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	if err := replace(t.Context(), d.store(), t.Name(), listsOf(2, noon, true)); err != nil {
		t.Fatal(err)
	}
	for i, missing := range loader.ListNames() {
		next := listsOf(2, noon.Add(time.Duration(i+1)*time.Hour), true)
		for at := range next.Read { // each list has a time of its own
			next.Read[at].ReadAt = next.Read[at].ReadAt.Add(time.Duration(at) * time.Minute)
		}
		next.Read = slices.Delete(next.Read, i, i+1)
		before := d.listTimes(t, t.Name())
		if err := replace(t.Context(), d.store(), t.Name(), next); err != nil {
			t.Fatalf("without the %s: %v", missing, err)
		}
		want := map[loader.ListName]time.Time{missing: before[missing]}
		for _, l := range next.Read {
			want[l.ListName] = l.ReadAt
		}
		if diff := cmp.Diff(want, d.listTimes(t, t.Name())); diff != "" {
			t.Fatalf("without the %s (-want +got):\n%s", missing, diff)
		}
	}
}

// listTimes are the times of an account's live lists.
func (d *database) listTimes(t testing.TB, account string) map[loader.ListName]time.Time {
	t.Helper()
	m, err := d.db.Tables.Manifest(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	times := map[loader.ListName]time.Time{}
	for entity, kind := range map[platform.Entity]manifest.Kind{platform.Campaigns: manifest.Campaigns, platform.AdGroups: manifest.AdGroups, platform.Ads: manifest.Ads} {
		for _, e := range m.Of(kind) {
			times[loader.ListName{Entity: entity, AdProduct: e.Slice.AdProduct}] = e.Sources[0].GeneratedAt
		}
	}
	return times
}

func TestListsAreReplacedAllTogetherWhateverFails(t *testing.T) {
	d := openShared(t)
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	for _, kind := range []fault{notDone, answerLost, cancelled} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			mustLoad(t, d.store(), t.Name(), writeBase(t))
			if err := replace(t.Context(), d.store(), t.Name(), listsOf(2, noon, true)); err != nil {
				t.Fatal(err)
			}
			before := d.lists(t, t.Name())
			next := listsOf(3, noon.Add(time.Hour), true)
			for at := 1; ; at++ {
				ctx, cancel := context.WithCancel(t.Context())
				store := &faulty{store: d.store(), fault: kind, at: at, cancel: cancel}
				err := replace(ctx, store, t.Name(), next)
				cancel()
				seen := d.lists(t, t.Name())
				if whole := strings.Count(seen, "\n") == 27 && !strings.Contains(seen, "12:00:00"); seen != before && !whole {
					t.Fatalf("after call %d (%s) failed, this could be seen:\n%s", at, store.name, seen)
				}
				if store.name == "" {
					if err != nil || seen == before {
						t.Errorf("without a fault: %v", err)
					}
					return
				}
				if seen != before { // visible: the next one has to be newer to change anything
					before, next = seen, listsOf(3, next.Read[0].ReadAt.Add(time.Hour), true)
				}
			}
		})
	}
}

// Budgets and bids are stored without their currency, so that of a profile stays while
// lists with some are held.
func TestTheCurrencyOfHeldListsStays(t *testing.T) {
	t.Parallel()
	d := openShared(t)
	dir := writeBase(t)
	mustLoad(t, d.store(), t.Name(), dir)
	pesos := filepath.Join(t.TempDir(), "profiles.json")
	writeFile(t, pesos, strings.Replace(profilesText, `"USD"`, `"MXN"`, 1))
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	for i, kept := range []platform.Entity{platform.Campaigns, platform.AdGroups} {
		read := listsOf(1, noon.Add(time.Duration(i)*time.Hour), true)
		for j := range read.Read {
			if l := &read.Read[j]; l.Entity != kept { // an empty list has no amount, and ads have none
				l.Campaigns, l.AdGroups = nil, nil
			}
		}
		if err := replace(t.Context(), d.store(), t.Name(), read); err != nil {
			t.Fatal(err)
		}
		want := "profile 1001: currencyCode is MXN, expected USD, in which the budgets and bids of its lists are kept"
		if f := load(t, d.store(), t.Name(), pesos).Files[0]; f.Status != loader.Refused || *f.Error != want {
			t.Errorf("with a list of %v held, another currency is %s: %v", kept, f.Status, f.Error)
		}
		mustLoad(t, d.store(), t.Name(), dir) // the same one is no change
	}
	if err := replace(t.Context(), d.store(), t.Name(), listsOf(0, noon.Add(3*time.Hour), true)); err != nil {
		t.Fatal(err)
	}
	mustLoad(t, d.store(), t.Name(), pesos)
}

// Stored rows tell marketplaces by numbers of 16 bits.
func TestMoreProfilesThanHaveNumbersAreRefused(t *testing.T) {
	t.Parallel()
	added := platform.Profile{ID: profileUS}
	if n, err := loader.MergeProfiles(65_534, added); err != nil || n != 65_535 {
		t.Errorf("the last profile: %d, %v", n, err)
	}
	_, err := loader.MergeProfiles(65_535, added)
	if want := "profile 1001 would be one of 65536 of the account, expected at most 65535"; err == nil || err.Error() != want {
		t.Errorf("one more is refused as %v, expected %s", err, want)
	}
}
