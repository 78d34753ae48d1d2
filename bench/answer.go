package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"adlens"
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

// quotient is a x times / b in hundredths, rounded half away from zero; null
// without b.
func quotient(a, b *big.Int, times int64) figure {
	if b.Sign() == 0 {
		return figure{}
	}
	n := new(big.Int).Mul(a, big.NewInt(2*100*times))
	d := new(big.Int).Mul(b, big.NewInt(2))
	return figure{hundredths: n.Div(n.Add(n, b), d)}
}

var million = big.NewInt(1_000_000)

func count(n *big.Int) figure { return figure{hundredths: n, count: true} }

// figureNames are the figures in the order of every answer.
var figureNames = []string{"spend", "sales", "acos", "roas", "impressions", "clicks", "ctr", "average_cpc", "purchases", "conversion_rate"}

// figure computes one figure of sums.
func (s *sums) figure(name string) figure {
	switch name {
	case "spend":
		return quotient(&s.spend, million, 1)
	case "sales":
		return quotient(&s.sales, million, 1)
	case "acos":
		return quotient(&s.spend, &s.sales, 100)
	case "roas":
		return quotient(&s.sales, &s.spend, 1)
	case "impressions":
		return count(&s.impressions)
	case "clicks":
		return count(&s.clicks)
	case "ctr":
		return quotient(&s.clicks, &s.impressions, 100)
	case "average_cpc":
		return quotient(&s.spend, new(big.Int).Mul(&s.clicks, million), 1)
	case "purchases":
		return count(&s.purchases)
	case "conversion_rate":
		return quotient(&s.purchases, &s.clicks, 100)
	}
	panic("no figure is called " + name)
}

// shown writes all figures as an answer of the API has them.
func (s *sums) shown() string {
	var b strings.Builder
	for _, name := range figureNames {
		fmt.Fprintf(&b, " %s=%s", name, s.figure(name))
	}
	return b.String()
}

// group is one row of a peer's answer: sums by some key.
type group struct {
	market, adProduct int    // summary
	bucket            string // timeline: YYYY-MM-DD
	product           string // products
	markets           uint64 // products: a bit for each marketplace with rows
	sums              sums
}

// expected is the right answer, as a peer and as the API must give it.
type expected struct{ sums, shown []string }

// places tell the marketplaces of an account by their stored keys.
type places map[int]market

// expect makes the right answer of all groups of the raw rows.
func (q *question) expect(groups []group, at places) expected {
	switch q.endpoint {
	case summaries:
		return expectSummary(groups, at)
	case timelines:
		return expectTimeline(groups)
	}
	return q.expectProducts(groups, at)
}

func expectSummary(groups []group, at places) expected {
	var e expected
	var total sums
	type part struct {
		name, id string
		sums     sums
	}
	byMarket, byProduct := map[int]*part{}, map[int]*part{}
	for i := range groups {
		g := &groups[i]
		e.sums = append(e.sums, fmt.Sprintf("marketplace %d ad product %d %s", g.market, g.adProduct, &g.sums))
		total.add(&g.sums)
		if byMarket[g.market] == nil {
			byMarket[g.market] = &part{name: at[g.market].country, id: at[g.market].profile}
		}
		if byProduct[g.adProduct] == nil {
			byProduct[g.adProduct] = &part{name: adlens.AdProduct(g.adProduct).String()}
		}
		byMarket[g.market].sums.add(&g.sums)
		byProduct[g.adProduct].sums.add(&g.sums)
	}
	e.shown = []string{"total" + total.shown()}
	for _, by := range []map[int]*part{byMarket, byProduct} {
		var parts []*part
		for _, p := range by {
			parts = append(parts, p)
		}
		slices.SortFunc(parts, func(a, b *part) int {
			return cmp.Or(b.sums.figure("spend").hundredths.Cmp(a.sums.figure("spend").hundredths), strings.Compare(a.name, b.name))
		})
		for _, p := range parts {
			e.shown = append(e.shown, p.name+" "+p.id+p.sums.shown())
		}
	}
	return e
}

func expectTimeline(groups []group) expected {
	var e expected
	for i := range groups {
		e.sums = append(e.sums, groups[i].bucket+" "+groups[i].sums.String())
		e.shown = append(e.shown, groups[i].bucket+groups[i].sums.shown())
	}
	return e
}

func (q *question) expectProducts(groups []group, at places) expected {
	sorted := slices.Clone(groups)
	keys := map[string]figure{}
	if q.sort != "product_id" {
		for i := range groups {
			keys[groups[i].product] = groups[i].sums.figure(q.sort)
		}
	}
	slices.SortFunc(sorted, func(a, b group) int { return q.compare(&a, &b, keys) })
	e := expected{}
	first := min((q.page-1)*q.size, len(sorted))
	page := sorted[first:min(first+q.size, len(sorted))]
	for i := range page {
		g := &page[i]
		e.sums = append(e.sums, fmt.Sprintf("%q in %b %s", g.product, g.markets, &g.sums))
		e.shown = append(e.shown, fmt.Sprintf("%q in %s%s", g.product, at.codes(g.markets), g.sums.shown()))
	}
	total := fmt.Sprintf("%d rows in all", len(sorted))
	if len(page) > 0 {
		e.sums = append(e.sums, total)
	}
	e.shown = append(e.shown, total)
	return e
}

// compare orders products as the API must: by the value as shown, null last,
// ties by id, none last.
func (q *question) compare(a, b *group, keys map[string]figure) int {
	sign := 1
	if q.order == "desc" {
		sign = -1
	}
	last := func(a, b bool) int {
		if a == b {
			return 0
		}
		if a {
			return 1
		}
		return -1
	}
	byID := cmp.Or(last(a.product == "", b.product == ""), strings.Compare(a.product, b.product))
	if q.sort == "product_id" {
		return cmp.Or(last(a.product == "", b.product == ""), sign*byID)
	}
	x, y := keys[a.product].hundredths, keys[b.product].hundredths
	by := last(x == nil, y == nil)
	if x != nil && y != nil {
		by = sign * x.Cmp(y)
	}
	return cmp.Or(by, byID)
}

// codes are the countries of marked marketplaces, sorted.
func (p places) codes(marked uint64) string {
	var codes []string
	for key, m := range p {
		if marked&(1<<key) != 0 {
			codes = append(codes, m.country)
		}
	}
	slices.Sort(codes)
	return strings.Join(codes, ",")
}

// apiAnswer is what of an answer of the API is compared.
type apiAnswer struct {
	Period struct {
		Start string `json:"start_date"`
		End   string `json:"end_date"`
	}
	ByMarketplace []map[string]any `json:"by_marketplace"`
	ByAdProduct   []map[string]any `json:"by_ad_product"`
	Data          []map[string]any
	Pagination    struct {
		TotalRows int `json:"total_rows"`
	}
}

// readAnswer brings an answer of the API into the form of expected.shown.
func (q *question) readAnswer(body []byte) ([]string, error) {
	var a apiAnswer
	var top map[string]any
	for _, into := range []any{&a, &top} {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(into); err != nil {
			return nil, fmt.Errorf("%w in %.200q", err, body)
		}
	}
	if a.Period.Start != q.from.String() || a.Period.End != q.to.String() {
		return nil, fmt.Errorf("the answer is of %s to %s, expected %s to %s", a.Period.Start, a.Period.End, q.from, q.to)
	}
	var lines []string
	switch q.endpoint {
	case summaries:
		lines = append(lines, "total"+shownFigures(top))
		for _, m := range a.ByMarketplace {
			lines = append(lines, fmt.Sprintf("%v %v%s", m["marketplace"], m["marketplace_id"], shownFigures(m)))
		}
		for _, m := range a.ByAdProduct {
			lines = append(lines, fmt.Sprintf("%v %s", m["ad_product"], shownFigures(m)))
		}
	case timelines:
		for _, m := range a.Data {
			lines = append(lines, fmt.Sprint(m["date"])+shownFigures(m))
		}
	default:
		for _, m := range a.Data {
			id, _ := m["product_id"].(string)
			var codes []string
			for _, code := range m["marketplaces"].([]any) {
				codes = append(codes, fmt.Sprint(code))
			}
			lines = append(lines, fmt.Sprintf("%q in %s%s", id, strings.Join(codes, ","), shownFigures(m)))
		}
		lines = append(lines, fmt.Sprintf("%d rows in all", a.Pagination.TotalRows))
	}
	return lines, nil
}

func shownFigures(m map[string]any) string {
	var b strings.Builder
	for _, name := range figureNames {
		value := m[name]
		if value == nil {
			value = "null"
		}
		fmt.Fprintf(&b, " %s=%v", name, value)
	}
	return b.String()
}

// readGroups brings a peer's rows into groups. Amounts are decimals of dollars,
// or whole millionths where micros is set.
func (q *question) readGroups(rows [][]string, micros bool) ([]group, string, error) {
	groups := make([]group, len(rows))
	total := ""
	for i, r := range rows {
		g := &groups[i]
		var rest []string
		switch q.endpoint {
		case summaries:
			if _, err := fmt.Sscan(r[0]+" "+r[1], &g.market, &g.adProduct); err != nil {
				return nil, "", err
			}
			rest = r[2:]
		case timelines:
			g.bucket, rest = r[0], r[1:]
		default:
			g.product, rest = r[0], r[2:]
			if _, err := fmt.Sscan(r[1], &g.markets); err != nil {
				return nil, "", err
			}
			if len(rest) > 5 {
				total = rest[5] + " rows in all"
			}
		}
		if err := g.sums.read(rest, micros); err != nil {
			return nil, "", fmt.Errorf("row %d, %q: %w", i+1, r, err)
		}
	}
	return groups, total, nil
}

func (s *sums) read(text []string, micros bool) error {
	into := []*big.Int{&s.impressions, &s.clicks, &s.purchases, &s.spend, &s.sales}
	if len(text) < len(into) {
		return fmt.Errorf("%d sums, expected %d", len(text), len(into))
	}
	for i, n := range into {
		digits := text[i]
		if i >= 3 && !micros {
			whole, fraction, _ := strings.Cut(digits, ".")
			if len(fraction) > 6 {
				return fmt.Errorf("%q has more than 6 decimals", digits)
			}
			digits = whole + fraction + strings.Repeat("0", 6-len(fraction))
		}
		if _, ok := n.SetString(digits, 10); !ok {
			return fmt.Errorf("%q is no number", text[i])
		}
	}
	return nil
}

// readPeer brings a peer's answer into the form of expected.sums.
func (q *question) readPeer(rows [][]string, micros bool) ([]string, error) {
	groups, total, err := q.readGroups(rows, micros)
	if err != nil {
		return nil, err
	}
	var lines []string
	for i := range groups {
		g := &groups[i]
		switch q.endpoint {
		case summaries:
			lines = append(lines, fmt.Sprintf("marketplace %d ad product %d %s", g.market, g.adProduct, &g.sums))
		case timelines:
			lines = append(lines, g.bucket+" "+g.sums.String())
		default:
			lines = append(lines, fmt.Sprintf("%q in %b %s", g.product, g.markets, &g.sums))
		}
	}
	if total != "" {
		lines = append(lines, total)
	}
	return lines, nil
}

// difference tells where an answer is not the expected one.
func difference(want, got []string) error {
	for i := range max(len(want), len(got)) {
		w, g := "nothing", "nothing"
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			return fmt.Errorf("line %d:\n  expected %s\n  answered %s", i+1, w, g)
		}
	}
	return nil
}
