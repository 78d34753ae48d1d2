package query

import (
	"slices"

	"adlens"
)

// A generation's rows are in the partitions of its months or years alone, and
// a statement that does not say which reads too much: in each part where the
// next account begins, the index does not say what generations a granule has.

// CalendarMonths writes the months of days, each once, as an Array(UInt32)
// parameter of numbers that toYYYYMM makes.
func CalendarMonths(days []adlens.Day) string {
	return distinctNumbers(days, func(d adlens.Day) uint32 { return uint32(d.Year()*100) + uint32(d.Time().Month()) })
}

// CalendarYears writes the years of days, each once, as toYear makes them.
func CalendarYears(days []adlens.Day) string {
	return distinctNumbers(days, func(d adlens.Day) uint32 { return uint32(d.Year()) })
}

func distinctNumbers(days []adlens.Day, numberOf func(adlens.Day) uint32) string {
	numbers := make([]uint32, len(days))
	for i, d := range days {
		numbers[i] = numberOf(d)
	}
	slices.Sort(numbers)
	return Numbers(slices.Compact(numbers))
}

// startsOf are the days on which units begin.
func startsOf(units []Live) []adlens.Day {
	starts := make([]adlens.Day, len(units))
	for i := range units {
		starts[i] = units[i].Start
	}
	return starts
}
