package period

import (
	"fmt"

	"adlens"
)

// Resolve returns the days of a named range. Where none of the account's days
// are held (held is false), oldestHeld is not looked at.
//
// The name is a named range: text of a client is compared with them first, and
// any other name is a mistake in the program and panics.
func Resolve(name Name, today, oldestHeld adlens.Day, held bool) Period {
	start, end := today, today
	switch name {
	case Today:
	case Yesterday:
		start, end = today-1, today-1
	case Last7Days, Last14Days, Last30Days, Last60Days, Last90Days:
		start = today - lengths[name] + 1
	case ThisMonth:
		start = today.FirstOfMonth()
	case LastMonth:
		end = today.FirstOfMonth() - 1
		start = end.FirstOfMonth()
	case ThisYear:
		start = today.FirstOfYear()
	case LastYear:
		end = today.FirstOfYear() - 1
		start = end.FirstOfYear()
	case AllTime:
		start = oldestUntil(today, oldestHeld, held)
	default:
		panic(fmt.Sprintf("period: %q is no named range", name))
	}
	return Period{Start: start, End: end, Range: name}
}

// lengths are the numbers of days of the ranges that end today, today counted.
var lengths = map[Name]adlens.Day{
	Last7Days: 7, Last14Days: 14, Last30Days: 30, Last60Days: 60, Last90Days: 90,
}

// oldestUntil keeps all_time from being reversed: figures of the future are
// held where a marketplace east of the asked time zone has a day more.
func oldestUntil(today, oldestHeld adlens.Day, held bool) adlens.Day {
	if !held {
		return today
	}
	return min(oldestHeld, today)
}
