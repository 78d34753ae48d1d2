package query

import (
	"context"
	"iter"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/flight"
)

// Report is a page of figures that are divided by dimensions.
type Report struct {
	Answer
	Total      Figures     // of the whole report
	Comparison *Comparison // nil where nothing is compared
	// Rows makes the rows of the page one by one, in their order: with their
	// figures, a hundred thousand at once would take as much memory as all else
	// of an answer.
	Rows      iter.Seq[Row]
	TotalRows int // of all pages
}

// Row is the figures of a combination of the dimensions' values. Those of other
// dimensions are zero.
type Row struct {
	Date         *adlens.Day // the day, or the first one of the week or month; nil where the earlier period alone is so long
	Marketplace  Marketplace
	AdProduct    adlens.AdProduct
	ID           string   // "" for figures that the platform ties to no product
	Title        string   // "" where none is known
	Marketplaces []string // by product alone: codes with figures of this row in the period, sorted
	Figures      Figures
	Comparison   *PointComparison // nil where nothing is compared
}

// Products answers a page of the product report.
func (s *Service) Products(ctx context.Context, v View, r Request) (*Report, error) {
	r.Dimensions = []string{dimProduct}
	return s.Report(ctx, v, r)
}

// Report answers a page of a report, and the totals of all of it, which are those of
// a summary.
func (s *Service) Report(ctx context.Context, v View, r Request) (*Report, error) {
	defer s.queueAhead(v)
	var p *Report
	var total sides
	err := flight.Together(func() (err error) {
		p, err = s.answerPage(ctx, v, r)
		return err
	}, func() error {
		undivided := r
		undivided.Dimensions, undivided.Granularity = nil, ""
		all, err := s.sumGroups(ctx, v, undivided)
		if sums := all[group{}]; sums != nil {
			total = *sums
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p.Total, p.Comparison = FiguresOf(total[current]), p.comparisonOf(&total)
	return p, nil
}

// isOfProducts reports whether rows are divided by product alone.
func (r Request) isOfProducts() bool { return len(r.Dimensions) == 1 && r.divides(dimProduct) }

func (s *Service) answerPage(ctx context.Context, v View, r Request) (*Report, error) {
	switch {
	case r.isOfProducts() && !r.narrowsProducts():
		return s.answerProducts(ctx, v, r)
	case r.divides(dimProduct):
		return s.answerRanked(ctx, v, r, PlanReport(r, v))
	}
	all, err := s.sumGroups(ctx, v, r)
	if err != nil {
		return nil, err
	}
	return groupedRows(r, v, all), nil
}

// groupedRows puts groups with figures in order and cuts a page.
func groupedRows(r Request, v View, all map[group]*sides) *Report {
	var sorted []sortedGroup
	figure := slices.Index(catalogue.FigureNames, r.Sort)
	for key, sums := range all {
		if sums.Empty() {
			continue
		}
		one := sortedGroup{group: key, sums: sums, past: r.Granularity != "" && r.dateAt(r.Period, key.bucket) == nil}
		if figure >= 0 {
			one.by = quotients[figure].computeValue(sums[current])
		}
		sorted = append(sorted, one)
	}
	slices.SortFunc(sorted, groupComparison(r, v))
	p := emptyPage(r, v, len(sorted))
	p.Rows = eachRow(cutPage(sorted, r), func(one *sortedGroup) Row { return p.newRow(v, one.group, one.sums) })
	return p
}

// MostRows is how many rows an answer has at most whose rows are paged.
func (s *Service) MostRows(_ context.Context, v View, r Request) (int, error) {
	if r.PageSize <= catalogue.MaxPageSize {
		return r.PageSize, nil
	}
	plan := PlanReport(r, v)
	bound := MostProducts(v)
	if r.Filters.Products != nil {
		bound = uint64(len(r.Filters.Products))
	}
	if r.Dimensions != nil && !r.divides(dimProduct) { // without any it is the product report
		bound = 1
	}
	if r.Granularity != "" {
		bound *= uint64(1 + max(r.offsetFrom(r.Period.Start, r.Period.End), r.offsetFrom(r.Earlier.Start, r.Earlier.End)))
	}
	if r.divides(dimMarketplace) {
		bound *= uint64(len(v.Marketplaces))
	}
	if r.divides(dimAdProduct) {
		bound *= uint64(len(adlens.AdProducts))
	}
	if r.Dimensions == nil || r.divides(dimProduct) {
		bound = min(bound, 1+plan.Rows+plan.earlierPlan().Rows)
	}
	return int(min(bound, uint64(r.PageSize))), nil
}

// productBound is how many products a report has at most.
func (s *Service) productBound(v View, plan Plan) uint64 {
	return min(plan.Rows+plan.earlierPlan().Rows, MostProducts(v))
}

// answerRanked answers a page that the engine has cut.
func (s *Service) answerRanked(ctx context.Context, v View, r Request, plan Plan) (*Report, error) {
	plan, err := s.narrowPlan(ctx, v, r, plan)
	switch {
	case err != nil:
		return nil, err
	case plan.isEmpty():
		return emptyPage(r, v, 0), nil
	case r.isByDate():
		return s.answerByDate(ctx, v, r, plan)
	case r.All && r.Page > 1:
		return s.answerPastEnd(ctx, v, r, plan)
	}
	rows, total, err := s.readPlanned(ctx, v, r, plan)
	if err == nil && len(rows) == 0 && r.Page > 1 {
		return s.answerPastEnd(ctx, v, r, plan)
	}
	return rankedRows(r, v, rows, total), err
}

// answerPastEnd answers a page past the end. The total number of rows comes from
// the first page.
func (s *Service) answerPastEnd(ctx context.Context, v View, r Request, plan Plan) (*Report, error) {
	first := r
	first.Page, first.PageSize = 1, 1
	_, total, err := s.readPlanned(ctx, v, first, plan)
	return rankedRows(r, v, nil, total), err
}

// isEmpty reports whether nothing that is held can answer, of either period.
func (p Plan) isEmpty() bool {
	return p.Empty() && p.earlierPlan().Empty() || p.Products != nil && len(p.Products) == 0
}

// narrowPlan is the plan for the products that are asked for.
func (s *Service) narrowPlan(ctx context.Context, v View, r Request, plan Plan) (Plan, error) {
	if !r.narrowsProducts() {
		return plan, nil
	}
	products, err := s.matchProducts(ctx, v, r)
	plan.Products = products
	if plan.Earlier != nil {
		then := *plan.Earlier
		then.Products, plan.Earlier = products, &then
	}
	return plan, err
}

// readPlanned reads rows that the engine has put in order and cut.
func (s *Service) readPlanned(ctx context.Context, v View, r Request, plan Plan) ([]RankedRow, int, error) {
	names := namesOf(v)
	return s.store.Ranked(ctx, plan.RankedStatement(r, names.products, names.titles), r.Compared())
}

// matchProducts are the numbers of the products that are asked for, sorted; never
// nil.
func (s *Service) matchProducts(ctx context.Context, v View, r Request) ([]uint32, error) {
	names, err := s.directory.getNames(ctx, v)
	if err != nil {
		return nil, err
	}
	text := strings.ToLower(r.Search)
	keys := []uint32{}
	for key, id := range names.ids {
		if r.Filters.Products != nil {
			if _, asked := slices.BinarySearch(r.Filters.Products, id); !asked {
				continue
			}
		}
		if strings.Contains(strings.ToLower(id), text) || strings.Contains(strings.ToLower(names.titles[id]), text) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// UnknownIDs returns a fault for each id of the filters that is neither in a figure
// that is held nor in a list of the account.
func (s *Service) UnknownIDs(ctx context.Context, v View, r Request) (faults []adlens.Fault, err error) {
	if most, _ := catalogue.Report.Parameter("product_ids"); r.Filters.Products == nil || len(r.Filters.Products) > most.MaxValues {
		return nil, nil // none, or too many, which was said
	}
	names, err := s.directory.getNames(ctx, v)
	if err != nil {
		return nil, err
	}
	held, near := map[string]bool{}, map[string]string{} // those asked for, and ids that differ in case
	for _, id := range names.ids {
		if _, asked := slices.BinarySearch(r.Filters.Products, id); asked {
			held[id] = true
		}
	}
	for _, id := range r.Filters.Products {
		if _, listed := names.titles[id]; !held[id] && !listed {
			near[strings.ToLower(id)] = ""
		}
	}
	if len(near) == 0 {
		return nil, nil
	}
	for _, id := range names.ids {
		if _, asked := near[strings.ToLower(id)]; asked {
			near[strings.ToLower(id)] = id
		}
	}
	for _, id := range r.Filters.Products {
		if mean, unknown := near[strings.ToLower(id)]; unknown && !held[id] {
			f := unknownValue(id, nil, "the id of a product with figures, or of one in the list of products")
			f.Parameter, f.DidYouMean = "product_ids", mean
			faults = append(faults, f)
		}
	}
	return faults, nil
}

// eachRow makes rows of what is known of them, whenever they are ranged over.
func eachRow[T any](all []T, make func(*T) Row) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range all {
			if !yield(make(&all[i])) {
				return
			}
		}
	}
}

// emptyPage is a page that has no rows yet.
func emptyPage(r Request, v View, total int) *Report {
	p := &Report{Answer: Answer{r, v.answerMeta(r)}, TotalRows: total, Rows: func(func(Row) bool) {}}
	p.Meta.Truncated = r.All && total > MaxRows
	return p
}

// rankedRows is a page that was put in order and cut by the engine.
func rankedRows(r Request, v View, rows []RankedRow, total int) *Report {
	p := emptyPage(r, v, total)
	p.Rows = eachRow(rows, func(row *RankedRow) Row {
		one := p.newRow(v, row.group(), &sides{row.Sums, row.Earlier})
		one.ID, one.Title, one.Marketplaces = row.ID, row.Title, v.countriesOf(row.Marketplaces)
		return one
	})
	return p
}

// newRow is a row without its product.
func (p *Report) newRow(v View, g group, s *sides) Row {
	row := Row{Figures: FiguresOf(s[current])}
	if g.marketplace != 0 {
		row.Marketplace = v.byKey(g.marketplace)
	}
	row.AdProduct = g.adProduct
	c := p.comparisonOf(s)
	if c != nil {
		row.Comparison = &PointComparison{Comparison: *c}
	}
	if r := p.Request; r.Granularity != "" {
		row.Date = r.dateAt(r.Period, g.bucket)
		if c != nil {
			row.Comparison.Date = r.dateAt(r.Earlier, g.bucket)
		}
	}
	return row
}

func cutPage[T any](all []T, r Request) []T {
	if r.All && r.Page > 1 {
		return nil // all rows are one page, and what the cap left out is none
	}
	from := min((r.Page-1)*r.PageSize, len(all))
	return all[from:min(from+r.PageSize, len(all))]
}

func nullsLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// countriesOf are the countries of marketplaces, sorted, each once.
func (v View) countriesOf(keys []uint16) []string {
	codes := make([]string, 0, len(keys))
	for _, key := range keys {
		codes = append(codes, v.byKey(key).Country)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
