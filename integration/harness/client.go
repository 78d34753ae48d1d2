package harness

import (
	"fmt"
	"io"
	"net/http"
)

// Client asks the API with one key; an empty key sends no header.
type Client struct {
	Address, Key string
	Other        bool // another listener than the API's: the document says nothing of it
}

// Answer is a whole answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

func (a Answer) String() string { return fmt.Sprintf("%d %s", a.Status, a.Body) }

// One transport for all, which follows no redirect: none is ever right here.
var web = &http.Client{
	Timeout:       Patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true},
}

// Get asks for a path below the server's root. Headers come as name, value.
func (c Client) Get(path string, headers ...string) (Answer, error) {
	return c.Do(http.MethodGet, path, headers...)
}

// Do is Get with another method. An answer that is not as the API's document
// says is an error (HoldAnswersTo).
func (c Client) Do(method, path string, headers ...string) (Answer, error) {
	request, err := http.NewRequest(method, c.Address+path, nil)
	if err != nil {
		return Answer{}, err
	}
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := web.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{response.StatusCode, response.Header, body}
	if c.Other {
		return a, nil
	}
	return a, checkContract(method, path, a)
}
