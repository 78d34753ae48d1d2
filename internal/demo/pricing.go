package demo

import (
	"math"
	"math/rand/v2"
)

// never stands for the day of a run that has not been.
const never day = math.MinInt32

// A pricing is what is bid in an ad group. It follows from what clicks cost;
// where a rule looks after it, it may swing with the days.
type pricing struct {
	base float64 // cents
	swing
}

// bid is what a rule finds right on a day, in steps of five cents.
func (p *pricing) bid(d day) cents { return 5 * cents(math.Round(p.base*p.at(d)/5)) }

// A swing is a slow wave around 1, or none.
type swing struct{ width, days, phase float64 }

// drawSwing sets in motion one of three.
func (s *swing) drawSwing(r *rand.Rand) {
	if r.IntN(3) == 0 {
		*s = swing{between(r, 0.10, 0.20), between(r, 50, 90), between(r, 0, 2*math.Pi)}
	}
}

func (s *swing) at(d day) float64 {
	if d == never || s.width == 0 {
		return 1
	}
	return 1 + s.width*math.Sin(2*math.Pi*float64(d)/s.days+s.phase)
}

// budgetOn is what a rule finds right on a day for a Display campaign, in steps
// of five; two of three stay as they are. The other ad types' reports tell the
// budget with every row: it stays too.
func (c *campaign) budgetOn(d day) cents {
	if c.adType != display || !c.lasting() || c.id%3 > 0 {
		return c.budget
	}
	s := swing{0.2, 60 + float64(c.id%40), float64(c.id % 7)}
	return 500 * cents(math.Round(float64(c.budget)*s.at(d)/500))
}
