package demo

import (
	"math"
	"time"
)

// A day counts the days since 1970-01-01.
type day int

func civil(y int, m time.Month, d int) day {
	return day(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// midnight is the beginning of the day in UTC.
func (d day) midnight() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

func (d day) civil() (int, time.Month, int) { return d.midnight().Date() }

func (d day) String() string { return d.midnight().Format(time.DateOnly) }

func (d day) weekday() time.Weekday { return d.midnight().Weekday() }

func (d day) monthStart() day {
	y, m, _ := d.civil()
	return civil(y, m, 1)
}

func (d day) nextMonth() day {
	y, m, _ := d.civil()
	return civil(y, m+1, 1)
}

// nth gives the month's n-th day of that weekday.
func nth(y int, m time.Month, w time.Weekday, n int) day {
	first := civil(y, m, 1)
	ahead := (int(w) - int(first.weekday()) + 7) % 7
	return first + day(ahead+7*(n-1))
}

// weekdays is the week's rhythm, Sunday first: people shop at weekends.
var weekdays = [7]float64{1.13, 1.05, 1.00, 0.97, 0.94, 0.90, 1.01}

// season is how much more than on an ordinary day everybody shops.
func season(d day) float64 {
	y, m, dom := d.civil()
	switch {
	case isSale(d):
		return 2.5
	case m == time.November:
		return 1 + 0.022*float64(dom)
	case m == time.December && dom <= 20:
		return 1.65 + 0.012*float64(dom)
	case m == time.December:
		return 0.85
	case m == time.January:
		return 0.84 + 0.004*float64(dom)
	case m == time.July && d < nth(y, time.July, time.Tuesday, 2):
		return 0.93 // shoppers wait for the sale
	}
	return 1
}

// isSale tells the two days of the July event and the four that follow the
// fourth Thursday of November.
func isSale(d day) bool {
	y, m, _ := d.civil()
	switch m {
	case time.July:
		tuesday := nth(y, time.July, time.Tuesday, 2)
		return d == tuesday || d == tuesday+1
	case time.November, time.December:
		thursday := nth(y, time.November, time.Thursday, 4)
		return d > thursday && d <= thursday+4
	}
	return false
}

// summer swings from -1 in mid-January to 1 in mid-July.
func summer(d day) float64 {
	return math.Cos(2 * math.Pi * float64(d.midnight().YearDay()-196) / 365.25)
}

// growth rises along an S around the middle year: it has a floor and a
// ceiling, so that a demonstration of any decade stays of one size.
func growth(d day, middle float64) float64 {
	years := 1970 + float64(d)/365.2425
	return 0.6 + 1.4/(1+math.Exp(-(years-middle)/1.4))
}

// mood is a slow wave in how readily people buy; markets are out of step.
func mood(d day, middle float64) float64 {
	return 1 + 0.1*math.Sin(2*math.Pi*float64(d)/410+middle*2)
}
