package main

import (
	"fmt"
	"math/big"
	"strings"
)

// sums are the five additive figures; amounts in millionths of a dollar.
type sums struct{ impressions, clicks, purchases, spend, sales big.Int }

func (s *sums) add(o *sums) {
	s.impressions.Add(&s.impressions, &o.impressions)
	s.clicks.Add(&s.clicks, &o.clicks)
	s.purchases.Add(&s.purchases, &o.purchases)
	s.spend.Add(&s.spend, &o.spend)
	s.sales.Add(&s.sales, &o.sales)
}

// String writes the exact sums, as peers are compared.
func (s *sums) String() string {
	return fmt.Sprintf("impressions %d clicks %d purchases %d spend %d sales %d", &s.impressions, &s.clicks, &s.purchases, &s.spend, &s.sales)
}

// figure is one of the API's figures as shown.
type figure struct {
	hundredths *big.Int // nil: null
	count      bool     // a whole number, not hundredths
}

func (f figure) String() string {
	switch {
	case f.hundredths == nil:
		return "null"
	case f.count:
		return f.hundredths.String()
	}
	text := fmt.Sprintf("%03d", f.hundredths)
	return text[:len(text)-2] + "." + text[len(text)-2:]
}

// quotient is a x times / b in hundredths, rounded half away from zero; null
// without b.
func quotient(a, b *big.Int, times int64) figure {
	if b.Sign() == 0 {
		return figure{}
	}
	n := new(big.Int).Mul(a, big.NewInt(2*100*times))
	d := new(big.Int).Mul(b, big.NewInt(2))
	return figure{hundredths: n.Div(n.Add(n, b), d)}
}

var million = big.NewInt(1_000_000)

func count(n *big.Int) figure { return figure{hundredths: n, count: true} }

// figureNames are the figures in the order of every answer.
var figureNames = []string{"spend", "sales", "acos", "roas", "impressions", "clicks", "ctr", "average_cpc", "purchases", "conversion_rate"}

// figure computes one figure of sums.
func (s *sums) figure(name string) figure {
	switch name {
	case "spend":
		return quotient(&s.spend, million, 1)
	case "sales":
		return quotient(&s.sales, million, 1)
	case "acos":
		return quotient(&s.spend, &s.sales, 100)
	case "roas":
		return quotient(&s.sales, &s.spend, 1)
	case "impressions":
		return count(&s.impressions)
	case "clicks":
		return count(&s.clicks)
	case "ctr":
		return quotient(&s.clicks, &s.impressions, 100)
	case "average_cpc":
		return quotient(&s.spend, new(big.Int).Mul(&s.clicks, million), 1)
	case "purchases":
		return count(&s.purchases)
	case "conversion_rate":
		return quotient(&s.purchases, &s.clicks, 100)
	}
	panic("no figure is called " + name)
}

// shown writes all figures as an answer of the API has them.
func (s *sums) shown() string {
	var b strings.Builder
	for _, name := range figureNames {
		fmt.Fprintf(&b, " %s=%s", name, s.figure(name))
	}
	return b.String()
}
