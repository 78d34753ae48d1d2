package commits_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"adlens/internal/commits"
)

// Writers that overtake one another, a change that is killed before its seal and
// merges in the background leave rows and seals of any number of revisions. None
// of them is a loss, and none hides one.
func TestADirectoryIsWholeWhereEveryRowIsAsNewAsItsSeals(t *testing.T) {
	row := func(account, table, key string, revision uint64) commits.DirectoryRow {
		return commits.DirectoryRow{Account: account, Table: table, Key: key, Revision: revision}
	}
	key := func(revision uint64) commits.DirectoryRow { return row("acme", "api_keys", "k", revision) }
	unread := map[string]error{"feeds": errors.New("checksum")}
	for name, c := range map[string]struct {
		directory commits.Directory
		lost      string // the accounts with what they lost
	}{
		"nothing":                      {commits.Directory{}, ""},
		"whole":                        {commits.Directory{Sealed: []commits.DirectoryRow{key(3), key(7)}, Held: []commits.DirectoryRow{key(7), key(3)}}, ""},
		"a change without its seal":    {commits.Directory{Sealed: []commits.DirectoryRow{key(3)}, Held: []commits.DirectoryRow{key(7)}}, ""},
		"a row without its seal":       {commits.Directory{Held: []commits.DirectoryRow{key(7)}}, ""},
		"a row is gone":                {commits.Directory{Sealed: []commits.DirectoryRow{key(3), key(7)}}, "acme: api_keys lost 1"},
		"the last change is gone":      {commits.Directory{Sealed: []commits.DirectoryRow{key(7)}, Held: []commits.DirectoryRow{key(3)}}, "acme: api_keys lost 1"},
		"others that came hide it not": {commits.Directory{Sealed: []commits.DirectoryRow{key(7)}, Held: []commits.DirectoryRow{row("acme", "api_keys", "new", 9), row("acme", "feeds", "k", 9)}}, "acme: api_keys lost 1"},
		"of one of two accounts": {commits.Directory{Sealed: []commits.DirectoryRow{row("a", "accounts", "a", 1), row("b", "accounts", "b", 1), row("b", "api_keys", "k", 2), row("b", "api_keys", "l", 2)},
			Held: []commits.DirectoryRow{row("a", "accounts", "a", 1)}}, "b: accounts lost 1; b: api_keys lost 2"},
		"a table that cannot be read": {commits.Directory{Sealed: []commits.DirectoryRow{row("a", "feeds", "f", 1), row("b", "accounts", "b", 1)},
			Held: []commits.DirectoryRow{row("b", "accounts", "b", 1)}, Unreadable: unread}, "a: feeds cannot be read: checksum"},
	} {
		faults := c.directory.Faults()
		var got []string
		for _, account := range slices.Sorted(maps.Keys(faults)) {
			for _, text := range faults[account] {
				got = append(got, account+": "+text)
			}
		}
		said := strings.ReplaceAll(strings.Join(got, "; "), " of its rows, or their last changes", "")
		if said != c.lost {
			t.Errorf("%s: lost is %q, expected %q", name, said, c.lost)
		}
	}
}
