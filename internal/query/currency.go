package query

import (
	"fmt"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/catalogue"
)

// Currencies of amounts: the marketplaces' own, or US dollars.
const (
	LocalCurrency = "local"
	usDollars     = "USD"
)

// filtered are the marketplaces that the request's filters let through.
func (v View) filtered(r Request) (all []Marketplace) {
	only := r.Filters.Marketplaces
	for _, m := range v.Marketplaces {
		if only == nil || slices.Contains(only, m.Country) || slices.Contains(only, m.ID) {
			all = append(all, m)
		}
	}
	return all
}

// parseCurrency finds the currency of amounts. The filters, dimensions and figures
// are known.
func (p *parser) parseCurrency(text string) {
	r := &p.request
	asked, _ := canonicalValue(text, catalogue.Currencies)
	r.Local, r.Currency = asked == LocalCurrency, usDollars
	marketplaces := p.view.filtered(*r)
	var currencies []string
	for _, m := range marketplaces {
		currencies = append(currencies, m.Currency)
	}
	slices.Sort(currencies)
	currencies = slices.Compact(currencies)
	if !r.Local {
		p.refuseOwnAmounts(currencies)
		return
	}
	r.Currency = ""
	if len(currencies) == 1 {
		r.Currency = currencies[0]
	}
	r.Mixed = len(currencies) > 1
	if r.Mixed && !r.divides(dimMarketplace) && p.isUnrefused("marketplaces", "dimensions") {
		var named []string
		for _, m := range marketplaces {
			named = append(named, fmt.Sprintf("%s (%s) %s", m.Country, m.ID, m.Currency))
		}
		p.addFault("currency", adlens.Fault{Value: text, Code: adlens.InvalidParameter,
			Detail: fmt.Sprintf("local is for marketplaces of one currency, and these are %s; choose some in marketplaces, or make marketplace a dimension, in /api/v1/report or an assistant's rank", strings.Join(named, ", "))})
	}
}

// hasOrder reports whether rows can be sorted by a figure: amounts of several
// currencies are compared in US dollars, which further ones are not kept in.
func (r Request) hasOrder(f catalogue.Figure) bool { return !r.Mixed || f.Unit != catalogue.Local }

// refuseMixedSort refuses to sort by a figure that has no order.
func (p *parser) refuseMixedSort(text string) {
	i := slices.Index(catalogue.ReportFigureNames, p.request.Sort)
	if i >= 0 && !p.request.hasOrder(catalogue.ReportFigures[i]) && p.isUnrefused("marketplaces", "currency") {
		p.addFault("sort", adlens.Fault{Value: text, Code: adlens.ConflictingParameters,
			Detail: fmt.Sprintf("rows cannot be sorted by %s, which is in several currencies here; sort by another figure, or by a dimension", p.request.Sort)})
	}
}

// refuseOwnAmounts refuses amounts that are kept in the marketplaces' own currencies
// alone, where those are not US dollars.
func (p *parser) refuseOwnAmounts(currencies []string) {
	if !slices.ContainsFunc(currencies, func(c string) bool { return c != usDollars }) || !p.isUnrefused("marketplaces", "currency") {
		return
	}
	apart := ""
	if len(currencies) > 1 && !p.request.divides(dimMarketplace) {
		apart = ", and marketplaces of one currency, or dimensions with marketplace"
	}
	for _, f := range p.request.ListFigures() {
		if f.Unit == catalogue.Local {
			p.addFault("figures", adlens.Fault{Value: f.Name, Code: adlens.ConflictingParameters,
				Detail: fmt.Sprintf("figures has %s, which is kept in the marketplaces' own currencies (%s), and not in US dollars; send currency=local%s, or marketplaces in US dollars",
					f.Name, strings.Join(currencies, ", "), apart)})
		}
	}
}
