package answer

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/catalogue"
	"adlens/internal/flight"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/recent"
)

// The endpoints that differ from the others: of an account itself, and of one
// rule.
const (
	Account  = "account"
	RuleRuns = "rules/runs"
)

// APIPath precedes the paths of endpoints in an address.
const APIPath = "/api/v1"

// endpoint makes a question of a request.
type endpoint func(ctx context.Context, s *Service, caller auth.Caller, r Request) (*Question, error)

// endpoints are all that can be asked, by name.
var endpoints = map[string]endpoint{
	Account:            askAccount,
	"summary":          figuresEndpoint(query.ParseSummary, (*query.Service).Summary, (*writer).writeSummary),
	"timeline":         figuresEndpoint(query.ParseTimeline, (*query.Service).Timeline, (*writer).writeTimeline),
	"reports/products": figuresEndpoint(query.ParseProducts, (*query.Service).Products, (*writer).writeProducts),
	"report":           figuresEndpoint(query.ParseReport, (*query.Service).Report, (*writer).writeReport),
	"marketplaces":     listEndpoint(nil, query.ParsePlain, readMarketplaces, (*writer).writeMarketplaces),
	"campaigns":        listEndpoint(freshenList(manifest.Campaigns), query.ParseCampaigns, (*query.Service).Campaigns, (*writer).writeCampaigns),
	"ad-groups":        listEndpoint(freshenList(manifest.AdGroups), query.ParseAdGroups, (*query.Service).AdGroups, (*writer).adGroups),
	"rules":            listEndpoint(nil, query.ParseRules, (*query.Service).Rules, (*writer).writeRules),
	"activity":         listEndpoint(nil, query.ParseActivity, (*query.Service).Activity, (*writer).writeActivities),
	RuleRuns:           askRuleRuns,
}

// Endpoints returns the names of all endpoints, sorted.
func Endpoints() []string { return slices.Sorted(maps.Keys(endpoints)) }

// ReadFeed reads the request that is saved under a feed link, for the reader of the
// link. The error is that of ReadAddress.
func ReadFeed(saved string) (Request, error) {
	r, err := ReadAddress(saved)
	r.saved = true
	return r, err
}

// ReadAddress reads the address of a request. The error is a *NotFoundError for one
// that no link can answer, also for one with a #: what follows it would be left out,
// and a lost filter widens an answer.
func ReadAddress(text string) (Request, error) {
	if i := strings.Index(text, "#"); i >= 0 {
		begin := strings.LastIndexAny(text[:i], "?&") + 1
		value, _, _ := strings.Cut(text[begin:], "&")
		return Request{}, &NotFoundError{fmt.Sprintf("%q has a #, which would end the request; write %%23 for it", Printable(value))}
	}
	address, err := url.Parse(text)
	if err != nil {
		return Request{}, err
	}
	r, err := readEndpoint(address.Path)
	if err != nil {
		return r, err
	}
	r.Parameters, r.Faults = ReadQuery(address.RawQuery)
	return r, nil
}

// Path returns the path of the request in an address.
func (r Request) Path() string { return APIPath + "/" + r.name() }

// name returns what names the endpoint in an address.
func (r Request) name() string {
	if r.Endpoint == RuleRuns {
		return "rules/" + url.PathEscape(r.RuleID) + "/runs"
	}
	return r.Endpoint
}

// AllRows is the page size of everything at once.
const AllRows = catalogue.All

// LargestPage returns the largest page size of an endpoint, "" where its answers are no
// pages.
func LargestPage(endpoint string) string {
	if _, known := endpoints[endpoint]; !known {
		return ""
	}
	size, paged := catalogueOf(endpoint).Parameter("page_size")
	switch {
	case !paged:
		return ""
	case size.TakesAll:
		return AllRows
	}
	return strconv.Itoa(size.Max)
}

// readEndpoint reads the endpoint of a path that a link answers. The error is a
// *NotFoundError for one that no link can answer.
func readEndpoint(path string) (Request, error) {
	r := Request{Endpoint: strings.TrimPrefix(path, APIPath+"/")}
	if rule, ok := strings.CutPrefix(r.Endpoint, "rules/"); ok && strings.HasSuffix(rule, "/runs") {
		r.Endpoint, r.RuleID = RuleRuns, strings.TrimSuffix(rule, "/runs")
	} else if _, known := endpoints[r.Endpoint]; !known || r.Endpoint == path || r.Endpoint == Account || r.Endpoint == RuleRuns {
		return Request{}, &NotFoundError{Printable(path) + " is nothing that a link can answer"}
	}
	return r, nil
}

// steps are what makes an endpoint of the functions of internal/query, in the order in
// which a question takes them.
type steps[Params any, R request, A any] struct {
	// parse reads the parameters, and returns all their faults: those that are known,
	// of what could not be read, come first.
	parse func(Params, query.View, time.Time, ...adlens.Fault) (R, []adlens.Fault)
	// check finds ids that the account does not have, for which it reads the store.
	check func(context.Context, query.View, R) ([]adlens.Fault, error)
	// late says that compute checks too: check is left out unless there are other
	// faults, which are reported together.
	late bool
	// settle adds what depends on more than the data, and reports whether the view is
	// out of date by then; nil where all depends on the data.
	settle func(context.Context, *Service, query.View, R) (r R, past bool)
	// identify names the answer to a request of an endpoint.
	identify func(endpoint string, v query.View, r R) string
	// most bounds the rows of the answer.
	most     func(context.Context, query.View, R) (int, error)
	compute  func(*query.Service, context.Context, query.View, R) (A, error)
	describe func(*writer, A)
}

// figuresEndpoint returns an endpoint that answers figures.
func figuresEndpoint[Params, A any](parse func(Params, query.View, time.Time, ...adlens.Fault) (query.Request, []adlens.Fault),
	compute func(*query.Service, context.Context, query.View, query.Request) (A, error), describe func(*writer, A)) endpoint {
	return func(ctx context.Context, s *Service, caller auth.Caller, r Request) (*Question, error) {
		most := func(ctx context.Context, v query.View, figures query.Request) (int, error) {
			if "/"+r.Endpoint == catalogue.ProductReport.Path { // whose requests name no dimension
				figures.Dimensions = []string{"product"}
			}
			return s.figures.MostRows(ctx, v, figures)
		}
		return newQuestion(ctx, s, caller, r, steps[Params, query.Request, A]{parse: parse, check: s.figures.UnknownIDs,
			identify: query.Identity, most: most, compute: compute, describe: describe})
	}
}

// listEndpoint returns an endpoint that answers a list.
func listEndpoint[Params, A any](settle func(context.Context, *Service, query.View, query.ListRequest) (query.ListRequest, bool),
	parse func(Params, query.View, time.Time, ...adlens.Fault) (query.ListRequest, []adlens.Fault),
	compute func(*query.Service, context.Context, query.View, query.ListRequest) (A, error), describe func(*writer, A)) endpoint {
	return func(ctx context.Context, s *Service, caller auth.Caller, r Request) (*Question, error) {
		most := func(ctx context.Context, v query.View, list query.ListRequest) (int, error) {
			return s.figures.MostListed(ctx, v, list, r.Endpoint)
		}
		return newQuestion(ctx, s, caller, r, steps[Params, query.ListRequest, A]{parse: parse, check: s.figures.UnlistedCampaign, late: true, settle: settle,
			identify: query.ListIdentity, most: most, compute: compute, describe: describe})
	}
}

// newQuestion reads, settles and names a request. All steps see one view of the account,
// so an answer is of one moment.
func newQuestion[Params any, R request, A any](ctx context.Context, s *Service, caller auth.Caller, r Request, st steps[Params, R, A]) (*Question, error) {
	var params Params
	refused := append(r.Faults, bindParameters(r.Parameters, &params)...)
	preferFormat(&params, r.Format)
	m, err := s.momentOf(ctx, caller, r)
	if err != nil {
		return nil, err
	}
	view := m.View
	request, faults := st.parse(params, view, m.now, refused...)
	if !st.late || len(faults) > 0 {
		unknown, err := st.check(ctx, view, request)
		if err == nil && len(unknown) > 0 {
			err = s.requireKept(ctx, m)
		}
		if err != nil {
			return nil, err
		}
		named := func(f adlens.Fault) bool {
			return slices.ContainsFunc(faults, func(known adlens.Fault) bool { return known.Parameter == f.Parameter })
		}
		if st.late { // of one value, one fault is enough
			unknown = slices.DeleteFunc(unknown, named)
		}
		faults = append(faults, unknown...)
	}
	if err := joinFaults(faults, &params); err != nil {
		return nil, err
	}
	if st.settle != nil {
		var past bool
		if request, past = st.settle(ctx, s, view, request); past && r.Moment == nil {
			newest, err := s.Now(ctx, caller)
			if err != nil {
				return nil, err
			}
			r.Moment = &newest
			return newQuestion(ctx, s, caller, r, st)
		}
	}
	name := r.name()
	return &Question{
		Name: accountPrefix(view.Account) + st.identify(name, view, request), meaning: func() string { return query.Meaning(name, view, request) },
		service: s, account: view.Account, endpoint: name, request: request,
		most: func(ctx context.Context) (int, error) { return st.most(ctx, view, request) },
		compute: func(ctx context.Context) (func(*writer), error) {
			a, err := st.compute(s.figures, ctx, view, request)
			if gone := s.requireKept(ctx, m); gone != nil {
				return nil, gone
			}
			return func(w *writer) { st.describe(w, a) }, err
		},
	}, nil
}

// freshenList returns a step that has a list of the platform kept fresh, and notes
// whether it is being read. One that was read since the view still is, for an answer of
// the view's moment.
func freshenList(kind manifest.Kind) func(context.Context, *Service, query.View, query.ListRequest) (query.ListRequest, bool) {
	return func(ctx context.Context, s *Service, v query.View, r query.ListRequest) (query.ListRequest, bool) {
		listed := v.SyncedAt(kind, r.Marketplace)
		syncing, ended, err := s.lists.Asked(ctx, v.Account, r.Marketplace.ID, listed)
		if err != nil { // what is held can be answered all the same
			s.warn(v.Account, err)
		}
		past := false
		if ended {
			newest, err := s.figures.View(ctx, v.Account)
			now := newest.SyncedAt(kind, r.Marketplace)
			past = err == nil && now != nil && (listed == nil || !now.Equal(*listed))
		}
		r.Syncing = syncing || past
		return r, past
	}
}

// marketplaces are those of an account, with the view that they are from.
type marketplaces struct {
	view query.View
	all  []query.MarketplaceInfo
}

func readMarketplaces(figures *query.Service, ctx context.Context, v query.View, _ query.ListRequest) (marketplaces, error) {
	all, err := figures.Marketplaces(ctx, v)
	return marketplaces{v, all}, err
}

// askRuleRuns asks for the runs of the rule that the request names.
func askRuleRuns(ctx context.Context, s *Service, caller auth.Caller, r Request) (*Question, error) {
	readRuns := func(figures *query.Service, ctx context.Context, v query.View, _ query.ListRequest) ([]query.RuleRun, error) {
		runs, found, err := figures.RuleRuns(ctx, v, r.RuleID)
		if err == nil && !found {
			err = &NotFoundError{fmt.Sprintf("there is no rule %q", Printable(r.RuleID))}
		}
		return runs, err
	}
	most := func(ctx context.Context, v query.View, _ query.ListRequest) (int, error) {
		bytes, err := s.figures.RunBytes(ctx, v, r.RuleID)
		return runWeight * bytes / rowBytes, err
	}
	return newQuestion(ctx, s, caller, r, steps[query.FormatParams, query.ListRequest, []query.RuleRun]{parse: query.ParsePlain, check: s.figures.UnlistedCampaign, late: true,
		identify: query.ListIdentity, most: most, compute: readRuns, describe: (*writer).writeRuns})
}

// askAccount asks for the account itself and the key that is used. Its answer is
// not to be kept: it says when the key was last used.
func askAccount(ctx context.Context, s *Service, caller auth.Caller, r Request) (*Question, error) {
	if err := RefuseParameters(r.Parameters, r.Faults); err != nil {
		return nil, err
	}
	m, err := s.momentOf(ctx, caller, r)
	if err != nil {
		return nil, err
	}
	view := m.View
	var connections []adlens.Connection
	var app *connectedApp
	var stored time.Time // the record may be older than the last use in another process
	err = flight.Together(func() (err error) {
		connections, err = s.connections.Connections(ctx, caller.Account.ID)
		return err
	}, func() (err error) {
		app, _, err = s.apps.Get(ctx, caller.Account.ID, s.now())
		return err
	}, func() (err error) {
		if s.uses != nil {
			stored, err = s.uses.LastUse(ctx, caller.Key.ID, caller.At)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !stored.IsZero() && (caller.LastUse == nil || stored.After(*caller.LastUse)) {
		caller.LastUse = &stored
	}
	a := account{Caller: caller, connected: len(connections) > 0, app: app}
	for _, c := range connections {
		a.connected = a.connected && c.Accepted
		if a.connectedAt == nil || c.ConnectedAt.Before(*a.connectedAt) {
			a.connectedAt = &c.ConnectedAt
		}
	}
	if _, newest, held := view.HeldSpan(); held {
		a.lastDate = &newest
	}
	return &Question{compute: func(context.Context) (func(*writer), error) {
		return func(w *writer) { w.writeAccount(a) }, nil
	}}, nil
}

// The newest connection of an account is never older than appsFor, and at most
// maxAccounts are remembered.
const (
	appsFor     = 2 * time.Second
	maxAccounts = 10_000
)

// connectedApp is the newest assistant that is connected to an account.
type connectedApp struct {
	name string
	at   time.Time
}

// recentApps finds the newest live connection of each account, and remembers it
// for a moment; nil is remembered of an account without one.
func recentApps(store AppStore, now func() time.Time) *recent.Values[string, *connectedApp] {
	return recent.New(appsFor, maxAccounts, func(ctx context.Context, account string) (newest *connectedApp, found bool, err error) {
		if store == nil {
			return nil, true, nil
		}
		all, err := store.Apps(ctx, account)
		for _, app := range all {
			if app.Connected(now()) && (newest == nil || app.ConnectedAt.After(newest.at)) {
				newest = &connectedApp{app.Name, *app.ConnectedAt}
			}
		}
		return newest, true, err
	})
}
