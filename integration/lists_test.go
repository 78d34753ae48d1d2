package integration_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/model"
)

// lister is an account with lists and records that are not loaded yet.
type lister struct {
	*tenant
	lists extracts.ListAccount
}

// listers writes accounts of which all have the same ids, and makes them in
// the shared house.
func listers(t *testing.T, h *house, o extracts.ListOptions) []lister {
	t.Helper()
	o.Now = time.Now()
	written, err := extracts.WriteLists(t.TempDir(), o)
	need(t, err)
	var all []lister
	for i, files := range written {
		one := lister{&tenant{model: model.New()}, files}
		one.files.ID = fmt.Sprintf("%s-%d-%d", name(t), o.Seed, i)
		one.ask = h.account(t, one.files.ID)
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
	h, from := sharedHouse(t), seed(t)
	all := listers(t, h, extracts.ListOptions{Seed: from, Accounts: 3, Exports: scaled(30), Campaigns: 40})
	for _, l := range all {
		checkLists(t, l.tenant) // nothing is read yet
		load(t, h.Program, l.tenant, l.lists.Base)
		checkLists(t, l.tenant)
	}
	// The accounts take turns, so that a mixture of them would be seen.
	for part := range 3 {
		for _, l := range all {
			n := len(l.lists.Exports)
			load(t, h.Program, l.tenant, append(l.exportPaths(n*part/3, n*(part+1)/3), l.lists.Records[part])...)
		}
		for _, l := range all {
			checkLists(t, l.tenant)
		}
	}
	for _, l := range all {
		for _, q := range narrowedLists(l.model) {
			check(t, l.ask, l.model, q)
		}
	}
}

func TestPagesOfEverySizeMakeUpTheWholeList(t *testing.T) {
	t.Parallel()
	h, from := sharedHouse(t), seed(t)
	l := listers(t, h, extracts.ListOptions{Seed: from, Accounts: 1, Exports: 4, Campaigns: 60})[0]
	load(t, h.Program, l.tenant, append(l.exportPaths(0, len(l.lists.Exports)), l.lists.Base, l.lists.Records[0])...)
	profile := l.lists.Profiles[0]
	for path, query := range map[string]string{
		"/campaigns": "marketplace_id=" + profile, "/ad-groups": "marketplace_id=" + profile, "/rules": "", "/activity": "",
	} {
		rows := rowsOf(t, l.model, ask(path, query))
		sizes := []int{7, rows - 1, rows, rows + 1, 1000}
		if rows < 20 {
			sizes = append(sizes, 1, 2)
		}
		for _, size := range sizes {
			if size > 0 {
				checkPages(t, l.tenant, ask(path, query), size, rows)
			}
		}
	}
	for _, q := range []question{ask("/rules", "page_size=all"), ask("/activity", "page_size=ALL"), ask("/activity", "page_size=all&tool=rule"), ask("/activity", "page_size=all&page=2")} {
		check(t, l.ask, l.model, q)
	}
}

func TestThousandsOfCampaignsArePagedCompletely(t *testing.T) {
	t.Parallel()
	h, from := sharedHouse(t), seed(t)
	l := listers(t, h, extracts.ListOptions{Seed: from, Accounts: 1, Campaigns: 3_400})[0]
	load(t, h.Program, l.tenant, append(l.exportPaths(0, len(l.lists.Exports)), l.lists.Base)...)
	profile := l.lists.Profiles[0]
	for _, path := range []string{"/campaigns", "/ad-groups"} {
		rows := rowsOf(t, l.model, ask(path, "marketplace_id="+profile))
		t.Logf("%s: %d rows", path, rows)
		for _, size := range []int{1000, 333} {
			checkPages(t, l.tenant, ask(path, "marketplace_id="+profile), size, rows)
		}
	}
	check(t, l.ask, l.model, ask("/marketplaces", ""))
}

func TestTheOrderOfLoadingExportsMakesNoDifference(t *testing.T) {
	t.Parallel()
	h, from := sharedHouse(t), seed(t)
	written := listers(t, h, extracts.ListOptions{Seed: from, Accounts: 1, Exports: 24, Campaigns: 25})[0]
	load(t, h.Program, written.tenant, append(written.exportPaths(0, len(written.lists.Exports)), written.lists.Base, written.lists.Records[0])...)
	checkLists(t, written.tenant)
	r := rand.New(rand.NewPCG(from, 19))
	for i, size := range []int{1, 5, 100} {
		again := lister{&tenant{model: model.New()}, written.lists}
		again.files.ID = fmt.Sprintf("%s-%d", written.files.ID, i)
		again.ask = h.account(t, again.files.ID)
		load(t, h.Program, again.tenant, again.lists.Base)
		if i == 0 {
			// Records first: what they say of campaigns holds for later lists.
			load(t, h.Program, again.tenant, again.lists.Records[0])
		}
		exports := slices.Clone(written.lists.Exports)
		r.Shuffle(len(exports), func(i, j int) { exports[i], exports[j] = exports[j], exports[i] })
		for part := range slices.Chunk(exports, size) {
			var paths []string
			for _, export := range part {
				paths = append(paths, export.Files()...)
			}
			load(t, h.Program, again.tenant, paths...)
		}
		if i > 0 {
			load(t, h.Program, again.tenant, again.lists.Records[0])
		}
		for _, q := range allLists(written.model) {
			sameAnswers(t, []*tenant{written.tenant, again.tenant}, q)
		}
	}
}
