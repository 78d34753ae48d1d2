package query

import (
	"context"
	"errors"
	"testing"

	"adlens/internal/manifest"

	"github.com/google/go-cmp/cmp"
)

// counter is a store that counts the times that it was asked, and answers that number.
type counter struct {
	ListStore
	asked  int
	failed error
}

func (c *counter) ListCounts(context.Context, Statement) ([]ListCount, error) {
	c.asked++
	return []ListCount{{usKey, manifest.Campaigns, c.asked}}, c.failed
}

// holdingLists is a view whose campaigns and ads have these generations.
func holdingLists(account string, version, campaigns, ads uint32) View {
	v := exampleView()
	slice := manifest.Slice{Marketplace: usKey, AdProduct: 1}
	v.Account = account
	v.Manifest = manifest.New(version,
		manifest.Entry{Unit: manifest.Unit{Kind: manifest.Campaigns, Slice: slice}, Generation: campaigns},
		manifest.Entry{Unit: manifest.Unit{Kind: manifest.Ads, Slice: slice}, Generation: ads})
	return v
}

func TestListsAreCountedAgainOnlyWhenTheyChange(t *testing.T) {
	store := &counter{}
	s := NewService(nil, store)
	for _, c := range []struct {
		what     string
		view     View
		campaign int // the count, which says how often was counted when it was
	}{
		{"the first time", holdingLists("a", 1, 7, 8), 1},
		{"figures were loaded", holdingLists("a", 2, 7, 8), 1},
		{"another account with the same generations", holdingLists("b", 2, 7, 8), 2},
		{"new campaigns", holdingLists("a", 3, 9, 8), 3},
		{"new ads", holdingLists("a", 4, 9, 10), 4},
		{"the lists of before", holdingLists("a", 5, 7, 8), 1},
	} {
		infos, err := s.Marketplaces(context.Background(), c.view)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		us := infos[len(infos)-1]
		if diff := cmp.Diff(map[manifest.Kind]int{manifest.Campaigns: c.campaign}, us.Counts); diff != "" {
			t.Errorf("%s (-expected +got):\n%s", c.what, diff)
		}
	}
	if _, err := s.Marketplaces(context.Background(), exampleView()); err != nil || store.asked != 4 {
		t.Errorf("where no list is held: counted %d times in all, expected 4 (error %v)", store.asked, err)
	}
	s.Forget("a")
	for _, account := range []string{"a", "b"} {
		if _, err := s.Marketplaces(context.Background(), holdingLists(account, 2, 7, 8)); err != nil || store.asked != 5 {
			t.Errorf("after a repair of a, %s: counted %d times in all, expected 5 (error %v)", account, store.asked, err)
		}
	}
}

func TestACountThatFailedIsNotRemembered(t *testing.T) {
	store := &counter{failed: errors.New("away")}
	s := NewService(nil, store)
	v := holdingLists("a", 1, 7, 8)
	if _, err := s.Marketplaces(context.Background(), v); !errors.Is(err, store.failed) {
		t.Fatalf("the error is %v", err)
	}
	store.failed = nil
	if _, err := s.Marketplaces(context.Background(), v); err != nil || store.asked != 2 {
		t.Errorf("counted %d times, expected 2 (error %v)", store.asked, err)
	}
}

func TestAllRowsOfEveryListAreCounted(t *testing.T) {
	for _, endpoint := range []string{"campaigns", "ad-groups", "rules", "activity"} {
		store := &recordList{}
		most, err := NewService(nil, store).MostListed(t.Context(), exampleView(), ListRequest{Paging: Paging{Page: 1, PageSize: MaxRows, All: true}}, endpoint)
		if most != 3 || err != nil || len(store.asked) != 1 {
			t.Errorf("%s: %d rows at most, %v, %d statements", endpoint, most, err, len(store.asked))
		}
	}
}
