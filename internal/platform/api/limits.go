package api

import "time"

// limits bound everything that the outside could make endless. Each client has
// its own copy, so that tests can shrink them.
type limits struct {
	tries      int // of one call
	concurrent int // exchanges at a time

	answer     int64 // bytes of a JSON answer
	refusal    int64 // bytes of an error's body that are looked at
	download   int64 // bytes of a download
	unpacked   int64 // bytes that a download may unpack to
	list       int64 // bytes of all pages of one list
	listPages  int
	listRows   int
	listReads  int // how often a list is read before it is given up
	missedLook int // looks at a report that may fail in a row

	callTime     time.Duration // one exchange with the API
	stallTime    time.Duration // a download without a byte
	downloadTime time.Duration // a whole download

	firstWait     time.Duration // after a failure; doubles
	throttledWait time.Duration // after a 429 that names no time; triples
	longestWait   time.Duration // of any, the platform's Retry-After included
	longestLook   time.Duration // between two looks at a report
	relistWait    time.Duration // before a list is read again; doubles

	tokenMargin time.Duration // a token is renewed this long before its end
	tokenLife   time.Duration // of a token that names none
	refusedRest time.Duration // without a try after the platform refused the credentials
}

func defaultLimits() limits {
	return limits{
		tries: 5, concurrent: 2,
		answer: 10 << 20, refusal: 64 << 10, download: 1 << 30, unpacked: 64 << 30, list: 1 << 30,
		listPages: 5000, listRows: 2_000_000, listReads: 3, missedLook: 5,
		callTime: time.Minute, stallTime: time.Minute, downloadTime: time.Hour,
		firstWait: time.Second, throttledWait: 10 * time.Second, longestWait: 30 * time.Minute,
		longestLook: 5 * time.Minute, relistWait: 5 * time.Second,
		tokenMargin: 5 * time.Minute, tokenLife: time.Hour, refusedRest: 30 * time.Minute,
	}
}
