package demo

import (
	"math"
	"strconv"
	"time"
)

// ratesEpoch is where every rate begins its walk: a rate is a function of its
// date, so it does not move with the span.
var ratesEpoch = civil(oldestYear, time.January, 1)

var currencies = []struct {
	code string
	mean float64
}{{"EUR", 1.09}, {"GBP", 1.27}}

// rates lists US dollars for one pound and one euro on business days, from a
// week before the span. Weekends are absent, as in the banks' own tables: a
// reader must look back.
func rates(seed uint64, s span) []byte {
	walks := make([][]float64, len(currencies))
	for i, c := range currencies {
		walks[i] = walk(seed, c.code, c.mean, s.last)
	}
	b := []byte("date,currency,usd\n")
	for d := s.first - 7; d <= s.last; d++ {
		if !business(d) {
			continue
		}
		for i, c := range currencies {
			b = append(b, d.String()...)
			b = append(b, ',')
			b = append(b, c.code...)
			b = append(b, ',')
			b = strconv.AppendFloat(b, walks[i][d-ratesEpoch], 'f', 5, 64)
			b = append(b, '\n')
		}
	}
	return b
}

// walk is a random walk from the epoch that is slowly pulled back to its mean.
func walk(seed uint64, code string, mean float64, last day) []float64 {
	r := stream(seed, "rate", code)
	out := make([]float64, last-ratesEpoch+1)
	off := 0.0
	for i := range out {
		if business(ratesEpoch + day(i)) {
			off = 0.996*off + 0.0042*r.NormFloat64()
		}
		out[i] = mean * math.Exp(off)
	}
	return out
}

func business(d day) bool {
	w := d.weekday()
	return w != time.Saturday && w != time.Sunday
}
