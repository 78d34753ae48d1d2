package standin

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// legacyReport is a report of version 2 of Sponsored Brands: of one day, of campaigns of
// all forms.
type legacyReport struct {
	id      string
	profile Profile
	day     string // YYYY-MM-DD
	metrics []string
	plan    JobPlan
	created time.Time
	polls   int
	file    *file
}

// legacyMetrics are the metrics that are played, by what they are of a fact
// (amzn/ads-advanced-tools-docs issues 93 and 113).
var legacyMetrics = map[string]func(*Platform, Fact) any{
	"campaignId":               func(_ *Platform, f Fact) any { return f.CampaignID },
	"campaignName":             func(p *Platform, f Fact) any { return p.data.entityName(campaigns, f.Profile, f.CampaignID) },
	"impressions":              func(_ *Platform, f Fact) any { return f.Impressions },
	"clicks":                   func(_ *Platform, f Fact) any { return f.Clicks },
	"cost":                     func(_ *Platform, f Fact) any { return jsonNumber(f.Cost) },
	"attributedConversions14d": func(_ *Platform, f Fact) any { return f.Purchases14d },
	"attributedSales14d":       func(_ *Platform, f Fact) any { return jsonNumber(f.Sales14d) },
}

func (p *Platform) createLegacy(q *query) reply {
	var request struct{ ReportDate, Metrics, CreativeType string }
	if err := json.Unmarshal(q.body, &request); err != nil {
		return refuseCall(http.StatusBadRequest, Details, "Request body is not valid: %v", err)
	}
	date, err := time.Parse("20060102", request.ReportDate)
	if err != nil {
		return refuseCall(http.StatusBadRequest, Details, "Report date is invalid: %s", request.ReportDate)
	}
	if p.config.Now().Sub(date) > 62*24*time.Hour {
		return refuseCall(http.StatusBadRequest, Details, "Report date is too far in the past. Reports are only available for 60 days.")
	}
	if request.CreativeType != "all" {
		return refuseCall(http.StatusBadRequest, Details, "creativeType %s is not played here", request.CreativeType)
	}
	made := &legacyReport{profile: q.profile, day: date.Format(time.DateOnly), metrics: strings.Split(request.Metrics, ","), created: p.config.Now()}
	for _, metric := range made.metrics {
		if legacyMetrics[metric] == nil {
			return refuseCall(http.StatusBadRequest, Details, "Invalid metric: %s", metric)
		}
	}
	p.reports.mu.Lock()
	defer p.reports.mu.Unlock()
	if made.plan = p.reports.plan; p.reports.choose != nil {
		made.plan = p.reports.choose(ReportOrder{Profile: q.profile.ID, AdProduct: SponsoredBrands, ReportTypeID: "hsaCampaigns", StartDate: made.day, EndDate: made.day,
			Number: len(p.reports.all) + len(p.reports.legacy) + 1})
	}
	made.id = "amzn1.clicksAPI.v1.p1." + newUUID()[:8] + "." + newUUID()
	p.reports.legacy = append(p.reports.legacy, made)
	return reply{status: http.StatusAccepted, body: made.answer()}
}

// answer is what a request is answered with. It alone has recordType
// (vanling1111/amazon-ads-api-go-sdk, sponsored-brands-v3).
func (r *legacyReport) answer() map[string]any {
	object := r.object("IN_PROGRESS", "Report is being generated.")
	object["recordType"] = "campaign"
	return object
}

func (r *legacyReport) object(status, details string) map[string]any {
	return map[string]any{"reportId": r.id, "status": status, "statusDetails": details}
}

// findLegacy finds a report of the caller's profile.
func (r *reports) findLegacy(q *query) *legacyReport {
	at := slices.IndexFunc(r.legacy, func(one *legacyReport) bool { return one.id == q.PathValue("id") && one.profile.ID == q.profile.ID })
	if at < 0 {
		return nil
	}
	return r.legacy[at]
}

func (p *Platform) pollLegacy(q *query) reply {
	p.reports.mu.Lock()
	defer p.reports.mu.Unlock()
	found := p.reports.findLegacy(q)
	if found == nil {
		return refuseCall(http.StatusNotFound, Details, "Report %s is not found", q.PathValue("id"))
	}
	found.polls++
	switch state := found.plan.stateAfter(found.polls, p.config.Now().Sub(found.created)); {
	case found.file == nil && state == jobFailed:
		return reply{status: http.StatusOK, body: found.object("FAILURE", found.plan.FailureReason)}
	case found.file == nil && state != jobDone:
		return reply{status: http.StatusOK, body: found.object("IN_PROGRESS", "Report is being generated.")}
	case found.file == nil:
		found.file = p.files.addFile("/report/legacy-"+found.id+".json.gz", p.legacyRows(found), found.plan)
	}
	done := found.object("SUCCESS", "Report has been successfully generated.")
	done["location"], done["fileSize"] = "https://advertising-api.amazon.com/v2/reports/"+found.id+"/download", found.file.size
	return reply{status: http.StatusOK, body: done}
}

// findLegacyFile sends the caller on to the storage.
func (p *Platform) findLegacyFile(q *query) reply {
	p.reports.mu.Lock()
	defer p.reports.mu.Unlock()
	found := p.reports.findLegacy(q)
	if found == nil || found.file == nil {
		return refuseCall(http.StatusNotFound, Details, "Report %s is not found", q.PathValue("id"))
	}
	address, _ := p.signURL(found.file, found.plan.urlLife())
	return reply{status: http.StatusTemporaryRedirect, header: map[string]string{"Location": address}}
}

// legacyRows are the day's figures of each campaign of Sponsored Brands, whatever its
// form, and of listed ones without figures zeros.
func (p *Platform) legacyRows(r *legacyReport) []byte {
	sums := map[uint64]Fact{}
	var order []uint64
	for _, fact := range p.Facts() {
		if fact.Profile != r.profile.ID || fact.AdProduct != SponsoredBrands || fact.Day != r.day {
			continue
		}
		if sum, seen := sums[fact.CampaignID]; seen {
			sums[fact.CampaignID] = sum.addMeasures(fact)
			continue
		}
		sums[fact.CampaignID] = fact
		order = append(order, fact.CampaignID)
	}
	rows := []map[string]any{}
	for _, id := range order {
		row := map[string]any{}
		for _, metric := range r.metrics {
			row[metric] = legacyMetrics[metric](p, sums[id])
		}
		rows = append(rows, row)
	}
	text, _ := json.Marshal(rows)
	return text
}
