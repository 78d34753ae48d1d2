package answer

import (
	"strings"
	"time"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/formats"
	"adlens/internal/query"
)

// writer is what answers describe themselves to. Field names, order and values
// are the contract's.
type writer struct {
	*formats.Writer
	pages   *Pages             // as they were described
	figures []catalogue.Figure // those of the answer; nil for those of every answer
	digits  []byte
}

func (w *writer) writeInt(name string, value int) { w.Count(name, uint64(value)) }

// countOrNull writes a count, null where it is not known.
func (w *writer) countOrNull(name string, count uint64, isUnknown bool) {
	if isUnknown {
		w.Null(name, formats.Whole)
		return
	}
	w.Count(name, count)
}

func (w *writer) writeDay(name string, d *adlens.Day) {
	if d == nil {
		w.Null(name, formats.Day)
		return
	}
	w.Moment(name, formats.Day, d.String())
}

// writeTimestamp writes an instant as the contract does: UTC, milliseconds.
func (w *writer) writeTimestamp(name string, t *time.Time) {
	if t == nil {
		w.Null(name, formats.Instant)
		return
	}
	w.Moment(name, formats.Instant, adlens.FormatTime(*t))
}

func (w *writer) writeAmount(name string, value *adlens.Amount) {
	if value == nil {
		w.Number(name, adlens.AmountDecimals, nil)
		return
	}
	w.Number(name, adlens.AmountDecimals, []byte(value.String()))
}

// writeFigures writes the figures of the answer; of a blank row they are null.
func (w *writer) writeFigures(values query.Figures) {
	w.writeValues(values, catalogue.Figure.Decimals)
}

// writeChanges writes how figures changed, in percent or points.
func (w *writer) writeChanges(values query.Figures) {
	w.writeValues(values, func(catalogue.Figure) int { return 2 })
}

func (w *writer) writeValues(values query.Figures, decimals func(catalogue.Figure) int) {
	figures := w.figures
	if figures == nil {
		figures = catalogue.Figures
	}
	for i := range figures {
		value := values.At(i)
		if value.Null() {
			w.Number(figures[i].Name, decimals(figures[i]), nil)
			continue
		}
		w.digits = value.Append(w.digits[:0])
		w.Number(figures[i].Name, decimals(figures[i]), w.digits)
	}
}

// writePagination writes which page of how many rows this is.
func (w *writer) writePagination(p query.Paging, rows int, truncated bool) {
	w.pages = &Pages{p, rows, truncated}
	w.Object("pagination", func() {
		w.writeInt("page", p.Page)
		w.writeInt("page_size", p.PageSize)
		w.writeInt("total_rows", rows)
		w.writeInt("total_pages", p.TotalPages(rows))
		if next, ok := p.NextPage(rows); ok {
			w.writeInt("next_page", next)
		} else {
			w.Null("next_page", formats.Whole)
		}
	})
}

// addressOf returns the address that asks for an answer again, however the
// client spelled it, but for its format.
func addressOf(endpoint string, r request) string {
	return strings.TrimSuffix(APIPath+"/"+endpoint+"?"+r.Spelled(), "?")
}

// maxFileName bounds a name: ids that clients chose are in it.
const maxFileName = 120

// fileName returns what an answer is called where it is saved, without its
// ending.
func fileName(endpoint string, r request) string {
	words := append([]string{strings.TrimPrefix(endpoint, "reports/")}, r.About()...)
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, strings.Join(words, "_"))
	return name[:min(len(name), maxFileName)]
}
