package loader

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/platform"
)

// loadExport loads one export: a whole list of an entity, which takes the place of
// the list before for the ad products that it speaks for, unless a newer one
// is here already.
func (s *session) loadExport(ctx context.Context, f file) (rows int, changed bool, err error) {
	e, market, err := s.decodeExport(&f)
	if err != nil {
		return 0, false, err
	}
	l, err := s.readList(f, e)
	if err != nil {
		return 0, false, err
	}
	if err := s.checkContent(market, l); err != nil {
		return 0, false, err
	}
	s.noteFile(f, joinNotices(describeSkipped(e.Skipped), describeFutureList(e.GeneratedAt), s.describeEmptied(market, l)))
	changed, err = s.replaceLists(ctx, market, l)
	return l.rows, changed, err
}

// checkContent refuses an export that is held with another content. Exports that were
// loaded before hashes of them were kept have none.
func (s *session) checkContent(market Marketplace, l *list) error {
	for p, source := range l.sources {
		held, _ := s.Manifest().Find(l.unitOf(market, p))
		for _, other := range held.Sources {
			if isSameSource(other, source) && other.SHA256 != "" && other.SHA256 != source.SHA256 {
				return newRefusalf("export %s was loaded before with another content; an export does not change, so one of the two downloads is damaged, or another export's; if that is the one that was loaded, load a newer export, or this one with a later generatedAt in its object", source.ReportID)
			}
		}
	}
	return nil
}

// describeFutureList says of an export that its time is wrong; "" where it is not.
func describeFutureList(at time.Time) string {
	if !IsFuture(at, time.Now()) {
		return ""
	}
	return fmt.Sprintf("it was generated at %s, more than a day in the future: exports that are generated before then change nothing, and lists that are read from the platform go before it", adlens.FormatTime(at))
}

// describeEmptied says of which ad products an export takes away all that is listed, as one
// does that was narrowed where its object does not say so; "" for none.
func (s *session) describeEmptied(market Marketplace, l *list) string {
	var all []string
	for _, p := range adlens.AdProducts {
		source, speaks := l.sources[p]
		held, _ := s.Manifest().Find(l.unitOf(market, p))
		if speaks && l.countRows(p) == 0 && held.Rows > 0 && len(held.Sources) > 0 && supersedesSource(source, held.Sources[0]) {
			all = append(all, fmt.Sprintf("%d of %s", held.Rows, p))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("it has no %s of some ad products, and those that were listed are listed no more: %s; if the export was narrowed, load a newer one that has these too, and have the objects of narrowed ones name their ad products as adProductFilter", l.entity, strings.Join(all, ", "))
}

// describeSkipped says how many rows of which other ad products an export has; ""
// for none.
func describeSkipped(skipped map[string]int) string {
	var rows []string
	for _, name := range slices.Sorted(maps.Keys(skipped)) {
		rows = append(rows, fmt.Sprintf("%d %s of %s", skipped[name], plural(skipped[name], "row"), name))
	}
	if len(rows) == 0 {
		return ""
	}
	return "left out, because adlens does not keep that ad product: " + strings.Join(rows, ", ")
}

func (s *session) decodeExport(f *file) (e *platform.Export, market Marketplace, err error) {
	err = f.readObject(func(content io.Reader) (err error) {
		e, err = platform.DecodeExport(content)
		return err
	})
	if err != nil {
		return nil, market, err
	}
	if market, err = s.requireMarketplace(e.ProfileID); err != nil {
		return nil, market, err
	}
	e.Currency = market.Currency
	return e, market, nil
}

// readList reads and checks the whole download.
func (s *session) readList(f file, e *platform.Export) (*list, error) {
	l := &list{entity: e.Entity, sources: map[adlens.AdProduct]manifest.Source{}}
	err := f.readUnpacked(f.download, func(content io.Reader) error {
		unpacked := newPipe(content)
		err := l.readRows(unpacked, e)
		sum := unpacked.closeAndSum()
		for _, p := range e.AdProducts {
			l.sources[p] = manifest.Source{ReportID: e.ID, GeneratedAt: e.GeneratedAt, SHA256: sum}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.download, err)
		}
		return nil
	})
	return l, err
}

func (l *list) readRows(content io.Reader, e *platform.Export) (err error) {
	ids := unique{}
	switch e.Entity {
	case platform.Campaigns:
		l.rows, err = platform.ReadCampaigns(content, e, func(c platform.Campaign) error {
			l.campaigns = append(l.campaigns, c)
			return ids.addID("campaignId", c.AdProduct, c.ID)
		})
	case platform.AdGroups:
		l.rows, err = platform.ReadAdGroups(content, e, func(g platform.AdGroup) error {
			l.adGroups = append(l.adGroups, g)
			return ids.addID("adGroupId", g.AdProduct, g.ID)
		})
	case platform.Ads:
		l.rows, err = platform.ReadAds(content, e, func(a platform.Ad) error {
			l.ads = append(l.ads, a)
			return ids.addID("adId", a.AdProduct, a.ID)
		})
	}
	return err
}

// unique finds ids that are listed twice: such a list counts something double.
type unique map[string]bool

func (u unique) addID(field string, p adlens.AdProduct, id string) error {
	key := fmt.Sprint(p, " ", id)
	if id != "" && u[key] {
		return &platform.Fault{Field: field, Value: id, Expected: "an id that is listed once"}
	}
	u[key] = true
	return nil
}
