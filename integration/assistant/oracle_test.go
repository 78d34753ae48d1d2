package assistant_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"adlens"
	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/house"
	"adlens/integration/model"
)

// loaded is an account of random extracts, with its oracle and an assistant.
func loaded(t *testing.T) (*rand.Rand, *house.Tenant, *harness.Program, session) {
	t.Helper()
	seed := house.Seed(t)
	p := house.OwnProgram(t)
	accounts, err := extracts.Write(t.TempDir(), extracts.Options{Seed: seed, Accounts: 1, Reports: house.Scaled(24), Now: time.Now()})
	house.Need(t, err)
	key, err := p.Account(accounts[0].ID)
	house.Need(t, err)
	one := &house.Tenant{Files: accounts[0], Model: model.New(), Ask: harness.Client{Key: key}}
	paths := []string{one.Files.Base}
	for _, report := range one.Files.Reports {
		paths = append(paths, report.Files()...)
	}
	house.Load(t, p, one, paths...)
	return rand.New(rand.NewPCG(seed, 22)), one, p, openSession(t, p, one.Files.ID, "--limit-minute", "0", "--limit-day", "0")
}

// Tools answer random calls as the oracle does, and what they add up adds up.
func TestToolsAnswerAsTheOracleDoes(t *testing.T) {
	t.Parallel()
	r, one, _, s := loaded(t)
	asker := house.NewAsker(r, one.Model)
	for range house.Scaled(80) {
		q := asker.Ask()
		for q.Path != "/report" || !isRanked(q.Query) {
			q = asker.Ask()
		}
		checkRank(t, s, one.Model, q.Query, r)
		checkMatching(t, s, one.Model, q.Query, r)
	}
	for range house.Scaled(40) {
		checkExplanation(t, s, one.Model, asker, r)
	}
}

// isRanked reports whether a query sorts its rows by a figure of all or by one of its
// dimensions.
func isRanked(q url.Values) bool {
	by := strings.ToLower(q.Get("sort"))
	return slices.Contains(model.FigureNames, by) || by != "" && slices.Contains(strings.Split(strings.ToLower(q.Get("dimensions")), ","), by)
}

// listArguments are arguments that are lists.
var listArguments = []string{"dimensions", "figures", "marketplaces", "ad_products", "campaign_ids", "ad_group_ids", "product_ids"}

// argumentsOf says a query as arguments of a tool.
func argumentsOf(q url.Values, names ...string) map[string]any {
	arguments := map[string]any{}
	for _, name := range names {
		switch {
		case !q.Has(name):
		case slices.Contains(listArguments, name):
			arguments[name] = strings.Split(strings.Join(q[name], ","), ",")
		default:
			arguments[name] = q.Get(name)
		}
	}
	return arguments
}

var scope = []string{"range", "start_date", "end_date", "timezone", "marketplaces", "ad_products", "campaign_ids", "ad_group_ids", "product_ids", "currency", "compare"}

func checkRank(t *testing.T, s session, m *model.Account, q url.Values, r *rand.Rand) {
	t.Helper()
	by, top := q.Get("sort"), 1+r.IntN(8)
	q.Set("page_size", "all")
	q.Del("page")
	if !q.Has("dimensions") {
		q.Set("dimensions", "campaign")
	}
	if !q.Has("figures") {
		q.Set("figures", strings.Join(model.FigureNames, ","))
	}
	compareTop(t, s, m, q, by, top)
}

// compareTop compares the first rows of a query for all rows, and the others, with the
// oracle's.
func compareTop(t *testing.T, s session, m *model.Account, q url.Values, by string, top int) {
	t.Helper()
	compareRank(t, s, m, q, map[string]any{"by": by, "top": top}, func(want, got map[string]any) []string {
		all := want["data"].([]any)
		want["data"] = all[:min(len(all), top)]
		return append(rankDifferences(want, got, strings.Split(q.Get("figures"), ",")), othersDifferences(want, got, all)...)
	})
}

// compareRank calls rank with a query's arguments and more, and compares the result with
// the oracle's report: of either day, because a call may meet midnight.
func compareRank(t *testing.T, s session, m *model.Account, q url.Values, more map[string]any, differences func(want, got map[string]any) []string) {
	t.Helper()
	arguments := argumentsOf(q, append(scope, "dimensions", "figures", "order", "search")...)
	maps.Copy(arguments, more)
	before := time.Now()
	got, refusal := s.call(t, "rank", arguments)
	if refusal != "" {
		t.Errorf("rank %v: %s", arguments, refusal)
		return
	}
	ranked := maps.Clone(q)
	if !ranked.Has("order") {
		ranked.Set("order", "desc") // as the tool says, also by a dimension
	}
	var all []string
	for _, now := range []time.Time{before, time.Now()} {
		want, err := m.Report(ranked, now)
		house.Need(t, err)
		want["held_since"], _ = m.Held()
		if all = differences(want, got); len(all) == 0 {
			return
		}
	}
	t.Errorf("rank %v:\n%s", arguments, strings.Join(all, "\n"))
}

// condition is a condition, as it is sent and by its parts.
type condition struct{ text, figure, operator, number string }

func randomCondition(r *rand.Rand) condition {
	figure, operator, number := model.FigureNames[r.IntN(len(model.FigureNames))], []string{"<", "<=", "=", ">=", ">"}[r.IntN(5)], []string{"0", "1", "12.5", "30", "250"}[r.IntN(5)]
	return condition{figure + operator + number, figure, operator, number}
}

// judge reports whether the figure is null in a row, and whether the row meets the condition.
func (o condition) judge(row any) (isNull, isMet bool) {
	n := ratOf(row.(map[string]any)[o.figure])
	if n == nil {
		return true, false
	}
	limit, _ := new(big.Rat).SetString(o.number)
	c := n.Cmp(limit)
	return false, c < 0 && strings.Contains(o.operator, "<") || c == 0 && strings.Contains(o.operator, "=") || c > 0 && strings.Contains(o.operator, ">")
}

// isAmount reports whether the condition is on an amount of one currency: 0 is the same in all.
func (o condition) isAmount() bool {
	return o.number != "0" && slices.Contains([]string{"spend", "sales", "average_cpc"}, o.figure)
}

// isMixed reports whether the rows of a query have amounts in several currencies.
func isMixed(t *testing.T, m *model.Account, q url.Values) bool {
	t.Helper()
	want, err := m.Report(q, time.Now())
	house.Need(t, err)
	return want["currency"] == nil && len(want["data"].([]any)) > 0
}

// checkMatching ranks the rows that meet two conditions, and compares them, how many they
// are and their sum with the oracle's.
func checkMatching(t *testing.T, s session, m *model.Account, q url.Values, r *rand.Rand) {
	t.Helper()
	by, top := q.Get("sort"), 1+r.IntN(4)
	q.Set("page_size", "all")
	q.Set("figures", strings.Join(model.FigureNames, ","))
	one, other := randomCondition(r), randomCondition(r)
	if (one.isAmount() || other.isAmount()) && isMixed(t, m, q) {
		arguments := argumentsOf(q, append(scope, "dimensions", "search")...)
		maps.Copy(arguments, map[string]any{"by": by, "where": []string{one.text, other.text}})
		if _, refusal := s.call(t, "rank", arguments); !strings.Contains(refusal, "in several currencies here") {
			t.Errorf("rank %v: %q", arguments, refusal)
		}
		return
	}
	compareRank(t, s, m, q, map[string]any{"by": by, "top": top, "where": []string{one.text, other.text}}, func(want, got map[string]any) []string {
		var matching []any
		nulls := 0
		spend := new(big.Rat)
		all := want["data"].([]any)
		for _, row := range all {
			oneIsNull, oneIsMet := one.judge(row)
			otherIsNull, otherIsMet := other.judge(row)
			switch {
			case oneIsMet && otherIsMet:
				matching = append(matching, row)
				if cost := ratOf(row.(map[string]any)["spend"]); cost != nil {
					spend.Add(spend, cost)
				}
			case (oneIsMet || oneIsNull) && (otherIsMet || otherIsNull):
				nulls++
			}
		}
		if total := ratOf(want["totals"].(map[string]any)["spend"]); total != nil && len(matching) == len(all) {
			spend = total // exact, where the rows are rounded each
		}
		want["data"] = append([]any{}, matching[:min(len(matching), top)]...)
		differences := append(rankDifferences(want, got, model.FigureNames), othersDifferences(want, got, all)...)
		if n := got["matching_rows"].(json.Number).String(); n != strconv.Itoa(len(matching)) {
			differences = append(differences, fmt.Sprintf("%s rows match, want %d", n, len(matching)))
		}
		if n := ratOf(got["null_rows"]); n == nil && nulls > 0 || n != nil && (nulls == 0 || n.Cmp(big.NewRat(int64(nulls), 1)) != 0) {
			differences = append(differences, fmt.Sprintf("null_rows is %v, want %d", got["null_rows"], nulls))
		}
		isMixed := want["totals"].(map[string]any)["spend"] == nil // of several currencies, which have no sum
		if sum := ratOf(got["matching"].([]any)[slices.Index(textsOf(got["columns"]), "spend")]); isMixed != (sum == nil) || sum != nil && sum.Cmp(spend) != 0 {
			differences = append(differences, fmt.Sprintf("their spend is %v, want %s", sum, spend.FloatString(2)))
		}
		return differences
	})
}

// rankDifferences compares a ranking's rows and total with those of the oracle.
func rankDifferences(want map[string]any, got map[string]any, figures []string) (all []string) {
	columns, want0 := textsOf(got["columns"]), want
	check := func(what string, want map[string]any, values []any) {
		for i, column := range columns {
			name, isBefore := strings.CutSuffix(column, "_before")
			from := want
			if isBefore {
				compared, ok := want["comparison"].(map[string]any)
				if !ok {
					all = append(all, what+" has no comparison, but a column "+column)
					continue
				}
				from = compared
			}
			known, has := from[name]
			if !has || strings.HasSuffix(name, "name") || name == "title" {
				continue
			}
			if isBefore && !isCovered(want0) && !slices.Contains([]string{"date", "week", "month"}, name) {
				known = nil
			}
			if d := model.Diff(known, values[i]); len(d) > 0 {
				all = append(all, fmt.Sprintf("%s, %s: %v", what, column, d))
			}
		}
	}
	for _, figure := range figures {
		if !slices.Contains(columns, strings.TrimSpace(strings.ToLower(figure))) {
			all = append(all, figure+" is missing")
		}
	}
	rows, wanted := got["rows"].([]any), want["data"].([]any)
	if len(rows) != len(wanted) {
		return append(all, fmt.Sprintf("%d rows, want %d", len(rows), len(wanted)))
	}
	for i := range rows {
		check(fmt.Sprint("row ", i+1), wanted[i].(map[string]any), rows[i].([]any))
	}
	check("total", want["totals"].(map[string]any), got["total"].([]any))
	if want, got := partOf(want, want, columns), fmt.Sprint(got["partial"]); want != got {
		all = append(all, fmt.Sprintf("partial is %s, want %s", got, want))
	}
	if compared, is := want["comparison"].(map[string]any); is {
		if want, got := partOf(want, compared, columns), fmt.Sprint(got["compared_partial"]); want != got {
			all = append(all, fmt.Sprintf("compared_partial is %s, want %s", got, want))
		}
	}
	return append(all, model.Diff(want["period"], got["period"])...)
}

// partOf returns the weeks or months of which the period of one side has some days that
// are held, and not all.
func partOf(want, side map[string]any, columns []string) string {
	period := side["period"].(map[string]any)
	start, _ := adlens.ParseDay(period["start_date"].(string))
	end, _ := adlens.ParseDay(period["end_date"].(string))
	if first, err := adlens.ParseDay(want["held_since"].(string)); err == nil {
		start = max(start, first)
	}
	if held, ok := want["meta"].(map[string]any)["data_last_date"].(string); ok {
		last, _ := adlens.ParseDay(held)
		end = min(end, last)
	}
	var all []any
	for day := start; day <= end; day++ {
		first, whole := day.FirstOfWeek(), 7
		switch {
		case slices.Contains(columns, "month"):
			first, whole = day.FirstOfMonth(), day.LastOfMonth().DayOfMonth()
		case !slices.Contains(columns, "week"):
			continue
		}
		if days := min(end, first+adlens.Day(whole)-1) - max(start, first) + 1; int(days) < whole && !slices.Contains(all, any(first.String())) {
			all = append(all, first.String())
		}
	}
	if all == nil {
		return fmt.Sprint(any(nil))
	}
	return fmt.Sprint(all)
}

// isCovered reports whether all days of the earlier period are held: of others nothing
// is compared.
func isCovered(want map[string]any) bool {
	return want["comparison"].(map[string]any)["history_covered"] == true
}

func textsOf(list any) (all []string) {
	for _, one := range list.([]any) {
		all = append(all, one.(string))
	}
	return all
}

// sums are figures that add up.
var sums = []string{"spend", "sales", "impressions", "clicks", "purchases"}

// othersDifferences compares a ranking's others with those of all rows of the oracle that
// are not shown. Rows and others have to be the total, but for what rounding of the rows
// left to others that have nothing, or took from them.
func othersDifferences(want, got map[string]any, all []any) (differences []string) {
	shown := want["data"].([]any)
	if got["others"] == nil {
		if len(all) > len(shown) {
			differences = append(differences, "others are missing")
		}
		return differences
	}
	others := got["others"].([]any)
	for i, column := range textsOf(got["columns"]) {
		name, isBefore := strings.CutSuffix(column, "_before")
		if !slices.Contains(sums, name) || isBefore && !isCovered(want) {
			continue
		}
		valueOf := func(row any) *big.Rat {
			values := row.(map[string]any)
			if isBefore {
				values = values["comparison"].(map[string]any)
			}
			return ratOf(values[name])
		}
		add := func(rows []any) *big.Rat {
			sum := new(big.Rat)
			for _, row := range rows {
				if n := valueOf(row); n != nil {
					sum.Add(sum, n)
				}
			}
			return sum
		}
		total := valueOf(want["totals"])
		if total == nil { // of several currencies
			continue
		}
		left, rounding := new(big.Rat).Sub(total, add(shown)), big.NewRat(int64(len(shown)+1), 200)
		hidden := new(big.Rat).Sub(add(all), add(shown))
		expected := left
		if left.Sign() < 0 || hidden.Sign() == 0 && left.Cmp(rounding) <= 0 {
			expected = hidden
		}
		if n := ratOf(others[i]); n == nil && (expected.Sign() != 0 || got["incomplete"] == nil) || n != nil && n.Cmp(expected) != 0 {
			differences = append(differences, fmt.Sprintf("others, %s: %v, want %s of a total of %s; the %d rows that are not shown have %s",
				column, others[i], expected.FloatString(2), total.FloatString(2), len(all)-len(shown), hidden.FloatString(2)))
		}
	}
	return differences
}

func ratOf(v any) *big.Rat {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(n.String())
	return r
}

// checkPlaces demands that the campaigns of an explained change are in their marketplaces:
// their names may be in several.
func checkPlaces(t *testing.T, arguments, part map[string]any, m *model.Account, q url.Values) {
	t.Helper()
	q.Set("dimensions", "marketplace,campaign")
	q.Set("page_size", "all")
	want, err := m.Report(q, time.Now())
	house.Need(t, err)
	places := map[any]string{nil: "[<nil> <nil> <nil> <nil>]"}
	for _, one := range want["data"].([]any) {
		row := one.(map[string]any)
		if name, ok := row["campaign_name"].(string); ok {
			row["campaign_name"] = adlens.CleanText(name, 80) // as assistants get names
		}
		if _, isRepeated := places[row["campaign_id"]]; isRepeated && row["campaign_id"] != nil {
			places[row["campaign_id"]] = fmt.Sprint([]any{nil, nil, row["campaign_id"], row["campaign_name"]})
		} else if row["campaign_id"] != nil {
			places[row["campaign_id"]] = fmt.Sprint([]any{row["marketplace"], row["marketplace_id"], row["campaign_id"], row["campaign_name"]})
		}
	}
	if !slices.Equal(textsOf(part["columns"])[:4], []string{"marketplace", "marketplace_id", "campaign_id", "campaign_name"}) {
		t.Errorf("explain_change %v: the columns of campaigns are %v", arguments, part["columns"])
	}
	for _, row := range part["rows"].([]any) {
		if got := row.([]any)[:4]; fmt.Sprint(got) != places[got[2]] {
			t.Errorf("explain_change %v: a campaign is %v, want %s", arguments, got, places[got[2]])
		}
	}
}

// isRatio reports whether a figure is a ratio, whose change is in its own unit.
func isRatio(figure string) bool {
	return slices.Contains([]string{"acos", "roas", "ctr", "average_cpc", "conversion_rate"}, figure)
}

// checkExplanation compares both sides of an explained change with the oracle, and
// demands that each way to divide it adds up.
func checkExplanation(t *testing.T, s session, m *model.Account, a house.Asker, r *rand.Rand) {
	t.Helper()
	q := a.Ask().Query
	for _, name := range slices.Collect(maps.Keys(q)) {
		if !slices.Contains(scope, name) || name == "compare" || name == "currency" {
			q.Del(name)
		}
	}
	q.Set("compare", []string{"previous_period", "previous_year"}[r.IntN(2)])
	figure := model.FigureNames[r.IntN(len(model.FigureNames))]
	arguments := argumentsOf(q, scope...)
	arguments["figure"] = figure
	before := time.Now()
	got, refusal := s.call(t, "explain_change", arguments)
	var problem error
	for _, now := range []time.Time{before, time.Now()} {
		want, err := m.Report(q, now)
		if problem = err; err != nil {
			continue
		}
		if refusal != "" {
			problem = fmt.Errorf("refused: %s", refusal)
			continue
		}
		totals, shown := want["totals"].(map[string]any), got["now"].(map[string]any)
		before := totals["comparison"].(map[string]any)[figure]
		if !isCovered(want) {
			before = nil
		}
		d := append(model.Diff(totals[figure], shown["value"]), model.Diff(before, shown["before"])...)
		if isRatio(figure) { // the API has that of a sum in percent
			d = append(d, model.Diff(totals["comparison"].(map[string]any)["change"].(map[string]any)[figure], shown["change"])...)
		}
		if len(d) == 0 {
			break
		}
		problem = fmt.Errorf("%v", d)
	}
	if refusal != "" && strings.Contains(refusal, "nothing is left") && problem != nil {
		return // of today, yesterday is not a part
	}
	if problem != nil {
		t.Errorf("explain_change %v: %v", arguments, problem)
		return
	}
	now := got["now"].(map[string]any)
	change, divided := ratOf(now["change"]), ratOf(now["divided_change"])
	if divided != nil && (!isRatio(figure) || ratOf(json.Number(divided.FloatString(2))).Cmp(change) != 0) || isRatio(figure) && (divided == nil) != (got["why_not_divided"] != nil) {
		t.Errorf("explain_change %v: divided_change does not round to change: %v", arguments, now)
	}
	if divided != nil {
		change = divided
	}
	if change == nil && got["why_not_divided"] == nil {
		t.Errorf("explain_change %v does not say why it divides nothing", arguments)
	}
	parts := maps.Clone(got["by"].(map[string]any))
	if change != nil && got["factors"] != nil {
		parts["factors"] = got["factors"]
	}
	for name, part := range parts {
		p := part.(map[string]any)
		at := slices.Index(textsOf(p["columns"]), "contribution")
		if name == "campaign" {
			checkPlaces(t, arguments, p, m, q)
		}
		sum := new(big.Rat)
		lines := slices.Clone(p["rows"].([]any))
		if others, ok := p["others"]; ok {
			lines = append(lines, others)
		}
		for _, line := range lines {
			sum.Add(sum, ratOf(line.([]any)[at]))
		}
		if change == nil || sum.Cmp(change) != 0 {
			t.Errorf("explain_change %v: by %s contributions are %s, the change is %v", arguments, name, sum.FloatString(2), got["now"])
		}
	}
}
