package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// exportKind is one of the exports.
type exportKind struct {
	endpoint    Endpoint
	path, media string
	kind        kind
}

var exportKinds = []exportKind{
	{ExportCampaigns, "/campaigns/export", "application/vnd.campaignsexport.v1+json", campaigns},
	{ExportAdGroups, "/adGroups/export", "application/vnd.adgroupsexport.v1+json", adGroups},
	{ExportAds, "/ads/export", "application/vnd.adsexport.v1+json", ads},
}

// The platform's default cap of exports that run at a time, per kind.
const mostExports = 5

type exportRequest struct {
	AdProductFilter []string `json:"adProductFilter"`
	StateFilter     []string `json:"stateFilter"`
}

type export struct {
	id        string
	of        exportKind
	profile   Profile
	plan      ExportPlan
	request   exportRequest
	created   time.Time
	generated time.Time
	polls     int
	status    string
	file      *file
}

type exports struct {
	mu   sync.Mutex
	plan ExportPlan
	all  []*export
}

func (p *Platform) createExport(of exportKind) handler {
	return func(q *query) reply {
		if answer := checkMedia(q, of.media); answer != nil {
			return *answer
		}
		var request exportRequest
		if err := json.Unmarshal(q.body, &request); err != nil {
			return refuseCall(http.StatusBadRequest, Details, "Request body is not valid: %v", err)
		}
		if fault := request.checkFilters(); fault != "" {
			return refuseCall(http.StatusBadRequest, Details, "%s", fault)
		}
		p.exports.mu.Lock()
		defer p.exports.mu.Unlock()
		if p.exports.countRunning(of, q.profile.ID) >= mostExports {
			return refuseCall(http.StatusTooManyRequests, Details, "Too many exports in progress")
		}
		made := &export{
			id: exportID(len(p.exports.all)+1, of), of: of, profile: q.profile, plan: p.exports.plan,
			request: request, created: p.config.Now(),
		}
		made.status = made.runningWord()
		p.exports.all = append(p.exports.all, made)
		return reply{status: http.StatusAccepted, media: of.media, body: object{"exportId": made.id, "status": made.status}}
	}
}

func (e *export) runningWord() string { return orDefault(e.plan.RunningWord, "IN_PROGRESS") }

// An export's id is a number and its kind, packed.
func exportID(number int, of exportKind) string {
	return strings.ReplaceAll(newUUID(), "-", "") + strconv.Itoa(number) + "," + of.path[1:2]
}

// checkFilters checks the filters, and fills in the default: archived entities are
// left out unless they are requested.
func (r *exportRequest) checkFilters() string {
	for _, product := range r.AdProductFilter {
		if !slices.Contains([]string{SponsoredProducts, SponsoredBrands, SponsoredDisplay}, product) {
			return fmt.Sprintf("adProductFilter includes an invalid value %q", product)
		}
	}
	for _, state := range r.StateFilter {
		if !slices.Contains(sbStates, state) {
			return fmt.Sprintf("stateFilter includes an invalid value %q", state)
		}
	}
	if len(r.AdProductFilter) == 0 {
		r.AdProductFilter = []string{SponsoredProducts, SponsoredBrands, SponsoredDisplay}
	}
	if len(r.StateFilter) == 0 {
		r.StateFilter = []string{"ENABLED", "PAUSED"}
	}
	return ""
}

func (e *exports) countRunning(of exportKind, profile int64) int {
	count := 0
	for _, one := range e.all {
		if one.of.endpoint == of.endpoint && one.profile.ID == profile && one.status == one.runningWord() {
			count++
		}
	}
	return count
}

func (p *Platform) pollExport(q *query) reply {
	p.exports.mu.Lock()
	defer p.exports.mu.Unlock()
	at := slices.IndexFunc(p.exports.all, func(e *export) bool { return e.id == q.PathValue("id") && e.profile.ID == q.profile.ID })
	if at < 0 {
		return refuseCall(http.StatusNotFound, Details, "Export %s is not found", q.PathValue("id"))
	}
	found := p.exports.all[at]
	if answer := checkMedia(q, found.of.media); answer != nil {
		return *answer
	}
	if found.status == found.runningWord() {
		p.advanceExport(found)
	}
	return reply{status: http.StatusOK, media: found.of.media, body: p.exportObject(found)}
}

func (p *Platform) advanceExport(e *export) {
	now := p.config.Now()
	e.polls++
	switch e.plan.stateAfter(e.polls, now.Sub(e.created)) {
	case jobFailed:
		e.status = "FAILED"
	case jobDone:
		e.status, e.generated = "COMPLETED", now
		if !e.plan.GeneratedAt.IsZero() {
			e.generated = e.plan.GeneratedAt
		}
		e.file = p.files.addFile("/export/"+e.id+".json.gz", p.exportRows(e), e.plan.JobPlan)
	}
}

func (p *Platform) exportObject(e *export) object {
	shown := object{"exportId": e.id, "status": e.status, "createdAt": e.created.UTC().Format(timestamp)}
	switch e.status {
	case "FAILED":
		shown["error"] = object{"errorCode": "INTERNAL_ERROR", "message": e.plan.FailureReason}
	case "COMPLETED":
		// Each look brings a fresh address.
		address, ends := p.signURL(e.file, e.plan.urlLife())
		shown["url"], shown["urlExpiresAt"] = address, ends.UTC().Format(timestamp)
		shown["fileSize"], shown["generatedAt"] = e.file.size, e.generated.UTC().Format(timestamp)
	}
	return shown
}

func (p *Platform) exportRows(e *export) []byte {
	filter := listRequest{StateFilter: &include{e.request.StateFilter}}
	rows := []object{}
	for _, product := range e.request.AdProductFilter {
		items := p.data.listItems(e.profile.ID, product, e.of.kind, exportShapes(e.profile))
		for _, one := range filter.filterItems(items) {
			rows = append(rows, one.object)
		}
	}
	text, _ := json.Marshal(rows)
	return text
}
