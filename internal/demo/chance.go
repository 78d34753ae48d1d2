package demo

import (
	"math"
	"math/rand/v2"
)

// hashKey turns a seed and a path of words into 64 well-mixed bits (FNV-1a with a
// finishing step). All that is drawn begins at such a key, so nothing depends
// on which worker draws, or on what was drawn before.
func hashKey(seed uint64, words ...string) uint64 {
	const prime = 0x100000001b3
	h := uint64(0xcbf29ce484222325) ^ mixBits(seed)
	for _, w := range words {
		for i := range len(w) {
			h = (h ^ uint64(w[i])) * prime
		}
		h = (h ^ 0xff) * prime // no UTF-8 text has this byte: words stay apart
	}
	return mixBits(h)
}

// mixBits spreads every bit over all (the finisher of splitmix64).
func mixBits(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func newStream(seed uint64, words ...string) *rand.Rand {
	k := hashKey(seed, words...)
	return rand.New(rand.NewPCG(k, mixBits(k)))
}

func uniformBetween(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

// jitterFactor is a factor around 1, its spread given in logarithms.
func jitterFactor(r *rand.Rand, spread float64) float64 {
	return math.Exp(spread*r.NormFloat64() - spread*spread/2)
}

// drawPoisson draws a count with that mean; large means take the normal curve.
func drawPoisson(r *rand.Rand, mean float64) int64 {
	if mean > 30 {
		return max(0, int64(math.Round(mean+math.Sqrt(mean)*r.NormFloat64())))
	}
	limit, product := math.Exp(-mean), r.Float64()
	n := int64(0)
	for product > limit {
		product *= r.Float64()
		n++
	}
	return n
}
