package standin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Platform is a running stand-in.
type Platform struct {
	config Config

	tokens  tokens
	data    data
	reports reports
	exports exports
	files   files
	faults  faults
	calls   calls

	hosts   map[Region]*httptest.Server
	token   *httptest.Server
	storage *httptest.Server
	foreign *httptest.Server
	closing chan struct{}
	once    sync.Once
}

// New starts a Platform on free loopback ports.
func New(config Config) *Platform {
	p := &Platform{config: config.withDefaults(), hosts: map[Region]*httptest.Server{}, closing: make(chan struct{})}
	p.tokens.applyConfig(p.config)
	p.data.applyConfig(p.config)
	p.reports.plan = p.config.Report
	p.exports.plan = p.config.Export
	p.token = httptest.NewServer(p.tokenHost())
	p.storage = httptest.NewServer(p.storageHost())
	p.foreign = httptest.NewServer(p.foreignHost())
	for _, region := range []Region{NA, EU, FE} {
		p.hosts[region] = httptest.NewServer(p.apiHost(region))
	}
	return p
}

// URL is the API host of the configured region, without a slash at its end.
func (p *Platform) URL() string { return p.RegionURL(p.config.Region) }

// RegionURL is the API host of another region. Tokens are good on every host,
// profiles on their own only.
func (p *Platform) RegionURL(region Region) string { return p.hosts[region].URL }

// TokenURL is the full address of the token endpoint.
func (p *Platform) TokenURL() string { return p.token.URL + "/auth/o2/token" }

// StorageURL is the host that report and export files come from.
func (p *Platform) StorageURL() string { return p.storage.URL }

// ForeignURL is the host that RedirectAbroad leads to. It has another name and
// not only another port, since clients compare names when they decide whether
// credentials may follow a redirect.
func (p *Platform) ForeignURL() string {
	return strings.Replace(p.foreign.URL, "127.0.0.1", "localhost", 1)
}

// Close stops all hosts, and with them every answer that is still held back.
func (p *Platform) Close() {
	p.once.Do(func() {
		close(p.closing)
		for _, server := range []*httptest.Server{p.token, p.storage, p.foreign, p.hosts[NA], p.hosts[EU], p.hosts[FE]} {
			server.CloseClientConnections()
			server.Close()
		}
	})
}

func (p *Platform) apiHost(region Region) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /v2/profiles", p.endpointHandler(Profiles, region, p.requireToken(p.listProfiles)))
	mux.Handle("POST /reporting/reports", p.endpointHandler(ReportCreate, region, p.requireProfile(p.createReport)))
	mux.Handle("GET /reporting/reports/{id}", p.endpointHandler(ReportPoll, region, p.requireProfile(p.pollReport)))
	mux.Handle("POST /v2/hsa/campaigns/report", p.endpointHandler(LegacyCreate, region, p.requireProfile(p.createLegacy)))
	mux.Handle("GET /v2/reports/{id}", p.endpointHandler(LegacyPoll, region, p.requireProfile(p.pollLegacy)))
	mux.Handle("GET /v2/reports/{id}/download", p.endpointHandler(LegacyDownload, region, p.requireProfile(p.findLegacyFile)))
	mux.Handle("DELETE /reporting/reports/{id}", p.endpointHandler(ReportCancel, region, p.requireProfile(p.cancelReport)))
	for _, list := range tokenLists {
		mux.Handle("POST "+list.path, p.endpointHandler(list.endpoint, region, p.requireProfile(p.tokenList(list))))
	}
	for _, list := range indexLists {
		mux.Handle("GET "+list.path, p.endpointHandler(list.endpoint, region, p.requireProfile(p.indexList(list, false))))
		mux.Handle("GET "+list.path+"/extended", p.endpointHandler(list.endpoint, region, p.requireProfile(p.indexList(list, true))))
	}
	for _, export := range exportKinds {
		mux.Handle("POST "+export.path, p.endpointHandler(export.endpoint, region, p.requireProfile(p.createExport(export))))
	}
	mux.Handle("GET /exports/{id}", p.endpointHandler(ExportPoll, region, p.requireProfile(p.pollExport)))
	mux.Handle("/", p.endpointHandler(Unknown, region, noSuchThing))
	return mux
}

func (p *Platform) tokenHost() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/auth/o2/token", p.endpointHandler(Token, "", p.issueToken))
	mux.Handle("/ap/oa", p.endpointHandler(ConsentPage, "", p.consentPage))
	mux.Handle("/", p.endpointHandler(Unknown, "", noSuchThing))
	return mux
}

func (p *Platform) storageHost() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /report/{name}", p.endpointHandler(ReportFile, "", p.sendFile))
	mux.Handle("GET /export/{name}", p.endpointHandler(ExportFile, "", p.sendFile))
	mux.Handle("/", p.endpointHandler(Unknown, "", noSuchThing))
	return mux
}

// foreignHost takes whatever it is sent, as an attacker's would.
func (p *Platform) foreignHost() http.Handler {
	return p.endpointHandler(Foreign, "", func(*query) reply { return reply{status: http.StatusOK, body: []any{}} })
}

func noSuchThing(q *query) reply {
	return refuseCall(http.StatusNotFound, Details, "Could not find resource for %s %s", q.Method, q.URL.Path)
}
