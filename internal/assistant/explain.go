package assistant

import (
	"cmp"
	"errors"
	"maps"
	"math/big"
	"slices"

	"adlens/internal/answer"
	"adlens/internal/catalogue"
	"adlens/internal/query"

	"github.com/go-json-experiment/json/jsontext"
)

// contribution is what a part added to a change.
type contribution struct {
	labels      []jsontext.Value
	now, before jsontext.Value
	amount      *big.Rat
}

// contributions are what the parts of one dimension added to a change; others is
// what all parts that are not shown did.
type contributions struct {
	Columns []string           `json:"columns"`
	Rows    [][]jsontext.Value `json:"rows"`
	Others  []jsontext.Value   `json:"others,omitzero"`
}

// maxContributions bounds the parts of a dimension that are shown.
const maxContributions = 6

// factors are what a figure is the product of, in the order in which they are shown;
// -1 is what it is divided by. Each factor is a ratio of sums.
var factors = map[string][]factor{
	"spend": {{"clicks", "clicks", "", 1}, {"cost_per_click", "spend", "clicks", 1}},
	"sales": {{"clicks", "clicks", "", 1}, {"conversion_rate", "purchases", "clicks", 1}, {"order_value", "sales", "purchases", 1}},
	"acos":  {{"cost_per_click", "spend", "clicks", 1}, {"conversion_rate", "purchases", "clicks", -1}, {"order_value", "sales", "purchases", -1}},
	"roas":  {{"cost_per_click", "spend", "clicks", -1}, {"conversion_rate", "purchases", "clicks", 1}, {"order_value", "sales", "purchases", 1}},
}

type factor struct {
	name, numerator, denominator string
	power                        int
}

// explanation is the result of explain_change.
type explanation struct {
	frame
	Figure string `json:"figure"`
	Unit   string `json:"change_in"`
	Now    struct {
		Value  jsontext.Value `json:"value" schema:"number?"`
		Before jsontext.Value `json:"before" schema:"number?"`
		Change jsontext.Value `json:"change" schema:"number?"`
		Share  jsontext.Value `json:"change_percent" schema:"number?"`
		// Divided is what contributions to the change of a ratio add up to; those of a sum
		// add up to its change.
		Divided jsontext.Value `json:"divided_change,omitzero" schema:"number"`
	} `json:"now"`
	Factors *contributions `json:"factors,omitzero"`
	By      changeByPart   `json:"by" schema:"object"` // with members like factors
	WhyNot  string         `json:"why_not_divided,omitzero"`
}

// changeByPart is a change divided by each dimension; nothing where it is not divided.
type changeByPart struct {
	Marketplace contributions `json:"marketplace,omitzero"`
	AdProduct   contributions `json:"ad_product,omitzero"`
	Campaign    contributions `json:"campaign,omitzero"`
	Product     contributions `json:"product,omitzero"`
}

func answerExplain(c call) (any, error) {
	name := c.args.first("figure", "spend")
	i := slices.IndexFunc(catalogue.Figures, func(f catalogue.Figure) bool { return f.Name == name })
	figure := catalogue.Figures[i]
	c.args["compare"] = []string{c.args.first("compare", "previous_period")}
	e := explanation{Figure: name}
	figures := []string{name, "spend", "sales", "clicks", "purchases"}
	for i, part := range []struct {
		dimension string
		parts     *contributions
	}{{"marketplace", &e.By.Marketplace}, {"ad_product", &e.By.AdProduct}, {"campaign", &e.By.Campaign}, {"product", &e.By.Product}} {
		r, err := c.readReport([]string{part.dimension}, figures, answer.Parameter{Name: "page_size", Value: "all"})
		if err != nil {
			return nil, err
		}
		e.addFrame(r.frame)
		if i == 0 {
			e.describeTotal(&r, figure)
		}
		change := r.dividedChange(figure)
		if e.WhyNot, err = c.whyNotDivided(&r, figure, change); err != nil {
			return nil, err
		}
		if e.WhyNot != "" {
			continue
		}
		if figure.IsRatio() {
			e.Now.Divided = numberValue(change, decimalsOfParts(figure))
		}
		*part.parts = divideChange(&r, figure, change)
		if e.Factors == nil {
			e.Factors = divideByFactors(&r, figure, change)
		}
	}
	if e.WhyNot == "" {
		if err := c.addMarketplaces(&e); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// addMarketplaces says in which marketplace each campaign that is shown is: names of
// campaigns repeat in others. They have a report of their own, since one of all campaigns
// by marketplace never comes from memory.
func (c call) addMarketplaces(e *explanation) error {
	shown := &e.By.Campaign
	at := slices.Index(shown.Columns, "campaign_id")
	var ids []string
	for _, row := range shown.Rows {
		if !isNull(row[at]) {
			ids = append(ids, textOf(row[at]))
		}
	}
	nowhere := slices.Repeat([]jsontext.Value{jsontext.Value("null")}, 2)
	places := map[string][]jsontext.Value{}
	if len(ids) > 0 {
		c.args = maps.Clone(c.args)
		c.args["campaign_ids"] = ids
		r, err := c.readReport([]string{"marketplace", "campaign"}, []string{e.Figure}, answer.Parameter{Name: "page_size", Value: "all"})
		var refused *query.FaultsError
		if err != nil && !errors.As(err, &refused) { // an id with a comma cannot be sent
			return err
		}
		e.Requests = append(e.Requests, r.Requests...)
		for _, row := range r.rows {
			id := textOf(row.labels[slices.Index(r.dimensions, "campaign_id")])
			if _, isRepeated := places[id]; isRepeated {
				places[id] = nowhere // it is in several
			} else {
				places[id] = row.labels[:2]
			}
		}
	}
	for i, row := range shown.Rows {
		place, isKnown := places[textOf(row[at])]
		if !isKnown {
			place = nowhere
		}
		shown.Rows[i] = slices.Concat(place, row)
	}
	if shown.Others != nil {
		shown.Others = slices.Concat(nowhere, shown.Others)
	}
	shown.Columns = slices.Concat(columnsOf([]string{"marketplace"}), shown.Columns)
	return nil
}

// addFrame adds what one more report says of itself. All are of the same scope, but each
// has its own request, and may alone have had its rows cut.
func (e *explanation) addFrame(f frame) {
	f.Requests = append(e.Requests, f.Requests...)
	f.Cut = f.Cut || e.Cut
	e.frame = f
}

// whyNotDivided says why a change is not divided: some days are not held, or there is no
// change; "" where it is divided. Days before the history come first: no later period brings
// them back, and an earlier one has more of them.
func (c call) whyNotDivided(r *report, f catalogue.Figure, change *big.Rat) (string, error) {
	switch {
	case r.HeldFrom != "":
		return "days before " + r.HeldFrom + ", of the period and of the earlier one, are not held; send start_date and end_date of a period whose earlier one begins on " + r.HeldFrom + " or later", nil
	case !r.comparable:
		if first, _, held := c.moment.HeldSpan(); held {
			return "days of the earlier period, before " + first.String() + ", are not held; send start_date and end_date of a period whose earlier one begins on that day or later", nil
		}
		return "no days are held", nil
	}
	if begun, err := c.explainBegun(r.frame); err != nil || begun != "" {
		return begun, err
	}
	if why := explainMissing(r.missing); why != "" {
		return why, nil
	}
	behind, err := c.explainBehind(r.frame)
	switch {
	case err != nil || behind != "":
		return behind, err
	case r.NotHeldFrom != "":
		return "days of the period from " + r.NotHeldFrom + " on are not held, and are no fall; send start_date and an end_date up to data_last_date", nil
	case change == nil || !r.canDivide(f):
		return "the figure or what it is divided by is null or 0 in one of the periods", nil
	}
	return "", nil
}

// canDivide reports whether both sides of the whole have what a ratio is divided by,
// as it is shown.
func (r *report) canDivide(f catalogue.Figure) bool {
	if !f.IsRatio() {
		return true
	}
	i := r.at(catalogue.Measures[f.Denominator].Name)
	now, before := numberOf(r.total.now[i]), numberOf(r.total.before[i])
	return now != nil && before != nil && now.Sign() != 0 && before.Sign() != 0
}

// amount is the unit of figures that are in US dollars or, with currency local, in the
// marketplaces' money.
const amount = "currency"

// describeTotal says how the figure changed as a whole.
func (e *explanation) describeTotal(r *report, f catalogue.Figure) {
	i := r.at(f.Name)
	e.Unit = map[catalogue.Unit]string{catalogue.Count: "count", catalogue.USD: amount, catalogue.Percent: "points", catalogue.Ratio: "ratio"}[f.Unit]
	e.Now.Value, e.Now.Before = r.total.now[i], r.total.before[i]
	e.Now.Change, e.Now.Share = jsontext.Value("null"), jsontext.Value("null")
	change := difference(e.Now.Value, e.Now.Before)
	switch {
	case change == nil:
	case f.IsRatio(): // of exact sums, as the API has it
		e.Now.Change, e.Now.Share = r.total.change[i], percentOf(r.exactChange(f), r.ratioOf(f, r.total.before, nil))
	default:
		e.Now.Change, e.Now.Share = numberValue(change, f.Decimals()), r.total.change[i]
	}
}

// decimalsOfParts is how many decimals contributions have: in two, those to a change of a
// click-through rate or of a cost per click are mostly 0.
func decimalsOfParts(f catalogue.Figure) int {
	if f.IsRatio() {
		return 4
	}
	return f.Decimals()
}

// dividedChange returns the change that contributions add up to, which are of sums as they
// are shown. Digits that are not shown may make the API's change of a ratio another: then it
// is the nearest that rounds to the API's. Nil where a side is unknown.
func (r *report) dividedChange(f catalogue.Figure) *big.Rat {
	change := r.exactChange(f)
	if change == nil || !f.IsRatio() {
		return change
	}
	ofAPI := numberOf(r.total.change[r.at(f.Name)])
	if ofAPI == nil {
		return nil
	}
	isOfAPI := func(n *big.Rat) bool { return numberOf(numberValue(n, f.Decimals())).Cmp(ofAPI) == 0 }
	fine := numberOf(numberValue(change, decimalsOfParts(f)))
	if isOfAPI(fine) {
		return fine
	}
	direction := int64(fine.Cmp(ofAPI))
	edge := new(big.Rat).Add(ofAPI, big.NewRat(direction, 2*pow10(f.Decimals())))
	if !isOfAPI(edge) { // a half is rounded away from zero
		edge.Sub(edge, big.NewRat(direction, pow10(decimalsOfParts(f))))
	}
	return edge
}

// exactChange returns how much the whole changed, before it is rounded; nil where a side
// is unknown.
func (r *report) exactChange(f catalogue.Figure) *big.Rat {
	if !f.IsRatio() {
		return difference(r.total.now[r.at(f.Name)], r.total.before[r.at(f.Name)])
	}
	now, before := r.ratioOf(f, r.total.now, nil), r.ratioOf(f, r.total.before, nil)
	if now == nil || before == nil {
		return nil
	}
	return now.Sub(now, before)
}

// difference returns how much a figure changed, as it is shown; nil where a side is
// null.
func difference(now, before jsontext.Value) *big.Rat {
	n, b := numberOf(now), numberOf(before)
	if n == nil || b == nil {
		return nil
	}
	return n.Sub(n, b)
}

// divideChange divides a change among rows: their shown contributions and that of
// the others add up to it exactly. Shares are of what is not rounded; of what shows as
// nothing there are none.
//
// A sum's are the rows' own changes. Those of a ratio N/D that was R0, of a row n/d,
// are (n1 - R0*d1)/D1 - (n0 - R0*d0)/D0: over all rows the first part adds up to R1 - R0
// and the second to zero, and a row that kept both its ratio and its weight has none.
func divideChange(r *report, f catalogue.Figure, change *big.Rat) contributions {
	at := r.at(f.Name)
	var all []contribution
	for _, row := range r.rows {
		amount := contributionOf(r, f, row)
		if amount.Sign() != 0 {
			all = append(all, contribution{row.labels, row.now[at], valueAt(row.before, at), amount})
		}
	}
	slices.SortStableFunc(all, func(a, b contribution) int {
		return cmp.Or(new(big.Rat).Abs(b.amount).Cmp(new(big.Rat).Abs(a.amount)), 0)
	})
	shown := contributions{Columns: append(slices.Clone(r.dimensions), f.Name, f.Name+"_before", "contribution", "share_of_change_percent"), Rows: [][]jsontext.Value{}}
	decimals := decimalsOfParts(f)
	left, exact := new(big.Rat).Set(change), r.exactChange(f)
	if change.Sign() == 0 {
		exact = new(big.Rat)
	}
	exactLeft := new(big.Rat).Set(exact)
	var amounts []*big.Rat
	for _, part := range all {
		amounts = append(amounts, part.amount)
	}
	var rounded []jsontext.Value
	if len(all) <= maxContributions {
		rounded = roundTogether(amounts, change, decimals)
	}
	for i, part := range all[:min(len(all), maxContributions)] {
		amount := numberValue(part.amount, decimals)
		if rounded != nil {
			amount = rounded[i]
		}
		shown.Rows = append(shown.Rows, append(slices.Clone(part.labels), part.now, part.before, amount, percentOf(part.amount, exact)))
		left.Sub(left, numberOf(amount))
		exactLeft.Sub(exactLeft, part.amount)
	}
	if len(all) > maxContributions || left.Sign() != 0 {
		null := jsontext.Value("null")
		rest := numberValue(left, decimals)
		shown.Others = append(slices.Repeat([]jsontext.Value{null}, len(r.dimensions)), null, null, rest, percentOf(exactLeft, exact))
	}
	return shown
}

// contributionOf returns what a row added to the change of the whole.
func contributionOf(r *report, f catalogue.Figure, row line) *big.Rat {
	sum := func(values []jsontext.Value, measure int) *big.Rat {
		if n := numberOf(valueAt(values, r.at(catalogue.Measures[measure].Name))); n != nil {
			return n
		}
		return new(big.Rat)
	}
	if !f.IsRatio() {
		return new(big.Rat).Sub(sum(row.now, f.Numerator), sum(row.before, f.Numerator))
	}
	ratio := new(big.Rat).Quo(sum(r.total.before, f.Numerator), sum(r.total.before, f.Denominator))
	excess := func(part, whole []jsontext.Value) *big.Rat {
		n := sum(part, f.Numerator)
		n.Sub(n, new(big.Rat).Mul(ratio, sum(part, f.Denominator)))
		return n.Quo(n, sum(whole, f.Denominator))
	}
	amount := excess(row.now, r.total.now)
	amount.Sub(amount, excess(row.before, r.total.before))
	if f.Unit == catalogue.Percent {
		amount.Mul(amount, big.NewRat(100, 1))
	}
	return amount
}

// divideByFactors divides a change among what the figure is the product of: each
// factor's effect is the mean over all orders in which the factors can change from
// what they were to what they are (Shapley's value), so that the effects add up and no
// order is preferred. It is nil where a factor is unknown on a side.
func divideByFactors(r *report, f catalogue.Figure, change *big.Rat) *contributions {
	list := factors[f.Name]
	now, before := make([]*big.Rat, len(list)), make([]*big.Rat, len(list))
	for i, part := range list {
		now[i], before[i] = part.value(r, r.total.now), part.value(r, r.total.before)
		if now[i] == nil || before[i] == nil || part.power < 0 && (now[i].Sign() == 0 || before[i].Sign() == 0) {
			return nil
		}
	}
	if len(list) == 0 {
		return nil
	}
	effects := make([]*big.Rat, len(list))
	for i := range effects {
		effects[i] = new(big.Rat)
	}
	orders := permutations(len(list))
	for _, order := range orders {
		at := slices.Clone(before)
		last := product(list, at)
		for _, i := range order {
			at[i] = now[i]
			next := product(list, at)
			effects[i].Add(effects[i], new(big.Rat).Sub(next, last))
			last = next
		}
	}
	weight := big.NewRat(1, int64(len(orders)))
	if f.Unit == catalogue.Percent {
		weight.Mul(weight, big.NewRat(100, 1))
	}
	shown := &contributions{Columns: []string{"factor", "value", "before", "contribution", "share_of_change_percent"}}
	amounts, exact := make([]*big.Rat, len(list)), new(big.Rat)
	for i := range effects {
		amounts[i] = effects[i].Mul(effects[i], weight)
		exact.Add(exact, amounts[i])
	}
	if change.Sign() == 0 {
		exact.SetInt64(0)
	}
	for i, amount := range roundTogether(amounts, change, decimalsOfParts(f)) {
		decimals := 4 // what shows as equal in cents may not be
		if list[i].denominator == "" {
			decimals = 0
		}
		scale := new(big.Rat).SetInt64(1)
		if list[i].name == "conversion_rate" {
			scale.SetInt64(100)
		}
		shown.Rows = append(shown.Rows, []jsontext.Value{textValue(list[i].name), numberValue(now[i].Mul(now[i], scale), decimals), numberValue(before[i].Mul(before[i], scale), decimals),
			amount, percentOf(amounts[i], exact)})
	}
	return shown
}

// value returns the factor from sums, nil where it is unknown.
func (part factor) value(r *report, sums []jsontext.Value) *big.Rat {
	n := numberOf(sums[r.at(part.numerator)])
	if part.denominator == "" || n == nil {
		return n
	}
	d := numberOf(sums[r.at(part.denominator)])
	if d == nil || d.Sign() == 0 {
		return nil
	}
	return n.Quo(n, d)
}

// product multiplies factors.
func product(list []factor, values []*big.Rat) *big.Rat {
	p := big.NewRat(1, 1)
	for i, part := range list {
		if part.power < 0 {
			p.Quo(p, values[i])
		} else {
			p.Mul(p, values[i])
		}
	}
	return p
}

// permutations returns all orders of n things.
func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, shorter := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(shorter), i, n-1))
		}
	}
	return all
}

// roundTogether rounds amounts so that they add up exactly to a whole: what rounding
// leaves goes to the largest.
func roundTogether(amounts []*big.Rat, whole *big.Rat, decimals int) []jsontext.Value {
	left := new(big.Rat).Set(whole)
	if len(amounts) == 0 {
		return nil
	}
	rounded := make([]*big.Rat, len(amounts))
	largest := 0
	for i, amount := range amounts {
		rounded[i] = numberOf(numberValue(amount, decimals))
		left.Sub(left, rounded[i])
		if new(big.Rat).Abs(amount).Cmp(new(big.Rat).Abs(amounts[largest])) > 0 {
			largest = i
		}
	}
	rounded[largest].Add(rounded[largest], left)
	values := make([]jsontext.Value, len(amounts))
	for i := range rounded {
		values[i] = numberValue(rounded[i], decimals)
	}
	return values
}
