package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"adlens/integration/model"
)

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
	case breakdown:
		for _, m := range a.Data {
			id, _ := m[q.by+"_id"].(string)
			date, _ := m["date"].(string)
			lines = append(lines, fmt.Sprintf("%q on %s%s", id, date, shownFigures(m)))
		}
		lines = append(lines, fmt.Sprintf("%d rows in all", a.Pagination.TotalRows))
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
	for _, name := range model.FigureNames {
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
			g.id, rest = r[0], r[2:]
			if q.endpoint == breakdown {
				g.bucket = r[1]
			} else if _, err := fmt.Sscan(r[1], &g.markets); err != nil {
				return nil, "", err
			}
			if len(rest) > 5 {
				total = rest[5] + " rows in all"
			}
		}
		var err error
		if g.sums, err = readSums(rest, micros); err != nil {
			return nil, "", fmt.Errorf("row %d, %q: %w", i+1, r, err)
		}
	}
	return groups, total, nil
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
			lines = append(lines, fmt.Sprintf("marketplace %d ad product %d %s", g.market, g.adProduct, sumsText(g.sums)))
		case timelines:
			lines = append(lines, g.bucket+" "+sumsText(g.sums))
		case breakdown:
			lines = append(lines, fmt.Sprintf("%q on %s %s", g.id, g.bucket, sumsText(g.sums)))
		default:
			lines = append(lines, fmt.Sprintf("%q in %b %s", g.id, g.markets, sumsText(g.sums)))
		}
	}
	if total != "" {
		lines = append(lines, total)
	}
	return lines, nil
}

// firstDifference tells where an answer is not the expected one.
func firstDifference(want, got []string) error {
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
