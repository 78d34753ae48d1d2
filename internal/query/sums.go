package query

import "math/big"

// Sums are the five measures of some rows, exact at any size. Money is in
// millionths of a US dollar.
type Sums struct {
	Impressions, Clicks, Purchases, Spend, Sales big.Int
}

// Add adds other rows' sums.
func (s *Sums) Add(t *Sums) {
	s.Impressions.Add(&s.Impressions, &t.Impressions)
	s.Clicks.Add(&s.Clicks, &t.Clicks)
	s.Purchases.Add(&s.Purchases, &t.Purchases)
	s.Spend.Add(&s.Spend, &t.Spend)
	s.Sales.Add(&s.Sales, &t.Sales)
}

// Empty tells whether all five measures are zero: such a row is no figure and
// is not listed.
func (s *Sums) Empty() bool {
	return s.Impressions.Sign() == 0 && s.Clicks.Sign() == 0 && s.Purchases.Sign() == 0 &&
		s.Spend.Sign() == 0 && s.Sales.Sign() == 0
}
