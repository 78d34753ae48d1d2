package adlens

import (
	"slices"
	"time"
)

// Connection is a login at the platform through which an account reads some of
// its profiles. An account has any number of them, each with a name of its own.
type Connection struct {
	Account     string
	Name        string // within the account
	Region      string // NA, EU, FE
	ClientID    string
	Sealed      string    // client secret and refresh token, encrypted; "" once it is removed
	ConnectedAt time.Time // when it was made; renewing its credentials does not change it
	Accepted    bool      // the platform took the credentials the last time

	Choice Choice
	// Profiles are the ids of those that belong to the connection. There are none
	// where it was made before connections had them, and no listing was read since.
	Profiles []string
	// Untaken are ids that the platform lists since and that were not taken,
	// because they may be of another advertiser.
	Untaken []string
	Removed bool // nothing is read through it any more
}

// Choice says which of the profiles that the platform lists are taken: those with
// these ids, or those in these countries. Without either, all of one advertiser.
type Choice struct {
	Profiles  []string
	Countries []string // canonical: UK, not GB
}

// IsNone reports whether nothing was chosen.
func (c Choice) IsNone() bool { return len(c.Profiles)+len(c.Countries) == 0 }

// Has reports whether a profile is among what was chosen. Where nothing was, each
// is.
func (c Choice) Has(profileID, country string) bool {
	return c.IsNone() || slices.Contains(c.Profiles, profileID) || slices.Contains(c.Countries, country)
}

// ReportRequest is a report that was requested of the platform.
type ReportRequest struct {
	Account, MarketplaceID, ReportType string
	Start, End                         Day
	ReportID                           string // "" where the platform answered that it has nothing of these days
	RequestedAt                        time.Time
	Done                               bool // loaded, or given up
}

// Attempt is what is known of work against the platform that rests after it
// was done.
type Attempt struct {
	Age      time.Duration // since it was last begun; below 0 where a clock was set back
	Failures int           // in a row, the one that runs included
}

// Refreshed says how far the figures of a marketplace's report type were read.
type Refreshed struct {
	Account, MarketplaceID, ReportType string

	Through     Day // the last day that was read
	DeepThrough Day // the last day when all that is still restated was read
}
