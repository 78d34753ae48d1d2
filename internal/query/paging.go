package query

// Paging is a page with its defaults filled in.
type Paging struct {
	Page, PageSize int
	All            bool // every row in one page, up to MaxRows
}

// rowsBefore is how many rows are on the pages before this one.
func (p Paging) rowsBefore() int { return (p.Page - 1) * p.PageSize }

// isPastAll reports whether all rows are on the first page, and this is a later one: it
// has none, also where the cap left some out.
func (p Paging) isPastAll() bool { return p.All && p.Page > 1 }

// TotalPages is how many pages a report or list of so many rows has.
func (p Paging) TotalPages(rows int) int {
	if p.All {
		return min(rows, 1)
	}
	return (rows + p.PageSize - 1) / p.PageSize
}

// NextPage is the page after this one; ok is false on the last and past it.
func (p Paging) NextPage(rows int) (page int, ok bool) {
	return p.Page + 1, p.Page < p.TotalPages(rows)
}
