package standin

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	createReportMedia  = "application/vnd.createasyncreportrequest.v3+json"
	createdReportMedia = "application/vnd.createasyncreportresponse.v3+json"
	timestamp          = "2006-01-02T15:04:05.000Z"
)

type report struct {
	id        string
	profile   Profile
	kind      reportType
	request   reportRequest
	plan      JobPlan
	created   time.Time
	updated   time.Time
	generated time.Time
	polls     int
	status    string
	file      *file
	url       string
	urlEnds   time.Time
}

type reports struct {
	mu     sync.Mutex
	plan   JobPlan
	choose func(ReportOrder) JobPlan
	all    []*report
	legacy []*legacyReport
	walls  map[int64]int // days by which a profile's figures end early
}

func (p *Platform) createReport(q *query) reply {
	if media, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type")); media != createReportMedia {
		return refuseCall(http.StatusUnsupportedMediaType, Detail, "Unsupported media type: %q", media)
	}
	if !slices.Contains([]string{"", "*/*", "application/json", createdReportMedia}, q.Header.Get("Accept")) {
		return refuseCall(http.StatusNotAcceptable, Detail, "Not acceptable: %q", q.Header.Get("Accept"))
	}
	var request reportRequest
	if err := json.Unmarshal(q.body, &request); err != nil {
		return refuseCall(http.StatusBadRequest, Detail, "Request body is not valid: %v", err)
	}
	kind, fault := p.checkReport(request, q.profile)
	if fault != nil {
		return *fault
	}
	p.reports.mu.Lock()
	defer p.reports.mu.Unlock()
	now := p.config.Now()
	if running := p.reports.findDuplicate(request.duplicateKey(q.profile.ID), now); running != nil {
		return p.refuseDuplicate(running)
	}
	made := p.reports.addReport(request, kind, q.profile, now)
	return reply{status: http.StatusOK, body: made.reportObject()}
}

// findDuplicate finds an identical report that still runs.
func (r *reports) findDuplicate(identity string, now time.Time) *report {
	for _, report := range r.all {
		if report.isRunning(now) && report.request.duplicateKey(report.profile.ID) == identity {
			return report
		}
	}
	return nil
}

// isRunning is judged as the next look would find it.
func (r *report) isRunning(now time.Time) bool {
	if r.status != "PENDING" && r.status != "PROCESSING" {
		return false
	}
	return r.plan.stateAfter(r.polls+1, now.Sub(r.created)) < jobFailed
}

func (p *Platform) refuseDuplicate(of *report) reply {
	if p.config.Rules.NamelessDuplicates {
		return refuseCall(http.StatusTooEarly, Detail, "The Request is a duplicate")
	}
	return refuseCall(http.StatusTooEarly, Detail, "The Request is a duplicate of : %s", of.id)
}

func (r *reports) addReport(request reportRequest, kind reportType, profile Profile, now time.Time) *report {
	plan := r.plan
	if r.choose != nil {
		plan = r.choose(ReportOrder{
			Profile: profile.ID, AdProduct: kind.adProduct, ReportTypeID: request.Configuration.ReportTypeID,
			StartDate: request.StartDate, EndDate: request.EndDate, Number: len(r.all) + 1,
		})
	}
	made := &report{
		id: newUUID(), profile: profile, kind: kind, request: request, plan: plan,
		created: now, updated: now, status: "PENDING",
	}
	r.all = append(r.all, made)
	return made
}

func (p *Platform) pollReport(q *query) reply {
	p.reports.mu.Lock()
	defer p.reports.mu.Unlock()
	found := p.reports.findReport(q)
	if found == nil {
		return refuseCall(http.StatusNotFound, Detail, "Report %s is not found", q.PathValue("id"))
	}
	if found.status == "PENDING" || found.status == "PROCESSING" {
		p.advanceReport(found)
	}
	if found.status == "COMPLETED" && (found.url == "" || p.config.Rules.RenewURL) {
		found.url, found.urlEnds = p.signURL(found.file, found.plan.urlLife())
	}
	return reply{status: http.StatusOK, body: found.reportObject()}
}

// A report of another profile is one that does not exist.
func (r *reports) findReport(q *query) *report {
	at := slices.IndexFunc(r.all, func(one *report) bool { return one.id == q.PathValue("id") && one.profile.ID == q.profile.ID })
	if at < 0 {
		return nil
	}
	return r.all[at]
}

// advanceReport takes a running report one look further. Its rows are those of the
// moment at which it is finished.
func (p *Platform) advanceReport(r *report) {
	now := p.config.Now()
	r.polls++
	before := r.status
	switch r.plan.stateAfter(r.polls, now.Sub(r.created)) {
	case jobPending:
	case jobProcessing:
		r.status = "PROCESSING"
	case jobFailed:
		r.status = "FAILED"
	case jobDone:
		r.status = "COMPLETED"
		r.generated = now
		if !r.plan.GeneratedAt.IsZero() {
			r.generated = r.plan.GeneratedAt
		}
		r.file = p.files.addFile("/report/report-"+r.id+".json.gz", p.reportRows(r), r.plan)
	}
	if r.status != before {
		r.updated = now
	}
}

func (p *Platform) cancelReport(q *query) reply {
	p.reports.mu.Lock()
	defer p.reports.mu.Unlock()
	found := p.reports.findReport(q)
	switch {
	case found == nil:
		return refuseCall(http.StatusNotFound, Detail, "Report %s is not found", q.PathValue("id"))
	case found.status != "PENDING":
		return refuseCall(http.StatusBadRequest, Detail, "Report %s is %s and cannot be cancelled", found.id, found.status)
	}
	found.status, found.updated = "CANCELLED", p.config.Now()
	return reply{status: http.StatusOK, body: found.reportObject()}
}

// reportObject is the report as the platform shows it: what is not known yet is null.
func (r *report) reportObject() map[string]any {
	object := map[string]any{
		"reportId": r.id, "status": r.status, "name": r.request.Name,
		"startDate": r.request.StartDate, "endDate": r.request.EndDate, "configuration": r.request.Configuration,
		"createdAt": r.created.UTC().Format(timestamp), "updatedAt": r.updated.UTC().Format(timestamp),
		"failureReason": nil, "fileSize": nil, "generatedAt": nil, "url": nil, "urlExpiresAt": nil,
	}
	switch r.status {
	case "FAILED":
		object["failureReason"] = r.plan.FailureReason
	case "COMPLETED":
		object["fileSize"] = r.file.size
		object["generatedAt"] = r.generated.UTC().Format(timestamp)
		object["url"] = r.url
		object["urlExpiresAt"] = r.urlEnds.UTC().Format(timestamp)
	}
	return object
}

func newUUID() string {
	var b [16]byte
	// crypto/rand never fails.
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
