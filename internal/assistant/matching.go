package assistant

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"adlens"
	"adlens/internal/answer"
	"adlens/internal/catalogue"
	"adlens/internal/query"

	"github.com/go-json-experiment/json/jsontext"
)

// condition is what a row has to be to be shown: a figure, as it is shown, beside a
// number. A figure that is null meets none.
type condition struct {
	figure, operator string
	number           *big.Rat
}

// maxConditions bounds the conditions of a call: each is looked at for each row.
const maxConditions = 30

var conditionForm = regexp.MustCompile(`^\s*([A-Za-z0-9_]+)\s*(<=|>=|<|>|=)\s*(-?[0-9]{1,18}(?:\.[0-9]{1,6})?)\s*%?\s*$`)

func readConditions(texts []string) (all []condition, err error) {
	for _, text := range texts {
		parts := conditionForm.FindStringSubmatch(text)
		if parts == nil {
			return nil, &argumentError{"where is " + strconv.Quote(adlens.CleanText(text, maxText)) + "; expected a figure, one of < <= = >= > and a number, as in acos>50"}
		}
		if !slices.Contains(catalogue.ReportFigureNames, strings.ToLower(parts[1])) {
			return nil, &argumentError{"where has the figure " + adlens.CleanText(parts[1], maxText) + expected(figuresArgument) + didYouMean(figuresArgument, parts[1])}
		}
		number, _ := new(big.Rat).SetString(parts[3])
		all = append(all, condition{strings.ToLower(parts[1]), parts[2], number})
	}
	return all, nil
}

// isMet reports whether a figure meets the condition.
func (c condition) isMet(value jsontext.Value) bool {
	n := numberOf(value)
	if n == nil {
		return false
	}
	order := n.Cmp(c.number)
	switch c.operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case "=":
		return order == 0
	case ">=":
		return order >= 0
	}
	return order > 0
}

// checkConditions refuses conditions that cannot be looked at in each row: rows that were
// not read may meet them too, and no number but 0 can be compared with several currencies.
func (r *report) checkConditions(conditions []condition) error {
	if r.Cut {
		return &argumentError{fmt.Sprintf("where looks at %d rows at most, and the call has %d; take a shorter period or fewer dimensions", query.MaxRows, r.rowsInAll)}
	}
	if !isNull(r.Currency) || len(r.rows) == 0 {
		return nil
	}
	ways := map[catalogue.Unit]string{catalogue.USD: "currency=USD, or marketplaces of one currency", catalogue.Local: "marketplaces of one currency"}
	for _, one := range conditions {
		if way, isAmount := ways[r.figures[r.at(one.figure)].Unit]; isAmount && one.number.Sign() != 0 {
			return &argumentError{"where has " + one.figure + ", which is in several currencies here; send " + way}
		}
	}
	return nil
}

// matchingTable is a ranking of rows that meet conditions. Matching is all of them as
// one row, shown or not.
type matchingTable struct {
	figuresTable
	Matching     []jsontext.Value `json:"matching,omitzero"`
	MatchingRows *int             `json:"matching_rows,omitzero"`
	NullRows     int              `json:"null_rows,omitzero"` // that nothing but null in figures of conditions leaves out
}

// rankMatching ranks the rows that meet all conditions. The API has no such filter, so
// that all rows are read.
func (c call) rankMatching(dimensions, figures []string, by, share string, conditions []condition) (any, error) {
	needed := slices.Clone(figures)
	for _, one := range conditions {
		needed = append(needed, one.figure)
	}
	params := append(c.ranking(by), answer.Parameter{Name: "page_size", Value: "all"})
	r, err := c.readReport(dimensions, needed, params...)
	if err != nil {
		return nil, err
	}
	if err := r.checkConditions(conditions); err != nil {
		return nil, err
	}
	rows, every := r.rowsInAll, r
	r.every = &every
	nulls := 0
	r.rows = slices.DeleteFunc(slices.Clone(r.rows), func(row line) bool {
		hasNull := false
		for _, one := range conditions {
			value := row.now[r.at(one.figure)]
			if !isNull(value) && !one.isMet(value) {
				return true
			}
			hasNull = hasNull || isNull(value)
		}
		if hasNull {
			nulls++
		}
		return hasNull
	})
	matching := len(r.rows)
	sum := r.sum() // of rounded rows: the API has no exact sum of some
	if matching == rows {
		sum = r.total
		sum.labels = r.noLabels()
	}
	top, _ := strconv.Atoi(c.args.first("top", defaultTop))
	page, _ := strconv.Atoi(c.args.first("page", "1"))
	first := min((max(page, 1)-1)*top, matching)
	last := min(first+top, matching)
	r.rows, r.rowsInAll, r.nextPage = r.rows[first:last], rows, 0
	if last < matching {
		r.nextPage = page + 1
	}
	t := r.tableOf(figures, share)
	return matchingTable{figuresTable{r.frame, r.cut, t}, r.writeLine(sum, figures, share), &matching, nulls}, nil
}
