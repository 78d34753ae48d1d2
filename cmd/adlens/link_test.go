package main

import (
	"strings"
	"testing"

	"adlens/internal/answer"
	"adlens/internal/auth"
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

// An account may get a marketplace with another currency, of which nothing else warns.
func TestANoticeSaysThatALinkInLocalMoneyMayEnd(t *testing.T) {
	request := func(parameters ...string) answer.Request {
		var r answer.Request
		for _, text := range parameters {
			name, value, _ := strings.Cut(text, "=")
			r.Parameters = append(r.Parameters, answer.Parameter{Name: name, Value: value})
		}
		return r
	}
	plain, local := request("range=this_month"), request("range=this_month", "currency=local")
	for _, c := range []struct {
		marketplaces []string
		requests     []answer.Request
		noticed      bool
	}{
		{nil, []answer.Request{plain, local}, true},
		{[]string{"101"}, []answer.Request{local}, false},
		{nil, []answer.Request{plain, request("currency=USD")}, false},
		{nil, []answer.Request{request("currency=local", "marketplaces=UK")}, false},
		{nil, []answer.Request{request("currency=local", "marketplace_id=101")}, false},
	} {
		if got := describeCurrency(auth.Record{Marketplaces: c.marketplaces}, c.requests); (got != "") != c.noticed {
			t.Errorf("%v of marketplaces %v: %q", c.requests, c.marketplaces, got)
		}
	}
}

func TestABaseIsAnAddress(t *testing.T) {
	for text, good := range map[string]bool{
		"": true, "https://figures.example.com": true, "http://127.0.0.1:8080/": true, "https://h/below": true, "https://[::1]:8080": true,
		"figures.example.com": false, "ftp://x": false, "https://h/path?x=1": false, "https://h#f": false, "https://u:p@h": false, "http://h:port": false,
		" https://h": false, "https://": false, "https://h/a b": false, "localhost:8080": false,
	} {
		if err := checkBase(text); (err == nil) != good {
			t.Errorf("--base %q: %v", text, err)
		}
	}
}
