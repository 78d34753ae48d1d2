// Package docs holds the documentation that the program serves below /docs:
// templates, texts, and what is made of the OpenAPI document.
package docs

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"strings"
	"time"

	contract "adlens/docs"
	"adlens/web"
)

//go:embed pages recipes style.css icon.svg search.js
var files embed.FS

// Facts are what the pages say of the program they are in.
type Facts struct {
	Errors []Error
	Limits Limits
}

// Error is an error code, explained.
type Error struct {
	Code, Title string
	Meaning     string
	Remedy      string // what to do about it
}

// Limits are the published limits of requests.
type Limits struct {
	Address, Headers, Body int // bytes
	Work                   time.Duration
	Take, TakeAll          time.Duration // of an answer by its client: for each Block, and in all
	Block                  int           // bytes
	Rows                   int           // of an answer with page_size=all
	PageSize               int           // the largest
	TablePageSize          int           // likewise, of /report in another format than JSON
	Years                  int           // between the dates of a period
	ListedIDs, Dimensions  int           // of a request
	SearchMin, SearchMax   int           // characters
	AssistantCalls         int           // of a connection, in any 60 seconds
	MemoryWait             time.Duration // of a request, for memory of --answer-memory
	Connections            int           // open at a server
}

// Site is all pages, made once.
type Site struct {
	templates *template.Template
	document  *document
	recipes   []recipe
	facts     Facts
	files     map[string]web.File
	places    []entry // that the search finds, in the order of the pages
}

// page is what a template is given.
type page struct {
	Path, Title string
	*Site
	Data any
}

// New makes the pages.
func New(facts Facts) (*Site, error) {
	s := &Site{facts: facts, files: map[string]web.File{}}
	var err error
	if s.document, err = readDocument(contract.OpenAPI()); err != nil {
		return nil, err
	}
	if s.recipes, err = readRecipes(); err != nil {
		return nil, err
	}
	if s.templates, err = parseTemplates(); err != nil {
		return nil, err
	}
	for name, mediaType := range map[string]string{"style.css": web.CSS, "icon.svg": web.SVG, "search.js": web.JavaScript} {
		body, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		s.files["/docs/"+name] = web.NewFile(mediaType, body, web.ReadingPolicy)
	}
	return s, s.buildPages()
}

func parseTemplates() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"prose": renderMarkdown, "indented": indentJSON, "curl": curlCommand, "bytes": inKiB, "number": withCommas,
	}).ParseFS(files, "pages/*.html")
}

// buildPages makes every page that does not depend on the day, and the search of them.
func (s *Site) buildPages() error {
	for _, p := range []struct{ path, title, template string }{
		{"/docs", "Quick start", "home.html"}, {"/docs/reference", "Reference", "reference.html"},
		{"/docs/figures", "Figures", "figures.html"}, {"/docs/freshness", "Freshness", "freshness.html"},
		{"/docs/formats", "Formats", "formats.html"}, {"/docs/recipes", "Recipes", "recipes.html"},
		{"/docs/limits", "Limits", "limits.html"}, {"/docs/errors", "Errors", "errors.html"},
	} {
		if err := s.addPage(p.path, p.title, p.template, nil); err != nil {
			return err
		}
	}
	for _, o := range s.document.operationPages() {
		if err := s.addPage("/docs/reference/"+o.ID, o.Summary, "operation.html", o); err != nil {
			return err
		}
	}
	for _, r := range s.recipes {
		if err := s.addPage("/docs/recipes/"+r.Name, r.Title, "recipe.html", r); err != nil {
			return err
		}
	}
	for _, e := range s.facts.Errors {
		if err := s.addPage("/docs/errors/"+e.Code, e.Title, "error.html", s.errorPage(e)); err != nil {
			return err
		}
	}
	return s.addSearch()
}

func (s *Site) addPage(path, title, name string, data any) error {
	file, err := s.renderPage(path, title, name, data)
	s.files[path] = file
	s.places = append(s.places, entriesOf(path, title, file.Body)...)
	return err
}

func (s *Site) renderPage(path, title, name string, data any) (web.File, error) {
	var body bytes.Buffer
	if err := s.templates.ExecuteTemplate(&body, name, page{path, title, s, data}); err != nil {
		return web.File{}, fmt.Errorf("%s: %w", path, err)
	}
	return web.NewFile(web.HTML, body.Bytes(), web.ReadingPolicy), nil
}

// File finds a page by its path, for the readers of a server at an address.
func (s *Site) File(path, address string) (file web.File, found bool) {
	file, found = s.files[path]
	return atAddress(file, address), found
}

// localAddress is where a server answers that was started as the README says.
const localAddress = "http://127.0.0.1:8080"

// atAddress puts the address of the server into a page; "" is none that is known.
func atAddress(file web.File, address string) web.File {
	if file.Type != web.HTML {
		return file
	}
	body, address := file.Body, cmp.Or(address, contract.ServerAddress)
	for _, other := range []string{localAddress, contract.ServerAddress} {
		body = bytes.ReplaceAll(body, []byte(other), []byte(address))
	}
	return web.NewFile(file.Type, body, file.Policy)
}

// PeriodsPath is where Periods is to be found.
const PeriodsPath = "/docs/periods"

// Periods is the page of periods with the dates of an instant, for the readers of a
// server at an address. known is false where there is no such time zone; the page
// says so.
func (s *Site) Periods(now time.Time, zone, address string) (file web.File, known bool, err error) {
	data := periodsOf(now, zone)
	file, err = s.renderPage(PeriodsPath, "Periods", "periods.html", data)
	return atAddress(file, address), data.Unknown == "", err
}

// Paths are the paths of all pages.
func (s *Site) Paths() []string {
	paths := []string{PeriodsPath}
	for path := range s.files {
		paths = append(paths, path)
	}
	return paths
}

// curlCommand is the command for a request of an example.
func curlCommand(request string) string {
	method, address, _ := strings.Cut(request, " ")
	options := ""
	if method != "GET" {
		options = "-X " + method + " "
	}
	return fmt.Sprintf(`curl %s-H "Authorization: Bearer $ADLENS_KEY" "$ADLENS%s"`, options, address)
}

func inKiB(n int) string { return fmt.Sprintf("%d KiB", n>>10) }

// withCommas writes a number below a million as people read it.
func withCommas(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
