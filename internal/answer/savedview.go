package answer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/catalogue"
	"adlens/internal/query"
)

// SavedView is a state of the page, as its address has it after the #, that a share
// link shows: #/products?range=last_7_days&marketplaces=US. It alone decides which
// requests the link answers.
type SavedView struct {
	name  string      // of the view
	saved []Parameter // those that the view is made with, in the order of the address

	LeftOut []string // names in the address that other views have
}

// pageView is a view of the page that can be shared.
type pageView struct {
	endpoints []string // whose parameters its address has
	own       []string // names in its address that are no parameters
}

// views are all that can be shared, by their names in the page's address. The
// assistants of an account cannot.
var views = map[string]pageView{
	"overview":         {[]string{"summary", "timeline"}, []string{"measure", "second", stackName}},
	"products":         {[]string{"report"}, nil},
	"campaign-figures": {[]string{"report"}, nil},
	"ad-group-figures": {[]string{"report"}, nil},
	"campaigns":        {[]string{"campaigns"}, nil},
	"ad-groups":        {[]string{"ad-groups"}, nil},
	"rules":            {[]string{"rules"}, nil},
	"runs":             {[]string{RuleRuns}, []string{ruleName}},
	"activity":         {[]string{"activity"}, nil},
}

// shownBy is a request that a view of the page sends.
type shownBy struct {
	endpoint   string
	dimensions string // of a report
}

// shown lists the requests of the view, as the page sends them: web/page/requests.js.
func (v SavedView) shown() []shownBy {
	switch v.name {
	case "overview":
		return v.shownInOverview()
	case "products":
		if !v.has("search") && !v.has("figures") && !v.isLocal() {
			return []shownBy{{endpoint: "reports/products"}}
		}
		return v.shownInReport("product")
	case "campaign-figures":
		return v.shownInReport("campaign,marketplace")
	case "ad-group-figures":
		return v.shownInReport("ad_group,campaign")
	}
	return []shownBy{{endpoint: views[v.name].endpoints[0]}}
}

// shownInReport is a report. Amounts of several currencies have a row for each
// marketplace.
func (v SavedView) shownInReport(dimensions string) []shownBy {
	if v.isLocal() && !strings.HasSuffix(dimensions, ",marketplace") {
		dimensions += ",marketplace"
	}
	return []shownBy{{"report", dimensions}}
}

func (v SavedView) isLocal() bool { return v.value("currency") == "local" }

// shownInOverview are totals and their timeline, and what a stacked chart is made of:
// where the server chooses the granularity, in any.
func (v SavedView) shownInOverview() []shownBy {
	all := []shownBy{{endpoint: "summary"}}
	granularity := v.value("granularity")
	if granularity == "day" { // of which the timeline shows 92
		all = append(all, shownBy{"report", "date"})
	} else {
		all = append(all, shownBy{endpoint: "timeline"})
	}
	if v.has(stackName) {
		for _, name := range slices.Sorted(maps.Keys(catalogue.TimeDimensions)) {
			if granularity == name || catalogue.TimeDimensions[granularity] == "" {
				all = append(all, shownBy{"report", catalogue.TimeDimensions[name] + "," + v.value(stackName)})
			}
		}
	}
	return all
}

const (
	firstView      = "overview"
	ruleName       = "rule_id"
	stackName      = "stack"
	dimensionsName = "dimensions"
)

// stacks are the dimensions that a chart can be stacked by.
var stacks = []string{"marketplace", "ad_product"}

// arranging are the parameters that the reader of a link may choose: they arrange
// the rows of a view, and decide nothing about what is among them.
var arranging = []string{"page", "page_size", "sort", "order"}

// ParseView reads an address of the page, or what follows its #. It is strict: what
// the page does not know is refused, because a lost filter widens a view. A name
// that only other views have is left out, as the page does, and listed.
func ParseView(text string) (SavedView, error) {
	if text == "" {
		return SavedView{}, errors.New("the view is empty; expected an address of the page, such as '#/overview'")
	}
	address, fragment, found := strings.Cut(text, "#")
	if _, path, isAddress := strings.Cut(address, "://"); !found && !isAddress {
		fragment = text
	} else if _, path, _ = strings.Cut(path, "/"); path != "" || strings.Contains(address, "?") {
		return SavedView{}, fmt.Errorf("%q is no address of the page; expected https://figures.example.com/#/products, or what follows #; write %%23 for a # in a value", Printable(text))
	}
	name, raw, _ := strings.Cut(strings.TrimPrefix(fragment, "/"), "?")
	if name == "" {
		name = firstView
	}
	v := SavedView{name: name}
	if _, known := views[name]; !known {
		return v, unknownView(name)
	}
	sent, faults := ReadQuery(raw)
	if err := RefuseParameters(nil, faults); err != nil {
		return v, err
	}
	known, own := everyName(), v.names()
	for _, p := range sent {
		switch {
		case !slices.Contains(known, p.Name):
			return v, fmt.Errorf("%q is no name in an address of the page%s", Printable(p.Name), suggest(p.Name, known))
		case p.Value == "":
			return v, fmt.Errorf("%s is empty; give it a value or leave it out", p.Name)
		case v.has(p.Name):
			return v, fmt.Errorf("%s was given twice, then as %q; expected it once", p.Name, Printable(p.Value))
		case p.Name == stackName && !slices.Contains(stacks, p.Value):
			return v, fmt.Errorf("stack is %q, expected one of %s", Printable(p.Value), strings.Join(stacks, ", "))
		case slices.Contains(own, p.Name):
			v.saved = append(v.saved, p)
		case !slices.Contains(v.LeftOut, p.Name):
			v.LeftOut = append(v.LeftOut, p.Name)
		}
	}
	return v, nil
}

func unknownView(name string) error {
	all := slices.Sorted(maps.Keys(views))
	return fmt.Errorf("%q is no view that can be shared%s; expected one of %s, as in #/products?range=last_7_days",
		Printable(name), suggest(name, all), strings.Join(all, ", "))
}

func suggest(name string, among []string) string {
	if near := query.Nearest(name, among); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// everyName lists the names in addresses of all views.
func everyName() (names []string) {
	for name := range views {
		names = append(names, SavedView{name: name}.names()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// names lists the names in an address of the view, without those that choose how an
// answer is written (always JSON) and without dimensions (the view's own).
func (v SavedView) names() []string {
	names := slices.Clone(views[v.name].own)
	for _, endpoint := range views[v.name].endpoints {
		for _, p := range catalogueOf(endpoint).Parameters {
			if p.Name != dimensionsName && !p.IsOfFormats() {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// catalogueOf finds what is published of an endpoint.
func catalogueOf(endpoint string) catalogue.Endpoint {
	path := "/" + endpoint
	if endpoint == RuleRuns {
		path = catalogue.RuleRuns.Path
	}
	return catalogue.Endpoints[slices.IndexFunc(catalogue.Endpoints, func(e catalogue.Endpoint) bool { return e.Path == path })]
}

// value returns what a name is saved with, "" where it is not.
func (v SavedView) value(name string) string {
	if i := slices.IndexFunc(v.saved, func(p Parameter) bool { return p.Name == name }); i >= 0 {
		return v.saved[i].Value
	}
	return ""
}

func (v SavedView) has(name string) bool { return v.value(name) != "" }

// String returns the view as an address of the page has it after the path.
func (v SavedView) String() string {
	parts := make([]string, len(v.saved))
	for i, p := range v.saved {
		parts[i] = p.Name + "=" + url.QueryEscape(p.Value)
	}
	return strings.TrimSuffix("#/"+v.name+"?"+strings.Join(parts, "&"), "?")
}

// Requests returns what the view is made of, as the page asks first: with the rows in
// their saved order, but for the column, which the page finds another for where an answer
// lacks it.
func (v SavedView) Requests() (all []Request) {
	for _, s := range v.shown() {
		var arranged []Parameter
		for _, p := range v.saved {
			if _, takes := catalogueOf(s.endpoint).Parameter(p.Name); takes && p.Name != "sort" && slices.Contains(arranging, p.Name) {
				arranged = append(arranged, p)
			}
		}
		all = append(all, v.request(s, arranged))
	}
	return all
}

// request makes one of the requests of the view. What is sent only arranges its
// rows, as the page reads it from what was saved; all else is as it was saved,
// whatever is sent.
func (v SavedView) request(s shownBy, sent []Parameter) Request {
	r := Request{Endpoint: s.endpoint}
	if s.endpoint == RuleRuns {
		r.RuleID = v.value(ruleName)
	}
	if s.dimensions != "" {
		r.Parameters = append(r.Parameters, Parameter{dimensionsName, s.dimensions})
	}
	for _, p := range v.saved {
		_, takes := catalogueOf(s.endpoint).Parameter(p.Name)
		if takes && !slices.Contains(arranging, p.Name) && !slices.ContainsFunc(sent, func(other Parameter) bool { return other.Name == p.Name }) {
			r.Parameters = append(r.Parameters, p)
		}
	}
	r.Parameters = append(r.Parameters, sent...)
	return r
}

// Request returns the request of the view that an address below a share link means:
// its path, with the dimensions of a report, is that of a request of the view, and
// its other parameters arrange rows, or leave out a comparison that is refused. The error is a
// *NotFoundError for any other: it is answered like a thing that does not exist.
func (v SavedView) Request(path string, sent []Parameter, faults []adlens.Fault) (Request, error) {
	asked, err := readEndpoint(path)
	if err != nil {
		return asked, err
	}
	var dimensions []string
	var kept []Parameter
	for _, p := range sent {
		switch {
		case p.Name == dimensionsName:
			dimensions = append(dimensions, p.Value)
		case slices.Contains(arranging, p.Name), p == notCompared:
			kept = append(kept, p)
		default:
			return asked, &NotFoundError{fmt.Sprintf("a share link shows one saved view; it has nothing of %s=%s", Printable(p.Name), Printable(p.Value))}
		}
	}
	for _, s := range v.shown() {
		r := v.request(s, kept)
		if r.Endpoint == asked.Endpoint && r.RuleID == asked.RuleID && s.dimensions == strings.Join(dimensions, ",") {
			r.Faults, r.saved = faults, true
			if slices.Contains(kept, notCompared) && v.isCompared() {
				compared := v.request(s, slices.DeleteFunc(slices.Clone(kept), func(p Parameter) bool { return p == notCompared }))
				compared.saved, r.compared = true, &compared
			}
			return r, nil
		}
	}
	return asked, &NotFoundError{Printable(path) + " is no part of the view that this link shows"}
}

// notCompared leaves out the comparison of a view.
var notCompared = Parameter{"compare", query.NoComparison}

// isCompared reports whether the view is saved with a comparison.
func (v SavedView) isCompared() bool {
	return v.has(notCompared.Name) && !strings.EqualFold(v.value(notCompared.Name), query.NoComparison)
}

// checkNotCompared lets a shared view leave its comparison out only where nothing else
// of it is refused: a comparison ends yesterday, and the view without one has a day
// more.
func (s *Service) checkNotCompared(ctx context.Context, caller auth.Caller, compared Request) error {
	question, err := s.Ask(ctx, caller, compared)
	if err == nil {
		question.Close()
		return &NotFoundError{"a share link shows one saved view, which is compared"}
	}
	if refusesComparison(err) {
		return nil
	}
	return err
}

// refusesComparison reports whether an error refuses nothing but the comparison of a
// period.
func refusesComparison(err error) bool {
	var wrong *query.FaultsError
	return errors.As(err, &wrong) && !slices.ContainsFunc(wrong.Faults, func(f adlens.Fault) bool {
		return f.Parameter != notCompared.Name || f.Code != adlens.InvalidParameter
	})
}

// ComparesLater reports whether an error refuses nothing but the comparison of the
// request, whose period moves, and has days to compare later. Fixed dates do not move.
func (r Request) ComparesLater(err error) bool {
	return refusesComparison(err) && slices.ContainsFunc(r.Parameters, func(p Parameter) bool { return p.Name == "range" && query.ComparesLater(p.Value) })
}

// WithoutComparison returns the request without its comparison.
func (r Request) WithoutComparison() Request {
	r.Parameters = slices.DeleteFunc(slices.Clone(r.Parameters), func(p Parameter) bool { return p.Name == notCompared.Name })
	return r
}

// NeedsOneCurrency reports whether the request is accepted only as long as its account's
// marketplaces have one currency: in local money, unless each row is of one marketplace,
// or with figures that are kept in local money alone, or rows in the order of one.
func (r Request) NeedsOneCurrency() bool {
	values := map[string][]string{}
	for _, p := range r.Parameters {
		for each := range strings.SplitSeq(strings.ToLower(p.Value), ",") {
			values[p.Name] = append(values[p.Name], strings.TrimSpace(each))
		}
	}
	switch {
	case values["marketplaces"] != nil, values["marketplace_id"] != nil:
		return false
	case slices.Contains(values["currency"], query.LocalCurrency):
		return !slices.Contains(values[dimensionsName], "marketplace") || slices.ContainsFunc(values["sort"], isKeptLocal)
	}
	return slices.ContainsFunc(values["figures"], isKeptLocal)
}

// isKeptLocal reports whether a figure is kept in the marketplaces' money alone.
func isKeptLocal(name string) bool {
	i := slices.Index(catalogue.ReportFigureNames, name)
	return i >= 0 && catalogue.ReportFigures[i].Unit == catalogue.Local
}

// hideSaved answers errors in saved values, such as an id that the account no longer
// has or local money of two currencies, as not found: a message may name others that
// it has. What the reader sent, and what a moving period may refuse, is explained.
func hideSaved(saved bool, err error) error {
	if !saved || !refusesSaved(err) {
		return err
	}
	return &NotFoundError{"this link's request is no longer accepted, mostly because its account changed; its creator sees the reason by creating it again"}
}

// refusesSaved reports whether an error refuses a saved value, other than one that a
// moving period may refuse on some days.
func refusesSaved(err error) bool {
	var wrong *query.FaultsError
	explained := append([]string{"compare", "granularity"}, arranging...)
	return errors.As(err, &wrong) && slices.ContainsFunc(wrong.Faults, func(f adlens.Fault) bool { return !slices.Contains(explained, f.Parameter) })
}

// RefusalOf returns why a link of a caller answers a request with 404 until its account
// changes once more, which its readers are not told; nil where it does not. Of figures
// nothing is computed.
func (s *Service) RefusalOf(ctx context.Context, caller auth.Caller, r Request) (refusal, err error) {
	question, err := s.Ask(ctx, caller, r)
	if err == nil {
		defer question.Close()
		if _, isOfFigures := catalogueOf(r.Endpoint).Parameter("campaign_ids"); !isOfFigures { // a list is checked as it is read
			_, err = question.Answer(ctx)
		}
	}
	var gone *NotFoundError
	var wrong *query.FaultsError
	switch {
	case refusesSaved(err), errors.As(err, &gone):
		return err, nil
	case errors.As(err, &wrong):
		return nil, nil
	}
	return nil, err
}
