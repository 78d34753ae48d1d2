package model

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// errNotItsTurn is the error of a report of version 2 where v3 ones are taken.
var errNotItsTurn = errors.New("model: taken after the lists")

// takeLegacy takes a report of version 2: of one day, with columns of other names.
func (a *Account) takeLegacy(file string) (*report, string, error) {
	var d description
	if err := readJSON(file, &d); err != nil {
		return nil, "", err
	}
	if d.RecordType+d.ReportDate == "" {
		return nil, "", errNotItsTurn
	}
	generated, err := time.Parse(time.RFC3339Nano, d.GeneratedAt)
	if err != nil {
		return nil, "", err
	}
	date, err := time.Parse("20060102", d.ReportDate)
	if err != nil {
		return nil, "", err
	}
	day := date.Format(time.DateOnly)
	r := &report{id: d.ReportID, profile: fmt.Sprint(d.ProfileID), adProduct: "SPONSORED_BRANDS", start: day, end: day, generated: generated, legacy: true}
	var lines []map[string]any
	if err := readJSON(downloadPath(file), &lines); err != nil {
		return nil, "", err
	}
	for i, line := range lines {
		one := row{day: day, impressions: parseInteger(line["impressions"]), clicks: parseInteger(line["clicks"]), purchases: parseInteger(line["attributedConversions14d"]),
			cost: parseDecimal(line["cost"]), sales: parseDecimal(line["attributedSales14d"]), holder: holder{campaign: textOf(line["campaignId"])}, campaignName: textOf(line["campaignName"])}
		isZero := one.impressions.Sign() == 0 && one.clicks.Sign() == 0 && one.purchases.Sign() == 0 && one.cost.Sign() == 0 && one.sales.Sign() == 0
		if _, known := a.formOf(r.profile, one.campaign); !known && !isZero {
			return nil, "", fmt.Errorf("%s: row %d: no list has campaign %s", file, i+1, one.campaign)
		}
		r.rows = append(r.rows, one)
	}
	return a.keepReport(file, r)
}

// formOf says whether a list that was ever loaded said a campaign of Sponsored Brands
// to have one ad group; known is false where none has it.
func (a *Account) formOf(profile, campaign string) (one, known bool) {
	for _, e := range a.exports {
		if e.profile != profile || e.entity != "campaigns" {
			continue
		}
		for _, row := range e.rows {
			several, said := row["isMultiAdGroupsEnabled"].(bool)
			if row.memberText("campaignId") == campaign && row.memberText("adProduct") == "SPONSORED_BRANDS" {
				one, known = one || said && !several, true
			}
		}
	}
	return one, known
}

// speaksFor is the v3 or the legacy report that speaks for a day; nil for none.
func (a *Account) speaksFor(profile, adProduct, day string, legacy bool) *report {
	return a.currentReport(&report{profile: profile, adProduct: adProduct, legacy: legacy}, day)
}

// v3Has tells which campaigns the v3 report of a day has figures of, empty
// text among them where it does not say.
func (a *Account) v3Has(profile, day string) map[string]bool {
	has := map[string]bool{}
	r := a.speaksFor(profile, "SPONSORED_BRANDS", day, false)
	if r == nil {
		return has
	}
	sums := map[slot]map[holder]*own{}
	for _, line := range r.rows {
		if line.day == day {
			addRow(sums, r, line)
		}
	}
	for _, parts := range sums {
		for h, o := range parts {
			if !o.isZero() {
				has[h.campaign] = true
			}
		}
	}
	return has
}

// hasLegacy reports whether a legacy report gives what the v3 one of a day leaves
// out: of one that names no campaigns that is not known.
func (a *Account) hasLegacy(profile, day string) bool {
	return a.speaksFor(profile, "SPONSORED_BRANDS", day, true) != nil && !a.v3Has(profile, day)[""]
}

// countsLegacy reports whether a row of a legacy report counts: of a campaign with one
// ad group that the v3 report of the day does not have.
func (a *Account) countsLegacy(r *report, line row) bool {
	one, _ := a.formOf(r.profile, line.campaign)
	has := a.v3Has(r.profile, line.day)
	return one && !has[""] && !has[line.campaign]
}

// unsaidIn are the campaigns of which no list says the form, and of which the legacy
// report of a day of some periods has figures that the v3 report does not have.
func (a *Account) unsaidIn(periods []Period, profile string, list *export, asked []string) (rows []map[string]any) {
	left := map[string]bool{}
	for _, r := range a.reports {
		day := r.start
		inside := func(p Period) bool { return p.Start <= day && day <= p.End }
		if !r.legacy || r.profile != profile || a.speaksFor(profile, "SPONSORED_BRANDS", day, true) != r || !slices.ContainsFunc(periods, inside) {
			continue
		}
		has := a.v3Has(profile, day)
		for _, line := range r.rows {
			isZero := line.impressions.Sign() == 0 && line.clicks.Sign() == 0 && line.purchases.Sign() == 0 && line.cost.Sign() == 0 && line.sales.Sign() == 0
			if !isZero && !has[line.campaign] && passesFilter(asked, line.campaign) && a.isUnsaid(profile, line.campaign) {
				left[line.campaign] = true
			}
		}
	}
	if len(left) == 0 {
		return nil
	}
	names := a.deriveNames(func(of string) bool { return of == profile })
	for id := range left {
		name := names[entity{"campaign", id}].text
		if list != nil {
			for _, row := range list.rows {
				if row.memberText("campaignId") == id && row.memberText("adProduct") == "SPONSORED_BRANDS" && row.memberText("name") != "" {
					name = row.memberText("name")
				}
			}
		}
		rows = append(rows, map[string]any{"name": name, "campaign_id": id})
	}
	return rows
}

// isUnsaid reports whether lists have a campaign of Sponsored Brands, and none says its
// form.
func (a *Account) isUnsaid(profile, campaign string) (listed bool) {
	for _, e := range a.exports {
		for _, row := range e.rows {
			if e.profile != profile || e.entity != "campaigns" || row.memberText("campaignId") != campaign || row.memberText("adProduct") != "SPONSORED_BRANDS" {
				continue
			}
			if _, said := row["isMultiAdGroupsEnabled"].(bool); said {
				return false
			}
			listed = true
		}
	}
	return listed
}
