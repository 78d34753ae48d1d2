package query

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"adlens/integration/model"
	"adlens/internal/catalogue"
	"adlens/internal/exact"

	"pgregory.net/rapid"
)

// oracle is a figure's text by the definitions of the contract in rational
// arithmetic, rounded half away from zero by FloatString.
func oracle(name string, s exact.Sums) string {
	value, decimals := model.Figure(name, sumAt(s, impressions).Big(), sumAt(s, clicks).Big(), sumAt(s, purchases).Big(), sumAt(s, spend).Big(), sumAt(s, catalogue.Sales).Big())
	if value == nil {
		return "null"
	}
	return value.FloatString(decimals)
}

// count draws a number that is often zero or small, and sometimes far beyond
// 64 bits.
func count() *rapid.Generator[*big.Int] {
	return rapid.Custom(func(t *rapid.T) *big.Int {
		pattern := rapid.SampledFrom([]string{`0`, `[0-9]{1,3}`, `[0-9]{4,12}`, `[1-9][0-9]{20,45}`, `[0-9]{0,6}5000`}).Draw(t, "pattern")
		n, ok := new(big.Int).SetString(rapid.StringMatching(pattern).Draw(t, "digits"), 10)
		if !ok {
			t.Fatal("no number was drawn")
		}
		return n
	})
}

func drawSums(t *rapid.T) exact.Sums {
	var numbers [measures]*big.Int
	for m := range numbers {
		numbers[m] = count().Draw(t, catalogue.Headline[m].Name)
	}
	return bigSums(numbers[:]...)
}

func TestFiguresEqualRationalArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSums(t)
		before := text(s)
		for i, v := range FiguresOf(s) {
			f := catalogue.Figures[i]
			want := oracle(f.Name, s)
			if got := shown(v); got != want {
				t.Fatalf("%s of %s is %s, want %s", f.Name, before, got, want)
			}
			if v.Null() != (want == "null") {
				t.Fatalf("%s of %s: Null() is %v", f.Name, before, v.Null())
			}
		}
		if text(s) != before {
			t.Fatalf("computing figures changed the sums from %s to %s", before, text(s))
		}
	})
}

// A half is where rounding rules differ: to even and towards zero would both
// give 0.00 and 0.02 where away from zero gives 0.01 and 0.03.
func TestHalvesAreRoundedAwayFromZero(t *testing.T) {
	for _, c := range []struct {
		name string
		sums exact.Sums
		want string
	}{
		{"spend", sums(0, 0, 0, 5_000, 0), "0.01"},
		{"spend", sums(0, 0, 0, 4_999, 0), "0.00"},
		{"spend", sums(0, 0, 0, 25_000, 0), "0.03"},
		{"sales", sums(0, 0, 0, 0, 1_005_000), "1.01"}, // 1.005 as a float is less
		{"sales", sums(0, 0, 0, 0, 2_675_000), "2.68"}, // so is 2.675
		{"ctr", sums(20_000, 1, 0, 0, 0), "0.01"},      // 0.005 %
		{"ctr", sums(20_001, 1, 0, 0, 0), "0.00"},
		{"conversion_rate", sums(0, 800, 1, 0, 0), "0.13"}, // 0.125 %
		{"acos", sums(0, 0, 0, 1, 800), "0.13"},
		{"roas", sums(0, 0, 0, 200, 1), "0.01"},
		{"average_cpc", sums(0, 8, 0, 1_000_000, 0), "0.13"},
	} {
		if got := figure(FiguresOf(c.sums), c.name); got != c.want {
			t.Errorf("%s of %s is %s, want %s", c.name, text(c.sums), got, c.want)
		}
	}
}

// 10.004 and 10.004 are shown as 10.00 each, and their ratio to sales must
// not be made of those.
func TestRatiosAreMadeOfExactSums(t *testing.T) {
	s := sums(1, 3, 1, 4_000, 9_000)
	f := FiguresOf(s)
	if got := figure(f, "acos"); got != "44.44" { // 0.00 / 0.01 would be 0
		t.Errorf("acos %s", got)
	}
	if got := figure(f, "roas"); got != "2.25" {
		t.Errorf("roas %s", got)
	}
}

func TestARatioWithoutBaseIsNullAndOneOfNothingIsZero(t *testing.T) {
	ratios := []string{"acos", "roas", "ctr", "average_cpc", "conversion_rate"}
	var none exact.Sums
	for _, name := range ratios {
		if got := figure(FiguresOf(none), name); got != "null" {
			t.Errorf("%s of nothing is %s", name, got)
		}
	}
	for name, s := range map[string]exact.Sums{
		"acos": sums(0, 0, 0, 0, 1), "roas": sums(0, 0, 0, 1, 0), "ctr": sums(1, 0, 0, 0, 0),
		"average_cpc": sums(0, 1, 0, 0, 0), "conversion_rate": sums(0, 1, 0, 0, 0),
	} {
		if got := figure(FiguresOf(s), name); got != "0.00" {
			t.Errorf("%s with a base is %s, want 0.00", name, got)
		}
	}
	for _, name := range []string{"spend", "sales"} {
		if got := figure(FiguresOf(none), name); got != "0.00" {
			t.Errorf("%s of nothing is %s", name, got)
		}
	}
}

func wholeNumber(n *big.Int) Value { return Value{exact.NumberOf(n), true, false} }

func hundredths(n *big.Int) Value { return Value{exact.NumberOf(n), true, true} }

func TestValuesAreWrittenAsJSONNumbers(t *testing.T) {
	huge := new(big.Int).Exp(big.NewInt(10), big.NewInt(60), nil)
	for want, v := range map[string]Value{
		"null": {}, "0": wholeNumber(new(big.Int)), "7": wholeNumber(big.NewInt(7)),
		"0.00": hundredths(new(big.Int)), "0.05": hundredths(big.NewInt(5)), "0.50": hundredths(big.NewInt(50)),
		"1.00": hundredths(big.NewInt(100)), "12.34": hundredths(big.NewInt(1234)), "-0.05": hundredths(big.NewInt(-5)),
		"1" + strings.Repeat("0", 60):         wholeNumber(huge),
		"1" + strings.Repeat("0", 58) + ".00": hundredths(huge),
	} {
		if got := shown(v); got != want || !json.Valid([]byte(got)) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Writers append to a line; what is there before must stay as it is.
func TestValuesAreAppended(t *testing.T) {
	for _, v := range []Value{{}, wholeNumber(big.NewInt(3)), hundredths(big.NewInt(5)), hundredths(big.NewInt(123456))} {
		if got := string(v.Append([]byte(`{"clicks":12,"spend":`))); got != `{"clicks":12,"spend":`+shown(v) {
			t.Errorf("got %s", got)
		}
	}
}

func TestTheCatalogueHasTheContractsFiguresInItsOrder(t *testing.T) {
	if got := catalogue.FigureNames; !slices.Equal(got, model.FigureNames) {
		t.Errorf("got %s", got)
	}
	for i, f := range catalogue.Figures {
		if slices.Index(catalogue.FigureNames, f.Name) != i || f.Unit == "" {
			t.Errorf("%+v at %d", f, i)
		}
		if ratio := oracle(f.Name, nil) == "null"; f.IsRatio() != ratio {
			t.Errorf("%s has the formula %q", f.Name, f.Formula())
		}
	}
}
