package simulation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/manifest"
)

// brandsCampaigns are the campaigns of Sponsored Brands: true for those with one ad
// group, which the v3 reports leave out unless they changed.
var brandsCampaigns = map[string]bool{"b1": true, "b2": true, "b3": false}

// brandsList writes the list that says so.
func (b *builder) brandsList() {
	l := &list{entity: "campaigns", profile: profileUS, brands: true, generated: time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)}
	object := fmt.Sprintf(`{"exportId":"brands","profileId":"%s","entity":"campaigns","status":"COMPLETED","generatedAt":%q,"adProductFilter":["SPONSORED_BRANDS"]}`,
		l.profile, l.generated.Format(time.RFC3339))
	var rows []string
	for _, id := range slices.Sorted(maps.Keys(brandsCampaigns)) {
		rows = append(rows, fmt.Sprintf(`{"campaignId":%q,"adProduct":"SPONSORED_BRANDS","name":"v","state":"ENABLED","isMultiAdGroupsEnabled":%v}`, id, !brandsCampaigns[id]))
	}
	b.add(&extract{kind: "export", list: l}, map[string]string{"x.export.json": object, "x.json": "[" + strings.Join(rows, ",") + "]"}, "x.export.json")
}

// brandsReport writes a report of few days of Sponsored Brands, every other one of
// version 2: about the same days, so that one takes campaigns from the other.
func (b *builder) brandsReport(n int) {
	r := &report{id: fmt.Sprintf("b%d%d", b.random.IntN(9), n), profile: profileUS, product: adlens.SponsoredBrands, legacy: n%2 == 0,
		generated: time.Date(2026, time.March, 1+b.random.IntN(3), 12, 0, 0, 0, time.UTC)}
	r.start = lastDay - 1 + adlens.Day(n/2%2)
	r.end = r.start
	if !r.legacy {
		r.start--
	}
	var text []string
	for _, id := range slices.Sorted(maps.Keys(brandsCampaigns)) {
		if !r.legacy && brandsCampaigns[id] && b.random.IntN(3) > 0 {
			continue
		}
		row := reportRow{day: r.end, campaign: id, impressions: uint64(1 + b.random.IntN(1000)), clicks: 2, purchases: 1, spend: cent * uint64(b.random.IntN(10_000)), sales: cent * uint64(b.random.IntN(50_000))}
		row.addParts()
		r.rows = append(r.rows, row)
		amounts := fmt.Sprintf(`"campaignId":%q,"impressions":%d,"clicks":2,"cost":%s`, id, row.impressions, amountText(row.spend))
		sales := amountText(row.sales)
		if r.legacy {
			text = append(text, fmt.Sprintf(`{%s,"attributedConversions14d":1,"attributedSales14d":%s}`, amounts, sales))
		} else {
			text = append(text, fmt.Sprintf(`{"date":%q,%s,"purchases":1,"sales":%s}`, row.day.String(), amounts, sales))
		}
	}
	object := map[string]any{"reportId": r.id, "profileId": r.profile, "generatedAt": r.generated}
	if r.legacy {
		maps.Copy(object, map[string]any{"recordType": "campaigns", "status": "SUCCESS", "creativeType": "all", "reportDate": r.start.Time().Format("20060102")})
	} else {
		maps.Copy(object, map[string]any{"status": "COMPLETED", "startDate": r.start, "endDate": r.end, "configuration": map[string]any{
			"adProduct": "SPONSORED_BRANDS", "reportTypeId": "sbCampaigns", "timeUnit": "DAILY", "groupBy": []string{"campaign"},
			"columns": []string{"date", "campaignId", "impressions", "clicks", "cost", "purchases", "sales"}}})
	}
	written, err := json.Marshal(object)
	if err != nil {
		b.err = err
	}
	b.add(&extract{kind: "report", report: r}, map[string]string{"x.report.json": string(written), "x.json": "[" + strings.Join(text, ",") + "]"}, "x.report.json")
}

// speaksOn reports whether no other report of its kind speaks for a day.
func (r *report) speaksOn(day adlens.Day, all []*report) bool {
	return !slices.ContainsFunc(all, func(other *report) bool { return other.beats(r, day) })
}

// productReported is the ad product under which the record of commits keeps the report's days.
func (r *report) productReported() adlens.AdProduct {
	if r.legacy {
		return manifest.LegacyReported
	}
	return r.product
}

// countsBeside reports whether a row of a legacy report counts: of a campaign with one
// ad group that the v3 report of the day does not have.
func (row reportRow) countsBeside(all []*report, profile string) bool {
	return brandsCampaigns[row.campaign] && !slices.ContainsFunc(all, func(v3 *report) bool {
		return v3.profile == profile && v3.product == adlens.SponsoredBrands && !v3.legacy && v3.speaksOn(row.day, all) &&
			slices.ContainsFunc(v3.rows, func(other reportRow) bool { return other.day == row.day && other.campaign == row.campaign })
	})
}
