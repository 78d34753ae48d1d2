package query

import (
	"strings"
	"testing"

	"adlens/internal/catalogue"

	"pgregory.net/rapid"
)

func TestTheNearestNameIsFoundWhereFewLettersDiffer(t *testing.T) {
	parameters := strings.Fields("range start_date end_date timezone marketplaces ad_products granularity sort order page page_size")
	for value, want := range map[string]string{
		"marketplace":  "marketplaces", // a letter left out
		"pages":        "page",         // one too many
		"srot":         "sort",         // two swapped
		"oder":         "order",
		"Start_Date":   "start_date", // case alone
		"startdate":    "start_date",
		"start-date":   "start_date",
		"time_zone":    "timezone",
		"pagesize":     "page_size",
		"granularitiy": "granularity",
		" page ":       "page",
		"page":         "page",
		"ad_product":   "ad_products",
	} {
		if got := Nearest(value, parameters); got != want {
			t.Errorf("%q is taken for %q, want %q", value, got, want)
		}
	}
}

func TestNothingIsNearestToWhatIsFarFromAll(t *testing.T) {
	names := strings.Fields("range sort order page spend")
	for _, value := range []string{"", " ", "x", "currency", "campaign_id", "日本", strings.Repeat("page", 20), "spendspendspend", "\xff\xfe\xfd"} {
		if got := Nearest(value, names); got != "" {
			t.Errorf("%q is taken for %q", value, got)
		}
	}
	if got := Nearest("page", nil); got != "" {
		t.Errorf("of no names, %q", got)
	}
}

// Few are fewer in a short word: one letter of two is a different word, but
// may be a misspelt one.
func TestShortWordsAllowFewerDifferences(t *testing.T) {
	for _, c := range []struct{ value, name, want string }{
		{"ab", "ac", "ac"}, {"ab", "cd", ""},
		{"abcd", "abxx", ""}, {"abcde", "abcxx", "abcxx"},
		{"abcdefgh", "abcdexxx", "abcdexxx"}, {"abcdefgh", "abcdxxxx", ""},
		{"abcdefghijklmnop", "abcdefghijklxxxx", ""}, // never more than three
	} {
		if got := Nearest(c.value, []string{c.name}); got != c.want {
			t.Errorf("%q is taken for %q, want %q", c.value, got, c.want)
		}
	}
}

func TestTheFirstOfEquallyNearNamesIsTaken(t *testing.T) {
	if got := Nearest("bat", []string{"cat", "hat"}); got != "cat" {
		t.Errorf("got %q", got)
	}
	if got := Nearest("hat", []string{"cat", "hat"}); got != "hat" {
		t.Errorf("got %q", got)
	}
}

// The comment of Nearest promises the only name that begins like the value.
func TestTheOnlyNameThatBeginsLikeTheValueIsFound(t *testing.T) {
	if got := Nearest("impr", catalogue.FigureNames); got != "impressions" {
		t.Errorf("impr is taken for %q", got)
	}
	if got := Nearest("c", catalogue.FigureNames); got != "" { // clicks, ctr, conversion_rate
		t.Errorf("c is taken for %q", got)
	}
}

// People call purchases orders, as headings do.
func TestAFigureIsFoundByItsLabel(t *testing.T) {
	for value, want := range map[string]string{"orders": "purchases", " Orders ": "purchases", "conversion": "conversion_rate", "order": ""} {
		if got := Nearest(value, catalogue.FigureNames); got != want {
			t.Errorf("%q is taken for %q, want %q", value, got, want)
		}
	}
	if got := Nearest("orders", catalogue.DimensionNames); got != "" {
		t.Errorf("of dimensions, %q", got)
	}
}

func TestDistanceCountsLettersToChange(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1},
		{"kitten", "sitting", 3}, {"sale", "sales", 1}, {"ca", "abc", 3}, {"abcd", "badc", 2},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestDistanceIsTheSameBothWaysAndZeroForTheSameWord(t *testing.T) {
	word := rapid.StringMatching(`[abc]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if there, back := editDistance(a, b), editDistance(b, a); there != back || (there == 0) != (a == b) || there > max(len(a), len(b)) {
			t.Fatalf("%q to %q is %d, back %d", a, b, there, back)
		}
	})
}
