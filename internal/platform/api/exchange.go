package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// answer is a whole HTTP answer.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// acquireSlot waits for one of the client's few slots.
func (c *Client) acquireSlot(ctx context.Context) (leave func(), err error) {
	select {
	case c.slots <- struct{}{}:
		return func() { <-c.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// doRequest sends one request and reads its whole answer, within bounds of time
// and size.
func (c *Client) doRequest(ctx context.Context, name string, r *http.Request) (*answer, error) {
	leave, err := c.acquireSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, c.limits.callTime)
	defer cancel()
	response, err := c.http.Do(r.WithContext(ctx))
	if err != nil {
		return nil, c.networkError(name, err)
	}
	defer func() { _ = response.Body.Close() }()
	a := &answer{status: response.StatusCode, header: response.Header}
	a.body, err = c.readBody(name, response)
	return a, err
}

// readBody reads an answer's body. Of an error the beginning is enough, and a
// broken one is still that error.
func (c *Client) readBody(name string, response *http.Response) ([]byte, error) {
	if !isSuccess(response.StatusCode) {
		body, _ := io.ReadAll(io.LimitReader(response.Body, c.limits.refusal))
		return body, nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, c.limits.answer+1))
	switch {
	case int64(len(body)) > c.limits.answer:
		return nil, &Error{Kind: TooLarge, Call: name, Status: response.StatusCode,
			Reason: fmt.Sprintf("its answer has more than %d bytes", c.limits.answer)}
	case err != nil:
		return nil, c.networkError(name, err)
	}
	return body, nil
}

func isSuccess(status int) bool { return status >= 200 && status < 300 }

// networkError is a failure of the network, time-outs and broken answers
// included. Of the address only the host is told: a download's is a
// credential.
func (c *Client) networkError(name string, err error) error {
	from := ""
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
		if address, bad := url.Parse(inURL.URL); bad == nil && address.Host != "" {
			from = " from " + address.Host
		}
	}
	reason := "no whole answer" + from + ": " + err.Error()
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		// Our own bound: an end of the caller's context is told by retryCall.
		reason = "no whole answer" + from + " in time"
	}
	return &again{err: &Error{Kind: Unavailable, Call: name, Reason: c.scrub.cleanText(reason, maxReason)}}
}

// answerError returns nil for a success and else the error that an answer is.
func (c *Client) answerError(name string, a *answer) error {
	switch {
	case isSuccess(a.status):
		return nil
	case a.status == http.StatusTooManyRequests, a.status == http.StatusRequestTimeout, a.status >= 500:
		return &again{err: c.refusalError(Unavailable, name, a), throttled: a.status == http.StatusTooManyRequests,
			after: retryAfter(a.header, c.cfg.Now(), c.limits.longestWait)}
	case a.status < 400:
		return &Error{Kind: Refused, Call: name, Status: a.status, Reason: c.scrub.cleanText(redirectReason(a.header), maxReason)}
	default:
		return c.refusalError(Refused, name, a)
	}
}
