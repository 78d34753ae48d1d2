package loads

// Filters of the rows of months, and their parameters, for tests on an engine.
var (
	OfMonths    = ofMonths
	MonthParams = monthParams
	CopyParams  = copyParams
)

const CopiedDays = copiedDays
