package query

import (
	"net/url"
	"strconv"
	"strings"

	"adlens/internal/catalogue"
	"adlens/internal/query/period"
)

// About says in a few words what a request is about: its period and page.
func (r Request) About() []string {
	return append([]string{r.Period.Start.String(), r.Period.End.String()}, r.Paging.about()...)
}

// About says in a few words what a request is about: its marketplace and page.
func (r ListRequest) About() (words []string) {
	if r.Marketplace.ID != "" {
		words = append(words, r.Marketplace.ID)
	}
	return append(words, r.Paging.about()...)
}

// about is the page, where it is not the first.
func (p Paging) about() []string {
	if p.Page <= 1 {
		return nil
	}
	return []string{"page", strconv.Itoa(p.Page)}
}

// spelling is a query string that is being written.
type spelling []string

// set adds a parameter, unless it has no value.
func (s *spelling) set(name, value string) {
	if value != "" {
		*s = append(*s, name+"="+strings.ReplaceAll(url.QueryEscape(value), "%2C", ","))
	}
}

func (s *spelling) paging(p Paging) {
	if p.Page > 0 {
		s.set("page", strconv.Itoa(p.Page))
		s.set("page_size", p.size())
	}
}

func (p Paging) size() string {
	if p.All {
		return catalogue.All
	}
	return strconv.Itoa(p.PageSize)
}

// Spelled is the request as a query string with every default filled in, but
// for its format: however a client spelled it, it is the same.
func (r Request) Spelled() string {
	var s spelling
	if r.Period.Range == period.Custom {
		s.set("start_date", r.Period.Start.String())
		s.set("end_date", r.Period.End.String())
	} else {
		s.set("range", string(r.Period.Range))
	}
	s.set("timezone", r.TimeZone)
	s.set("marketplaces", strings.Join(r.Filters.Marketplaces, ","))
	s.set("ad_products", strings.Join(r.Filters.AdProductNames(), ","))
	s.set("compare", string(r.Earlier.Range))
	s.set("granularity", r.Granularity)
	s.set("sort", r.Sort)
	s.set("order", r.Order)
	s.paging(r.Paging)
	return strings.Join(s, "&")
}

// Spelled is the request as a query string, as of figures.
func (r ListRequest) Spelled() string {
	var s spelling
	s.set("marketplace_id", r.Marketplace.ID)
	s.set("campaign_id", r.CampaignID)
	s.set("states", strings.Join(r.States, ","))
	s.set("tool", strings.Join(r.Tools, ","))
	s.paging(r.Paging)
	return strings.Join(s, "&")
}
