package period

import "adlens"

// Part is what a period has of one calendar month or year.
type Part struct {
	First, Last adlens.Day // the whole calendar month or year
	From, To    adlens.Day // its days inside the period
}

// Whole reports whether all days of the month or year are inside the period.
func (p Part) Whole() bool { return p.From == p.First && p.To == p.Last }

// Days returns the number of days inside the period.
func (p Part) Days() int { return int(p.To-p.From) + 1 }

// Months returns the calendar months that the period touches, oldest first.
func (p Period) Months() []Part {
	return p.calendarParts(adlens.Day.FirstOfMonth, adlens.Day.LastOfMonth)
}

// Years returns the calendar years that the period touches, oldest first.
func (p Period) Years() []Part {
	return p.calendarParts(adlens.Day.FirstOfYear, adlens.Day.LastOfYear)
}

func (p Period) calendarParts(first, last func(adlens.Day) adlens.Day) []Part {
	var parts []Part
	for from := p.Start; from <= p.End; from = last(from) + 1 {
		parts = append(parts, Part{
			First: first(from), Last: last(from),
			From: from, To: min(last(from), p.End),
		})
	}
	return parts
}
