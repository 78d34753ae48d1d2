package http

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/records"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
)

// lists is an endpoint that answers a list. It goes the way of figures: read,
// understood, named, and only then computed.
func lists[Params any](
	s *Server, name string,
	parse func(Params, query.View, time.Time) (query.ListRequest, []adlens.Fault),
	compute func(context.Context, query.View, query.ListRequest) (answer, error),
) endpoint {
	return asked(s, name, parse, asItIs, query.ListIdentity, s.mostListed(name), compute)
}

// mostListed counts the rows that an answer of a list has at most.
func (s *Server) mostListed(name string) func(context.Context, query.View, query.ListRequest) (int, error) {
	return func(ctx context.Context, v query.View, r query.ListRequest) (int, error) {
		return s.figures.MostListed(ctx, v, r, name)
	}
}

// Freshener keeps lists of the platform fresh while somebody asks for them.
type Freshener interface {
	// Asked is told of a call for a marketplace's lists of a time (nil where
	// none are held), and tells whether they are being read anew. It does not
	// wait for the platform.
	Asked(ctx context.Context, account, marketplaceID string, listed *time.Time) (syncing bool, err error)
}

// fresh is an endpoint of a list that is read from the platform.
func fresh[Params any](
	s *Server, name string, kind manifest.Kind,
	parse func(Params, query.View, time.Time) (query.ListRequest, []adlens.Fault),
	compute func(context.Context, query.View, query.ListRequest) (answer, error),
) endpoint {
	return asked(s, name, parse, func(ctx context.Context, v query.View, r query.ListRequest) query.ListRequest {
		syncing, err := s.freshener.Asked(ctx, v.Account, r.Marketplace.ID, v.SyncedAt(kind, r.Marketplace))
		if err != nil { // what is held can be answered all the same
			s.log.Warn("it could not be told whether campaigns are to be read", zap.String("account", v.Account), zap.Error(err))
		}
		r.Syncing = syncing
		return r
	}, query.ListIdentity, s.mostListed(name), compute)
}

func (s *Server) marketplaces(ctx context.Context, v query.View, _ query.ListRequest) (answer, error) {
	all, err := s.figures.Marketplaces(ctx, v)
	return marketplacesAnswer{v, all}, err
}

func (s *Server) campaigns(ctx context.Context, v query.View, r query.ListRequest) (answer, error) {
	page, err := s.figures.Campaigns(ctx, v, r)
	return listAnswer[query.Campaign]{page, true, func(w *writer, c query.Campaign) { w.campaign(r.Marketplace, c) }}, err
}

func (s *Server) adGroups(ctx context.Context, v query.View, r query.ListRequest) (answer, error) {
	page, err := s.figures.AdGroups(ctx, v, r)
	return listAnswer[query.AdGroup]{page, true, func(w *writer, g query.AdGroup) { w.adGroup(r.Marketplace, g) }}, err
}

func (s *Server) rules(ctx context.Context, v query.View, r query.ListRequest) (answer, error) {
	page, err := s.figures.Rules(ctx, v, r)
	return listAnswer[query.Rule]{page, false, (*writer).rule}, err
}

func (s *Server) activity(ctx context.Context, v query.View, r query.ListRequest) (answer, error) {
	page, err := s.figures.Activity(ctx, v, r)
	return listAnswer[records.Activity]{page, false, (*writer).activity}, err
}

// ruleRuns answers for the rule that the path names.
func (s *Server) ruleRuns(c *gin.Context, who auth.Caller) (answer, error) {
	rule := c.Param("rule_id")
	return lists(s, "rules/"+url.PathEscape(rule)+"/runs", query.ParsePlain, func(ctx context.Context, v query.View, _ query.ListRequest) (answer, error) {
		runs, found, err := s.figures.RuleRuns(ctx, v, rule)
		if err == nil && !found {
			err = &problem{code: codeNotFound, detail: fmt.Sprintf("there is no rule %q", printable(rule))}
		}
		return runsAnswer(runs), err
	})(c, who)
}

// listAnswer is a page of a list.
type listAnswer[T any] struct {
	*query.Page[T]
	synced bool // the list is read from the platform
	one    func(*writer, T)
}

func (a listAnswer[T]) fields(w *writer) {
	var blank T
	rows(w, "data", blank, slices.Values(a.Rows), func(row T) { a.one(w, row) })
	w.pagination(a.Request.Paging, a.Total)
	w.object("meta", func() {
		if a.synced {
			w.timestamp("synced_at", a.SyncedAt)
			w.bool("syncing", a.Request.Syncing)
		}
		if a.Truncated() {
			w.bool("truncated", true)
		}
	})
}

func (a listAnswer[T]) paged() paged { return paged{a.Request.Paging, a.Total, a.Truncated()} }

type runsAnswer []records.RuleRun

func (a runsAnswer) fields(w *writer) {
	rows(w, "data", records.RuleRun{}, slices.Values(a), w.run)
	w.object("meta", func() {})
}

type marketplacesAnswer struct {
	view query.View
	all  []query.MarketplaceInfo
}

func (a marketplacesAnswer) fields(w *writer) {
	rows(w, "data", query.MarketplaceInfo{}, slices.Values(a.all), w.marketplace)
	w.object("meta", func() {
		var last *adlens.Day
		if _, newest, held := a.view.Manifest.HeldDays(manifest.Any); held {
			last = &newest
		}
		w.day("data_last_date", last)
	})
}
