package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"
)

// Profiles returns the platform's answer to GET /v2/profiles as it came: all
// seller and vendor profiles of the region that the connection may see. Agency
// profiles have no advertising of their own and are not requested.
func (c *Client) Profiles(ctx context.Context) (raw []byte, err error) {
	err = c.sendCall(ctx, &call{
		method: http.MethodGet, path: "/v2/profiles", accepts: plainJSON,
		// Without accessLevel some grants that may only look would be missing.
		query: url.Values{"accessLevel": {"view"}, "profileTypeFilter": {"seller,vendor"}},
		read: func(body []byte) error {
			raw = body
			return expectJSON(body, '[', "an array of profiles")
		},
	})
	if err != nil {
		return nil, err
	}
	return raw, nil
}

const plainJSON = "application/json"

// expectJSON checks that a body is one sound JSON value of a kind.
func expectJSON(body []byte, kind jsontext.Kind, what string) error {
	value := jsontext.Value(body)
	switch {
	case !value.IsValid():
		return errors.New("it is no JSON, or damaged, expected " + what)
	case value.Kind() != kind:
		return errors.New("it is other JSON, expected " + what)
	}
	return nil
}
