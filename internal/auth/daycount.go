package auth

import (
	"time"

	"adlens"
)

// dayLength is the length of every day of UTC.
const dayLength = 24 * time.Hour

// dayCount lets in at most quota calls on a calendar day of UTC.
//
// The wall clock says which day it is, and may be set back: the day of the
// counter does not follow it, else the same day could be used up twice. Where
// the clock was wrong by days before, the counter would stand for as long;
// 24 hours of the monotonic clock therefore end it all the same.
type dayCount struct {
	quota, used int
	elsewhere   int // that others let in, or may have
	day         adlens.Day
	began       time.Time // the first look at the counter on its day

	reservation *reservation // nil where calls need none
}

func newDayCount(quota int, now time.Time) *dayCount {
	return &dayCount{quota: quota, day: utcDay(now), began: now}
}

func (d *dayCount) waitTime(now time.Time) time.Duration {
	d.rollDay(now)
	if d.used+d.elsewhere < d.quota {
		return 0
	}
	return d.untilNext(now)
}

func (d *dayCount) countCall(now time.Time) {
	d.used++
	if d.reservation != nil {
		d.reservation.last = now
	}
}

// uncountCall leaves a day alone that began since.
func (d *dayCount) uncountCall(at time.Time) {
	if utcDay(at) == d.day {
		d.used = max(0, d.used-1)
	}
}

func (d *dayCount) windowState(now time.Time) Window {
	return Window{
		Name:          LimitDay,
		Quota:         d.quota,
		WindowSeconds: int(dayLength / time.Second),
		Remaining:     max(0, d.quota-d.used-d.elsewhere),
		ResetSeconds:  WholeSeconds(d.untilNext(now)),
	}
}

// isForgettable goes by the monotonic clock, and leaves a whole day in case the
// wall clock is set back: forgetting is a way to use a day up twice, too.
func (d *dayCount) isForgettable(now time.Time) bool { return now.Sub(d.began) >= 2*dayLength }

// rollDay begins a new day where the old one is over.
func (d *dayCount) rollDay(now time.Time) {
	if d.untilNext(now) <= 0 {
		reserves := d.reservation != nil
		*d = *newDayCount(d.quota, now)
		if reserves {
			d.reservation = &reservation{}
		}
	}
}

// untilNext returns when the day is over: at midnight, or 24 hours after it
// began where the wall clock will not even have reached the day by then.
func (d *dayCount) untilNext(now time.Time) time.Duration {
	until := d.began.Add(dayLength).Sub(now)
	if utcDay(now.Add(until)) < d.day {
		return until
	}
	midnight := (d.day + 1).Time()
	return midnight.Sub(now)
}

func utcDay(now time.Time) adlens.Day { return adlens.DayOf(now.UTC()) }
