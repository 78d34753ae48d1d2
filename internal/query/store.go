package query

import (
	"context"

	"adlens"
	"adlens/internal/exact"
)

// Store runs statements. It is asked for one account's view first, and then
// for rows of the generations that the view names.
type Store interface {
	View(ctx context.Context, account string) (View, error)
	DayTotals(ctx context.Context, s Statement) ([]DayTotal, error)
	// Ranked is a page of a report in order, and how many there are on all
	// pages, which is known only where the page has a row. Rows have the sums
	// of the earlier period where the statement is of a comparison.
	Ranked(ctx context.Context, s Statement, sums int, compared bool) (page []RankedRow, total int, err error)
	// BucketCounts are the rows that a report has of each day, week or month.
	BucketCounts(ctx context.Context, s Statement) ([]BucketCount, error)
	// ProductIDs are the ids of products by their keys, of a generation.
	ProductIDs(ctx context.Context, account string, generation uint32) (map[uint32]string, error)
	// Entities are the campaigns and ad groups of a generation, in no order.
	Entities(ctx context.Context, account string, generation uint32) ([]NamedEntity, error)
	// ListedNames are the names in lists of campaigns and ad groups, of generations.
	ListedNames(ctx context.Context, account string, generations []uint32) ([]ListedName, error)
	// HeldKeys are the stored numbers that a statement finds, with their years, in no order.
	HeldKeys(ctx context.Context, s Statement) ([]HeldKey, error)
	// Titles are the titles of a generation by product id.
	Titles(ctx context.Context, account string, generation uint32) (map[string]string, error)
}

// RankedRow is a row of a report. What rows are not divided by is zero.
type RankedRow struct {
	ID, Title    string   // of a product; "" where there is none
	Marketplaces []uint16 // of a report by product alone: with figures of the row in the period
	Bucket       int64    // days, weeks or months from the first one of the period
	Marketplace  uint16
	AdProduct    uint8
	Campaign     uint32 // its stored number
	AdGroup      uint32 // likewise
	Sums         exact.Sums
	Earlier      exact.Sums // of the period that is compared with
}

func (row *RankedRow) group() group {
	return group{int(row.Bucket), row.Marketplace, adlens.AdProduct(row.AdProduct)}
}
