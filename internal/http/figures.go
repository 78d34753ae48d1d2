package http

import (
	"context"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/query"

	"github.com/gin-gonic/gin"
)

// question is a request as its answer is written and called.
type question interface {
	Written() query.Format
	About() []string
	Spelled() string
	Compared() bool
}

// asked is an endpoint that answers a question about an account: its parameters
// are read and understood, what of it depends on more than the data is settled,
// its answer is named, and only then, where the client does not hold it yet,
// computed.
func asked[Params any, Request question](
	s *Server, name string,
	parse func(Params, query.View, time.Time) (Request, []adlens.Fault),
	settle func(context.Context, query.View, Request) Request,
	identity func(string, query.View, Request) string,
	mostRows func(context.Context, query.View, Request) (int, error),
	compute func(context.Context, query.View, Request) (answer, error),
) endpoint {
	return func(c *gin.Context, caller auth.Caller) (answer, error) {
		var params Params
		faults := decode(c.Request.URL.RawQuery, &params)
		chooseFormat(&params, c.Request.Header.Values("Accept"))
		view, err := s.figures.View(c.Request.Context(), caller.Account.ID)
		if err != nil {
			return nil, err
		}
		request, more := parse(params, view, s.now())
		if err := faulty(faults, more, &params); err != nil {
			return nil, err
		}
		request = settle(c.Request.Context(), view, request)
		tag := `"` + identity(name, view, request) + `"`
		if held, ok := heldTag(c.Request.Header.Values("If-None-Match"), tag); ok {
			c.Set(keyHow, Unchanged)
			return notModified{held}, nil
		}
		held := s.answers.hold(view.Account, tag)
		c.Set(keyUse, held)
		if a, ok := s.answers.remembered(tag); ok {
			c.Set(keyHow, Remembered)
			return a, nil
		}
		c.Set(keyHow, Computed)
		return s.answers.of(c.Request.Context(), held, meaning{name, request}, func(ctx context.Context) (int, error) {
			rows, err := mostRows(ctx, view, request)
			return weightOf(rows, request.Compared()), err
		}, func(ctx context.Context) (answer, error) { return compute(ctx, view, request) })
	}
}

// figures is an endpoint that answers figures.
func figures[Params any](
	s *Server, name string,
	parse func(Params, query.View, time.Time) (query.Request, []adlens.Fault),
	compute func(context.Context, query.View, query.Request) (answer, error),
) endpoint {
	return asked(s, name, parse, asItIs, query.Identity, s.figures.MostRows, compute)
}

// asItIs settles a request of which all is said by the data.
func asItIs[Request any](_ context.Context, _ query.View, r Request) Request { return r }

func (s *Server) summary(ctx context.Context, v query.View, r query.Request) (answer, error) {
	summary, err := s.figures.Summary(ctx, v, r)
	return summaryAnswer{summary}, err
}

func (s *Server) timeline(ctx context.Context, v query.View, r query.Request) (answer, error) {
	timeline, err := s.figures.Timeline(ctx, v, r)
	return timelineAnswer{timeline}, err
}

func (s *Server) products(ctx context.Context, v query.View, r query.Request) (answer, error) {
	products, err := s.figures.Products(ctx, v, r)
	return productsAnswer{products}, err
}
