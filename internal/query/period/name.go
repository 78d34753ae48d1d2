package period

// Name says where the days of a period come from: a named range, which moves
// with today, or Custom.
type Name string

// The named ranges; the catalogue lists them for clients.
const (
	Today      Name = "today"
	Yesterday  Name = "yesterday"
	Last7Days  Name = "last_7_days"
	Last14Days Name = "last_14_days"
	Last30Days Name = "last_30_days"
	Last60Days Name = "last_60_days"
	Last90Days Name = "last_90_days"
	ThisMonth  Name = "this_month"
	LastMonth  Name = "last_month"
	ThisYear   Name = "this_year"
	LastYear   Name = "last_year"
	AllTime    Name = "all_time"
)

// Default is the range of a question that says nothing about its period.
const Default = Last30Days

// Custom is the range of a period of explicit dates. It cannot be requested
// by name.
const Custom Name = "custom"
