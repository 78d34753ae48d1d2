package http

import (
	"slices"

	"adlens"
	"adlens/internal/query"
)

// faulty joins the faults of a query string's form with those of its values,
// in the documented order. A parameter that was sent wrongly is not reported
// as missing as well.
func faulty(form, values []adlens.Fault, params any) error {
	all := form
	for _, f := range values {
		about := func(other adlens.Fault) bool { return other.Parameter == f.Parameter }
		if f.Code != adlens.MissingParameter || !slices.ContainsFunc(form, about) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &query.FaultsError{Faults: inOrder(all, params)}
}
