package http

import (
	"io/fs"
	"net/http"
	"path"

	"adlens/web"
	"adlens/web/page"

	"github.com/gin-gonic/gin"
)

// pagePolicy lets the page use its own files and ask its own server. What an
// account's texts might smuggle in has nowhere to run and nowhere to send to.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// The entry of the page, which is served at / alone.
const pageIndex = "index.html"

// pageKinds are the kinds of the page's files. The system's own table would do
// until somebody changes it.
var pageKinds = map[string]string{".html": web.HTML, ".css": web.CSS, ".js": web.JavaScript, ".svg": web.SVG}

// dashboard serves the page at / and its files below /page/.
func (s *Server) dashboard(engine *gin.Engine) {
	files := pageFiles()
	index := files[pageIndex]
	delete(files, pageIndex)
	s.get(engine, "/", func(c *gin.Context) { s.serveFile(c, http.StatusOK, index, askedAnew) })
	s.get(engine, "/page/:file", func(c *gin.Context) {
		file, known := files[c.Param("file")]
		if !known {
			s.fail(c, notFound(printable(c.Request.URL.Path)))
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
