package main

import (
	"testing"

	"adlens/internal/answer"
	"adlens/internal/query"
)

// The one who makes a feed learns that it lacks rows, or may: its readers cannot turn pages,
// and a spreadsheet shows no header.
func TestANoticeSaysWhereAFeedMayLackRows(t *testing.T) {
	all, page := query.Paging{Page: 1, PageSize: query.MaxRows, All: true}, query.Paging{Page: 1, PageSize: 1000}
	for _, c := range []struct {
		pages answer.Pages
		want  string
	}{
		{answer.Pages{Paging: all, Rows: 100_000}, ""},
		{answer.Pages{Paging: all, Rows: 100_001, Truncated: true}, "the link leaves rows out: an answer has 100000 at most, and today there are 100001; narrow its request"},
		{answer.Pages{Paging: page, Rows: 7}, "the link answers one page, of 1000 rows at most; today there are 7"},
		{answer.Pages{Paging: page, Rows: 2345}, "the link answers one page, of 1000 rows at most; today there are 2345"},
	} {
		if got := describePages(c.pages); got != c.want {
			t.Errorf("%+v: %q, expected %q", c.pages, got, c.want)
		}
	}
}

func TestABaseIsAnAddress(t *testing.T) {
	for text, good := range map[string]bool{
		"": true, "https://figures.example.com": true, "http://127.0.0.1:8080/": true, "https://[::1]:8080": true, "https://h/below": false, "https://h/share/": false,
		"figures.example.com": false, "ftp://x": false, "https://h/path?x=1": false, "https://h#f": false, "https://u:p@h": false, "http://h:port": false,
		" https://h": false, "https://": false, "https://h/a b": false, "localhost:8080": false,
	} {
		if err := checkBase(text); (err == nil) != good {
			t.Errorf("--base %q: %v", text, err)
		}
	}
}
