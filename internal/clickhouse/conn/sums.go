package conn

import (
	"fmt"
	"math/big"
	"slices"

	"adlens/internal/exact"
)

// ScanSums reads a row that has, between other columns, the sums of so many
// measures for each of the given Sums.
func ScanSums(scan Scan, measures int, before, after []any, into ...*exact.Sums) error {
	numbers := make([]big.Int, len(into)*measures)
	places := before
	for i := range numbers {
		places = append(places, &numbers[i])
	}
	if err := scan(append(places, after...)...); err != nil {
		return err
	}
	for i := range numbers {
		if i%measures == 0 {
			*into[i/measures] = slices.Grow(*into[i/measures], measures)
		}
		sum, ok := exact.SumOf(&numbers[i])
		if !ok {
			return fmt.Errorf("the engine returned %s as a sum of measures; expected at most 192 bits", &numbers[i])
		}
		*into[i/measures] = append(*into[i/measures], sum)
	}
	return nil
}
