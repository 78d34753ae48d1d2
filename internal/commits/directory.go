package commits

import (
	"fmt"
	"slices"
)

// DirectoryRow is how far a row of the directory has come. Its changes are
// numbered, and the numbers only grow.
type DirectoryRow struct {
	Account, Table, Key string
	Revision            uint64
}

// Directory is what is known of the rows of accounts, keys, feed links,
// connections of assistants and of the platform, and placements, which have no
// generations.
type Directory struct {
	Sealed     []DirectoryRow   // that were acknowledged
	Held       []DirectoryRow   // that are there; read after Sealed
	Unreadable map[string]error // by table
}

// Faults returns what each account lost of the directory. Rows that are not
// sealed yet are no fault: their change was not acknowledged.
func (d Directory) Faults() map[string][]string {
	type row struct{ table, key string }
	held := map[row]uint64{}
	for _, r := range d.Held {
		at := row{r.Table, r.Key}
		held[at] = max(held[at], r.Revision)
	}
	type place struct{ account, table string }
	behind := map[place]map[string]bool{} // the keys of rows, each of which may have many seals
	for _, r := range d.Sealed {
		if d.Unreadable[r.Table] == nil && held[row{r.Table, r.Key}] >= r.Revision {
			continue
		}
		at := place{r.Account, r.Table}
		if behind[at] == nil {
			behind[at] = map[string]bool{}
		}
		behind[at][r.Key] = true
	}
	faults := map[string][]string{}
	for at, keys := range behind {
		text := fmt.Sprintf("%s lost %d of its rows, or their last changes", at.table, len(keys))
		if err := d.Unreadable[at.table]; err != nil {
			text = fmt.Sprintf("%s cannot be read: %v", at.table, err)
		}
		faults[at.account] = append(faults[at.account], text)
	}
	for _, all := range faults {
		slices.Sort(all)
	}
	return faults
}
