package query

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"adlens/internal/catalogue"
	"adlens/internal/query/period"
)

// About says in a few words what a request is about, as files of different things need
// different names: its dimensions, period, granularity unless it is the automatic one, and
// own currency, whether it is compared and filtered, and its page.
func (r Request) About() []string {
	words := append(slices.Clone(r.Dimensions), r.Period.Start.String(), r.Period.End.String())
	if isTimeline := r.Dimensions == nil && r.Granularity != ""; isTimeline && r.Granularity != r.autoGranularity() {
		words = append(words, r.Granularity)
	}
	if r.Local {
		words = append(words, LocalCurrency)
		if r.Currency != "" {
			words = append(words, r.Currency)
		}
	}
	if r.Compared() {
		words = append(words, string(r.Earlier.Range))
	}
	return append(words, aboutRows(r.Filters.narrow() || r.Search != "", r.Paging)...)
}

// narrow reports whether one of the filters is set.
func (f Filters) narrow() bool {
	return len(f.Marketplaces)+len(f.AdProducts)+len(f.Campaigns)+len(f.AdGroups)+len(f.Products) > 0
}

// About says in a few words what a request is about: its marketplace, whether it is
// filtered, and its page.
func (r ListRequest) About() (words []string) {
	if r.Marketplace.ID != "" {
		words = append(words, r.Marketplace.ID)
	}
	isFiltered := r.CampaignID != "" || r.Search != "" || len(r.States)+len(r.Tools) > 0
	return append(words, aboutRows(isFiltered, r.Paging)...)
}

// aboutRows says which rows an answer has, where they are not the first page of all.
func aboutRows(isFiltered bool, p Paging) (words []string) {
	if isFiltered {
		words = append(words, "filtered")
	}
	if p.Page > 1 {
		words = append(words, "page", strconv.Itoa(p.Page))
	}
	return words
}

// AmountCurrency is that of all amounts of the answer; "" where there are several, or
// none.
func (r Request) AmountCurrency() string { return r.Currency }

// AmountCurrency is that of budgets and bids; "" where there are none.
func (r ListRequest) AmountCurrency() string { return r.Marketplace.Currency }

// spelling is a query string that is being written.
type spelling []string

// addParam adds a parameter, unless it has no value.
func (s *spelling) addParam(name, value string) {
	if value != "" {
		*s = append(*s, name+"="+strings.ReplaceAll(url.QueryEscape(value), "%2C", ","))
	}
}

func (s *spelling) addPaging(p Paging) {
	if p.Page > 0 {
		s.addParam("page", strconv.Itoa(p.Page))
		s.addParam("page_size", p.sizeText())
	}
}

func (p Paging) sizeText() string {
	if p.All {
		return catalogue.All
	}
	return strconv.Itoa(p.PageSize)
}

// Spelled is the request as a query string with every default filled in, but
// for its format: however a client spelled it, it is the same.
func (r Request) Spelled() string {
	var s spelling
	s.addParam("dimensions", strings.Join(r.Dimensions, ","))
	s.addParam("figures", strings.Join(r.figureNames(), ","))
	if r.Period.Range == period.Custom {
		s.addParam("start_date", r.Period.Start.String())
		s.addParam("end_date", r.Period.End.String())
	} else {
		s.addParam("range", string(r.Period.Range))
	}
	s.addParam("timezone", r.TimeZone)
	s.addParam("marketplaces", strings.Join(r.Filters.Marketplaces, ","))
	s.addParam("ad_products", strings.Join(r.Filters.AdProductNames(), ","))
	s.addParam("campaign_ids", strings.Join(r.Filters.Campaigns, ","))
	s.addParam("ad_group_ids", strings.Join(r.Filters.AdGroups, ","))
	s.addParam("product_ids", strings.Join(r.Filters.Products, ","))
	if r.Local {
		s.addParam("currency", LocalCurrency)
	}
	s.addParam("search", r.Search)
	s.addParam("compare", string(r.Earlier.Range))
	if r.Dimensions == nil {
		s.addParam("granularity", r.Granularity)
	}
	s.addParam("sort", r.Sort)
	s.addParam("order", r.Order)
	s.addPaging(r.Paging)
	return strings.Join(s, "&")
}

// Spelled is the request as a query string, as of figures.
func (r ListRequest) Spelled() string {
	var s spelling
	s.addParam("marketplace_id", r.Marketplace.ID)
	s.addParam("campaign_id", r.CampaignID)
	s.addParam("states", strings.Join(r.States, ","))
	s.addParam("search", r.Search)
	s.addParam("tool", strings.Join(r.Tools, ","))
	s.addPaging(r.Paging)
	return strings.Join(s, "&")
}
