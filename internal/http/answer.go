package http

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"

	"adlens/internal/query"

	"github.com/gin-gonic/gin"
)

// answer is what a handler returns: it writes itself field by field.
type answer interface {
	fields(w *writer)
}

// headed is an answer that says something in headers as well.
type headed interface {
	paged() paged
}

// private is an answer that no cache may keep.
type private interface{ noStore() }

// bodiless is an answer of a status that has no body.
type bodiless interface{ status() int }

// write is the only place that writes an answer. It is complete before the
// first byte goes out, so a failure never looks like a short answer.
func (s *Server) write(c *gin.Context, a answer) {
	h := c.Writer.Header()
	h.Set("Cache-Control", "private, no-cache")
	if b, ok := a.(bodiless); ok {
		c.Writer.WriteHeader(b.status())
		c.Writer.WriteHeaderNow()
		return
	}
	if _, ok := a.(private); ok {
		h.Set("Cache-Control", "no-store")
	}
	f, ok := a.(*finished)
	if !ok {
		f = finish(a)
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	if f.paged != nil {
		f.paged.headers(h, c.Request.URL.Path, c.Request.URL.RawQuery)
	}
	h.Set("Content-Length", strconv.Itoa(len(f.body)))
	c.Writer.WriteHeader(http.StatusOK)
	c.Writer.Write(f.body)
}

// finished is an answer that was written already. It is never changed, so any
// number of clients can have it.
type finished struct {
	body  []byte
	paged *paged // nil where it has no pages
}

func (*finished) fields(*writer) {}

// buffers are what answers are written into before their size is known.
var buffers = sync.Pool{New: func() any { return new(writer) }}

// finish writes an answer.
func finish(a answer) *finished {
	w := buffers.Get().(*writer)
	defer buffers.Put(w)
	w.b, w.comma = w.b[:0], false
	w.object("", func() { a.fields(w) })
	w.b = append(w.b, '\n')
	f := &finished{body: bytes.Clone(w.b)}
	if h, ok := a.(headed); ok {
		p := h.paged()
		f.paged = &p
	}
	return f
}

// question writes what every figure answer repeats of its request.
func (w *writer) question(r query.Request) {
	w.period(r)
	w.object("filters", func() {
		if r.Filters.Marketplaces == nil {
			w.null("marketplaces")
		} else {
			w.texts("marketplaces", r.Filters.Marketplaces)
		}
		if r.Filters.AdProducts == nil {
			w.null("ad_products")
			return
		}
		w.list("ad_products", func() {
			for _, p := range r.Filters.AdProducts {
				w.separate()
				w.quote(p.String())
			}
		})
	})
	w.text("currency", "USD")
}

// period writes days, how they were found, and whose calendar says today.
func (w *writer) period(r query.Request) {
	w.object("period", func() {
		w.text("start_date", r.Period.Start.String())
		w.text("end_date", r.Period.End.String())
		w.text("range", string(r.Period.Range))
		w.text("timezone", r.TimeZone)
	})
}

func (w *writer) meta(m query.Meta) {
	w.object("meta", func() {
		w.day("data_last_date", m.LastDate)
		w.bool("history_covered", m.HistoryCovered)
		w.bool("truncated", m.Truncated)
	})
}
