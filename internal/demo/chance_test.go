package demo

import "testing"

func TestPoissonMean(t *testing.T) {
	t.Parallel()
	r := newStream(1, "test")
	for _, mean := range []float64{0.2, 4, 29, 31, 400} {
		const draws = 20_000
		sum := int64(0)
		for range draws {
			sum += drawPoisson(r, mean)
		}
		if got := float64(sum) / draws; got < mean*0.95 || got > mean*1.05 {
			t.Errorf("mean %v: drawn %v", mean, got)
		}
	}
}
