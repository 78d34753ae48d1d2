package api

import (
	"context"
	"errors"
	"fmt"
)

// pages is how one list is read: page after page, by a cursor.
type pages[T any] struct {
	what  string                                                    // such as "campaigns of SPONSORED_BRANDS"
	fetch func(ctx context.Context, cursor string) (page[T], error) // the first cursor is ""
	id    func(T) string                                            // "" where a row has none
}

// page is one page of a list.
type page[T any] struct {
	rows  []T
	next  string // cursor of the next page; "" after the last
	total int    // rows of all pages; -1 where the platform does not say
	bytes int64
}

// errUneven says that the pages of one reading do not add up. Pages are no
// snapshot: what changes while they are read appears twice or not at all.
var errUneven = errors.New("the pages do not add up")

// readList reads a list whole. Pages that do not add up are read again, all of
// them, some times; then it is an error. Half a list is never returned.
func readList[T any](ctx context.Context, c *Client, p pages[T]) (List[T], error) {
	for read := 1; ; read++ {
		list, err := readOnce(ctx, c.limits, p)
		if err == nil || !errors.Is(err, errUneven) {
			return list, err
		}
		reason := c.scrub.cleanText(err.Error(), maxReason)
		if read >= c.limits.listReads {
			return List[T]{}, &Error{Kind: Incomplete, Call: "list of " + p.what, Reason: fmt.Sprintf("%s; read %d times", reason, read)}
		}
		wait := c.backoffWait(c.limits.relistWait, 2, read)
		c.noticeRetry(Retry{Call: "list of " + p.what, Detail: reason, Wait: wait})
		if err := c.cfg.Sleep(ctx, wait); err != nil {
			return List[T]{}, fmt.Errorf("list of %s: %w", p.what, err)
		}
	}
}

// readOnce reads all pages once.
func readOnce[T any](ctx context.Context, l limits, p pages[T]) (List[T], error) {
	r := reading[T]{pages: p, limits: l, cursors: map[string]bool{}, ids: map[string]bool{}, total: -1}
	for cursor := ""; ; {
		next, err := p.fetch(ctx, cursor)
		if err == nil {
			err = r.addPage(next)
		}
		if err != nil {
			return List[T]{}, r.pageError(err)
		}
		if cursor = next.next; cursor == "" {
			return r.finishList()
		}
	}
}

// reading is one reading of a list so far.
type reading[T any] struct {
	pages   pages[T]
	limits  limits
	all     []T
	cursors map[string]bool
	ids     map[string]bool
	total   int // as the first page that says one says
	read    int // pages
	empty   int // pages in a row without rows
	bytes   int64
}

// maxEmptyPages in a row are no list any more, but a platform that leads on for
// ever.
const maxEmptyPages = 5

// pageError makes a refusal of a later page another error: a list that was begun
// is one that the platform gives.
func (r *reading[T]) pageError(err error) error {
	if r.read == 0 || !errors.Is(err, Refused) {
		return err
	}
	return &Error{Kind: Incomplete, Call: "list of " + r.pages.what, Reason: fmt.Sprintf("page %d was refused: %v", r.read+1, err)}
}

func (r *reading[T]) addPage(p page[T]) error {
	r.read++
	r.bytes += p.bytes
	if err := r.checkBounds(p); err != nil {
		return err
	}
	if r.cursors[p.next] {
		return fmt.Errorf("%w: page %d leads back to an earlier one", errUneven, r.read)
	}
	if p.next != "" {
		r.cursors[p.next] = true
	}
	if len(p.rows) > 0 || p.next == "" {
		r.empty = 0
	} else if r.empty++; r.empty == maxEmptyPages {
		return fmt.Errorf("%w: %d pages in a row have no rows, and there are more", errUneven, r.empty)
	}
	if p.total >= 0 && r.total >= 0 && p.total != r.total {
		return fmt.Errorf("%w: the platform's total was %d and is %d on page %d", errUneven, r.total, p.total, r.read)
	}
	r.total = max(r.total, p.total)
	return r.addRows(p.rows)
}

func (r *reading[T]) addRows(rows []T) error {
	for _, row := range rows {
		if id := r.pages.id(row); id != "" {
			if r.ids[id] {
				return fmt.Errorf("%w: id %s is there twice", errUneven, id)
			}
			r.ids[id] = true
		}
	}
	r.all = append(r.all, rows...)
	if r.total >= 0 && len(r.all) > r.total {
		return fmt.Errorf("%w: there are more rows than the platform's total of %d", errUneven, r.total)
	}
	return nil
}

// checkBounds refuses what no honest list is. It is final: a list that large would
// be so again, and reading an endless one thrice is no better than once.
func (r *reading[T]) checkBounds(p page[T]) error {
	reason := ""
	switch {
	case r.read >= r.limits.listPages && p.next != "":
		reason = fmt.Sprintf("it does not end after %d pages", r.read)
	case len(r.all)+len(p.rows) > r.limits.listRows:
		reason = fmt.Sprintf("it has more than %d rows", r.limits.listRows)
	case r.bytes > r.limits.list:
		reason = fmt.Sprintf("it has more than %d bytes", r.limits.list)
	default:
		return nil
	}
	return &Error{Kind: TooLarge, Call: "list of " + r.pages.what, Reason: reason}
}

// finishList checks the end of a reading.
func (r *reading[T]) finishList() (List[T], error) {
	if r.total >= 0 && len(r.all) != r.total {
		return List[T]{}, fmt.Errorf("%w: the platform's total is %d, the pages hold %d", errUneven, r.total, len(r.all))
	}
	return List[T]{Rows: r.all, Stated: r.total >= 0}, nil
}
