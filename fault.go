package adlens

// Code is the stable name of an error that a client can act on (contract,
// part B4).
type Code string

// The codes of a bad request.
const (
	UnknownValue          Code = "unknown_value"
	InvalidParameter      Code = "invalid_parameter"
	UnknownParameter      Code = "unknown_parameter"
	MissingParameter      Code = "missing_parameter"
	ConflictingParameters Code = "conflicting_parameters"
	PeriodTooLong         Code = "period_too_long"
	GranularityTooFine    Code = "granularity_too_fine"
)

// Fault is one thing that is wrong with a request's parameters.
type Fault struct {
	Parameter  string
	Value      string
	Code       Code
	Detail     string   // what is wrong, naming the value, and what would be right
	Allowed    []string // where the values are few
	DidYouMean string   // where one is close
}
