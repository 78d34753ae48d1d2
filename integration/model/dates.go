package model

import "time"

// A day is written YYYY-MM-DD throughout, so days compare as text.
const dayLayout = "2006-01-02"

func parseDay(day string) (time.Time, error) { return time.Parse(dayLayout, day) }

func dayOf(t time.Time) string { return t.Format(dayLayout) }

// AddDays moves a day by whole calendar days.
func AddDays(day string, n int) string {
	t, err := parseDay(day)
	if err != nil {
		panic("model: not a day: " + day)
	}
	return dayOf(t.AddDate(0, 0, n))
}

// DaysIn counts the dates of a range, both ends included.
func DaysIn(start, end string) int {
	from, errFrom := parseDay(start)
	to, errTo := parseDay(end)
	if errFrom != nil || errTo != nil {
		panic("model: not a range: " + start + ".." + end)
	}
	// Both are midnights in UTC, where every day has 24 hours.
	return int(to.Sub(from).Hours()/24) + 1
}

func monthOf(day string) string { return day[:8] + "01" }
