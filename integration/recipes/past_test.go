package recipes_test

import (
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"

	"adlens/integration/house"
)

// dayTable is a table by day in the finest grain that accounts of several
// marketplaces need.
const dayTable = "/report?dimensions=date,marketplace,ad_product"

// longTable is that table of a period whose days stay the same at midnight, with all
// days of followsThePast.
func longTable() string {
	return dayTable + "&start_date=" + house.DaysAgo(690) + "&end_date=" + house.DaysAgo(-30)
}

// followsThePast has a recipe update its table: at first, when nothing has
// changed, and after days were restated and withdrawn, long ones too. After
// each, the table must be what a full read gives. update returns the table, names
// first, with every value as CSV has it, and its requests. What an update took is
// returned by its name.
func followsThePast(t *testing.T, h *house.House, one *house.Tenant, fullRead string, update func() ([][]string, []costed)) map[string][]costed {
	t.Helper()
	took := map[string][]costed{}
	var before [][]string
	step := func(name string, changes bool) {
		t.Helper()
		want := house.CSVRows(t, house.Get(t, one.Ask, "/api/v1"+fullRead+"&page_size=all&format=csv").Body)
		got, requests := update()
		took[name] = requests
		if len(want) < 2 || !sameTable(got, want) {
			t.Fatalf("%s: the table is\n%v\na full read gives\n%v", name, got, want)
		}
		if changes == reflect.DeepEqual(before, want) {
			t.Fatalf("%s: a change is %t, but the figures are %v", name, changes, want)
		}
		before = want
	}
	load := func(write func(dir string)) {
		t.Helper()
		dir := t.TempDir()
		write(dir)
		house.Load(t, h.Program, one, dir)
	}
	step("first", true)
	step("unchanged", false)
	load(func(dir string) { // other figures, a withdrawn day, and one product less
		again := house.SpPair("restated", "101", house.DaysAgo(20), 6, time.Now().Add(-time.Minute))
		for _, row := range again.Rows {
			row["cost"] = house.Exact("7.77")
		}
		again.Rows = again.Rows[1:]
		again.Write(t, dir)
	})
	step("restated", true)
	load(func(dir string) {
		house.SpPair("newer", "101", house.DaysAgo(9), 5, time.Now().Add(-time.Minute)).Write(t, dir)
	})
	step("grown", true)
	load(func(dir string) { // days further back than any that were held
		house.SpPair("older", "101", house.DaysAgo(500), 3, time.Now().Add(-time.Minute)).Write(t, dir)
	})
	step("further back", true)
	load(func(dir string) {
		again := house.SpPair("corrected", "101", house.DaysAgo(499), 1, time.Now())
		again.Rows[0]["cost"] = house.Exact("3.21")
		again.Write(t, dir)
	})
	step("corrected long after", true)
	step("unchanged again", false)
	return took
}

// sameTable compares texts, and numbers by their value: a table shows 1.5 for
// 1.50. Rows may come in any order but the names first.
func sameTable(got, want [][]string) bool {
	if len(got) != len(want) {
		return false
	}
	left := map[string]int{}
	for i := range got {
		left[fmt.Sprint(i == 0, shownAs(got[i]))]++
		left[fmt.Sprint(i == 0, shownAs(want[i]))]--
	}
	for _, n := range left {
		if n != 0 {
			return false
		}
	}
	return true
}

func shownAs(row []string) []string {
	shown := make([]string, len(row))
	for i, cell := range row {
		shown[i] = strconv.Quote(cell)
		if n, err := strconv.ParseFloat(cell, 64); err == nil && len(cell) < 15 {
			shown[i] = strconv.FormatFloat(n, 'g', -1, 64)
		}
	}
	return shown
}

// bytesOf is what requests cost.
func bytesOf(requests []costed) (sum int) {
	for _, r := range requests {
		sum += r.Bytes
	}
	return sum
}

func TestTablesAreComparedByValueAndWithoutOrder(t *testing.T) {
	t.Parallel()
	names := []string{"id", "spend"}
	for _, c := range []struct {
		got  [][]string
		same bool
	}{
		{[][]string{names, {"a", "1.5"}, {"b", ""}}, true},
		{[][]string{names, {"b", ""}, {"a", "1.50"}}, true},
		{[][]string{names, {"b", "0"}, {"a", "1.50"}}, false},
		{[][]string{names, {"a", "1.50"}, {"a", "1.50"}}, false},
		{[][]string{names, {"a", "1.50"}}, false},
		{[][]string{{"a", "1.50"}, names, {"b", ""}}, false},
	} {
		if got := sameTable(c.got, [][]string{names, {"a", "1.50"}, {"b", ""}}); got != c.same {
			t.Errorf("%v: %t", c.got, got)
		}
	}
}
