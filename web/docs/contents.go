package docs

import (
	"slices"
	"strings"

	contract "adlens/docs"
)

// section is an entry of the navigation.
type section struct{ Path, Title string }

// Sections is the navigation.
func (*Site) Sections() []section {
	return []section{
		{"/docs", "Quick start"}, {"/docs/reference", "Reference"}, {"/docs/figures", "Figures"}, {PeriodsPath, "Periods"},
		{"/docs/freshness", "Freshness"}, {"/docs/formats", "Formats"}, {"/docs/recipes", "Recipes"}, {"/docs/limits", "Limits"},
		{"/docs/errors", "Errors"},
	}
}

// In reports whether a page lies in a section.
func (p page) In(s section) bool {
	return p.Path == s.Path || s.Path != "/docs" && strings.HasPrefix(p.Path, s.Path+"/")
}

// group is the endpoints of one tag.
type group struct {
	Name, Description string
	Operations        []operationPage
}

// Groups are the endpoints by tag.
func (s *Site) Groups() []group {
	var all []group
	for _, tag := range s.document.Tags {
		g := group{Name: tag.Name, Description: tag.Description}
		for _, o := range s.document.operationPages() {
			if slices.Contains(o.Tags, tag.Name) {
				g.Operations = append(g.Operations, o)
			}
		}
		all = append(all, g)
	}
	return all
}

// About is what the document says of the API as a whole.
func (s *Site) About() string { return s.document.Info.Description }

// Figures are all figures, with unit, meaning and formula.
func (s *Site) Figures() []field { return s.document.figureFields("Figures") }

// FurtherMeasures are what a report can have next to them.
func (s *Site) FurtherMeasures() []field {
	return s.document.figureFields("ReportFigures")[len(s.Figures()):]
}

// Changes are the units of changes.
func (s *Site) Changes() []field { return s.document.changeFields() }

// Recipes are all recipes.
func (s *Site) Recipes() []recipe { return s.recipes }

// Limits are the published limits.
func (s *Site) Limits() Limits { return s.facts.Limits }

// errorPage is what the page of an error says.
type errorPage struct {
	Error
	Statuses []string
	Example  contract.Example
}

// Errors are all errors.
func (s *Site) Errors() []errorPage {
	var all []errorPage
	for _, e := range s.facts.Errors {
		all = append(all, s.errorPage(e))
	}
	return all
}

func (s *Site) errorPage(e Error) errorPage {
	page := errorPage{Error: e, Statuses: s.document.errorStatuses(e.Code)}
	page.Example, _ = contract.ReadExample("errors/" + e.Code)
	return page
}

// errorStatuses are those that an error comes with.
func (d *document) errorStatuses(code string) []string {
	var all []string
	for _, o := range d.operationPages() {
		for _, r := range o.Responses {
			if slices.Contains(r.Codes, code) && !slices.Contains(all, r.Status) {
				all = append(all, r.Status)
			}
		}
	}
	slices.Sort(all)
	return all
}
