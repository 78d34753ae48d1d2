package demo

import "time"

// A work is what a rule changes.
type work int

const (
	setBids work = iota
	setBudgets
	pauseEnded // ads of products that are no longer sold
)

// A page of the rulebook is a rule as its user wrote it.
type page struct {
	name      string
	work      work
	adType    adType
	countries []string
	kind      string // the campaigns are chosen one by one: all of that kind
	weekly    bool
	weekday   time.Weekday // of a weekly one
	clock     string
	zone      string

	// The last edit was on the newest day that is at least quiet days ago and
	// a multiple of every.
	quiet, every day
	off          bool // since the last edit
	trial        bool // never run but to test it

	fails  func(day) bool // the platform was not there for it
	undone func(day) bool // the user took the run back
}

var rulebook = [...]page{
	{
		name: "Keep ACOS near 25 %", work: setBids, adType: sponsored, countries: []string{"UK", "DE"},
		clock: "06:30", zone: "Europe/Paris", quiet: 40, every: 60,
	},
	{
		name: "Best sellers first", work: setBids, adType: sponsored, countries: []string{"US"}, kind: "Exact",
		clock: "05:00", zone: "America/Los_Angeles", quiet: 3, every: 30,
		fails: func(d day) bool { return d%29 == 11 },
	},
	{
		name: "Display budgets for the week", work: setBudgets, adType: display, countries: []string{"US", "UK"},
		weekly: true, weekday: time.Monday, clock: "07:00", zone: "UTC", quiet: 20, every: 45,
		undone: func(d day) bool { return d/7%5 == 2 },
	},
	{
		name: "Pause ads of products no longer sold", work: pauseEnded, adType: sponsored, countries: []string{"US", "UK", "DE"},
		weekly: true, weekday: time.Sunday, clock: "04:15", zone: "Europe/London", quiet: 90, every: 120,
	},
	{
		name: "Display bids by ACOS", work: setBids, adType: display, countries: []string{"DE"},
		clock: "05:45", zone: "Europe/Paris", quiet: 10, every: 15, off: true,
	},
	{
		name: "Discovery bids by ACOS", work: setBids, adType: sponsored, countries: []string{"US"}, kind: "Discovery",
		clock: "05:20", zone: "America/Los_Angeles", quiet: 1, every: 25, off: true, trial: true,
	},
}
