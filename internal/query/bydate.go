package query

import (
	"context"
	"slices"
	"strings"

	"adlens/internal/query/period"
)

// maxCountedBuckets bounds the days, weeks and months of all reports whose rows are
// counted and remembered: some 16 MB.
const maxCountedBuckets = 1_000_000

// BucketCount is how many rows of a report a day, week or month has.
type BucketCount struct {
	Bucket int64 // its distance from the first one of the period
	Rows   uint64
}

// countedReport names all pages of a report.
type countedReport struct{ account, identity string }

// isByDate reports whether rows of products or campaigns go by date first. Then the rows of each
// day, week or month are counted once, and a page is made of those alone that it
// shows: a table of years in pages would else be added up whole for each of them.
func (r Request) isByDate() bool {
	return r.dividesByID() && granularities[r.sortedDimension()] != "" && !r.Compared()
}

// answerByDate answers a page whose rows go by date first.
func (s *Service) answerByDate(ctx context.Context, v View, r Request, plan Plan) (*Report, error) {
	counts, err := s.countBuckets(ctx, v, r, plan)
	if err != nil {
		return nil, err
	}
	if r.Order == Descending {
		counts = slices.Clone(counts)
		slices.Reverse(counts)
	}
	from, total, skipped := r.rowsBefore(), 0, 0
	var shown []int64 // the buckets of the page
	for _, c := range counts {
		before := total
		total += int(c.Rows)
		if total > from && before < from+r.PageSize {
			if len(shown) == 0 {
				skipped = before
			}
			shown = append(shown, c.Bucket)
		}
	}
	if len(shown) == 0 || r.isPastAll() {
		return s.rankedRows(ctx, r, v, nil, total)
	}
	narrowed := planReport(v, r, r.periodOf(int(slices.Min(shown)), int(slices.Max(shown)))).narrowTo(v, plan.narrowing)
	narrowed.Skipped = skipped
	rows, _, err := s.readPlanned(ctx, v, r, narrowed)
	if err != nil {
		return nil, err
	}
	return s.rankedRows(ctx, r, v, rows, total)
}

// periodOf are the days of the period in some of its days, weeks or months.
func (r Request) periodOf(first, last int) period.Period {
	within := r.Period
	within.Start = max(within.Start, *r.dateAt(r.Period, first))
	if next := r.dateAt(r.Period, last+1); next != nil {
		within.End = min(within.End, *next-1)
	}
	return within
}

// countBuckets counts the rows of each day, week or month, in their order.
func (s *Service) countBuckets(ctx context.Context, v View, r Request, plan Plan) ([]BucketCount, error) {
	all := r
	all.Paging, all.Format, all.Order, all.TimeZone = Paging{}, Format{}, "", ""
	if !r.sumsMore() {
		all.Figures = nil
	}
	name := countedReport{v.Account, Identity("counts", v, all)}
	if counts, ok := s.buckets.Get(name); ok {
		return counts, nil
	}
	counts, err := s.store.BucketCounts(ctx, plan.CountStatement(r))
	if err == nil {
		s.buckets.Put(name, counts)
	}
	return counts, err
}

// CountStatement counts the rows of each day, week or month. Sums are never less than
// what they are of, so rows with figures have some in one of the table's rows.
func (plan Plan) CountStatement(r Request) Statement {
	parts, values := plan.periodParts(r)
	var keys []string
	for _, d := range identified {
		if r.divides(d.name) {
			keys = append(keys, d.key)
		}
	}
	if r.divides(dimMarketplace) {
		keys = append(keys, "marketplace_key")
	}
	if r.divides(dimAdProduct) {
		keys = append(keys, "ad_product")
	}
	return Statement{r.fillTemplate("report_counts", "/*keys*/", strings.Join(keys, ", "), "/*parts*/\n", parts),
		plan.buildParams(append(values, plan.setKeys)...)}
}
