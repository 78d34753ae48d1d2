package docs

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"adlens/web"
)

// SearchPath is the page that finds places of the documentation: a list of all of
// them, which its script narrows.
const SearchPath = "/docs/search"

// entry is a page or a part of one.
type entry struct {
	Path, Title string
	Page        string // the title of the page that it is a part of; "" for a page
	Words       string // in it, each once
}

var (
	mainPart = regexp.MustCompile(`(?s)<main[^>]*>(.*)</main>`)
	headings = regexp.MustCompile(`<h[23] id="([^"]+)">(.*?)</h[23]>`)
	tags     = regexp.MustCompile(`<[^>]*>`)
	words    = regexp.MustCompile(`[a-z0-9_]+`)
)

// addSearch makes the page of all places that there are.
func (s *Site) addSearch() error {
	places := append(s.places, entry{Path: PeriodsPath, Title: "Periods", Words: "date days dates period range timezone today week month year"})
	file, err := s.renderPage(SearchPath, "Search", "search.html", places)
	file.Policy = web.SearchPolicy
	s.files[SearchPath] = file
	return err
}

// entriesOf divides a page at its headings.
func entriesOf(path, title string, body []byte) []entry {
	found := mainPart.FindSubmatch(body)
	if found == nil {
		return nil
	}
	text, begin := string(found[1]), 0
	one, all := entry{Path: path, Title: title}, []entry(nil)
	for _, at := range headings.FindAllStringSubmatchIndex(text, -1) {
		one.Words = wordsOf(text[begin:at[0]])
		all = append(all, one)
		one = entry{Path: path + "#" + text[at[2]:at[3]], Title: html.UnescapeString(tags.ReplaceAllString(text[at[4]:at[5]], "")), Page: title}
		begin = at[0]
	}
	one.Words = wordsOf(text[begin:])
	return append(all, one)
}

// wordsOf lists the words of a text, each once and sorted.
func wordsOf(text string) string {
	plain := strings.ToLower(html.UnescapeString(tags.ReplaceAllString(text, " ")))
	all := words.FindAllString(plain, -1)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}
