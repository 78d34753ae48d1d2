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

// ReportRequest is a report that was asked of the platform.
type ReportRequest struct {
	Account, MarketplaceID, ReportType string
	Start, End                         Day
	ReportID                           string
	RequestedAt                        time.Time
	Done                               bool // loaded, or given up
}
