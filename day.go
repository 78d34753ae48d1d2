package adlens

import (
	"fmt"
	"time"
)

// Day is a calendar day, counted from 1970-01-01. Days are days of the
// marketplace that they belong to; no time zone is attached, and none can
// shift them.
type Day int32

// The days that figures can be stored for: those of ClickHouse's Date.
const (
	FirstStorableDay Day = 0
	LastStorableDay  Day = 65535 // 2149-06-06
)

const secondsPerDay = 24 * 60 * 60

// DayOf returns the calendar day of an instant as its location reads it.
func DayOf(t time.Time) Day {
	return Date(t.Date())
}

// Date returns the day of a year, month and day of the month; values outside
// their usual ranges are carried over as time.Date does.
func Date(year int, month time.Month, day int) Day {
	seconds := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()
	return Day(seconds / secondsPerDay)
}

// ParseDay reads a day written YYYY-MM-DD that exists in the calendar.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, fmt.Errorf("%q is no calendar day of the form YYYY-MM-DD", text)
	}
	if t.Year() == 0 {
		return 0, fmt.Errorf("%q lies in the year zero, which no calendar has", text)
	}
	return DayOf(t), nil
}

// Time returns midnight UTC of the day, for callers that need a time.Time to
// carry a date.
func (d Day) Time() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// String writes the day as YYYY-MM-DD.
func (d Day) String() string { return d.Time().Format(time.DateOnly) }

// MarshalText writes the day as YYYY-MM-DD.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Year returns the calendar year of the day.
func (d Day) Year() int { return d.Time().Year() }

// DayOfMonth returns 1 to 31.
func (d Day) DayOfMonth() int { return d.Time().Day() }

// FirstOfMonth returns the first day of the day's month.
func (d Day) FirstOfMonth() Day { return d - Day(d.DayOfMonth()-1) }

// LastOfMonth returns the last day of the day's month.
func (d Day) LastOfMonth() Day { return d.FirstOfMonth().AddMonths(1) - 1 }

// FirstOfWeek is the Monday on or before the day.
func (d Day) FirstOfWeek() Day { return d - Day((d.Time().Weekday()+6)%7) }

// FirstOfYear returns 1 January of the day's year.
func (d Day) FirstOfYear() Day { return Date(d.Year(), time.January, 1) }

// LastOfYear returns 31 December of the day's year.
func (d Day) LastOfYear() Day { return Date(d.Year(), time.December, 31) }

// AddMonths returns the day n calendar months later; a day that the target
// month does not have becomes its last one.
func (d Day) AddMonths(n int) Day {
	year, month, day := d.Time().Date()
	first := Date(year, month+time.Month(n), 1)
	last := Date(year, month+time.Month(n)+1, 1) - 1
	return min(first+Day(day-1), last)
}

// AddYears returns the same date n years later; 29 February becomes the 28th
// in a year without it.
func (d Day) AddYears(n int) Day { return d.AddMonths(12 * n) }

// Days that figures may lag behind before it is a fault: the platform needs a day, a
// weekend is two, and a marketplace that stays behind its sisters is missing its
// reports.
const (
	StaleDays  = 4 // from the newest day with figures to today
	BehindDays = 7 // from a marketplace's newest day to the account's
)
