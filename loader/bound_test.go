package loader

import (
	"math/big"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/exact"
	"adlens/internal/platform"

	"pgregory.net/rapid"
)

// largeReport is a reader of rows with counts and amounts.
func largeReport(t testing.TB) *platform.RowReader {
	t.Helper()
	report := &platform.Report{Type: platform.ReportTypes[0]}
	for _, m := range report.Type.Measures {
		report.Columns = append(report.Columns, m.Column)
	}
	return platform.NewRowReader(strings.NewReader("[]"), report, report.Type.Headline(false)...)
}

// drawLarge draws a number that is often so large that few of them add up to
// 2^128, or to exactly one less.
func drawLarge(t *rapid.T) exact.Uint128 {
	const half, most = 1 << 63, 1<<64 - 1
	return rapid.SampledFrom([]exact.Uint128{{Lo: rapid.Uint64().Draw(t, "small")}, {Lo: 1}, {Hi: half}, {Hi: half - 1, Lo: most}, {Hi: 1 << 62}, {Hi: most, Lo: most}}).Draw(t, "units")
}

// The sums of a product's day are exact below 2^128 units, and refused from there
// on; those of a file's day are exact beyond.
func TestSumsOfAFileAreExactOrRefused(t *testing.T) {
	reader := largeReport(t)
	headline := headlineOf(reader.RowColumns, platform.ReportTypes[0].Headline(false))
	bound := new(big.Int).Lsh(big.NewInt(1), 128)
	refusals := 0
	rapid.Check(t, func(t *rapid.T) {
		table, c := newTable(reader.RowColumns), &content{days: map[adlens.Day]*Sums{}}
		sum, refused := new(big.Int), false
		for number := range rapid.IntRange(1, 6).Draw(t, "rows") {
			row := &platform.Row{Number: number + 1, Day: 20_000, Product: "B0A", Counts: make([]uint64, len(reader.CountColumns)), Amounts: make([]adlens.Amount, len(reader.AmountColumns))}
			units := drawLarge(t)
			row.Amounts[headline[catalogue.Sales].at] = adlens.AmountOf(units)
			row.Counts[headline[catalogue.Clicks].at] = maxCount
			sum.Add(sum, units.Big())
			c.addToDay(row, headline)
			if err := table.addRow(row); err != nil && !refused {
				refused = true
				for _, part := range []string{"sales7d", `"B0A"`, row.Day.String(), "3402823669209384634.63374607431768211455"} {
					if !isRefusal(err) || !strings.Contains(err.Error(), part) {
						t.Fatalf("%v does not name %s", err, part)
					}
				}
			}
			if refused != (sum.Cmp(bound) >= 0) {
				t.Fatalf("%s units: refused is %v", sum, refused)
			}
			if stored := table.sumsOf(0)[table.placeOf(headline[catalogue.Sales])]; !refused && stored.Big().Cmp(sum) != 0 {
				t.Fatalf("%s units are kept as %s", sum, stored.Big())
			}
			if day := c.days[row.Day]; day.Source[catalogue.Sales].Big().Cmp(sum) != 0 || day.Rows != uint64(row.Number) {
				t.Fatalf("%d rows of %s units are %s", row.Number, sum, day)
			}
		}
		clicks := new(big.Int).Mul(new(big.Int).SetUint64(c.days[20_000].Rows), big.NewInt(maxCount))
		if day := c.days[20_000].Source[catalogue.Clicks]; day.Big().Cmp(clicks) != 0 {
			t.Fatalf("%s clicks, expected %s", day, clicks)
		}
		if refused {
			refusals++
		}
	})
	if refusals == 0 {
		t.Error("nothing was refused")
	}
}
