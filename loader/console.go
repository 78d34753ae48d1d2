package loader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/platform/console"
)

// isConsoleName reports whether a file may be a report of the console by its name,
// which people choose.
func isConsoleName(base string) bool {
	ending := strings.ToLower(path.Ext(base))
	return ending == ".csv" || isWorkbookName(base)
}

func isWorkbookName(name string) bool { return strings.ToLower(path.Ext(name)) == ".xlsx" }

// consoleID begins the ids of the console's reports: the hash of their files
// follows.
const consoleID = "console-sha256:"

// byFile is the guess that a copy of a file changes.
const byFile = "the time of the file"

// loadedAt is when a report was generated, as live days of it say. The ledger, which
// tells a copy of its file too, is written after them, and may lack it.
func (s *session) loadedAt(slice manifest.Slice, reportID string) (at time.Time, live bool) {
	for _, e := range s.Manifest().Of(manifest.Month) {
		for _, source := range e.Sources {
			if e.Slice == slice && source.ReportID == reportID && source.GeneratedAt.After(at) {
				at, live = source.GeneratedAt, true
			}
		}
	}
	return at, live
}

// takeFirstTimes gives copies of one download of the console that are loaded together the
// time of the oldest, as if that had been loaded first.
func takeFirstTimes(all []pending) {
	type content struct {
		slice manifest.Slice
		id    string
	}
	first := map[content]time.Time{}
	for _, p := range all {
		of := content{p.reportSlice(), p.report.ID}
		if at, known := first[of]; !known || p.report.GeneratedAt.Before(at) {
			first[of] = p.report.GeneratedAt
		}
	}
	for _, p := range all {
		if at := first[content{p.reportSlice(), p.report.ID}]; p.console != nil && p.report.GeneratedAt.After(at) {
			p.report.GeneratedAt, p.console.timeBy = at, "the time of another copy of the file"
		}
	}
}

// consoleReport is a report of the console, and what its file does not say.
type consoleReport struct {
	file   *console.File
	sum    string // the hash of the file
	timeBy string // who says generatedAt
	said   bool   // with --generated-at, so that it is not the file's guess
}

// decodeConsole finds out what a file of the console speaks for. It returns
// console.ErrUnknown for a file that is none.
func (s *session) decodeConsole(ctx context.Context, f file) (pending, error) {
	opened, info, closeFile, err := f.openRegular(f.name)
	if err != nil {
		return pending{}, asRefusal(err)
	}
	if info.Size() == 0 { // a download begins so
		return pending{}, errors.Join(newRefusalf("it is empty"), closeFile())
	}
	c := &consoleReport{}
	text := endingText{Reader: io.NewSectionReader(opened, 0, info.Size())}
	if c.sum, err = hashOf(ctx, &text); err == nil {
		c.file, err = console.Open(opened, info.Size(), isWorkbookName(f.name))
	}
	if closing := closeFile(); err == nil {
		err = closing
	}
	if ctx.Err() != nil {
		return pending{}, context.Cause(ctx)
	}
	if err != nil {
		return pending{}, asRefusal(err)
	}
	f.download = f.name
	at := c.generatedAt(s.generatedAt, info.ModTime())
	market, known := s.loadedFor(c, at)
	if !known {
		if market, err = s.marketplaceOf(c.file); err != nil {
			return pending{}, err
		}
	}
	p := pending{file: f, report: c.reportIn(market, at), market: market, console: c}
	if c.timeBy == byFile {
		if first, live := s.loadedAt(p.reportSlice(), p.report.ID); live {
			c.timeBy, p.report.GeneratedAt = "when it was loaded first", first
		}
	}
	if !known {
		if err := p.checkConsole(); err != nil {
			return pending{}, err
		}
	}
	if !isWorkbookName(f.name) {
		s.noteCut(f, text.last, p.againWith())
	}
	return p, nil
}

// reportIn is the report as of a marketplace.
func (c *consoleReport) reportIn(market Marketplace, at time.Time) *platform.Report {
	return &platform.Report{ID: consoleID + c.sum, ProfileID: market.ID, Type: c.file.Type, Columns: c.file.Columns,
		Start: c.file.Start, End: c.file.End, GeneratedAt: at}
}

// loadedFor finds the marketplace that the very file was loaded for before: profiles that
// it may be of, too, may have come since, and its time may have been given then.
func (s *session) loadedFor(c *consoleReport, at time.Time) (market Marketplace, known bool) {
	named, ok := s.findMarketplace(s.profile)
	for _, m := range s.markets {
		if s.profile != "" && (!ok || m.Key != named.Key) {
			continue
		}
		if r := c.reportIn(m, at); s.ledger[c.ledgerKeys(r)[0]] && !s.formerReports[r.ID] {
			return m, true
		}
	}
	return Marketplace{}, false
}

// checkConsole refuses a report of the console whose time cannot be right, or that lacks a
// column of its marketplace's figures.
func (p pending) checkConsole() error {
	at := p.report.GeneratedAt
	if IsFuture(at, time.Now()) {
		return newRefusalf("it was generated at %s (%s), more than a day in the future; say when with --generated-at", adlens.FormatTime(at), p.console.timeBy)
	}
	if latest := adlens.DayOf(at) + 1; p.report.End > latest {
		return newRefusalf("the last day of its rows is %s, expected a day at most one after %s, when it was generated (%s); say when with --generated-at",
			p.report.End, adlens.FormatTime(at), p.console.timeBy)
	}
	for _, column := range p.report.Type.Headline(p.market.Vendor) {
		if !p.report.Has(column) {
			return newRefusalf("it has no column %s (in the platform's words), which figures of the %s profile %s follow from", column, kindOfProfile(p.market), p.market.ID)
		}
	}
	return nil
}

// againWith says how a report of the console is loaded once it is whole: its file may then have
// an earlier time, and its days count only where it was generated later.
func (p pending) againWith() string {
	return " with --generated-at and a time after " + adlens.FormatTime(p.report.GeneratedAt)
}

func kindOfProfile(m Marketplace) string {
	if m.Vendor {
		return "vendor"
	}
	return "seller"
}

// IsFuture reports whether nothing was generated at a time yet, so that the time is wrong:
// every true report or list would lose against it. Clocks may be a day apart.
func IsFuture(at, now time.Time) bool { return at.After(now.AddDate(0, 0, 1)) }

// generatedAt is when a report was generated: said by the user, else by the file's
// content, else by the time of the file.
func (c *consoleReport) generatedAt(said, modified time.Time) time.Time {
	switch {
	case !said.IsZero():
		c.timeBy, c.said = "--generated-at", true
		return said.UTC()
	case !c.file.CreatedAt.IsZero():
		c.timeBy = "the workbook says so"
		return c.file.CreatedAt
	}
	c.timeBy = byFile
	return modified.UTC().Truncate(time.Millisecond)
}

// marketplaceOf finds the marketplace of a report: the one that was named, else the
// account's only one of its currency, and of its country where it says one.
func (s *session) marketplaceOf(f *console.File) (Marketplace, error) {
	if s.profile != "" {
		market, ok := s.findMarketplace(s.profile)
		switch {
		case !ok:
			return market, newRefusalf("--profile is %s, expected a profile of the account (load its profiles.json first)", s.profile)
		case f.CountryCode() != "" && f.CountryCode() != market.Country:
			return market, newRefusalf("its Country is %q, expected that of profile %s, %s", f.Country, market.ID, market.Country)
		case !f.MayBeIn(market.Currency) && f.Currency != "":
			return market, newRefusalf("its Currency is %q, expected %s, the currency of profile %s", f.Currency, market.Currency, market.ID)
		case !f.MayBeIn(market.Currency):
			return market, newRefusalf("its amounts are marked %q, expected amounts in %s, the currency of profile %s", f.Mark, market.Currency, market.ID)
		}
		return market, nil
	}
	if f.Currency == "" {
		return Marketplace{}, newRefusalf("it does not say its currency; say which profile it is of with --profile: %s", describeMarketplaces(s.markets))
	}
	country := f.CountryCode()
	if country == "" && f.Country != "" {
		return Marketplace{}, newRefusalf("its Country is %q, which is not known here; say which profile it is of with --profile: %s", f.Country, describeMarketplaces(s.markets))
	}
	var fitting []Marketplace
	for _, m := range s.markets {
		if m.Currency == f.Currency && (country == "" || country == m.Country) {
			fitting = append(fitting, m)
		}
	}
	switch len(fitting) {
	case 0:
		return Marketplace{}, newRefusalf("its Currency is %q and its Country %q, expected those of a profile of the account: %s", f.Currency, f.Country, describeMarketplaces(s.markets))
	case 1:
		return fitting[0], nil
	}
	return Marketplace{}, newRefusalf("it could be of several profiles; say which with --profile: %s", describeMarketplaces(fitting))
}

func describeMarketplaces(markets []Marketplace) string {
	var all []string
	for _, m := range markets {
		all = append(all, fmt.Sprintf("%s (%s, %s, %s)", m.ID, m.Country, m.Currency, kindOfProfile(m)))
	}
	if len(all) == 0 {
		return "the account has none (load its profiles.json first)"
	}
	return strings.Join(all, ", ")
}

// describeConsole says what a report of the console was taken for: the file's name
// says none of it. Of a report of the platform it is "".
func (p pending) describeConsole() string {
	if p.console == nil {
		return ""
	}
	return fmt.Sprintf("%s of profile %s (%s), the days %s to %s, generated at %s (%s)", p.report.Type.ID, p.market.ID, p.market.Country,
		p.report.Start, p.report.End, adlens.FormatTime(p.report.GeneratedAt), p.console.timeBy)
}

// describeTie says of a report of the console that another one of its days has the same
// time, as where a cell of a workbook was corrected: what decides then is no reason. Of a
// report of the platform it is "".
func (b *build) describeTie(p pending) string {
	mine := p.reportSource()
	for first := p.report.Start.FirstOfMonth(); p.console != nil && first <= p.report.End; first = first.AddMonths(1) {
		days := manifest.DaysBetween(max(p.report.Start, first), min(p.report.End, first.LastOfMonth()))
		for _, other := range b.entryOf(manifest.Unit{Kind: manifest.Month, Slice: p.reportSlice(), Start: first}).Sources {
			if other.Days&days == 0 || other.ReportID == mine.ReportID || !other.GeneratedAt.Equal(mine.GeneratedAt) || !strings.HasPrefix(other.ReportID, consoleID) {
				continue
			}
			wins := "that one counts"
			if mine.Newer(other) {
				wins = "this one counts"
			}
			return fmt.Sprintf("another download of the console has some of its days and the same time, and %s, by its hash: load the right one again with --generated-at and a later time", wins)
		}
	}
	return ""
}

// hashOf hashes what a reader has.
func hashOf(ctx context.Context, r io.Reader) (string, error) {
	digest := sha256.New()
	if _, err := io.Copy(digest, readerOf(func(b []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return r.Read(b)
	})); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

type readerOf func([]byte) (int, error)

func (f readerOf) Read(b []byte) (int, error) { return f(b) }

// ledgerKeys tell a loaded report of the console by its profile, columns and
// content. A time that was given is part of it; one that was guessed is not: the
// same file does not become another one because it was copied. A file that was
// loaded with a time that was given is also known without.
func (c *consoleReport) ledgerKeys(r *platform.Report) []LedgerKey {
	guessed := ledgerKeyOf(r.ID, fmt.Sprintf("%s %s %s %s %v", r.ProfileID, r.Type.ID, r.Start, r.End, r.Columns))
	if !c.said {
		return []LedgerKey{guessed}
	}
	return []LedgerKey{ledgerKeyOf(r.ID, fmt.Sprintf("%s %s %s %s %s %v", r.ProfileID, r.Type.ID, r.Start, r.End, r.GeneratedAt, r.Columns)), guessed}
}

// openConsole begins to read the rows of a report of the console. What is read is
// what was hashed.
func (d *download) openConsole(ctx context.Context) (rowReader, func() (string, error), error) {
	opened, info, closeFile, err := d.file.openRegular(d.file.name)
	if err != nil {
		return nil, nil, err
	}
	sum, err := hashOf(ctx, io.NewSectionReader(opened, 0, info.Size()))
	if err == nil && sum != d.console.sum {
		err = errors.New("it changed while it was read")
	}
	var file *console.File
	if err == nil {
		file, err = d.console.file.Reopen(opened, info.Size())
	}
	if err != nil {
		return nil, nil, errors.Join(err, closeFile())
	}
	return file.Rows(), func() (string, error) { return sum, closeFile() }, nil
}

// reportFiles is how many of the first files are reports: all are loaded together.
func reportFiles(files []file) int {
	n := slices.IndexFunc(files, func(f file) bool {
		return f.kind != kindReport && f.kind != kindConsole && (f.kind != kindLegacy || files[0].kind != kindLegacy)
	})
	if n < 0 {
		return len(files)
	}
	return n
}
