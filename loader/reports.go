package loader

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/platform/console"
)

// pending is a report that was found and whose object is sound.
type pending struct {
	file    file
	report  *platform.Report
	market  Marketplace
	console *consoleReport // nil for a report of the platform
}

func (p pending) reportSource() manifest.Source {
	return manifest.Source{ReportID: p.report.ID, GeneratedAt: p.report.GeneratedAt}
}

// reportSlice returns the marketplace and ad product that a report covers.
func (p pending) reportSlice() manifest.Slice {
	slice := manifest.Slice{Marketplace: p.market.Key, AdProduct: p.report.Type.AdProduct}
	if p.report.Type.Legacy {
		slice.AdProduct = manifest.LegacyReported
	}
	return slice
}

// sortNewestFirst puts the newest report first, so that each day is written once: the
// first report that covers it keeps it. Reports of one time are about the same
// months as a rule, and then a block of facts touches few of them.
func sortNewestFirst(all []pending) {
	slices.SortStableFunc(all, func(a, b pending) int {
		if order := cmp.Or(b.report.GeneratedAt.Compare(a.report.GeneratedAt),
			cmp.Compare(a.market.Key, b.market.Key), cmp.Compare(a.reportSlice().AdProduct, b.reportSlice().AdProduct),
			cmp.Compare(b.report.ID, a.report.ID)); order != 0 {
			return order
		}
		return compareColumns(b.report.KeptColumns(), a.report.KeptColumns())
	})
}

// compareColumns compares two objects of the same report, which have one id and time:
// the one with more of the columns that are kept speaks for it, and of as many, the one
// whose columns are the greater text. So the order of loading decides nothing.
func compareColumns(a, b string) int {
	return cmp.Or(cmp.Compare(strings.Count(a, ","), strings.Count(b, ",")), cmp.Compare(a, b))
}

// decodeReport reads a report's object and finds its marketplace.
func (s *session) decodeReport(ctx context.Context, f file) (pending, error) {
	if f.kind == kindConsole {
		return s.decodeConsole(ctx, f)
	}
	var report *platform.Report
	err := f.readObject(func(content io.Reader) (err error) {
		report, err = platform.DecodeReport(content)
		return err
	})
	if err != nil {
		return pending{}, err
	}
	market, err := s.requireMarketplace(report.ProfileID)
	if err != nil {
		return pending{}, err
	}
	for _, column := range report.Type.Headline(market.Vendor) {
		if !report.Has(column) {
			return pending{}, newRefusalf("configuration.columns is [%s], expected the column %s among them", strings.Join(report.Columns, ", "), column)
		}
	}
	return pending{file: f, report: report, market: market}, nil
}

// loadReports loads report files.
func (s *session) loadReports(ctx context.Context, files []file) error {
	s.findFormer()
	var sound []pending
	for _, f := range files {
		p, err := s.decodeReport(ctx, f)
		switch {
		case errors.Is(err, console.ErrUnknown):
			s.addResult(skippedResult(f.shown, "no extract file's name, and "+console.ErrUnknown.Error()))
		case isRefusal(err):
			if err := s.refuseFile(f, err); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			sound = append(sound, p)
		}
	}
	takeFirstTimes(sound)
	sortNewestFirst(sound)
	s.sayUpgrades(sound)
	before := s.Manifest()
	if err := s.loadAll(ctx, sound); err != nil {
		return err
	}
	if s.whole {
		s.sayHoles(before)
	}
	return nil
}

// sayHoles says which days lie between others since before and are in no report: a file may
// have been forgotten, and they count as nothing.
func (s *session) sayHoles(before manifest.Manifest) {
	var holes []string
	for _, m := range s.markets {
		for _, p := range adlens.AdProducts {
			slice := manifest.Slice{Marketplace: m.Key, AdProduct: p}
			known := before.NotHeld(slice, 0)
			for _, run := range s.Manifest().NotHeld(slice, 0) {
				if !slices.ContainsFunc(known, func(k manifest.Run) bool { return k.First <= run.First && run.Last <= k.Last }) {
					holes = append(holes, fmt.Sprintf("%s of %s %s %s", run, m.Country, m.ID, p))
				}
			}
		}
	}
	if holes != nil {
		s.progress.Notice("days between others that no report covers count as nothing: " + adlens.JoinFew(holes, 3, ", ") + ". Load reports of them, without rows where there were no ads")
	}
}

// findFormer finds the reports that were loaded when campaigns, ad groups and the columns
// of reports were not kept.
func (s *session) findFormer() {
	s.formerReports = map[string]bool{}
	for _, e := range s.Manifest().Of(manifest.Month) {
		for _, source := range e.Sources {
			if source.Columns == "" {
				s.formerReports[source.ReportID] = true
			}
		}
	}
}

// sayUpgrades says how many reports are loaded again, because they are former ones.
func (s *session) sayUpgrades(sound []pending) {
	here := 0
	for _, p := range sound {
		if s.formerReports[p.report.ID] {
			here++
		}
	}
	if former := len(s.formerReports); former > 0 {
		s.progress.Notice(fmt.Sprintf("%d of the account's reports were loaded before campaigns and ad groups were kept: those %d that are among the files are loaded again", former, here))
	}
}

// loadAll takes reports one after the other into a load, and makes the load
// visible at its end and whenever it has grown large.
func (s *session) loadAll(ctx context.Context, sound []pending) error {
	ahead := s.newReadings(ctx)
	defer ahead.stopReadings()
	b, first := s.newBuild(), 0       // the first report of the build
	defer func() { b.awaitBlock() }() // nothing is written for a load that has ended
	var taken []taken
	for i := 0; i < len(sound); i++ {
		s.stepProgress(sound[i].file)
		t, err := b.loadReport(ctx, sound[i], ahead.awaitFirst(sound[i:]))
		switch {
		case isRefusal(err):
			if err := s.refuseFile(sound[i].file, err); err != nil {
				return err
			}
			sound = slices.Delete(sound, i, i+1) // a load that begins again does not read it
			i--
			if t.claimed {
				// The load holds something of a file that turned bad. It is given
				// up, and begun again with the files that were good.
				if err := b.awaitBlock(); err != nil {
					return err
				}
				b, taken, i = s.newBuild(), nil, first-1
			}
			continue
		case err != nil:
			return err
		}
		s.progress.Rows(t.rows) // small files say nothing of themselves
		taken = append(taken, t)
		if last := i == len(sound)-1; last || b.rows >= s.commitRows {
			if err := s.commitReports(ctx, b, taken); err != nil {
				return err
			}
			b, taken, first = s.newBuild(), nil, i+1
		}
	}
	return s.commitReports(ctx, b, taken) // where the last file was refused
}

// commitReports makes a build visible and reports its files.
func (s *session) commitReports(ctx context.Context, b *build, all []taken) error {
	if err := b.commitLoad(ctx); err != nil {
		return err
	}
	for i := range all {
		all[i].notice = joinNotices(all[i].notice, b.withheld[all[i].report.ID].describe(), b.describeEmptied(i, all))
		delete(b.withheld, all[i].report.ID)
	}
	// What this load leaves out of legacy reports that were loaded before. What always
	// was left to the v3 ones was reported then.
	for _, id := range slices.Sorted(maps.Keys(b.withheld)) {
		w := b.withheld[id]
		w.several = 0
		if what := w.describe(); what != "" {
			s.progress.Notice(fmt.Sprintf("of the legacy report %s: %s", id, what))
		}
	}
	return s.recordReports(ctx, all)
}

// taken is a report that is part of the load.
type taken struct {
	pending
	rows    int
	keys    []LedgerKey
	claimed bool   // it speaks for some days
	notice  string // what the user should know about its rows
}

// loadReport takes a report that was read, and writes the days that it speaks for.
func (b *build) loadReport(ctx context.Context, p pending, r *reading) (taken, error) {
	t := taken{pending: p, keys: r.keys}
	if r.known {
		return t, nil
	}
	if r.err != nil {
		return taken{}, p.nameDownload(r.err)
	}
	c := r.content
	t.rows, t.notice = c.rows, joinNotices(p.describeConsole(), describeNulls(c.nulls), p.describeFuture(), b.describeElsewhere(p), b.describeTie(p))
	if err := b.checkRates(p, c); err != nil {
		return t, err
	}
	claims, err := b.claimedDays(p, c.sha256)
	if err != nil {
		return t, err
	}
	if len(claims) > 0 {
		t.claimed = true
		if err := b.writeReport(ctx, r.download, c, claims); err != nil {
			return t, err
		}
	}
	b.session.nameEntities(p.market.Key, c.names, p.report.GeneratedAt)
	return t, nil
}

// nameDownload names the download that an error is of, where the report is not in
// the file itself.
func (p pending) nameDownload(err error) error {
	if p.console != nil {
		return err
	}
	return fmt.Errorf("%s: %w", p.file.download, err)
}

// joinNotices puts together what there is to say.
func joinNotices(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(text string) bool { return text == "" }), "; ")
}

// describeFuture says of a report that no true one of its days will win against it: its
// time is one that an object was given by hand, or a clock that was wrong.
func (p pending) describeFuture() string {
	if !IsFuture(p.report.GeneratedAt, time.Now()) {
		return ""
	}
	return fmt.Sprintf("it was generated at %s, more than a day in the future: reports of its days that are generated before then change nothing", adlens.FormatTime(p.report.GeneratedAt))
}

// describeElsewhere says of a report that it speaks for another profile too, which has its
// figures as well: one of the two profiles was given by mistake.
func (b *build) describeElsewhere(p pending) string {
	for _, m := range b.session.markets {
		slice := p.reportSlice()
		if slice.Marketplace = m.Key; m.Key == p.market.Key {
			continue
		}
		for first := p.report.Start.FirstOfMonth(); first <= p.report.End; first = first.AddMonths(1) {
			if slices.ContainsFunc(b.entryOf(manifest.Unit{Kind: manifest.Month, Slice: slice, Start: first}).Sources, func(s manifest.Source) bool { return s.ReportID == p.report.ID }) {
				return fmt.Sprintf("profile %s has the figures of this report too: a report is of one profile; load a newer report of its days for the profile that it is not of", m.ID)
			}
		}
	}
	return ""
}

// describeEmptied says of a report without rows, the one at a place of all of a load that
// was committed, that it took figures away: it may be what the platform gives where
// something failed. The first of several of a month speaks for all of them. Of a month that
// another one has rows of, it is not known whose those were that were replaced.
func (b *build) describeEmptied(place int, all []taken) string {
	t, days := all[place], 0
	for first := t.report.Start.FirstOfMonth(); t.isEmpty() && first <= t.report.End; first = first.AddMonths(1) {
		u := manifest.Unit{Kind: manifest.Month, Slice: t.reportSlice(), Start: first}
		var emptied manifest.Days
		known := true
		for i, other := range all {
			if other.reportSlice() != u.Slice || other.report.End < first || other.report.Start > first.LastOfMonth() {
				continue
			}
			if other.isEmpty() {
				emptied |= manifest.DaysBetween(max(other.report.Start, first), min(other.report.End, first.LastOfMonth()))
			}
			known = known && other.rows == 0 && (i >= place || !other.claimed)
		}
		if ub := b.units[u]; known && ub != nil && ub.entry.Rows < ub.before.Rows {
			days += bits.OnesCount32(uint32(emptied & ub.before.Held()))
		}
	}
	if days == 0 {
		return ""
	}
	return fmt.Sprintf("it has no rows: the figures that were held of %d %s, or of some of them, are gone; if the platform has these, load a newer report", days, plural(days, "day"))
}

// isEmpty reports whether the report speaks for days, of which it has no rows.
func (t taken) isEmpty() bool { return t.claimed && t.rows == 0 }

// describeNulls says which counts and amounts were read as 0, in one line however
// many there are; "" for none.
func describeNulls(nulls []platform.Nulls) string {
	var columns []string
	for _, n := range nulls {
		columns = append(columns, fmt.Sprintf("%s in %d %s", n.Column, n.Rows, plural(n.Rows, "row")))
	}
	if len(columns) == 0 {
		return ""
	}
	return "read as 0 because it is null: " + strings.Join(columns, ", ")
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// ledgerKeys tell a loaded file by what its object says and its download holds: a
// corrected object is another file, whatever its download. The first one says
// whether it was loaded before.
func (d *download) ledgerKeys(sum string) []LedgerKey {
	if d.console != nil {
		return d.console.ledgerKeys(d.report)
	}
	r := d.report
	return []LedgerKey{ledgerKeyOf(r.ID, fmt.Sprintf("%s %s %s %s %s %v %s", r.ProfileID, r.Type.ID, r.Start, r.End, r.GeneratedAt, r.Columns, sum))}
}

func ledgerKeyOf(reportID, said string) LedgerKey {
	digest := sha256.Sum256([]byte(said))
	return LedgerKey{ReportID: reportID, SHA256: hex.EncodeToString(digest[:])}
}

// checkRates makes sure that every day with rows has a rate.
func (b *build) checkRates(p pending, c *content) error {
	missing := &MissingRates{Currency: p.market.Currency}
	for day := p.report.Start; day <= p.report.End; day++ {
		if _, rows := c.days[day]; !rows {
			continue
		}
		if _, ok := b.session.rates.At(p.market.Currency, day); !ok {
			missing.Days = append(missing.Days, day)
		}
	}
	if len(missing.Days) > 0 {
		return asRefusal(missing)
	}
	return nil
}

// claimedDays are the days that the report speaks for, by month: those that no
// newer report covers.
func (b *build) claimedDays(p pending, sum string) (map[manifest.Unit]manifest.Days, error) {
	claims := map[manifest.Unit]manifest.Days{}
	mine := p.reportSource()
	for first := p.report.Start.FirstOfMonth(); first <= p.report.End; first = first.AddMonths(1) {
		u := manifest.Unit{Kind: manifest.Month, Slice: p.reportSlice(), Start: first}
		days := manifest.DaysBetween(max(p.report.Start, first), min(p.report.End, first.LastOfMonth()))
		for _, other := range b.entryOf(u).Sources {
			if other.ReportID == mine.ReportID && other.GeneratedAt.Equal(mine.GeneratedAt) && other.SHA256 != sum {
				return nil, newRefusalf("report %s was loaded before with another content; a report does not change, so one of the two downloads is damaged, or another report's; if that is the one that was loaded, load a newer report of these days, or this one with a later generatedAt in its object", mine.ReportID)
			}
			// The same report is loaded again for the columns that its object lacked then,
			// or that were not noted.
			again := other.ReportID == mine.ReportID && other.GeneratedAt.Equal(mine.GeneratedAt) && compareColumns(p.report.KeptColumns(), other.Columns) > 0
			if !mine.Newer(other) && !again {
				days &^= other.Days
			}
		}
		if days != 0 {
			claims[u] = days
		}
	}
	return claims, nil
}

// writeReport writes the claimed days of a checked report.
func (b *build) writeReport(ctx context.Context, d *download, c *content, claims map[manifest.Unit]manifest.Days) error {
	w := reportWriter{build: b, download: d, claims: claims}
	for _, u := range slices.SortedFunc(maps.Keys(claims), manifest.Unit.Compare) { // the same numbers in every run
		days := claims[u]
		ub, err := b.beginUnit(ctx, u)
		if err != nil {
			return err
		}
		ub.claimDays(manifest.Source{ReportID: d.report.ID, GeneratedAt: d.report.GeneratedAt, SHA256: c.sha256, Days: days, Columns: d.report.KeptColumns()})
		ub.source.addDays(c.days, u.Start, days)
	}
	if c.rows == 0 {
		return nil
	}
	if c.table != nil {
		return w.writeTable(ctx, c.table)
	}
	for number := range c.partCount() {
		t, err := d.readPart(ctx, number, c)
		if err != nil {
			return err
		}
		if err := w.writeTable(ctx, t); err != nil {
			return err
		}
	}
	return nil
}
