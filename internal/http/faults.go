package http

import (
	"errors"
	"slices"

	"adlens"
	"adlens/internal/query"
)

// merged joins the faults of a query string's form with those of its values,
// in the documented order, a parameter's own first.
func merged(decoded []adlens.Fault, err error, params any) error {
	var parsed *query.FaultsError
	if err != nil && !errors.As(err, &parsed) {
		return err
	}
	if parsed != nil {
		for _, f := range parsed.Faults {
			about := func(d adlens.Fault) bool { return d.Parameter == f.Parameter && f.Code == adlens.MissingParameter }
			if !slices.ContainsFunc(decoded, about) {
				decoded = append(decoded, f)
			}
		}
	}
	if len(decoded) == 0 {
		return nil
	}
	return &query.FaultsError{Faults: inOrder(decoded, params)}
}
