package main

import (
	"fmt"
	"math/big"
	"strings"

	"adlens/integration/model"
	"adlens/internal/exact"
)

// sumNames are the sums that all figures follow from, in the order of statements.
// The last two are amounts, in millionths of a dollar.
var sumNames = [...]string{"impressions", "clicks", "purchases", "spend", "sales"}

const firstAmount = 3

// sumsText writes exact sums, as peers are compared.
func sumsText(s exact.Sums) string {
	var parts []string
	for i, name := range sumNames {
		parts = append(parts, name+" "+s.At(i).String())
	}
	return strings.Join(parts, " ")
}

// readSums reads sums of amounts in dollars, or in millionths.
func readSums(text []string, micros bool) (s exact.Sums, err error) {
	if len(text) < len(sumNames) {
		return nil, fmt.Errorf("%d sums, expected %d", len(text), len(sumNames))
	}
	for i := range sumNames {
		digits := text[i]
		if i >= firstAmount && !micros {
			whole, fraction, _ := strings.Cut(digits, ".")
			if len(fraction) > 6 {
				return nil, fmt.Errorf("%q has more than 6 decimals", digits)
			}
			digits = whole + fraction + strings.Repeat("0", 6-len(fraction))
		}
		n, isNumber := new(big.Int).SetString(digits, 10)
		if !isNumber {
			return nil, fmt.Errorf("%q is no number", text[i])
		}
		sum, ok := exact.SumOf(n)
		if !ok {
			return nil, fmt.Errorf("%s is negative or larger than any sum", n)
		}
		s = append(s, sum)
	}
	return s, nil
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

// figureOf computes one figure of sums.
func figureOf(s exact.Sums, name string) figure {
	value, decimals := model.Figure(name, s.At(0).Big(), s.At(1).Big(), s.At(2).Big(), s.At(3).Big(), s.At(4).Big())
	if value == nil {
		return figure{}
	}
	n, _ := new(big.Int).SetString(strings.Replace(value.FloatString(decimals), ".", "", 1), 10)
	return figure{hundredths: n, count: decimals == 0}
}

// figuresText writes all figures as an answer of the API has them.
func figuresText(s exact.Sums) string {
	var b strings.Builder
	for _, name := range model.FigureNames {
		fmt.Fprintf(&b, " %s=%s", name, figureOf(s, name))
	}
	return b.String()
}
