package harness_test

import (
	"net/http"
	"strings"
	"testing"

	"adlens/docs"
	"adlens/integration/harness"
)

func contract(t *testing.T) *harness.Contract {
	t.Helper()
	c, err := harness.ReadContract(docs.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// answer is a right answer to a summary, after some replacements.
func answer(t *testing.T, replace ...string) harness.Answer {
	t.Helper()
	example, found := docs.ReadExample("summary")
	if !found {
		t.Fatal("there is no example of a summary")
	}
	header := http.Header{}
	for name, value := range map[string]string{"Content-Type": "application/json; charset=utf-8", "X-Request-Id": "A", "ETag": `"a"`,
		"Cache-Control": "private, no-cache", "Vary": "Authorization, Accept, Accept-Encoding"} {
		header.Set(name, value)
	}
	value := example.Value.Clone()
	if err := value.Compact(); err != nil {
		t.Fatal(err)
	}
	body := string(value)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(body, replace[i]) {
			t.Fatalf("%s is not in %s", replace[i], body)
		}
		body = strings.Replace(body, replace[i], replace[i+1], 1)
	}
	return harness.Answer{Status: 200, Header: header, Body: []byte(body)}
}

func TestARightAnswerPasses(t *testing.T) {
	if err := contract(t).Check("GET", "/api/v1/summary?range=today", answer(t)); err != nil {
		t.Error(err)
	}
}

// Each of these differs in one thing from an answer that is right.
func TestTheCheckFindsWhatIsNotAsDescribed(t *testing.T) {
	const path = "/api/v1/summary"
	c := contract(t)
	for what, replace := range map[string][]string{
		"another member of the whole":      {`"currency":`, `"extra":1,"currency":`},
		"another member of an element":     {`{"marketplace":`, `{"extra":1,"marketplace":`},
		"another member of a part":         {`"start_date":`, `"extra":null,"start_date":`},
		"a missing member":                 {`"currency":"USD",`, ``},
		"a missing figure":                 {`"clicks":`, `"clickz":`},
		"a missing member of a part":       {`,"range":"custom"`, ``},
		"text for a number":                {`"impressions":`, `"impressions":"1","was":`},
		"a number for text":                {`"currency":"USD"`, `"currency":1`},
		"null where nothing may be null":   {`"history_covered":true`, `"history_covered":null`},
		"an unknown value of a closed set": {`"range":"custom"`, `"range":"last_5_days"`},
		"a day that does not exist":        {`"start_date":"2026-11-01"`, `"start_date":"2026-11-31"`},
		"three decimals":                   {`"spend":`, `"spend":0.001,"was":`},
		"no JSON":                          {`{`, `{{`},
	} {
		if err := c.Check("GET", path, answer(t, replace...)); err == nil {
			t.Errorf("%s passes", what)
		}
	}
}

func TestTheCheckLooksAtStatusTypeAndHeaders(t *testing.T) {
	const path = "/api/v1/summary"
	c := contract(t)
	for what, change := range map[string]func(*harness.Answer){
		"a status that is not described": func(a *harness.Answer) { a.Status = 201 },
		"another type":                   func(a *harness.Answer) { a.Header.Set("Content-Type", "text/html") },
		"no ETag":                        func(a *harness.Answer) { a.Header.Del("ETag") },
		"a weak ETag":                    func(a *harness.Answer) { a.Header.Set("ETag", `W/"a"`) },
		"no request id":                  func(a *harness.Answer) { a.Header.Del("X-Request-Id") },
		"ranges of something else":       func(a *harness.Answer) { a.Header.Set("Accept-Ranges", "rows") },
		"a body that should not be":      func(a *harness.Answer) { a.Status = 304 },
	} {
		a := answer(t)
		change(&a)
		if err := c.Check("GET", path, a); err == nil {
			t.Errorf("%s passes", what)
		}
	}
	for _, address := range []string{"/api/v1/summaries", "/api/v1/summary/more", "/api/v1/rules//runs"} {
		if err := c.Check("GET", address, answer(t)); err == nil {
			t.Errorf("%s is no address of the document, and passes", address)
		}
	}
}
