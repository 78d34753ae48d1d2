package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is a place in an S3-compatible store.
type bucket struct {
	client       *minio.Client
	name, prefix string // the prefix is empty or ends with a slash
}

// amazon is where buckets are without another endpoint.
const amazon = "https://s3.amazonaws.com"

func openBucket(name, prefix string, s S3) (Place, error) {
	endpoint := cmp.Or(s.Endpoint, amazon)
	at, err := url.Parse(endpoint)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || at.User != nil || strings.Trim(at.Path, "/") != "" {
		return nil, fmt.Errorf("%q is no endpoint of a store; expected https://HOST or http://HOST:PORT", redactAddress(at, endpoint))
	}
	sources := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if s.Endpoint == "" { // elsewhere there is no machine's own role to ask for
		sources = append(sources, &credentials.IAM{})
	}
	client, err := minio.New(at.Host, &minio.Options{Creds: credentials.NewChainCredentials(sources), Secure: at.Scheme == "https", Region: s.Region})
	if err != nil {
		return nil, err
	}
	if prefix != "" {
		prefix += "/"
	}
	return &bucket{client, name, prefix}, nil
}

func (b *bucket) String() string { return "s3://" + b.name + "/" + strings.TrimSuffix(b.prefix, "/") }

func (b *bucket) List(ctx context.Context, prefix string) (map[string]int64, error) {
	sizes := map[string]int64{}
	for object := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
		if object.Err != nil {
			return nil, b.explainError(object.Err)
		}
		sizes[strings.TrimPrefix(object.Key, b.prefix)] = object.Size
	}
	return sizes, nil
}

func (b *bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	object, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, b.explainError(err)
	}
	if _, err := object.Stat(); err != nil {
		if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
			err = &Damage{name, ErrMissing}
		}
		return nil, errors.Join(b.explainError(err), object.Close())
	}
	return object, nil
}

// Draft makes a file without a name, which goes with the process.
func (b *bucket) Draft() (*os.File, error) {
	draft, err := os.CreateTemp("", "adlens-backup-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(draft.Name()); err != nil {
		return nil, errors.Join(err, draft.Close())
	}
	return draft, nil
}

// Keep sends the draft. The store shows an object whole or not at all.
func (b *bucket) Keep(ctx context.Context, name string, draft *os.File) error {
	if err := checkName(name); err != nil {
		return err
	}
	size, err := draft.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := draft.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = b.client.PutObject(ctx, b.name, b.prefix+name, draft, size, minio.PutObjectOptions{ContentType: "application/octet-stream"})
	return b.explainError(err)
}

func (b *bucket) Remove(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return b.explainError(b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}))
}

// Settle has nothing to do: what a store has taken is there.
func (b *bucket) Settle(context.Context) error { return nil }

// unneeded is how long a file stays that no backup names: one that is being
// written may be about to name it.
const unneeded = 24 * time.Hour

// Sweep removes what has been there for a day.
func (b *bucket) Sweep(ctx context.Context, needed map[string]bool) error {
	for object := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + "accounts/", Recursive: true}) {
		if object.Err != nil {
			return b.explainError(object.Err)
		}
		name := strings.TrimPrefix(object.Key, b.prefix)
		if needed[name] || time.Since(object.LastModified) < unneeded {
			continue
		}
		if err := b.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Lock excludes no other process: a store has no lock that a process gives back when it
// dies. Files are never changed, so two who write at once harm one another only
// where one of them removes old backups.
func (b *bucket) Lock(context.Context) (release func() error, err error) {
	return func() error { return nil }, nil
}

// explainError adds to an error what a person can do about it.
func (b *bucket) explainError(err error) error {
	if err == nil {
		return nil
	}
	switch answer := minio.ToErrorResponse(err); answer.Code {
	case minio.NoSuchBucket:
		return fmt.Errorf("the store has no bucket %q: %w", b.name, err)
	case minio.AccessDenied, minio.InvalidAccessKeyID, minio.SignatureDoesNotMatch:
		return fmt.Errorf("the store refuses the credentials for %s (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SHARED_CREDENTIALS_FILE): %w", b, err)
	}
	return err
}
