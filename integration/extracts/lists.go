package extracts

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"adlens/internal/made"
	"adlens/internal/platform"
)

// ListOptions say what lists and records to write.
type ListOptions struct {
	Seed      uint64
	Accounts  int
	Exports   int // for each account, beside one whole set for each profile but the last
	Campaigns int // at most, in each profile
	Now       time.Time
}

// ListAccount is one account's exports and records. Exports may be loaded in
// any order; the directories of Records follow each other.
type ListAccount struct {
	ID        string
	Base      string // a directory: profiles, rates, products
	Profiles  []string
	Campaigns []string // ids, which every profile of every account has
	Exports   []Report
	Records   []string
}

// WriteLists writes below dir. All accounts have the same profile, campaign,
// rule, run and activity ids, as ids are unique only within an account; what
// goes by an id differs.
func WriteLists(dir string, o ListOptions) ([]ListAccount, error) {
	w := &listWriter{writer: writer{
		Options: Options{Seed: o.Seed, Now: o.Now, Days: 62}, Rand: rand.New(rand.NewPCG(o.Seed, 8)), today: midnightUTC(o.Now),
	}, size: o.Campaigns}
	w.profiles = w.pickProfiles()
	var accounts []ListAccount
	for i := range o.Accounts {
		account, err := w.writeListAccount(filepath.Join(dir, fmt.Sprintf("account%d", i+1)), i, o.Exports)
		if err != nil {
			return nil, err
		}
		accounts = append(accounts, account)
	}
	return accounts, nil
}

type listWriter struct {
	writer
	size  int // campaigns of a profile
	files int // export files so far, which keeps names and ids apart
	ticks int // times of generation so far: no two are the same
}

func (w *listWriter) writeListAccount(dir string, i, exports int) (ListAccount, error) {
	a := ListAccount{ID: fmt.Sprintf("lists-%d-%d", w.Seed, i+1), Base: filepath.Join(dir, "base")}
	for i := range w.size {
		a.Campaigns = append(a.Campaigns, entityID(i))
	}
	for _, p := range w.profiles {
		a.Profiles = append(a.Profiles, p.id)
	}
	for _, path := range []string{a.Base, filepath.Join(dir, "late"), filepath.Join(dir, "new"), filepath.Join(dir, "exports")} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return a, err
		}
	}
	if err := w.writeBase(Account{Base: a.Base, LateRates: filepath.Join(dir, "late"), NewRates: filepath.Join(dir, "new")}); err != nil {
		return a, err
	}
	err := w.writeAllExports(&a, filepath.Join(dir, "exports"), exports)
	if err != nil {
		return a, err
	}
	a.Records, err = w.writeRecords(dir)
	return a, err
}

// writeAllExports writes whole sets first, for all profiles but the last, whose lists
// may stay unread; then restated, narrowed and empty ones.
func (w *listWriter) writeAllExports(a *ListAccount, dir string, more int) error {
	for _, p := range w.profiles[:len(w.profiles)-1] {
		for _, entity := range entities {
			if err := w.writeExport(a, dir, p, entity, nil, w.percentChance(95)); err != nil {
				return err
			}
		}
	}
	for range more {
		var filter []string
		if w.percentChance(50) {
			filter = append(filter, adProductNames...)
			w.Shuffle(3, func(i, j int) { filter[i], filter[j] = filter[j], filter[i] })
			filter = filter[:1+w.IntN(3)]
		}
		if err := w.writeExport(a, dir, pickOne(&w.writer, w.profiles), pickOne(&w.writer, entities), filter, w.percentChance(88)); err != nil {
			return err
		}
	}
	return nil
}

// writeNames writes lists of the campaigns and ad groups that reports are about, which
// have names of their own, for one profile.
func (w *writer) writeNames(dir string) error {
	l := &listWriter{writer: *w, size: campaigns}
	p := pickOne(w, w.profiles)
	return errors.Join(
		l.writeExport(&ListAccount{}, dir, p, platform.Campaigns, nil, true),
		l.writeExport(&ListAccount{}, dir, p, platform.Campaigns, []string{pickOne(w, adProductNames)}, true),
		l.writeExport(&ListAccount{}, dir, p, platform.AdGroups, nil, true),
	)
}

func (w *listWriter) writeExport(a *ListAccount, dir string, p profile, entity platform.Entity, filter []string, full bool) error {
	w.files++
	stem := fmt.Sprintf("%s%s-%03d", pickOne(&w.writer, []string{"", "a.b ", "\u00fc-"}), entity, w.files)
	var rows []string
	if full {
		rows = w.entityRows(p, entity, filter)
	}
	pair, err := w.writePair(dir, stem, made.ExportEnd, rows, func(size int) string { return w.exportObject(p, entity, filter, size) })
	a.Exports = append(a.Exports, pair)
	return err
}

func (w *listWriter) exportObject(p profile, entity platform.Entity, filter []string, size int) string {
	w.ticks++
	generated := w.Now.Add(-time.Duration(w.IntN(40*24*3600)) * time.Second).Truncate(time.Second).Add(time.Duration(w.ticks%1000) * time.Millisecond)
	o := made.NewExport(w.drawUUID(), entity, generated.Add(-time.Minute), generated)
	o.ProfileID, o.FileSize, o.AdProductFilter = json.Number(p.id), size, filter
	return w.varyObject(o)
}
