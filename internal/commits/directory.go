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

// Lost returns the rows that are missing, or whose last changes are, each once and
// without a number. Rows that are not sealed yet are not lost: their change was not
// acknowledged.
func (d Directory) Lost() (lost []DirectoryRow) {
	type row struct{ table, key string }
	held := map[row]uint64{}
	for _, r := range d.Held {
		at := row{r.Table, r.Key}
		held[at] = max(held[at], r.Revision)
	}
	known := map[DirectoryRow]bool{} // a row may have many seals
	for _, r := range d.Sealed {
		if d.Unreadable[r.Table] == nil && held[row{r.Table, r.Key}] >= r.Revision {
			continue
		}
		if r.Revision = 0; !known[r] {
			known[r] = true
			lost = append(lost, r)
		}
	}
	return lost
}

// Faults returns what each account lost of the directory.
func (d Directory) Faults() map[string][]string {
	type place struct{ account, table string }
	behind := map[place]int{}
	for _, r := range d.Lost() {
		behind[place{r.Account, r.Table}]++
	}
	faults := map[string][]string{}
	for at, rows := range behind {
		text := fmt.Sprintf("%s lost %d of its rows, or their last changes", at.table, rows)
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
