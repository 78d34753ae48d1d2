package http

import (
	"io/fs"
	"net/http"
	"path"
	"strconv"

	"adlens/docs"
	"adlens/internal/answer"
	"adlens/internal/catalogue"
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

// What caches may do with pages: they are of nobody's account. That of the
// periods changes at midnight, in some zone.
const (
	keptAnHour = "public, max-age=3600"
	askedAnew  = "public, no-cache"
)

// addPages are the addresses for people, and the document for machines.
func (s *Server) addPages(engine *gin.Engine) {
	s.addGet(engine, "/openapi.json", s.openAPI)
	s.addGet(engine, "/docs", s.docsPage)
	s.addGet(engine, "/docs/*page", s.docsPage)
}

func (s *Server) openAPI(c *gin.Context) {
	s.serveFile(c, http.StatusOK, web.NewFile(web.JSON, docs.OpenAPI(), web.ReadingPolicy), keptAnHour)
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
	file, found := site.File(address)
	if !found {
		s.writeError(c, notFound(answer.Printable(address)))
		return
	}
	s.serveFile(c, http.StatusOK, file, keptAnHour)
}

// periodsPage shows the days of each period in a time zone.
func (s *Server) periodsPage(c *gin.Context, site *webdocs.Site) {
	file, known, err := site.Periods(s.now(), c.DefaultQuery("timezone", "UTC"))
	switch {
	case err != nil:
		s.writeError(c, err)
	case known:
		s.serveFile(c, http.StatusOK, file, askedAnew)
	default:
		s.serveFile(c, http.StatusBadRequest, file, "no-store")
	}
}

// serveFile sends a file, or says that the client has it.
func (s *Server) serveFile(c *gin.Context, status int, f web.File, cache string) {
	h := c.Writer.Header()
	h.Set("Cache-Control", cache)
	h.Set("Content-Security-Policy", f.Policy)
	h.Set("Referrer-Policy", "no-referrer")
	if status == http.StatusOK {
		h.Set("ETag", f.ETag)
		if _, held := heldTag(c.Request.Header.Values("If-None-Match"), f.ETag); held {
			writeUnchanged(c, f.ETag)
			return
		}
	}
	h.Set("Content-Type", f.Type)
	h.Set("Content-Length", strconv.Itoa(len(f.Body)))
	c.Writer.WriteHeader(status)
	if _, err := c.Writer.Write(f.Body); err != nil {
		s.log.Debug("a page did not reach its reader", zap.Error(err))
	}
}

// newDocumentation makes the pages, which say of this program what it does.
func newDocumentation() (*webdocs.Site, error) {
	facts := webdocs.Facts{Limits: webdocs.Limits{Address: maxAddress, Headers: maxHeaders, Body: maxBody, Work: answer.Timeout,
		Rows: query.MaxRows, PageSize: catalogue.MaxPageSize, Years: period.MaxYears}}
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
// until somebody changes it.
var pageKinds = map[string]string{".html": web.HTML, ".css": web.CSS, ".js": web.JavaScript, ".svg": web.SVG}

// addDashboard serves the page at / and its files below /page/.
func (s *Server) addDashboard(engine *gin.Engine) {
	files := pageFiles()
	index := files[pageIndex]
	delete(files, pageIndex)
	s.addGet(engine, "/", func(c *gin.Context) { s.serveFile(c, http.StatusOK, index, askedAnew) })
	s.addGet(engine, "/page/:file", func(c *gin.Context) {
		file, known := files[c.Param("file")]
		if !known {
			s.writeError(c, notFound(answer.Printable(c.Request.URL.Path)))
			return
		}
		s.serveFile(c, http.StatusOK, file, askedAnew)
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
