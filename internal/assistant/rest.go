package assistant

import (
	"math/big"
	"slices"
)

// rest returns what the total has beyond the rows, as they are shown: rows, rest and
// total add up exactly in every figure that is a sum, but for what only rounding of the
// rows left. Where not all reports have the figure, nothing left is null: whether any of
// the other rows' did is not known.
func (r *report) rest() line {
	return r.combine(func(values side, i int) *big.Rat {
		left, isDoubtful := r.remainder(values, i)
		if isDoubtful {
			left = r.withoutRounding(left, values, i)
		}
		if left != nil && left.Sign() == 0 && slices.ContainsFunc(r.unreported, func(p unreportedPart) bool { return slices.Contains(p.Figures, r.figures[i].Name) }) {
			return nil
		}
		return left
	})
}

// remainder returns what the total of a figure has beyond the rows, nil without a total,
// and whether that may be what rounding of the rows left.
func (r *report) remainder(values side, i int) (left *big.Rat, isDoubtful bool) {
	if left = numberOf(values(r.total)[i]); left == nil {
		return nil, false
	}
	shown, _ := addRows(r.rows, values, i)
	left.Sub(left, shown)
	rounding := big.NewRat(int64(len(r.rows)+1), 200)
	return left, left.Sign() != 0 && r.figures[i].Decimals() > 0 && new(big.Rat).Abs(left).Cmp(rounding) <= 0
}

// doubtful returns the sums of which the rows that are not shown have to be read to know
// the rest.
func (r *report) doubtful() (names []string) {
	if r.rowsInAll == len(r.rows) {
		return nil
	}
	for i, f := range r.figures {
		if f.IsRatio() {
			continue
		}
		_, isDoubtful := r.remainder(sideNow, i)
		if !isDoubtful && r.total.before != nil {
			_, isDoubtful = r.remainder(sideBefore, i)
		}
		if isDoubtful {
			names = append(names, f.Name)
		}
	}
	return names
}

// withoutRounding returns a doubtful remainder, or the sum of the rows that are not shown
// where they have nothing or it is negative, as no figure is.
func (r *report) withoutRounding(left *big.Rat, values side, i int) *big.Rat {
	hidden, isKnown := new(big.Rat), r.every != nil && len(r.every.rows) == r.every.rowsInAll
	if isKnown {
		shown, _ := addRows(r.rows, values, i)
		hidden, _ = addRows(r.every.rows, values, r.every.at(r.figures[i].Name))
		hidden.Sub(hidden, shown)
	}
	if left.Sign() < 0 || isKnown && hidden.Sign() == 0 {
		return hidden
	}
	return left
}
