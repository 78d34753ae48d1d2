package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"strings"
)

// Place holds files by their names. A file is there whole or not at all.
type Place interface {
	String() string
	// List returns the sizes of the files whose names begin so.
	List(ctx context.Context, prefix string) (map[string]int64, error)
	// Open reads a file. One that is missing is ErrMissing.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// Draft makes a file of this machine that Keep takes.
	Draft() (*os.File, error)
	// Keep makes what was written into a draft a file of the place. Settle
	// returns once all that was kept outlives a power cut.
	Keep(ctx context.Context, name string, draft *os.File) error
	Settle(ctx context.Context) error
	Remove(ctx context.Context, name string) error
	// Sweep removes the files of accounts that are not needed.
	Sweep(ctx context.Context, needed map[string]bool) error
	// Lock keeps other backups out, where the place can do that.
	Lock(ctx context.Context) (release func() error, err error)
}

// ErrMissing says that a place has no file of a name.
var ErrMissing = errors.New("the file is missing")

// names are the only names that files of a place have: an index, which anybody
// may have written, must not name files outside the place.
var names = regexp.MustCompile(`^(backups|accounts/[A-Za-z0-9][A-Za-z0-9._-]{0,63})/[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

func checkName(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("%q is no name of a file of a backup", name)
	}
	return nil
}

// S3 is how an S3-compatible store is reached. Credentials come from the
// environment, or from where the tools of that world keep them.
type S3 struct{ Endpoint, Region string }

// almostAddress are addresses of a store with a slash or two left out.
var almostAddress = regexp.MustCompile(`^(?i:s3:|[a-z][a-z0-9+.-]*:/)`)

// Find returns the place of an address: a directory, or s3://bucket/prefix. A
// directory is made where it is missing and make is set.
func Find(address string, s S3, make bool) (Place, error) {
	if !strings.Contains(address, "://") {
		if almostAddress.MatchString(address) { // a directory of that name would be on this disk
			return nil, fmt.Errorf("%q is no place of backups; expected s3://bucket/prefix, or ./ before it for a directory of that name", redactAddress(nil, address))
		}
		return openDirectory(address, make)
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "s3" || parsed.Host == "" || parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return nil, fmt.Errorf("%q is no place of backups; expected a directory or s3://bucket/prefix", redactAddress(parsed, address))
	}
	return openBucket(parsed.Host, strings.Trim(parsed.Path, "/"), s)
}

// redactAddress is an address without a password that a user put there.
func redactAddress(parsed *url.URL, address string) string {
	if parsed != nil {
		return parsed.Redacted()
	}
	_, host, hasPassword := strings.Cut(address, "@")
	if !hasPassword {
		return address
	}
	return "***@" + host
}
