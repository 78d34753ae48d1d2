package query

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/query/period"

	"pgregory.net/rapid"
)

// goldenTexts are the SQL texts of the golden files: all that may ever reach
// the engine.
func goldenTexts(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.golden"))
	if err != nil || len(files) == 0 {
		t.Fatalf("golden files: %v, %v", files, err)
	}
	texts := map[string]bool{}
	for _, file := range files {
		if name := filepath.Base(file); strings.HasPrefix(name, "products_ranked") || strings.HasPrefix(name, "report_") {
			continue // one for each sort, order and mixture of tables: too many to be files
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if sql, _, found := strings.Cut(string(content), "-- account = "); found {
			texts[sql] = true
		}
	}
	return texts
}

func TestEveryValueIsAParameterAndNotInTheText(t *testing.T) {
	for _, c := range goldenCases() {
		if !c.empty {
			mustKeepValuesApart(t, c.statement(t))
		}
	}
}

var storedTable = regexp.MustCompile(`FROM [a-z]`)

// small are parameters whose small numbers may be in the text by chance.
var small = []string{"limit", "offset", "until", "first_bucket", "last_bucket", "product_keys", "marketplaces", "ad_products"}

// mustKeepValuesApart fails where the text has any value, or a generation of
// a list, or where it is not of one account.
func mustKeepValuesApart(t rapid.TB, s Statement) {
	if s.Params["account"] == "" || strings.Count(s.SQL, "account_id = {account:String}") != len(storedTable.FindAllString(s.SQL, -1)) {
		t.Fatalf("a table is read without its account:\n%s", s)
	}
	for name, value := range s.Params {
		parts := append(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("[],", r) }), value)
		for _, part := range parts {
			if part != "[]" && strings.Contains(s.SQL, part) && !slices.Contains(small, name) {
				t.Fatalf("%s: the value %q is in the text:\n%s", name, part, s.SQL)
			}
		}
		if !strings.Contains(s.SQL, "{"+name+":") {
			t.Fatalf("the parameter %s is not used:\n%s", name, s)
		}
	}
	if strings.Count(s.SQL, "{") == 0 || strings.Contains(s.SQL, "/*") {
		t.Fatalf("a slot is left open:\n%s", s)
	}
	for _, name := range placeholders(s.SQL) {
		if _, ok := s.Params[name]; !ok {
			t.Fatalf("{%s} has no value:\n%s", name, s)
		}
	}
}

func placeholders(sql string) []string {
	var names []string
	for _, after := range strings.Split(sql, "{")[1:] {
		name, _, _ := strings.Cut(after, ":")
		names = append(names, name)
	}
	return names
}

// Thousands of questions, and never a text that is not in the golden files:
// what the engine is asked can be read in full before it is deployed.
func TestTheTextsOfStatementsAreAClosedSet(t *testing.T) {
	golden, seen := goldenTexts(t), map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		for range 25 {
			for _, s := range drawStatements(t) {
				mustKeepValuesApart(t, s)
				if !golden[s.SQL] {
					t.Fatalf("a text that no golden file has:\n%s", s)
				}
				seen[s.SQL] = true
			}
		}
	})
	// Day totals of both currencies, and products by all that is not nothing of years, months and
	// days.
	if len(golden) != 2+7 {
		t.Errorf("%d texts are golden, want 9", len(golden))
	}
	for sql := range golden {
		if !seen[sql] {
			t.Logf("no random question made:\n%s", sql)
		}
	}
}

// Whatever is sorted by, the text has no value either.
func TestEveryRankedStatementKeepsValuesApart(t *testing.T) {
	r := Request{Period: days("2024-11-01", "2026-02-10")}
	plain := PlanReport(r, exampleView())
	r.Earlier = r.Period.Earlier(period.PreviousYear)
	for _, plan := range []Plan{plain, PlanReport(r, exampleView())} {
		mustRankApart(t, plan)
	}
}

func mustRankApart(t *testing.T, plan Plan) {
	t.Helper()
	for _, dimensions := range [][]string{{dimProduct}, {dimMonth, dimProduct, dimMarketplace}, {dimAdProduct}, nil} {
		r := Request{Period: days("2024-11-01", "2026-02-10"), Dimensions: dimensions, Paging: Paging{Page: 3, PageSize: 77}}
		r.Granularity = granularities[r.TimeDimension()]
		for _, r.Sort = range slices.Concat(catalogue.FigureNames, dimensions) {
			for _, r.Order = range []string{Ascending, Descending} {
				for _, plan.SmallKeys = range []bool{true, false} {
					mustKeepValuesApart(t, plan.RankedStatement(r, NameGenerations{9004, 9002, 9006}))
				}
				for _, r.Local = range []bool{true, false} {
					mustKeepValuesApart(t, plan.RankedStatement(r, NameGenerations{9004, 9002, 9006}))
				}
			}
		}
	}
}

// bySpend is how products are sorted by default.
var bySpend = Request{Dimensions: []string{dimProduct}, Sort: "spend", Order: Descending, Paging: Paging{Page: 1, PageSize: 100}}

func drawStatements(t *rapid.T) []Statement {
	v := exampleView()
	v.Account = rapid.StringMatching(`[a-z]{3}-[ '"\\\t{}:;%-]{1,8}[A-Z]{4}`).Draw(t, "account")
	request := drawRequest(t, "2024-09-01", "2027-01-31")
	var all []Statement
	if plan := PlanDays(request, v); !plan.Empty() {
		all = append(all, plan.DayTotalsStatement(rapid.Bool().Draw(t, "local")))
	}
	if plan := PlanReport(request, v); !plan.Empty() {
		all = append(all, plan.RankedStatement(bySpend, NameGenerations{9004, 9002, 9006}))
	}
	return all
}

// drawRequest asks for days near an interval; ends of months and years are
// drawn more often than chance would, because plans turn on them.
func drawRequest(t *rapid.T, first, last string) Request {
	start, end := drawDay(t, first, last, "start"), drawDay(t, first, last, "end")
	r := Request{Period: period.Period{Start: min(start, end), End: max(start, end), Range: period.Custom}}
	if rapid.Bool().Draw(t, "by marketplace") {
		r.Filters.Marketplaces = [][]string{{"UK"}, {"US"}, {"UK", "US"}}[rapid.IntRange(0, 2).Draw(t, "marketplaces")]
	}
	if rapid.Bool().Draw(t, "by ad product") {
		r.Filters.AdProducts = rapid.SliceOfNDistinct(rapid.SampledFrom(adlens.AdProducts), 1, 3, rapid.ID).Draw(t, "ad products")
	}
	return r
}

func drawDay(t *rapid.T, first, last, label string) adlens.Day {
	d := adlens.Day(rapid.Int32Range(int32(day(first)), int32(day(last))).Draw(t, label))
	switch rapid.IntRange(0, 5).Draw(t, label+" snaps to") {
	case 0:
		return d.FirstOfMonth()
	case 1:
		return d.LastOfMonth()
	case 2:
		return d.FirstOfYear()
	case 3:
		return d.LastOfYear()
	}
	return d
}

func TestTextParametersAreInTheEnginesEscapedForm(t *testing.T) {
	for plain, want := range map[string]string{
		"plain":        "plain",
		`o'neil "x"`:   `o'neil "x"`, // the driver quotes
		`back\slash`:   `back\\slash`,
		"a\tb\nc\rd":   `a\tb\nc\rd`,
		`\N`:           `\\N`, // not the engine's null
		`a\tb`:         `a\\tb`,
		"é 日本 {x:Int}": "é 日本 {x:Int}",
	} {
		plan := Plan{Account: plain, Days: []Live{{Generation: 7}}}
		if got := plan.DayTotalsStatement(false).Params["account"]; got != want {
			t.Errorf("%q is sent as %q, want %q", plain, got, want)
		}
	}
}

func TestParametersAreExactlyThoseOfTheTablesRead(t *testing.T) {
	for _, c := range []struct {
		plan Plan
		want []string
	}{
		{Plan{Years: []Live{{Generation: 1}}}, []string{"account", "years"}},
		{Plan{Months: []Live{{Generation: 1}}}, []string{"account", "calendar", "months"}},
		{Plan{Days: []Live{{Generation: 1}}}, []string{"account", "days", "from", "to"}},
		{Plan{Years: []Live{{Generation: 1}}, Months: []Live{{Generation: 2}}}, []string{"account", "calendar", "months", "years"}},
	} {
		if got := slices.Sorted(maps.Keys(c.plan.RankedStatement(bySpend, NameGenerations{9004, 9002, 9006}).Params)); !slices.Equal(got, slices.Sorted(slices.Values(append(c.want, "limit", "offset", "products", "titles", "until")))) {
			t.Errorf("%+v has %q, want %q", c.plan, got, c.want)
		}
	}
}

// A day beyond what the engine's Date can say would be read as another day.
func TestDaysStayInsideWhatCanBeStored(t *testing.T) {
	plan := Plan{Account: "a", From: day("1969-12-31"), To: day("2150-01-01"), Days: []Live{{Generation: 1}}}
	s := plan.RankedStatement(bySpend, NameGenerations{9004, 9002, 9006})
	if s.Params["from"] != "1970-01-01" || s.Params["to"] != "2149-06-06" {
		t.Errorf("from %s to %s", s.Params["from"], s.Params["to"])
	}
}

func TestStatementsAreWrittenTheSameEveryTime(t *testing.T) {
	c := goldenCases()[0]
	first := c.statement(t).String()
	for range 20 {
		if again := c.statement(t).String(); again != first {
			t.Fatalf("%s\nand then\n%s", first, again)
		}
	}
}
