package standin

import "time"

// JobPlan is the course of an asynchronous job. The zero value is finished at
// the first look.
type JobPlan struct {
	// PendingPolls and then ProcessingPolls looks find it not finished. For an
	// export the two are one.
	PendingPolls, ProcessingPolls int
	// Duration passes after creation, at least, before it is finished.
	Duration time.Duration
	// Stuck jobs stay pending for ever.
	Stuck bool
	// FailureReason is why it ends in failure; "" for success.
	FailureReason string
	// URLLife is how long the file's address works: an hour where zero,
	// expired from the beginning where negative.
	URLLife time.Duration
	// GeneratedAt is what the job says of its file; the time of completion
	// where zero.
	GeneratedAt time.Time
	// File is the form in which the file arrives.
	File FileForm
	// Rewrite changes the JSON of the file before it is packed.
	Rewrite func(json []byte) []byte
}

// ExportPlan is the course of an export.
type ExportPlan struct {
	JobPlan
	// RunningWord is the status of a running export: IN_PROGRESS, as in the
	// documents, where empty; the specification has PROCESSING.
	RunningWord string
}

type jobState int

const (
	jobPending jobState = iota
	jobProcessing
	jobFailed
	jobDone
)

// stateAfter after a number of looks, the present one included.
func (j JobPlan) stateAfter(polls int, age time.Duration) jobState {
	switch {
	case j.Stuck || polls <= j.PendingPolls:
		return jobPending
	case polls <= j.PendingPolls+j.ProcessingPolls || age < j.Duration:
		return jobProcessing
	case j.FailureReason != "":
		return jobFailed
	default:
		return jobDone
	}
}

func (j JobPlan) urlLife() time.Duration {
	if j.URLLife == 0 {
		return time.Hour
	}
	return j.URLLife
}

// ReportOrder describes a report to a function that chooses its plan.
type ReportOrder struct {
	Profile            int64
	AdProduct          string
	ReportTypeID       string
	StartDate, EndDate string
	// Number counts the reports created so far, this one included.
	Number int
}

// PlanReports gives reports that are created from now on another course than
// the configured one.
func (p *Platform) PlanReports(plan JobPlan) {
	p.PlanReportsBy(func(ReportOrder) JobPlan { return plan })
}

// PlanReportsBy is PlanReports with a plan for each report.
func (p *Platform) PlanReportsBy(choose func(ReportOrder) JobPlan) {
	p.reports.mu.Lock()
	defer p.reports.mu.Unlock()
	p.reports.choose = choose
}

// PlanExports gives exports that are created from now on another course.
func (p *Platform) PlanExports(plan ExportPlan) {
	p.exports.mu.Lock()
	defer p.exports.mu.Unlock()
	p.exports.plan = plan
}
