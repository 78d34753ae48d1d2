package docs

import (
	"regexp"
	"strings"
	"testing"
)

// Descriptions of the document are Markdown, wherever a page shows them.
func TestNoPageShowsMarkdown(t *testing.T) {
	site, err := New(Facts{})
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`(?s)<code[^>]*>.*?</code>`)
	read := 0
	for _, path := range site.Paths() {
		file, found := site.File(path, "http://host")
		if !found || !strings.HasPrefix(file.Type, "text/html") {
			continue
		}
		read++
		if at := strings.Index(code.ReplaceAllString(string(file.Body), ""), "`"); at >= 0 {
			t.Errorf("%s shows a backtick at %d", path, at)
		}
	}
	if read < 20 {
		t.Errorf("only %d pages", read)
	}
}
