package lists_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/house"
	"adlens/integration/model"
)

// lister is an account with lists and records that are not loaded yet.
type lister struct {
	*house.Tenant
	lists extracts.ListAccount
}

// listers writes accounts of which all have the same ids, and makes them in
// the shared house.
func listers(t *testing.T, h *house.House, o extracts.ListOptions) []lister {
	t.Helper()
	o.Now = time.Now()
	written, err := extracts.WriteLists(t.TempDir(), o)
	house.Need(t, err)
	var all []lister
	for i, files := range written {
		one := lister{&house.Tenant{Model: model.New()}, files}
		one.Files.ID = fmt.Sprintf("%s-%d-%d", house.AccountID(t), o.Seed, i)
		one.Ask = h.Client(t, one.Files.ID)
		all = append(all, one)
	}
	return all
}

func (l lister) exportPaths(from, to int) []string {
	var paths []string
	for _, export := range l.lists.Exports[from:to] {
		paths = append(paths, export.Files()...)
	}
	return paths
}

func TestEveryListIsTheOraclesForAccountsWithTheSameIds(t *testing.T) {
	t.Parallel()
	h, from := house.Shared(t), house.Seed(t)
	all := listers(t, h, extracts.ListOptions{Seed: from, Accounts: 3, Exports: house.Scaled(30), Campaigns: 40})
	for _, l := range all {
		house.CheckLists(t, l.Tenant) // nothing is read yet
		house.Load(t, h.Program, l.Tenant, l.lists.Base)
		house.CheckLists(t, l.Tenant)
	}
	// The accounts take turns, so that a mixture of them would be seen.
	for part := range 3 {
		for _, l := range all {
			n := len(l.lists.Exports)
			house.Load(t, h.Program, l.Tenant, append(l.exportPaths(n*part/3, n*(part+1)/3), l.lists.Records[part])...)
		}
		for _, l := range all {
			house.CheckLists(t, l.Tenant)
		}
	}
	for _, l := range all {
		for _, q := range house.NarrowedLists(l.Model) {
			house.Check(t, l.Ask, l.Model, q)
		}
	}
}

func TestPagesOfEverySizeMakeUpTheWholeList(t *testing.T) {
	t.Parallel()
	h, from := house.Shared(t), house.Seed(t)
	l := listers(t, h, extracts.ListOptions{Seed: from, Accounts: 1, Exports: 4, Campaigns: 60})[0]
	house.Load(t, h.Program, l.Tenant, append(l.exportPaths(0, len(l.lists.Exports)), l.lists.Base, l.lists.Records[0])...)
	profile := l.lists.Profiles[0]
	for path, query := range map[string]string{
		"/campaigns": "marketplace_id=" + profile, "/ad-groups": "marketplace_id=" + profile, "/rules": "", "/activity": "",
	} {
		rows := house.RowsOf(t, l.Model, house.NewQuestion(path, query))
		sizes := []int{7, rows - 1, rows, rows + 1, 1000}
		if rows < 20 {
			sizes = append(sizes, 1, 2)
		}
		for _, size := range sizes {
			if size > 0 {
				house.CheckPages(t, l.Tenant, house.NewQuestion(path, query), size, rows)
			}
		}
	}
	for _, q := range []house.Question{house.NewQuestion("/rules", "page_size=all"), house.NewQuestion("/activity", "page_size=ALL"), house.NewQuestion("/activity", "page_size=all&tool=rule"), house.NewQuestion("/activity", "page_size=all&page=2")} {
		house.Check(t, l.Ask, l.Model, q)
	}
}

func TestThousandsOfCampaignsArePagedCompletely(t *testing.T) {
	t.Parallel()
	h, from := house.Shared(t), house.Seed(t)
	l := listers(t, h, extracts.ListOptions{Seed: from, Accounts: 1, Campaigns: 3_400})[0]
	house.Load(t, h.Program, l.Tenant, append(l.exportPaths(0, len(l.lists.Exports)), l.lists.Base)...)
	profile := l.lists.Profiles[0]
	for _, path := range []string{"/campaigns", "/ad-groups"} {
		rows := house.RowsOf(t, l.Model, house.NewQuestion(path, "marketplace_id="+profile))
		t.Logf("%s: %d rows", path, rows)
		for _, size := range []int{1000, 333} {
			house.CheckPages(t, l.Tenant, house.NewQuestion(path, "marketplace_id="+profile), size, rows)
		}
	}
	house.Check(t, l.Ask, l.Model, house.NewQuestion("/marketplaces", ""))
}

func TestTheOrderOfLoadingExportsMakesNoDifference(t *testing.T) {
	t.Parallel()
	h, from := house.Shared(t), house.Seed(t)
	written := listers(t, h, extracts.ListOptions{Seed: from, Accounts: 1, Exports: 24, Campaigns: 25})[0]
	house.Load(t, h.Program, written.Tenant, append(written.exportPaths(0, len(written.lists.Exports)), written.lists.Base, written.lists.Records[0])...)
	house.CheckLists(t, written.Tenant)
	r := rand.New(rand.NewPCG(from, 19))
	for i, size := range []int{1, 5, 100} {
		again := lister{&house.Tenant{Model: model.New()}, written.lists}
		again.Files.ID = fmt.Sprintf("%s-%d", written.Files.ID, i)
		again.Ask = h.Client(t, again.Files.ID)
		house.Load(t, h.Program, again.Tenant, again.lists.Base)
		if i == 0 {
			// Records first: what they say of campaigns holds for later lists.
			house.Load(t, h.Program, again.Tenant, again.lists.Records[0])
		}
		exports := slices.Clone(written.lists.Exports)
		r.Shuffle(len(exports), func(i, j int) { exports[i], exports[j] = exports[j], exports[i] })
		for part := range slices.Chunk(exports, size) {
			var paths []string
			for _, export := range part {
				paths = append(paths, export.Files()...)
			}
			house.Load(t, h.Program, again.Tenant, paths...)
		}
		if i > 0 {
			house.Load(t, h.Program, again.Tenant, again.lists.Records[0])
		}
		for _, q := range house.AllLists(written.Model) {
			house.SameAnswers(t, []*house.Tenant{written.Tenant, again.Tenant}, q)
		}
	}
}
