package main

import (
	"math"
	"slices"
)

// percentileOf is the value that p percent of the others do not exceed, by the
// nearest rank; NaN of none.
func percentileOf(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(0, min(rank, len(sorted))-1)]
}

// fitExponent fits y = c x^e by least squares on logarithms and returns e; NaN
// where fewer than two sizes were measured.
func fitExponent(x, y []float64) float64 {
	n := float64(len(x))
	var sx, sy, sxx, sxy float64
	for i := range x {
		lx, ly := math.Log(x[i]), math.Log(y[i])
		sx, sy, sxx, sxy = sx+lx, sy+ly, sxx+lx*lx, sxy+lx*ly
	}
	if d := n*sxx - sx*sx; d != 0 {
		return (n*sxy - sx*sy) / d
	}
	return math.NaN()
}
