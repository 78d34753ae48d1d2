package loader

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"adlens/internal/manifest"
	"adlens/internal/platform"
)

// profiles is how files of profiles.json are loaded: marketplaces are added and updated,
// never removed. What figures were summed by cannot change under them.
var profiles = overlay[[]Marketplace]{
	read: func(s *session, _ context.Context) ([]Marketplace, error) { return s.markets, nil },
	put: func(s *session, f file, over []Marketplace) (next []Marketplace, rows int, err error) {
		var found []platform.Profile
		var notices []string
		err = f.readUnpacked(f.name, func(content io.Reader) (err error) {
			found, notices, err = platform.DecodeProfiles(content)
			return err
		})
		if err != nil {
			return nil, 0, err
		}
		for _, notice := range notices {
			s.noteFile(f, notice)
		}
		if next, err = s.mergeProfiles(over, found); err != nil {
			return nil, 0, err
		}
		for _, p := range found {
			if _, known := s.profileFiles[p.ID]; !known {
				s.profileFiles[p.ID] = f
			}
		}
		return next, len(found), nil
	},
	same: func(before, next []Marketplace) (bool, error) { return slices.Equal(before, next), nil },
	publish: func(s *session, ctx context.Context, next []Marketplace) error {
		s.noteElsewhere(ctx, next)
		err := s.publishUnit(ctx, s.newBuild(), manifest.Marketplaces, len(next), func(generation uint32) error {
			return s.store.InsertMarketplaces(ctx, s.account, generation, next)
		})
		if err == nil {
			s.markets = next
		}
		return err
	},
}

func (s *session) mergeProfiles(over []Marketplace, found []platform.Profile) ([]Marketplace, error) {
	next := slices.Clone(over)
	for _, p := range found {
		p.Advertiser = "" // which is not stored
		i := slices.IndexFunc(next, func(m Marketplace) bool { return m.ID == p.ID })
		if i < 0 && len(next) == math.MaxUint16 { // the last key
			return nil, newRefusalf("profile %s would be one of %d of the account, expected at most %d", p.ID, len(next)+1, len(next))
		}
		if i < 0 {
			next = append(next, Marketplace{Key: uint16(len(next) + 1), Profile: p})
			continue
		}
		if err := s.checkProfileChange(next[i], p); err != nil {
			return nil, err
		}
		next[i].Profile = p
	}
	return next, nil
}

// checkProfileChange refuses a change that would give stored figures another meaning.
func (s *session) checkProfileChange(m Marketplace, p platform.Profile) error {
	_, _, held := s.Manifest().HeldDays(func(slice manifest.Slice) bool { return slice.Marketplace == m.Key })
	switch {
	case held && m.Currency != p.Currency:
		return newRefusalf("profile %s: currencyCode is %s, expected %s, in which its figures are kept", p.ID, p.Currency, m.Currency)
	case m.Currency != p.Currency && s.holdsAmounts(m):
		return newRefusalf("profile %s: currencyCode is %s, expected %s, in which the budgets and bids of its lists are kept", p.ID, p.Currency, m.Currency)
	case held && m.Vendor != p.Vendor:
		return newRefusalf("profile %s: accountInfo.type changed between seller and vendor, expected it to stay: its figures were read from other columns", p.ID)
	}
	return nil
}

// holdsAmounts reports whether lists of a marketplace have rows with amounts, which are
// stored without their currency.
func (s *session) holdsAmounts(m Marketplace) bool {
	return slices.ContainsFunc([]manifest.Kind{manifest.Campaigns, manifest.AdGroups}, func(kind manifest.Kind) bool {
		return slices.ContainsFunc(s.Manifest().Of(kind), func(e manifest.Entry) bool { return e.Slice.Marketplace == m.Key && e.Rows > 0 })
	})
}

// readTable reads a CSV file with exactly these columns and visits its rows.
func readTable(content io.Reader, columns []string, visit func(row int, values []string) error) (rows int, err error) {
	source := boundedRecords(content)
	reader := csv.NewReader(source)
	reader.FieldsPerRecord = len(columns)
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return 0, errors.New("the file is empty")
	}
	if err != nil || !slices.Equal(header, columns) {
		return 0, &platform.Fault{Row: 1, Value: fmt.Sprintf("%q", strings.Join(header, ",")),
			Expected: "the columns " + strings.Join(columns, ",") + ", with commas between them, and each row in a line of its own, in UTF-8"}
	}
	for {
		source.startRecord(reader.InputOffset())
		values, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			err = fmt.Errorf("row %d: %w", rows+2, err) // an error of reading knows no line
			return rows, platform.RowDamage(err, values, fmt.Sprintf("%d values, %s", len(columns), strings.Join(columns, ",")))
		}
		rows++
		line, _ := reader.FieldPos(0)
		for i, value := range values {
			if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
				return rows, &platform.Fault{Row: line, Field: columns[i], Value: fmt.Sprintf("%q", value), Expected: "text in UTF-8 without NUL"}
			}
		}
		if err := visit(line, values); err != nil {
			return rows, err
		}
	}
}

// titles is how files of products.csv are loaded.
var titles = overlay[map[string]string]{
	read: func(s *session, ctx context.Context) (map[string]string, error) {
		return readUnit(ctx, s, manifest.Titles, s.store.Titles, func(all map[string]string) int { return len(all) })
	},
	put: func(s *session, f file, over map[string]string) (next map[string]string, rows int, err error) {
		next = maps.Clone(over)
		var text endingText
		err = f.readUnpacked(f.name, func(content io.Reader) (err error) {
			text.Reader = content
			rows, err = readTable(&text, []string{"product_id", "title"}, func(row int, values []string) error {
				if values[0] == "" {
					return &platform.Fault{Row: row, Field: "product_id", Value: `""`, Expected: "a product's id"}
				}
				next[values[0]] = values[1]
				return nil
			})
			return err
		})
		if err != nil {
			return nil, rows, err
		}
		s.noteCut(f, text.last, "")
		return next, rows, nil
	},
	same: func(before, next map[string]string) (bool, error) { return maps.Equal(before, next), nil },
	publish: func(s *session, ctx context.Context, next map[string]string) error {
		return s.publishUnit(ctx, s.newBuild(), manifest.Titles, len(next), func(generation uint32) error {
			return s.store.InsertTitles(ctx, s.account, generation, next)
		})
	},
}
