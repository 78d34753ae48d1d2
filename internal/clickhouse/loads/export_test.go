package loads

// Filters of the rows of months, and their parameters, for tests on an engine.
var (
	MonthParams = monthParams
	CopyParams  = copyParams
)

const (
	OfMonths   = ofMonths
	CopiedDays = copiedDays
)
