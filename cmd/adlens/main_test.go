package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"adlens"
	"adlens/internal/commits"
)

func TestAnInterruptedCommandSaysSoInAFewWords(t *testing.T) {
	signal := errors.New("interrupt signal received")
	ctx, stop := context.WithCancelCause(t.Context())
	sent := fmt.Errorf("sendQuery: %w", &url.Error{Op: "Post", URL: "http://loader@127.0.0.1:9000?query=x", Err: signal})
	unknown := errors.Join(sent, commits.ErrUnknown)
	if err := explainInterrupt(ctx, sent); err != sent {
		t.Errorf("before the signal: %v", err)
	}
	stop(signal)
	for _, err := range []error{sent, fmt.Errorf("account acme: %w", ctx.Err())} {
		if text := explainInterrupt(ctx, err).Error(); !strings.HasPrefix(text, "interrupted: ") || strings.Contains(text, "127.0.0.1") {
			t.Error(text)
		}
	}
	other := errors.New("the disk is full")
	for _, err := range []error{unknown, other, advice{sent}, fmt.Errorf("rotating: %w", advice{sent})} {
		if explainInterrupt(ctx, err) != err {
			t.Errorf("%v is replaced by another error", err)
		}
	}
}

func TestAServerThatIsStoppedWhileItStartsEndsWell(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	root := newRoot()
	root.SetArgs([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir()})
	if err := root.ExecuteContext(ctx); err != nil {
		t.Error(err)
	}
}

// Whatever command met a full disk, its error is printed with what to do about it.
func TestACommandOnAFullDiskSaysSoOnce(t *testing.T) {
	t.Parallel()
	full := &adlens.Error{Kind: adlens.DiskFull, Err: errors.New("Cannot reserve 1.00 MiB, not enough space")}
	file := &os.PathError{Op: "write", Path: "library.checked", Err: syscall.ENOSPC}
	const said = "the disk is full: free some space and run the same command again: "
	for _, err := range []error{full, fmt.Errorf("schema/0022_ad_groups.sql: %w", full), errors.Join(file, errors.New("another"))} {
		if got := explainFullDisk(err); got.Error() != said+err.Error() || !errors.Is(got, err) {
			t.Errorf("%q is printed as %q", err, got)
		}
	}
	for _, err := range []error{explainError(full), explainUnprinted("key", "k_1", file), explainDone("account acme is connected", file),
		&adlens.Error{Kind: adlens.Overloaded, Err: full}, errors.New("another")} {
		if got := explainFullDisk(err); got != err {
			t.Errorf("%q is printed as %q", err, got)
		}
	}
}
