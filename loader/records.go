package loader

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/records"
)

// recordKind is how one kind of records is read, kept and put together.
type recordKind[R records.Record] struct {
	kind    manifest.Kind
	check   func(s *session, held map[records.ID]R, r *R) error
	id      func(R) records.ID
	deleted func(R) bool
	read    func(Store, context.Context, string, uint32) ([]R, error)
	write   func(Store, context.Context, string, uint32, []R) error
}

var rules = recordKind[records.Rule]{
	kind:  manifest.Rules,
	check: func(_ *session, _ map[records.ID]records.Rule, r *records.Rule) error { return records.CheckRule(r) },
	id:    func(r records.Rule) records.ID { return r.ID }, deleted: func(r records.Rule) bool { return r.Deleted },
	read: Store.Rules, write: Store.InsertRules,
}

var ruleRuns = recordKind[records.RuleRun]{
	kind: manifest.RuleRuns,
	check: func(_ *session, _ map[records.ID]records.RuleRun, r *records.RuleRun) error {
		return records.CheckRun(r)
	},
	id: func(r records.RuleRun) records.ID { return r.ID }, deleted: func(r records.RuleRun) bool { return r.Deleted },
	read: Store.RuleRuns, write: Store.InsertRuleRuns,
}

var activity = recordKind[records.Activity]{
	kind: manifest.Activity,
	check: func(s *session, held map[records.ID]records.Activity, a *records.Activity) error {
		if err := records.CheckActivity(a); err != nil || a.Deleted {
			return err
		}
		return s.placeActivity(a, held[a.ID].MarketplaceID)
	},
	id: func(a records.Activity) records.ID { return a.ID }, deleted: func(a records.Activity) bool { return a.Deleted },
	read: Store.Activity, write: Store.InsertActivity,
}

// overlayRecords is how files of one kind of records are loaded.
func overlayRecords[R records.Record](k recordKind[R]) overlay[[]R] {
	return overlay[[]R]{
		read: func(s *session, ctx context.Context) ([]R, error) {
			return readUnit(ctx, s, k.kind, func(ctx context.Context, account string, generation uint32) ([]R, error) {
				return k.read(s.store, ctx, account, generation)
			}, func(all []R) int { return len(all) })
		},
		put: func(s *session, f file, over []R) (next []R, rows int, err error) {
			var added []R
			err = f.readUnpacked(f.name, func(content io.Reader) (err error) {
				added, err = k.decodeRecords(s, over, content)
				return err
			})
			if err != nil {
				return nil, 0, err
			}
			return k.mergeRecords(over, added), len(added), nil
		},
		same: sameRecords[R],
		publish: func(s *session, ctx context.Context, next []R) error {
			return s.publishUnit(ctx, s.newBuild(), k.kind, len(next), func(generation uint32) error {
				return k.write(s.store, ctx, s.account, generation, next)
			})
		},
	}
}

func (k recordKind[R]) decodeRecords(s *session, over []R, content io.Reader) ([]R, error) {
	held := make(map[records.ID]R, len(over))
	for _, r := range over {
		held[k.id(r)] = r
	}
	return records.Decode(content, func(r *R) error { return k.check(s, held, r) })
}

// mergeRecords puts records over others by id; a deleted one takes its namesake away.
func (k recordKind[R]) mergeRecords(held, added []R) []R {
	next := slices.Clone(held)
	at := map[records.ID]int{}
	for i, r := range next {
		at[k.id(r)] = i
	}
	for _, r := range added {
		if i, ok := at[k.id(r)]; ok {
			next[i] = r
		} else {
			at[k.id(r)] = len(next)
			next = append(next, r)
		}
	}
	return slices.DeleteFunc(next, k.deleted)
}

// sameRecords reports whether records would be stored as those that are held. A field
// that a line leaves out is read from what is stored as an empty list or null.
func sameRecords[R records.Record](held, next []R) (bool, error) {
	if len(held) != len(next) {
		return false, nil
	}
	for i := range held {
		stored, err := records.EncodeRecord(held[i])
		if err != nil {
			return false, err
		}
		text, err := records.EncodeRecord(next[i])
		if err != nil || !bytes.Equal(stored, text) {
			return false, err
		}
	}
	return true, nil
}

// placeActivity finds the marketplace of an entry: by its id, or by its
// country where the account has one of that country. An entry that is loaded again stays
// at the marketplace where it is held, also where its country has another one by now.
func (s *session) placeActivity(a *records.Activity, held records.ID) error {
	country := adlens.CanonicalCountry(a.Marketplace)
	var found []Marketplace
	for _, m := range s.markets {
		if a.MarketplaceID == records.ID(m.ID) || a.MarketplaceID == "" && m.Country == country {
			found = append(found, m)
		}
	}
	if i := slices.IndexFunc(found, func(m Marketplace) bool { return records.ID(m.ID) == held }); i >= 0 {
		found = found[i : i+1]
	}
	switch {
	case len(found) == 0 && a.MarketplaceID != "":
		return fmt.Errorf("marketplace_id is %q, expected a profile of the account (load its profiles.json first)", a.MarketplaceID)
	case len(found) == 0:
		return fmt.Errorf("marketplace is %q, expected a country that the account has a marketplace of", a.Marketplace)
	case len(found) > 1:
		return fmt.Errorf("marketplace is %q, of which the account has %d; expected marketplace_id to say which", a.Marketplace, len(found))
	case a.Marketplace != "" && found[0].Country != country:
		return fmt.Errorf("marketplace is %q, expected %s, the country of marketplace_id %s", a.Marketplace, found[0].Country, a.MarketplaceID)
	}
	a.Marketplace, a.MarketplaceID = found[0].Country, records.ID(found[0].ID)
	return nil
}
