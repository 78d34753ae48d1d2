package http

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"

	"adlens"
	"adlens/docs"
	"adlens/internal/answer"
	"adlens/internal/auth"
	"adlens/internal/catalogue"
	"adlens/internal/lru"
	"adlens/internal/oauth"
	"adlens/internal/query"
	"adlens/internal/query/period"
	"adlens/web"
	webdocs "adlens/web/docs"
	"adlens/web/page"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
)

// docsOfErrors is where the type of every problem leads.
const docsOfErrors = "/docs/errors/"

// What caches may do with pages: they belong to no account. That of the
// periods changes at midnight, in some zone.
const (
	keptAnHour = "max-age=3600"
	askedAnew  = "no-cache"
)

// keptBy is what caches may do with a page that names the server's address. Where that is the
// request's Host header, a cache of several clients must not keep it: the next one would read,
// and send a key to, the address that another one wrote there.
func (s *Server) keptBy(rule string) string {
	if s.PublicURL == "" {
		return "private, " + rule
	}
	return "public, " + rule
}

// addPages are the addresses for people, and the document for machines.
func (s *Server) addPages(engine *gin.Engine) {
	s.addGet(engine, "/openapi.json", s.openAPI)
	s.addGet(engine, "/docs", s.docsPage)
	s.addGet(engine, "/docs/*page", s.docsPage)
}

// openAPI answers the document, whole or with JSON answers alone.
func (s *Server) openAPI(c *gin.Context) {
	c.Writer.Header().Set("Vary", variesByCoding)
	var params struct {
		Format string `query:"format"`
	}
	sent, faults := answer.ReadQuery(c.Request.URL.RawQuery)
	if err := answer.ReadParameters(sent, faults, &params); err != nil {
		s.writeError(c, err)
		return
	}
	document := docs.OpenAPI()
	switch params.Format {
	case "":
	case query.JSON:
		document = docs.JSONOnly()
	default:
		s.writeError(c, &query.FaultsError{Faults: []adlens.Fault{{Parameter: "format", Value: answer.Printable(params.Format), Code: adlens.UnknownValue,
			Detail: fmt.Sprintf("%q is no format of this document; expected json, which leaves out answers that are not JSON, or no format", answer.Printable(params.Format)), Allowed: []string{query.JSON}}}})
		return
	}
	address := cmp.Or(s.addressFor(c.Request), docs.RelativeAddress)
	body := bytes.Replace(document, []byte(docs.Servers(docs.RelativeAddress)), []byte(docs.Servers(address)), 1)
	s.serveFile(c, http.StatusOK, web.NewFile(web.JSON, body, web.ReadingPolicy), s.keptBy(keptAnHour))
}

// plainHost is a Host header without letters that mean anything on a page.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9._-]+(:[0-9]+)?$|^\[[0-9A-Fa-f:.]+\](:[0-9]+)?$`)

// addressFor returns the address of this server as its client sees it: the public one,
// or else that of the request's Host header; "" where that has other letters, or where a
// proxy passed the request on. Its clients may use https, and an address with http would
// have them send their key in plain text.
func (s *Server) addressFor(r *http.Request) string {
	switch {
	case s.PublicURL != "":
		return s.PublicURL
	case oauth.ProxyHeader(r) != "", r.Header.Get("Via") != "", r.Header.Get("X-Real-IP") != "", !plainHost.MatchString(r.Host):
		return ""
	case r.TLS != nil:
		return "https://" + r.Host
	default:
		return "http://" + r.Host
	}
}

// docsPage answers a page of the documentation.
func (s *Server) docsPage(c *gin.Context) {
	site, err := s.documentation()
	if err != nil {
		s.writeError(c, err)
		return
	}
	address := c.Request.URL.Path
	if address == webdocs.PeriodsPath {
		s.periodsPage(c, site)
		return
	}
	file, found := site.File(address, s.addressFor(c.Request))
	if !found {
		s.writeError(c, notFound(answer.Printable(address)))
		return
	}
	s.serveFile(c, http.StatusOK, file, s.keptBy(keptAnHour))
}

// periodsPage shows the days of each period in a time zone.
func (s *Server) periodsPage(c *gin.Context, site *webdocs.Site) {
	file, known, err := site.Periods(s.Now(), c.DefaultQuery("timezone", "UTC"), s.addressFor(c.Request))
	switch {
	case err != nil:
		s.writeError(c, err)
	case known:
		s.serveFile(c, http.StatusOK, file, s.keptBy(askedAnew))
	default:
		s.serveFile(c, http.StatusBadRequest, file, "no-store")
	}
}

// variesByCoding is what the files of the program depend on: they are of no key, and of one type.
const variesByCoding = "Accept-Encoding"

// serveFile sends a file, or says that the client has it.
func (s *Server) serveFile(c *gin.Context, status int, f web.File, cache string) {
	h := c.Writer.Header()
	h.Set("Cache-Control", cache)
	h.Set("Content-Security-Policy", f.Policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Vary", variesByCoding)
	tag := strings.Trim(f.ETag, `"`)
	if held, ok := heldTag(c.Request.Header.Values("If-None-Match"), tag); ok && status == http.StatusOK {
		writeUnchanged(c, held)
		return
	}
	body := f.Body
	if status == http.StatusOK {
		coding, wanted := preferredCoding(body, c.Request.Header.Values("Accept-Encoding"))
		tag = quotedTag(tag, coding)
		if wanted {
			body = s.encodeFile(tag, coding, body)
			h.Set("Content-Encoding", coding)
		}
		h.Set("ETag", tag)
	}
	h.Set("Content-Type", f.Type)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.Writer.WriteHeader(status)
	if _, err := c.Writer.Write(body); err != nil {
		s.Log.Debug("a page did not reach its reader", zap.Error(err))
	}
}

// encodedMemory bounds the compressed files that are kept.
const encodedMemory = 4 << 20

func newEncodedFiles() *lru.Cache[string, []byte] {
	return lru.New(encodedMemory, func(tag string, body []byte) int { return len(tag) + len(body) })
}

// encodeFile compresses a file once for all who read it: they need no key, and it takes
// ten times as long as the rest of their request.
func (s *Server) encodeFile(tag, coding string, body []byte) []byte {
	if encoded, known := s.encoded.Get(tag); known {
		return encoded
	}
	encoded := codings[coding](body)
	s.encoded.Put(tag, encoded)
	return encoded
}

// newDocumentation makes the pages, which say of this program what it does.
func newDocumentation() (*webdocs.Site, error) {
	ids, _ := catalogue.Report.Parameter("campaign_ids")
	dimensions, _ := catalogue.Report.Parameter("dimensions")
	search, _ := catalogue.Report.Parameter("search")
	facts := webdocs.Facts{Limits: webdocs.Limits{Address: maxAddress, Headers: maxHeaders, Body: maxBody, Work: answer.Timeout, Take: writeTimeout, TakeAll: maxSending, Block: sendBlock,
		Rows: query.MaxRows, PageSize: catalogue.MaxPageSize, TablePageSize: catalogue.MaxTablePageSize, Years: period.MaxYears,
		ListedIDs: ids.MaxValues, Dimensions: dimensions.MaxValues, SearchMin: search.Min, SearchMax: search.Max,
		AssistantCalls: auth.AppMinute, MemoryWait: answer.MemoryPatience, Connections: maxConnections}}
	for _, k := range problemKinds {
		facts.Errors = append(facts.Errors, webdocs.Error{Code: string(k.Code), Title: k.Title, Meaning: k.Help, Remedy: k.Remedy})
	}
	return webdocs.New(facts)
}

// pagePolicy lets the page use its own files and ask its own server. What an
// account's texts might smuggle in has nowhere to run and nowhere to send to.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// The entry of the page, which is served at / alone.
const pageIndex = "index.html"

// pageKinds are the kinds of the page's files. The system's own table would do
// until it is changed.
var pageKinds = map[string]string{".html": web.HTML, ".css": web.CSS, ".js": web.JavaScript, ".svg": web.SVG}

// addDashboard serves the page at / and its files below /page/.
func (s *Server) addDashboard(engine *gin.Engine) {
	files := pageFiles()
	index := files[pageIndex]
	delete(files, pageIndex)
	delete(files, shareIndex)
	s.addGet(engine, "/", func(c *gin.Context) { s.serveFile(c, http.StatusOK, index, "public, "+askedAnew) })
	s.addGet(engine, "/page/:file", func(c *gin.Context) {
		file, known := files[c.Param("file")]
		if !known {
			s.writeError(c, notFound(answer.Printable(c.Request.URL.Path)))
			return
		}
		s.serveFile(c, http.StatusOK, file, "public, "+askedAnew)
	})
}

// pageFiles are the files of the page by their names. They are part of the
// binary, so reading them does not fail.
func pageFiles() map[string]web.File {
	entries, err := fs.ReadDir(page.Files, ".")
	if err != nil {
		panic(err)
	}
	files := map[string]web.File{}
	for _, entry := range entries {
		body, err := page.Files.ReadFile(entry.Name())
		if err != nil {
			panic(err)
		}
		files[entry.Name()] = web.NewFile(pageKinds[path.Ext(entry.Name())], body, pagePolicy)
	}
	return files
}
