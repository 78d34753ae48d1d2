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

	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

// question is one that an advertiser asked in public, with the calls that answer it.
type question struct {
	ID       int    `json:"id"`
	Question string `json:"question"`
	Source   string `json:"source"`
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

// number is one of the API's, or the part in percent that one is of another.
type number struct {
	Request string  `json:"request"`
	Path    string  `json:"path"` // members and places, with dots between them
	ShareOf *number `json:"share_of,omitempty"`
}

// missingWords are the words of overview for what questions find missing.
var missingWords = map[string]string{
	"search_terms": "search terms", "keywords_and_targets": "keywords and targets", "placements": "placements", "stock": "stock and inventory",
	"organic_sales_and_rank": "organic sales and rank, total sales, TACOS", "hourly_figures": "hours of a day", "bids_and_bid_history": "bids and budgets changed outside of rules",
	"competitors": "competitors and share of voice", "share_of_voice": "competitors and share of voice", "profit_and_fees": "profit, fees and cost of goods", "audiences": "audiences",
	"creative": "creatives and listings", "off_platform": "other advertising platforms", "billing": "invoices and billing", "account_actions": "changes: adlens only reads",
	"platform_workings": "how the platform works", "eligibility_and_delivery": "why the platform shows or rejects an advertisement", "labels_and_portfolios": "portfolios and labels",
	"not_reported_by_platform": "what its reports leave out", "purchased_products": "which other product was bought",
	"sessions": "sessions, organic page views and the buy box", "reviews": "reviews", "forecasts": "forecasts and benchmarks of other advertisers",
}

func readQuestions(t *testing.T, api harness.Client) []question {
	t.Helper()
	text, err := os.ReadFile("testdata/questions.json")
	house.Need(t, err)
	var file struct {
		Questions []question `json:"questions"`
	}
	house.Need(t, json.Unmarshal([]byte(fillIn(t, api, string(text))), &file))
	return file.Questions
}

// fillIn puts ids of the account in the place of $CAMPAIGN, $PRODUCT and $MARKETPLACE,
// and the campaign's name, plain and as in an address: those of the most spend in the United States.
func fillIn(t *testing.T, api harness.Client, text string) string {
	t.Helper()
	member := func(request, name string) string {
		a := house.Get(t, api, request)
		value, err := model.Decode(a.Body)
		house.Need(t, err)
		return value.(map[string]any)["data"].([]any)[0].(map[string]any)[name].(string)
	}
	const report = "/api/v1/report?range=all_time&marketplaces=US&ad_products=SPONSORED_PRODUCTS&page_size=1&dimensions="
	name := member(report+"campaign", "campaign_name")
	return strings.NewReplacer("$CAMPAIGN_NAME", name, "$CAMPAIGN_QUERY", url.QueryEscape(name), "$CAMPAIGN", member(report+"campaign", "campaign_id"),
		"$PRODUCT", member(report+"product", "product_id"), "$MARKETPLACE", member(report+"marketplace", "marketplace_id")).Replace(text)
}

// Every question of advertisers is answered by few calls whose results are short and
// contain all numbers of the answer; overview names what is missing.
func TestQuestionsOfAdvertisersAreAnswered(t *testing.T) {
	t.Parallel()
	h, api := house.Demo(t)
	all := readQuestions(t, api)
	s := openSession(t, h.Program, harness.DemoAccount, "--limit-minute", "0", "--limit-day", "0")
	notHeld := textsOf(s.mustCall(t, "overview", nil)["not_held"])
	answerable, missing := 0, 0
	var calls, tokens []int
	for _, q := range all {
		if q.Source == "" || q.Question == "" {
			t.Errorf("question %d has no text or source", q.ID)
		}
		if !q.Holds {
			missing++
			if !slices.Contains(notHeld, missingWords[q.Missing]) || len(q.Numbers) > 0 {
				t.Errorf("question %d asks for %q, which overview does not say is missing: %s", q.ID, q.Missing, q.Question)
			}
			continue
		}
		answerable++
		calls = append(calls, len(q.Calls))
		var results []string
		for _, c := range q.Calls {
			result := s.mustCall(t, c.Tool, c.Arguments)
			text, err := json.Marshal(result)
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
	}
	slices.Sort(calls)
	slices.Sort(tokens)
	t.Logf("%d questions, %d of them about what adlens does not hold; %d calls in the median; %d tokens in the median, %d in 99 of 100 results",
		len(all), missing, calls[len(calls)/2], tokens[len(tokens)/2], tokens[len(tokens)*99/100])
	if answerable+missing < 120 || missing < 30 {
		t.Errorf("there are %d questions, %d of them about what adlens does not hold", answerable+missing, missing)
	}
	if calls[len(calls)/2] > 2 || tokens[len(tokens)/2] > medianBudget || tokens[len(tokens)*99/100] > longestBudget {
		t.Error("the budget is exceeded")
	}
}

// find asks the API for a number, and returns its digits.
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
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			house.Need(t, err)
			if i >= len(v) {
				t.Fatalf("%s has no %s", n.Request, n.Path)
			}
			value = v[i]
		}
	}
	digits, ok := value.(json.Number)
	if !ok {
		t.Fatalf("%s: %s is %v, no number", n.Request, n.Path, value)
	}
	if n.ShareOf == nil {
		return digits.String()
	}
	part, _ := new(big.Rat).SetString(digits.String())
	whole, _ := new(big.Rat).SetString(n.ShareOf.find(t, api))
	return new(big.Rat).Mul(new(big.Rat).Quo(part, whole), big.NewRat(100, 1)).FloatString(2)
}

// standsIn reports whether results have a number literally, and not as a part of
// another.
func standsIn(digits string, results []string) bool {
	literal := regexp.MustCompile(`(^|[^0-9.\-])` + regexp.QuoteMeta(digits) + `($|[^0-9.])`)
	return slices.ContainsFunc(results, literal.MatchString)
}

// The text next to the questions counts them right.
func TestTheQuestionsAreCountedRight(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/README.md")
	house.Need(t, err)
	var file struct {
		Questions []struct {
			question
			AskedIn string `json:"asked_in"`
			Search  int    `json:"search"`
		} `json:"questions"`
	}
	questions, err := os.ReadFile("testdata/questions.json")
	house.Need(t, err)
	house.Need(t, json.Unmarshal(questions, &file))
	counts := map[string][3]int{}
	for _, q := range file.Questions {
		for _, row := range []string{"`" + q.AskedIn + "`", strconv.Itoa(q.Search) + " ", "`" + q.Missing + "`"} {
			c := counts[row]
			c[0]++
			if q.Holds {
				c[1]++
			} else {
				c[2]++
			}
			counts[row] = c
		}
	}
	delete(counts, "``")
	for row, c := range counts {
		cells := []string{strconv.Itoa(c[0])}
		if c[1] > 0 {
			cells = append(cells, strconv.Itoa(c[1]), strconv.Itoa(c[2]))
		}
		want := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(row) + `.*\| ` + strings.Join(cells, ` \| `) + ` \|$`)
		if !want.Match(text) {
			t.Errorf("testdata/README.md does not count %s as %v", row, cells)
		}
	}
	if all := strconv.Itoa(len(file.Questions)) + " questions"; !strings.Contains(string(text), all) {
		t.Errorf("testdata/README.md does not say %s", all)
	}
}
