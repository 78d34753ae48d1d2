package assistant_test

import (
	"encoding/json"
	"math/big"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

// collection is all questions with the searches that found them.
type collection struct {
	Searches []struct {
		Fixed   bool     `json:"fixed"` // written down before it was asked, by a person who did not know the tools
		Corpus  string   `json:"corpus"`
		Queries []string `json:"queries"`
	} `json:"searches"`
	Questions []question `json:"questions"`
}

// isFixed reports whether a fixed search found the question.
func (c collection) isFixed(q question) bool { return c.Searches[q.Search-1].Fixed }

// question is one that an advertiser asked in public, with the calls that answer it.
type question struct {
	ID       int    `json:"id"`
	Question string `json:"question"`
	Search   int    `json:"search"` // the place in Searches, from 1; as Query and Rank are
	Query    int    `json:"query"`
	Rank     int    `json:"rank"`
	AskedIn  string `json:"asked_in"`
	Source   string `json:"source"`
	Topic    string `json:"topic"`
	Holds    bool   `json:"holds"`
	Missing  string `json:"missing"` // what adlens does not hold, one of missingWords
	// Calls are those of an answer, and Numbers what it says: all of them stand in the
	// results. Each is found by the API, not by the tools.
	Calls   []toolCall `json:"calls"`
	Numbers []number   `json:"numbers"`
}

type toolCall struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// number is one of the API's, or one divided by another, as it is or in percent.
type number struct {
	Request string  `json:"request"`
	Path    string  `json:"path"` // members and places, with dots between them
	Per     *number `json:"per,omitempty"`
	ShareOf *number `json:"share_of,omitempty"`
}

// missingWords are the words of overview for what questions find missing.
var missingWords = map[string]string{
	"search_terms": "search terms", "keywords_and_targets": "keywords and targets", "placements": "placements", "stock": "stock and inventory",
	"organic_sales_and_rank": "organic sales and rank, total sales, TACOS", "hourly_figures": "hours of a day", "bids_and_bid_history": "bids and budgets changed outside of rules",
	"competitors": "competitors and share of voice", "share_of_voice": "competitors and share of voice", "profit_and_fees": "profit, fees and cost of goods", "audiences": "audiences",
	"creative": "creatives and listings", "off_platform": "DSP and other advertising platforms", "billing": "invoices and billing", "account_actions": "changes: adlens only reads",
	"platform_workings": "how the platform works", "eligibility_and_delivery": "why the platform shows or rejects an advertisement", "labels_and_portfolios": "portfolios and labels",
	"not_reported_by_platform": "what its reports leave out", "purchased_products": "which other product was bought",
	"skus": "SKUs: products are ASINs", "sessions": "sessions, organic page views and the buy box", "reviews": "reviews", "forecasts": "forecasts and benchmarks of other advertisers",
}

// readQuestions reads the questions as a function changes their text.
func readQuestions(t *testing.T, change func(text string) string) (c collection) {
	t.Helper()
	text, err := os.ReadFile("testdata/questions.json")
	house.Need(t, err)
	house.Need(t, json.Unmarshal([]byte(change(string(text))), &c))
	return c
}

// fixedYears are the years of days that questions name, in arguments and in addresses.
var fixedYears = regexp.MustCompile(`_date(": "|=)\d{4}`)

// fillIn puts ids of the account in the place of $CAMPAIGN, $PRODUCT and $MARKETPLACE,
// and the campaign's name, plain and as in an address: those of the most spend in the United States;
// and in the place of $RULE and $RULE_RUN those of the first rule whose last run changed something.
// On its first day this month has no figures, and last month replaces it; the last seven
// days replace yesterday after the day of a year that has none. Days of years that the
// demonstration has no more, or not wholly, are moved to the first that it has.
func fillIn(t *testing.T, api harness.Client, text string) string {
	t.Helper()
	rows := func(request string) []any {
		value, err := model.Decode(house.Get(t, api, request).Body)
		house.Need(t, err)
		return value.(map[string]any)["data"].([]any)
	}
	member := func(request, name string) string { return rows(request)[0].(map[string]any)[name].(string) }
	const report = "/api/v1/report?range=all_time&marketplaces=US&ad_products=SPONSORED_PRODUCTS&page_size=1&dimensions="
	name := member(report+"campaign", "campaign_name")
	rules := rows("/api/v1/rules")
	i := slices.IndexFunc(rules, func(rule any) bool {
		run, ok := rule.(map[string]any)["last_run"].(map[string]any)
		return ok && ratOf(run["changed"]).Sign() > 0
	})
	rule := rules[i].(map[string]any)
	if adlens.DayOf(time.Now().UTC()).DayOfMonth() == 1 {
		text = strings.ReplaceAll(text, "this_month", "last_month")
	}
	if len(rows("/api/v1/report?range=yesterday")) == 0 {
		text = strings.ReplaceAll(text, "yesterday", "last_7_days")
	}
	oldest := strconv.Itoa(time.Now().UTC().Year() - 2) // the demonstration has three years
	text = fixedYears.ReplaceAllStringFunc(text, func(year string) string {
		return year[:len(year)-4] + max(year[len(year)-4:], oldest)
	})
	return strings.NewReplacer("$RULE_RUN", rule["last_run"].(map[string]any)["rule_run_id"].(string), "$RULE", rule["rule_id"].(string), "$CAMPAIGN_NAME", name, "$CAMPAIGN_QUERY", url.QueryEscape(name), "$CAMPAIGN", member(report+"campaign", "campaign_id"),
		"$PRODUCT", member(report+"product", "product_id"), "$MARKETPLACE", member(report+"marketplace", "marketplace_id")).Replace(text)
}

// needYesterday skips a test of questions about yesterday where midnight passes: the
// demonstration's figures end on the day before it was made.
func needYesterday(t *testing.T, api harness.Client) {
	t.Helper()
	const near = 10 * time.Minute // longer than the tests of this package take
	if now := time.Now().UTC(); now.Add(-near).Day() != now.Add(near).Day() {
		t.Skip("midnight is near: the demonstration may have no figures of yesterday then")
	}
	if account := house.Get(t, api, house.AccountPath); !strings.Contains(string(account.Body), `"data_last_date":"`+house.DaysAgo(1)+`"`) {
		t.Errorf("the demonstration has no figures of yesterday: %s", account)
	}
}

// tally counts what answers take.
type tally struct {
	held, missing int
	calls, tokens []int
}

// check demands enough questions, few calls and short results.
func (a *tally) check(t *testing.T, name string) {
	t.Helper()
	slices.Sort(a.calls)
	slices.Sort(a.tokens)
	calls, median, longest := a.calls[len(a.calls)/2], a.tokens[len(a.tokens)/2], a.tokens[len(a.tokens)*99/100]
	t.Logf("%s: %d questions, %d of them about what adlens does not hold; %d calls in the median; %d tokens in the median, %d in 99 of 100 results",
		name, a.held+a.missing, a.missing, calls, median, longest)
	if a.held+a.missing < 120 || a.missing < 30 {
		t.Errorf("%s: there are %d questions, %d of them about what adlens does not hold", name, a.held+a.missing, a.missing)
	}
	if calls > 2 || median > medianBudget || longest > longestBudget {
		t.Errorf("%s: the budget is exceeded", name)
	}
}

// Every question of advertisers is answered by few calls whose results are short and
// contain all numbers of the answer; overview names what is missing.
func TestQuestionsOfAdvertisersAreAnswered(t *testing.T) {
	t.Parallel()
	h, api := house.Demo(t)
	needYesterday(t, api)
	c := readQuestions(t, func(text string) string { return fillIn(t, api, text) })
	s := openSession(t, h.Program, harness.DemoAccount, "--limit-minute", "0", "--limit-day", "0")
	notHeld := textsOf(s.mustCall(t, "overview", nil)["not_held"])
	var all, fixed tally
	for _, q := range c.Questions {
		tallies := []*tally{&all}
		if c.isFixed(q) {
			tallies = append(tallies, &fixed)
		}
		if q.Source == "" || q.Question == "" {
			t.Errorf("question %d has no text or source", q.ID)
		}
		if !q.Holds && (!slices.Contains(notHeld, missingWords[q.Missing]) || len(q.Numbers) > 0) {
			t.Errorf("question %d asks for %q, which overview does not say is missing: %s", q.ID, q.Missing, q.Question)
		}
		tokens := q.check(t, api, s)
		for _, one := range tallies {
			if !q.Holds {
				one.missing++
				continue
			}
			one.held++
			one.calls, one.tokens = append(one.calls, len(q.Calls)), append(one.tokens, tokens...)
		}
	}
	all.check(t, "all")
	fixed.check(t, "fixed")
}

// check demands that the results of a question's calls have its numbers, and returns the
// tokens of each result.
func (q question) check(t *testing.T, api harness.Client, s session) (tokens []int) {
	t.Helper()
	if !q.Holds {
		return nil
	}
	var results []string
	for _, c := range q.Calls {
		text, err := json.Marshal(s.mustCall(t, c.Tool, c.Arguments))
		house.Need(t, err)
		results = append(results, string(text))
		tokens = append(tokens, tokensOf(t, string(text)))
	}
	if len(q.Calls) == 0 || len(q.Numbers) == 0 {
		t.Errorf("question %d has no calls or numbers: %s", q.ID, q.Question)
	}
	for _, n := range q.Numbers {
		if digits := n.find(t, api); !standsIn(digits, results) {
			t.Errorf("question %d (%s): %s of %s, %s, is in no result of %v", q.ID, q.Question, n.Path, n.Request, digits, q.Calls)
		}
	}
	return tokens
}

// find asks the API for a number, and returns its digits, or null.
func (n number) find(t *testing.T, api harness.Client) string {
	t.Helper()
	a := house.Get(t, api, n.Request)
	if a.Status != 200 {
		t.Fatalf("%s: %s", n.Request, a)
	}
	value, err := model.Decode(a.Body)
	house.Need(t, err)
	for step := range strings.SplitSeq(n.Path, ".") {
		switch v := value.(type) {
		case map[string]any:
			ok := false
			if value, ok = v[step]; !ok {
				t.Fatalf("%s has no %s", n.Request, n.Path)
			}
		case []any:
			i, err := strconv.Atoi(step)
			house.Need(t, err)
			if i >= len(v) {
				t.Fatalf("%s has no %s", n.Request, n.Path)
			}
			value = v[i]
		}
	}
	if ratio := n.Path[strings.LastIndexByte(n.Path, '.')+1:]; value == nil && n.Per == nil && n.ShareOf == nil && slices.Contains([]string{"acos", "roas", "ctr", "average_cpc"}, ratio) {
		return "null" // as the ACOS of what had no sales: the demonstration's days move with the calendar
	}
	digits, ok := value.(json.Number)
	if !ok {
		t.Fatalf("%s: %s is %v, no number", n.Request, n.Path, value)
	}
	divisor, times := n.Per, int64(1)
	if n.ShareOf != nil {
		divisor, times = n.ShareOf, 100
	}
	if divisor == nil {
		return digits.String()
	}
	part, _ := new(big.Rat).SetString(digits.String())
	whole, _ := new(big.Rat).SetString(divisor.find(t, api))
	return new(big.Rat).Mul(new(big.Rat).Quo(part, whole), big.NewRat(times, 1)).FloatString(2)
}

// standsIn reports whether results have a number literally, and not as a part of
// another.
func standsIn(digits string, results []string) bool {
	literal := regexp.MustCompile(`(^|[^0-9.\-])` + regexp.QuoteMeta(digits) + `($|[^0-9.])`)
	return slices.ContainsFunc(results, literal.MatchString)
}
