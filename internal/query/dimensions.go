package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/manifest"
)

// Dimensions of reports, by the catalogue's names.
const (
	dimDate        = "date"
	dimWeek        = "week"
	dimMonth       = "month"
	dimMarketplace = "marketplace"
	dimAdProduct   = "ad_product"
	dimCampaign    = "campaign"
	dimAdGroup     = "ad_group"
	dimProduct     = "product"
)

// granularities are what the dimensions of time divide by.
var granularities = func() map[string]string {
	all := map[string]string{}
	for granularity, dimension := range catalogue.TimeDimensions {
		all[dimension] = granularity
	}
	return all
}()

// divides reports whether the request's figures are divided by a dimension.
func (r Request) divides(dimension string) bool { return slices.Contains(r.Dimensions, dimension) }

// dividesByID reports whether rows are divided by what only stored rows of products
// and ad groups know.
func (r Request) dividesByID() bool {
	return slices.ContainsFunc(identified, func(d identifiedDimension) bool { return r.divides(d.name) })
}

// narrowsByID reports whether some products, campaigns or ad groups alone are asked
// for.
func (r Request) narrowsByID() bool {
	return r.Search != "" || slices.ContainsFunc(identified, func(d identifiedDimension) bool { return d.filterOf(&r) != nil })
}

// isByAdGroup reports whether rollups by ad group have to answer.
func (r Request) isByAdGroup() bool {
	return slices.ContainsFunc(identified, func(d identifiedDimension) bool {
		return d.isOf != 0 && (r.divides(d.name) || d.filterOf(&r) != nil || slices.Contains(r.SearchedIn, d.name))
	})
}

// figureNames are the figures that were requested, nil for all.
func (r Request) figureNames() []string {
	var names []string
	for _, i := range r.Figures {
		names = append(names, catalogue.ReportFigureNames[i])
	}
	return names
}

// FigureNames returns the figures of the answer in their order.
func (r Request) FigureNames() []string {
	if r.Figures == nil {
		return catalogue.FigureNames
	}
	return r.figureNames()
}

// TimeDimension returns the dimension of time that rows are divided by, or "".
func (r Request) TimeDimension() string {
	i := slices.IndexFunc(r.Dimensions, func(d string) bool { return granularities[d] != "" })
	if i < 0 {
		return ""
	}
	return r.Dimensions[i]
}

// ParseReport makes a request of the report's parameters.
func ParseReport(params ReportParams, v View, now time.Time, refused ...adlens.Fault) (Request, []adlens.Fault) {
	p := newParser(catalogue.Report, params, v, now, refused)
	p.parseShared(params.FormatParams, params.PeriodParams, params.FilterParams, params.Compare)
	p.parseDimensions(params.Dimensions)
	p.parseFigures(params.Figures)
	p.parseCurrency(params.Currency)
	p.parseSearch(params.Search)
	p.parseOrder(params.Sort, params.Order)
	p.request.Paging = p.parsePaging(params.PagingParams)
	p.boundPage(params.PageSize)
	return p.request, p.faults
}

// parseDimensions keeps the order in which dimensions are wanted, each once.
func (p *parser) parseDimensions(sent []string) {
	taken := ""
	for _, text := range sent {
		name, ok := canonicalValue(text, catalogue.DimensionNames)
		if !ok || p.request.divides(name) {
			continue
		}
		if granularity, ok := granularities[name]; ok {
			if taken != "" {
				p.addFault("dimensions", adlens.Fault{Value: text, Code: adlens.InvalidParameter,
					Detail: fmt.Sprintf("dimensions has both %s and %s; expected one of date, week and month", taken, name)})
				continue
			}
			taken, p.request.Granularity = name, granularity
		}
		p.request.Dimensions = append(p.request.Dimensions, name)
	}
}

// parseFigures keeps the order in which figures are wanted, each once. Those that are
// answered anyhow, in their order, count as not sent: the answer is the same.
func (p *parser) parseFigures(sent []string) {
	for _, text := range sent {
		name, _ := canonicalValue(text, catalogue.ReportFigureNames)
		i := slices.Index(catalogue.ReportFigureNames, name)
		if i < 0 || slices.Contains(p.request.Figures, i) {
			continue
		}
		p.request.Figures = append(p.request.Figures, i)
		m := catalogue.Measures[catalogue.ReportFigures[i].Numerator]
		isReported := func(product adlens.AdProduct) bool { return slices.Contains(m.AdProducts, product) }
		if asked := p.request.Filters.AdProducts; i >= len(catalogue.Figures) && asked != nil && !slices.ContainsFunc(asked, isReported) && p.isUnrefused("ad_products") {
			p.addFault("figures", adlens.Fault{Value: text, Code: adlens.ConflictingParameters,
				Detail: fmt.Sprintf("figures has %s, which is in reports of %s alone, and ad_products is %s; send an ad product that reports it, or none",
					name, m.AdProductNames(), strings.Join(p.request.Filters.AdProductNames(), ", "))})
		}
	}
	if len(p.request.Figures) == len(catalogue.Figures) && slices.IsSorted(p.request.Figures) && p.request.Figures[len(catalogue.Figures)-1] == len(catalogue.Figures)-1 {
		p.request.Figures = nil
	}
}

func (p *parser) parseSearch(text string) {
	p.request.Search = text
	for _, d := range identified {
		if text != "" && p.request.divides(d.name) {
			p.request.SearchedIn = append(p.request.SearchedIn, d.name)
		}
	}
	if text != "" && p.request.SearchedIn == nil && p.isUnrefused("dimensions") {
		p.addFault("search", adlens.Fault{Value: text, Code: adlens.ConflictingParameters,
			Detail: fmt.Sprintf("search %q has no column to look in; send product, campaign or ad_group among the dimensions", text)})
	}
}

// parseOrder finds what rows are sorted by: a figure of the answer or one of its
// dimensions.
func (p *parser) parseOrder(sort, order string) {
	r := &p.request
	figures := r.FigureNames()
	r.Sort = dimMarketplace // where no figure has an order
	if first := slices.IndexFunc(r.ListFigures(), r.hasOrder); first >= 0 {
		r.Sort = figures[first]
	}
	if slices.Contains(figures, DefaultSort) {
		r.Sort = DefaultSort
	}
	if time := r.TimeDimension(); time != "" {
		r.Sort = time
	}
	known := slices.Concat(figures, r.Dimensions)
	expected := "a figure or dimension of the answer: " + strings.Join(known, ", ")
	if !p.isUnrefused("figures", "dimensions") { // then what an answer can have
		known = slices.Concat(catalogue.ReportFigureNames, catalogue.DimensionNames)
		expected = "a figure or a dimension, such as " + strings.Join(slices.Concat(catalogue.FigureNames, catalogue.DimensionNames), ", ")
	}
	if name, ok := canonicalValue(sort, known); ok {
		r.Sort = name
	} else if sort != "" {
		f := unknownValue(sort, known, expected)
		p.addFault("sort", f)
	}
	p.refuseMixedSort(sort)
	r.Order = Descending
	if r.divides(r.Sort) {
		r.Order = Ascending
	}
	if name, ok := canonicalValue(order, catalogue.Orders); ok {
		r.Order = name
	}
}

// boundPage refuses a page of JSON that has more rows than clients hold at once.
func (p *parser) boundPage(text string) {
	if r := p.request; p.isValid("page_size", text) && p.isUnrefused("format") && !r.All && r.Format.Name == JSON && r.PageSize > catalogue.MaxPageSize {
		p.addFault("page_size", invalidFault(text, tablePageSize))
	}
}

// group is a combination of the values of dimensions, but for the product. What
// figures are not divided by is zero.
type group struct {
	bucket      int // days, weeks or months from the first one of the period
	marketplace uint16
	adProduct   adlens.AdProduct
}

// groupOf is the group of a slice's figures of some day.
func (r Request) groupOf(slice manifest.Slice, start, day adlens.Day) (g group) {
	if r.Granularity != "" {
		g.bucket = r.offsetFrom(start, day)
	}
	if r.divides(dimMarketplace) {
		g.marketplace = slice.Marketplace
	}
	if r.divides(dimAdProduct) {
		g.adProduct = slice.Product()
	}
	return g
}

// sortedGroup is a group with what orders it.
type sortedGroup struct {
	group
	sums *sides
	by   Value // the figure that is sorted by
	past bool  // the earlier period alone has a date there
}

// groupComparison orders groups as the statement of a report does: by the value as
// shown, null last both ways, then by the dimensions, ascending.
func groupComparison(r Request, v View) func(a, b sortedGroup) int {
	compare := map[string]func(a, b sortedGroup, sign int) int{
		dimMarketplace: func(a, b sortedGroup, sign int) int {
			return sign * cmp.Compare(v.marketplaceRank(a.marketplace), v.marketplaceRank(b.marketplace))
		},
		dimAdProduct: func(a, b sortedGroup, sign int) int {
			return sign * cmp.Compare(a.adProduct.String(), b.adProduct.String())
		},
	}
	for dimension := range granularities {
		compare[dimension] = func(a, b sortedGroup, sign int) int {
			return cmp.Or(nullsLast(a.past, b.past), sign*cmp.Compare(a.bucket, b.bucket))
		}
	}
	sign := 1
	if r.Order == Descending {
		sign = -1
	}
	return func(a, b sortedGroup) int {
		first := 0
		if by, ok := compare[r.Sort]; ok {
			if !a.past || !b.past || granularities[r.Sort] == "" { // two that are null are equal
				first = by(a, b, sign)
			}
		} else if first = nullsLast(a.by.Null(), b.by.Null()); first == 0 && !a.by.Null() {
			first = sign * a.by.Compare(b.by)
		}
		for _, dimension := range r.Dimensions {
			first = cmp.Or(first, compare[dimension](a, b, 1))
		}
		return first
	}
}

// marketplaceRank is where a marketplace is in the order of country and id.
func (v View) marketplaceRank(key uint16) int {
	return slices.IndexFunc(v.Marketplaces, func(m Marketplace) bool { return m.Key == key })
}
