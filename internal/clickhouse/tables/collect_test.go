package tables

import (
	"testing"

	"adlens/internal/tables"
)

func TestStatementsOfDeletionsAreBounded(t *testing.T) {
	many := make([]uint32, 2*DeletedAtOnce+1)
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
		if generations += of; of > DeletedAtOnce || len(some) > accountsAtOnce {
			t.Errorf("a statement deletes %d generations of %d accounts", of, len(some))
		}
	}
	if want := len(many) + 5 + 2*accountsAtOnce + 1; generations != want {
		t.Errorf("%d generations are deleted, expected %d", generations, want)
	}
}
