package simulation

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"adlens/internal/manifest"
	"adlens/internal/platform"
)

// objectFile writes a report's object and its download.
func (b *builder) objectFile(r *report) {
	asin, _, purchases, sales := r.columns()
	columns := []string{"date", "campaignId", "adGroupId", asin, "impressions", "clicks", "cost", purchases, sales}
	if !r.adGroups {
		columns = slices.Delete(columns, 2, 3)
	}
	object, err := json.Marshal(map[string]any{
		"reportId": r.id, "profileId": r.profile, "status": "COMPLETED", "startDate": r.start, "endDate": r.end, "generatedAt": r.generated,
		"configuration": map[string]any{"adProduct": r.product.String(), "reportTypeId": r.typeID(), "timeUnit": "DAILY", "groupBy": []string{"advertiser"},
			"columns": columns},
	})
	if err != nil {
		b.err = err
	}
	b.add(&extract{kind: "report", report: r}, map[string]string{"x.report.json": string(object), "x.json": r.download}, "x.report.json")
}

// lesserObjects writes a second object of some reports, as of a user who left the ad
// groups out and corrects it, or the other way round: of the same id, time and download.
func (b *builder) lesserObjects() {
	b.u.single = len(b.u.files)
	for _, f := range b.u.files[:b.u.single] {
		if f.report == nil || f.report.download == "" {
			continue
		}
		lesser := *f.report
		lesser.adGroups, lesser.rows = false, slices.Clone(lesser.rows)
		for i := range lesser.rows {
			lesser.rows[i].adGroup = ""
		}
		b.objectFile(&lesser)
	}
}

// withObjects gives some reports among files their lesser objects: beside the other, or
// instead of it.
func (u *universe) withObjects(r *rand.Rand, files []int) []int {
	for i, file := range files {
		lesser := slices.IndexFunc(u.files[u.single:], func(f *extract) bool { return u.files[file].report != nil && f.report.id == u.files[file].report.id })
		if lesser < 0 {
			continue
		}
		switch r.IntN(4) {
		case 0:
			files[i] = u.single + lesser
		case 1:
			files = append(files, u.single+lesser)
		}
	}
	return files
}

// isSource reports whether a source of a unit is the report by this object.
func (r *report) isSource(s manifest.Source) bool {
	return s.ReportID == r.id && slices.Contains(strings.Split(s.Columns, ","), platform.AdGroupColumn) == r.adGroups
}
