package adlens

import "time"

// Connection is an account's access to the platform.
type Connection struct {
	Account     string
	Region      string // NA, EU, FE
	ClientID    string
	Sealed      string // client secret and refresh token, encrypted
	ConnectedAt time.Time
	Accepted    bool // the platform took the credentials the last time
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
