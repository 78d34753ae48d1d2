package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const downloadCall = "download"

// Download fetches a finished report and writes its bytes as they came, packed
// or plain. None of the API's headers are sent: the address is its own
// credential, and the storage refuses two. The download is whole when nil is
// returned (length, end of the packed data, closing bracket); else what was
// written is worth nothing.
//
// A download that breaks off starts over where w can be rewound, as a file
// can; elsewhere it is tried again only before the first byte was written.
// An expired address is an error of the kind LinkExpired.
func (c *Client) Download(ctx context.Context, link string, w io.Writer) error {
	address, err := c.downloadAddress(link)
	if err != nil {
		return err
	}
	out := newOutput(w)
	return c.retryCall(ctx, downloadCall, func() error {
		err := c.tryDownload(ctx, address, out)
		if err == nil {
			return nil
		}
		if out.err != nil {
			return fmt.Errorf("the download cannot be written: %w", out.err)
		}
		clean, rewindErr := out.rewindOutput()
		if rewindErr != nil {
			return fmt.Errorf("the download cannot start over: %w", rewindErr)
		}
		if !clean {
			return preventRetry(err)
		}
		return err
	})
}

// preventRetry makes a failure one that is not tried again.
func preventRetry(err error) error {
	var failure *again
	if errors.As(err, &failure) {
		return failure.err
	}
	return err
}

// tryDownload makes one try.
func (c *Client) tryDownload(ctx context.Context, address *url.URL, out *output) error {
	leave, err := c.acquireSlot(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, c.limits.downloadTime)
	defer cancel()
	stall := time.AfterFunc(c.limits.stallTime, cancel) // ends a download of which no byte comes for a while
	defer stall.Stop()
	response, err := c.files.Do(downloadRequest(ctx, address))
	if err != nil {
		return c.networkError(downloadCall, err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := c.checkDownload(response); err != nil {
		return err
	}
	return c.copyWhole(out, &body{r: response.Body, left: c.limits.download, alive: func() { stall.Reset(c.limits.stallTime) }})
}

func downloadRequest(ctx context.Context, address *url.URL) *http.Request {
	r := &http.Request{Method: http.MethodGet, URL: address, Host: address.Host, Header: http.Header{}}
	// Asking for the bytes as they are keeps any transport from unpacking them.
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", userAgent)
	return r.WithContext(ctx)
}

// checkDownload judges an answer by its head.
func (c *Client) checkDownload(response *http.Response) error {
	a := &answer{status: response.StatusCode, header: response.Header}
	switch {
	case a.status == http.StatusOK && response.ContentLength > c.limits.download:
		return c.tooLarge()
	case a.status == http.StatusOK:
		return nil
	case isSuccess(a.status):
		return &Error{Kind: BadAnswer, Call: downloadCall, Status: a.status, Reason: "it is not the whole file"}
	}
	a.body, _ = io.ReadAll(io.LimitReader(response.Body, c.limits.refusal))
	if a.status == http.StatusForbidden {
		return c.refusalError(LinkExpired, downloadCall, a)
	}
	return c.answerError(downloadCall, a)
}

func (c *Client) tooLarge() error {
	return &Error{Kind: TooLarge, Call: downloadCall, Reason: fmt.Sprintf(
		"it has more than %d bytes, or unpacks to more than %d", c.limits.download, c.limits.unpacked)}
}

// copyWhole writes a body that is a report's rows to its end.
func (c *Client) copyWhole(out *output, b *body) error {
	in := bufio.NewReaderSize(b, 64<<10)
	head, err := in.Peek(16 << 10) // of a shorter body, all of it
	switch copyRows := formOf(head); {
	case copyRows != nil:
		err = copyRows(out, in, c.limits.unpacked)
	case len(head) > 0:
		return &again{err: c.badAnswer(downloadCall, &answer{status: http.StatusOK, header: http.Header{}, body: head},
			errors.New("it is neither packed data nor a JSON array"))}
	case errors.Is(err, io.EOF):
		err = errTruncated
	}
	switch {
	case err == nil || out.err != nil:
		return out.err
	case errors.Is(err, errTooLarge):
		return c.tooLarge()
	case b.err != nil:
		return c.networkError(downloadCall, b.err)
	default:
		return &again{err: &Error{Kind: BadAnswer, Call: downloadCall, Reason: c.scrub.cleanText(err.Error(), maxReason)}}
	}
}
