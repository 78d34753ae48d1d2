package model

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

var allAdProducts = []string{"SPONSORED_PRODUCTS", "SPONSORED_BRANDS", "SPONSORED_DISPLAY"}

// export is one accepted list of a profile's campaigns, adGroups or ads.
type export struct {
	profile, entity string
	generated       time.Time
	speaks          []string // for these ad products
	rows            []record
}

// record is a decoded JSON object: a row of an export or a line of NDJSON.
type record map[string]any

func (r record) memberText(name string) string { return textOf(r[name]) }

// memberObject gives an inner object, or an empty one.
func (r record) memberObject(name string) record {
	inner, _ := r[name].(map[string]any)
	return inner
}

func (a *Account) takeExport(file string) (*report, string, error) {
	var d struct {
		ExportID, Entity, GeneratedAt string
		ProfileID                     any
		AdProductFilter               []string
	}
	if err := readJSON(file, &d); err != nil {
		return nil, "", err
	}
	generated, err := time.Parse(time.RFC3339Nano, d.GeneratedAt)
	if err != nil {
		return nil, "", err
	}
	e := &export{profile: textOf(d.ProfileID), entity: d.Entity, generated: generated, speaks: d.AdProductFilter}
	if len(e.speaks) == 0 {
		e.speaks = allAdProducts
	}
	if _, known := a.profiles[e.profile]; !known {
		return nil, "", fmt.Errorf("%s: unknown profile %s", file, e.profile)
	}
	if err := readJSON(downloadPath(file), &e.rows); err != nil {
		return nil, "", err
	}
	key := strings.Join([]string{e.profile, e.entity, generated.UTC().Format(time.RFC3339Nano), d.ExportID}, "|")
	if a.exports[key] != nil {
		return nil, Unchanged, nil
	}
	a.exports[key] = e
	return nil, Loaded, nil
}

// currentExport gives the export that speaks for one ad product, or nil: the newest.
func (a *Account) currentExport(profile, entity, adProduct string) *export {
	var newest *export
	for _, e := range a.exports {
		if e.profile == profile && e.entity == entity && slices.Contains(e.speaks, adProduct) &&
			(newest == nil || e.generated.After(newest.generated)) {
			newest = e
		}
	}
	return newest
}

// syncedAt is the time of the list shown, zero where none is held. A list that is
// put together from several exports is as old as the oldest of them.
func (a *Account) syncedAt(profile, entity string) time.Time {
	var oldest time.Time
	for _, adProduct := range allAdProducts {
		if e := a.currentExport(profile, entity, adProduct); e != nil && (oldest.IsZero() || e.generated.Before(oldest)) {
			oldest = e.generated
		}
	}
	return oldest
}

// listedRows are the rows that an entity's list shows: with all their parents
// enabled or paused. An unknown parent counts as archived.
func (a *Account) listedRows(profile, entity string) []record {
	parent := parents[entity]
	living := map[string]bool{}
	if parent.entity != "" {
		for _, row := range a.listedRows(profile, parent.entity) {
			living[row.memberText(parent.id)] = true
		}
	}
	var rows []record
	for _, adProduct := range allAdProducts {
		e := a.currentExport(profile, entity, adProduct)
		if e == nil {
			continue
		}
		for _, row := range e.rows {
			if row.memberText("adProduct") == adProduct && shownState(row) != "" &&
				(parent.entity == "" || living[row.memberText(parent.id)]) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

var parents = map[string]struct{ entity, id string }{
	"adGroups": {"campaigns", "campaignId"},
	"ads":      {"adGroups", "adGroupId"},
}

// shownState is the state as the API tells it, empty for archived rows.
func shownState(row record) string {
	switch strings.ToUpper(row.memberText("state")) {
	case "ENABLED", "ENABLING":
		return "ENABLED"
	case "PAUSED", "PROPOSED", "OTHER":
		return "PAUSED"
	}
	return ""
}
