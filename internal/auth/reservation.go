package auth

import "time"

// reservation is how many calls of a day a server may let in: it is stored
// before they are, so the stored count is never behind, and a killed server loses
// none. It is ahead by a block at most.
type reservation struct {
	upTo    int       // calls that may be let in
	stored  int       // the count that is stored; differs from upTo after a failure
	waiting int       // calls that need more
	last    time.Time // call that was let in, or had to wait
}

// idleAfter is for how long after a call a block stays reserved.
const idleAfter = time.Minute

// blockSize is how many calls are reserved ahead: 1 % of the day's.
func (d *dayCount) blockSize() int { return max(1, d.quota/100) }

// awaitsReservation reports whether a call has to wait for a reservation, and
// notes that it does.
func awaitsReservation(windows []window) bool {
	for _, w := range windows {
		if d, ok := w.(*dayCount); ok && d.reservation != nil && d.used >= d.reservation.upTo {
			d.reservation.waiting++
			return true
		}
	}
	return false
}

// updateReservation returns the count that has to be stored, and whether it has to be. What
// is given back is not let in from now on; what is added, once it is stored.
func (d *dayCount) updateReservation(now time.Time) (count int, changed bool) {
	r := d.reservation
	if r.waiting > 0 { // what it gets must not be given back before it is let in
		r.last = now
	}
	free := max(0, d.quota-d.elsewhere-d.used)
	ahead := r.waiting
	// Near the limit nothing is reserved that is not used at once: other servers
	// would refuse calls because of it.
	if free > 2*d.blockSize() && (r.waiting > 0 || now.Sub(r.last) < idleAfter) {
		ahead = max(ahead, d.blockSize())
	}
	count = d.used + min(ahead, free)
	enough := r.waiting == 0 && count >= r.upTo && r.upTo-d.used >= min(ahead, d.blockSize()/2)
	r.waiting = 0
	if enough { // what could not be stored is, and no more
		return r.upTo, r.stored != r.upTo
	}
	r.upTo = min(r.upTo, count)
	return count, true
}

// ReserveWaiting returns what has to be stored before calls that wait for it can
// be let in, with all that could not be stored before: once something is stored again, a
// kill loses nothing. Reserved must be called before anything is reserved again.
func (l *Limiter) ReserveWaiting(now time.Time) []DayUse {
	return l.reserveCalls(now, func(r *reservation) bool { return r.waiting > 0 || r.stored != r.upTo })
}

// ReserveAhead returns what has to be stored so that calls need not wait, and
// gives back what is not needed. Reserved must be called before anything is
// reserved again.
func (l *Limiter) ReserveAhead(now time.Time) []DayUse {
	return l.reserveCalls(now, func(*reservation) bool { return true })
}

// GiveBack is ReserveAhead for when no further calls come.
func (l *Limiter) GiveBack(now time.Time) []DayUse {
	return l.reserveCalls(now, func(r *reservation) bool { r.last = time.Time{}; return true })
}

func (l *Limiter) reserveCalls(now time.Time, which func(*reservation) bool) (uses []DayUse) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for of, windows := range l.windows {
		for _, w := range windows {
			if d, ok := w.(*dayCount); ok && d.reservation != nil && which(d.reservation) {
				if count, changed := d.updateReservation(now); changed {
					uses = append(uses, DayUse{Account: of.account, Key: of.key, Day: d.day, Used: count})
				}
			}
		}
	}
	return uses
}

// Reserved lets in the calls that were reserved. Those that could not be stored are let
// in too, and are stored with the next that are: where the database is away, the limit
// goes on in memory.
func (l *Limiter) Reserved(uses []DayUse, stored bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range uses {
		for _, w := range l.windows[u.counted()] {
			if d, ok := w.(*dayCount); ok && d.reservation != nil && d.day == u.Day {
				d.reservation.upTo = u.Used
				if stored {
					d.reservation.stored = u.Used
				}
			}
		}
	}
}
