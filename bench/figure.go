package main

import (
	"fmt"
	"math/big"
	"strings"

	"adlens/integration/model"
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

// figure computes one figure of sums.
func (s *sums) figure(name string) figure {
	exact, decimals := model.Figure(name, &s.impressions, &s.clicks, &s.purchases, &s.spend, &s.sales)
	if exact == nil {
		return figure{}
	}
	n, _ := new(big.Int).SetString(strings.Replace(exact.FloatString(decimals), ".", "", 1), 10)
	return figure{hundredths: n, count: decimals == 0}
}

// shown writes all figures as an answer of the API has them.
func (s *sums) shown() string {
	var b strings.Builder
	for _, name := range model.FigureNames {
		fmt.Fprintf(&b, " %s=%s", name, s.figure(name))
	}
	return b.String()
}
