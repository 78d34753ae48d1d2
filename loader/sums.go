package loader

import (
	"fmt"

	"adlens"
)

// plus adds sums of rows. What 128 bits do not hold is reported rather than
// wrapped; no real account comes near.
func (s Sums) plus(t Sums) (Sums, error) {
	s.Rows += t.Rows
	for _, pair := range [...]struct{ to, of *adlens.Amount }{
		{&s.Impressions, &t.Impressions}, {&s.Clicks, &t.Clicks}, {&s.Purchases, &t.Purchases},
		{&s.SpendMicros, &t.SpendMicros}, {&s.SalesMicros, &t.SalesMicros},
		{&s.SpendLocal, &t.SpendLocal}, {&s.SalesLocal, &t.SalesLocal},
	} {
		sum, ok := pair.to.Add(*pair.of)
		if !ok {
			return s, fmt.Errorf("a sum is too large to be kept exactly")
		}
		*pair.to = sum
	}
	return s, nil
}

// sameFigures tells whether the counts and dollars of two levels agree.
func (s Sums) sameFigures(t Sums) bool {
	return s.Impressions == t.Impressions && s.Clicks == t.Clicks && s.Purchases == t.Purchases &&
		s.SpendMicros == t.SpendMicros && s.SalesMicros == t.SalesMicros
}

// sameSource tells whether stored facts are the file's: counts and amounts of
// the own currency.
func (s Sums) sameSource(t Sums) bool {
	return s.Impressions == t.Impressions && s.Clicks == t.Clicks && s.Purchases == t.Purchases &&
		s.SpendLocal == t.SpendLocal && s.SalesLocal == t.SalesLocal
}

// String writes the sums for an error: counts, dollars and own currency.
func (s Sums) String() string {
	return fmt.Sprintf("%d rows, %s impressions, %s clicks, %s purchases, %s and %s millionths of a dollar, %s and %s in its own currency",
		s.Rows, s.Impressions.Big(), s.Clicks.Big(), s.Purchases.Big(), s.SpendMicros.Big(), s.SalesMicros.Big(), s.SpendLocal, s.SalesLocal)
}
