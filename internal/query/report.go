package query

import (
	"context"
	"iter"
	"slices"

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
// dimensions are zero. A point of a timeline has dates alone.
type Row struct {
	Date         *adlens.Day // the day, or the first one of the week or month; nil where the earlier period alone is so long
	Marketplace  Marketplace
	AdProduct    adlens.AdProduct
	ID           string   // "" for figures that the platform ties to no product
	Title        string   // "" where none is known
	Campaign     Entity   // zero for figures that the platform ties to none
	AdGroup      Entity   // likewise
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
	undivided := r
	undivided.Dimensions, undivided.Granularity = nil, ""
	var report *Report
	var all map[group]*sides
	err := flight.Together(func() (err error) {
		if r.Dimensions != nil { // else the totals are the page
			report, err = s.answerPage(ctx, v, r)
		}
		return err
	}, func() (err error) {
		all, err = s.sumGroups(ctx, v, undivided)
		return err
	})
	if err != nil {
		return nil, err
	}
	if report == nil {
		report = groupedRows(r, v, all)
	}
	var total sides
	if sums := all[group{}]; sums != nil {
		total = *sums
	}
	report.Total, report.Comparison = report.totalOf(&total)
	return report, nil
}

// isOfProducts reports whether rows are divided by product alone.
func (r Request) isOfProducts() bool { return len(r.Dimensions) == 1 && r.divides(dimProduct) }

// answerPage answers a page of a report that is divided: without ids from the sums of
// its groups, else from memory where that keeps what is needed, or by a statement.
func (s *Service) answerPage(ctx context.Context, v View, r Request) (*Report, error) {
	if !r.dividesByID() {
		all, err := s.sumGroups(ctx, v, r)
		if err != nil {
			return nil, err
		}
		return groupedRows(r, v, all), nil
	}
	plan, err := s.narrowPlan(ctx, v, r, PlanReport(r, v))
	switch _, ok := r.level(); {
	case err != nil:
		return nil, err
	case plan.isEmpty():
		return emptyPage(r, v, 0), nil
	case !ok || !plan.isKept() || !plan.isRankable(v, r):
		return s.answerPlanned(ctx, v, r, plan)
	}
	return s.answerLevel(ctx, v, r, plan)
}

// groupedRows puts groups with figures in order and cuts a page.
func groupedRows(r Request, v View, all map[group]*sides) *Report {
	var sorted []sortedGroup
	var by quotient // where they are sorted by a figure
	byFigure := r.sortedDimension() == ""
	if byFigure {
		by = r.sortQuotient()
	}
	summands := r.summands()
	for key, sums := range all {
		if sums.isEmpty(summands) {
			continue
		}
		one := sortedGroup{group: key, sums: sums, past: r.Granularity != "" && r.dateAt(r.Period, key.bucket) == nil}
		if byFigure {
			one.by = by.computeValue(sums[current])
		}
		sorted = append(sorted, one)
	}
	slices.SortFunc(sorted, groupComparison(r, v))
	report := emptyPage(r, v, len(sorted))
	report.Rows = eachRow(cutPage(sorted, r.Paging), func(one *sortedGroup) Row { return report.newRow(v, one.group, one.sums) })
	return report
}

// MostRows is how many rows an answer whose rows are paged holds at most while it is made:
// those of its page, or of all pages where none is cut before (groupedRows). A request for
// products, which names no dimension itself, has that of products here.
func (s *Service) MostRows(_ context.Context, v View, r Request) (int, error) {
	all := r.Dimensions != nil && !r.dividesByID()
	if r.PageSize <= catalogue.MaxPageSize && !all && r.Page <= 1 {
		return r.PageSize, nil
	}
	plan, bound := PlanReport(r, v), uint64(1)
	times := func(n uint64) { bound = min(bound*min(n, MaxRows), MaxRows) } // more are on no page
	for _, d := range identified {
		if r.divides(d.name) {
			times(d.mostOf(v, &r))
		}
	}
	if r.Granularity != "" {
		times(uint64(1 + max(r.offsetFrom(r.Period.Start, r.Period.End), r.offsetFrom(r.Earlier.Start, r.Earlier.End))))
	}
	if r.divides(dimMarketplace) {
		times(uint64(len(v.Marketplaces)))
	}
	if r.divides(dimAdProduct) {
		times(uint64(len(adlens.AdProducts)))
	}
	if all || r.dividesByID() {
		bound = min(bound, 1+plan.Rows+plan.earlierPlan().Rows)
	}
	page := min(bound, uint64(r.PageSize))
	if all { // groups without texts, but for those of the page
		return int(page + bound/3), nil
	}
	before := uint64(r.rowsBefore()) // in a ranking, likewise
	if r.Granularity != "" {
		before = min(before, maxRanked)
	}
	return int(page + min(bound, before)/6), nil
}

// answerPlanned answers a page that the engine has cut.
func (s *Service) answerPlanned(ctx context.Context, v View, r Request, plan Plan) (*Report, error) {
	switch {
	case r.isByDate():
		return s.answerByDate(ctx, v, r, plan)
	case r.isPastAll():
		return s.answerPastEnd(ctx, v, r, plan)
	}
	rows, total, err := s.readPlanned(ctx, v, r, plan)
	if err == nil && len(rows) == 0 && r.Page > 1 {
		return s.answerPastEnd(ctx, v, r, plan)
	}
	if err != nil {
		return nil, err
	}
	return s.rankedRows(ctx, r, v, rows, total)
}

// answerPastEnd answers a page past the end. The total number of rows comes from
// the first page.
func (s *Service) answerPastEnd(ctx context.Context, v View, r Request, plan Plan) (*Report, error) {
	first := r
	first.Page, first.PageSize = 1, 1
	_, total, err := s.readPlanned(ctx, v, first, plan)
	if err != nil {
		return nil, err
	}
	return s.rankedRows(ctx, r, v, nil, total)
}

// isEmpty reports whether nothing that is held can answer, of either period.
func (plan Plan) isEmpty() bool {
	return plan.Empty() && plan.earlierPlan().Empty() || plan.narrowing.isEmpty()
}

// readPlanned reads rows that the engine has put in order and cut.
func (s *Service) readPlanned(ctx context.Context, v View, r Request, plan Plan) ([]RankedRow, int, error) {
	return s.store.Ranked(ctx, plan.RankedStatement(r, NamesOf(v)), r.Sums(), r.Compared())
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
	report := &Report{Answer: newAnswer(r, v), TotalRows: total, Rows: func(func(Row) bool) {}}
	report.Meta.Truncated = r.All && total > MaxRows
	return report
}

// rankedRows is a page that was put in order and cut by the engine.
func (s *Service) rankedRows(ctx context.Context, r Request, v View, rows []RankedRow, total int) (*Report, error) {
	report := emptyPage(r, v, total)
	var entities entityNames
	if r.divides(dimCampaign) || r.divides(dimAdGroup) {
		var err error
		if entities, err = s.directory.getEntities(ctx, v); err != nil {
			return nil, err
		}
	}
	report.Rows = eachRow(rows, func(row *RankedRow) Row {
		one := report.newRow(v, row.group(), &sides{row.Sums, row.Earlier})
		one.ID, one.Title, one.Marketplaces = row.ID, row.Title, v.countriesOf(row.Marketplaces)
		one.Campaign, one.AdGroup = entities.entity(row.Campaign), entities.entity(row.AdGroup)
		return one
	})
	return report, nil
}

// newRow is a row without its product.
func (a *Answer) newRow(v View, g group, s *sides) Row {
	row := Row{Figures: a.figuresOf(s[current])}
	if g.marketplace != 0 {
		row.Marketplace = v.byKey(g.marketplace)
	}
	row.AdProduct = g.adProduct
	c := a.comparisonOf(s)
	if c != nil {
		row.Comparison = &PointComparison{Comparison: *c}
	}
	if r := a.Request; r.Granularity != "" {
		row.Date = r.dateAt(r.Period, g.bucket)
		if c != nil {
			row.Comparison.Date = r.dateAt(r.Earlier, g.bucket)
		}
	}
	return row
}

func cutPage[T any](all []T, p Paging) []T {
	if p.isPastAll() {
		return nil
	}
	from := min(p.rowsBefore(), len(all))
	return all[from:min(from+p.PageSize, len(all))]
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
