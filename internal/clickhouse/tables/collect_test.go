package tables

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/tables"
)

// Reports of a month have a text of columns each, of which few are distinct.
func TestViewsTakeTheMemoryThatIsCounted(t *testing.T) {
	const months, reports = 2000, 20
	heapBytes := func() int {
		var m runtime.MemStats
		for range 2 { // a pool keeps what it has for one collection
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heapBytes()
	var entries []manifest.Entry
	for month := range months {
		u, err := ScanUnit(func(into ...any) error {
			*into[1].(*uint8), *into[2].(*uint16), *into[4].(*time.Time) = uint8(manifest.Month), uint16(month), time.Unix(0, 0)
			for i := range reports {
				*into[7].(*[]string) = append(*into[7].(*[]string), fmt.Sprintf("%036d", i))
				*into[8].(*[]time.Time) = append(*into[8].(*[]time.Time), time.Unix(int64(i), 0))
				*into[9].(*[]string) = append(*into[9].(*[]string), fmt.Sprintf("%064d", i))
				*into[10].(*[]uint32) = append(*into[10].(*[]uint32), 1)
				*into[11].(*[]string) = append(*into[11].(*[]string), strings.Repeat(fmt.Sprintf("column%d,", i%3), 80))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, u.Entry)
	}
	v := query.View{Manifest: manifest.New(1, entries...)}
	entries = nil
	taken, counted := heapBytes()-before, v.MemoryBytes()
	if 10*taken > 12*counted || 10*counted > 12*taken {
		t.Errorf("a view of %d reports takes %d bytes, of which %d are counted", months*reports, taken, counted)
	}
}

func TestStatementsOfDeletionsAreBounded(t *testing.T) {
	many := make([]uint32, 2*deletedAtOnce+1)
	all := []tables.Deletion{{Table: "facts", Account: "a", Generations: many}, {Table: "facts", Account: "b", Generations: many[:5]}}
	for range 2*accountsAtOnce + 1 {
		all = append(all, tables.Deletion{Table: "rates", Account: "c", Generations: many[:1]})
	}
	generations := 0
	for _, some := range groupDeletions(all) {
		of := 0
		for _, d := range some {
			of += len(d.Generations)
			if d.Table != some[0].Table {
				t.Errorf("one statement deletes of %s and %s", some[0].Table, d.Table)
			}
		}
		if generations += of; of > deletedAtOnce || len(some) > accountsAtOnce {
			t.Errorf("a statement deletes %d generations of %d accounts", of, len(some))
		}
	}
	if want := len(many) + 5 + 2*accountsAtOnce + 1; generations != want {
		t.Errorf("%d generations are deleted, expected %d", generations, want)
	}
}
