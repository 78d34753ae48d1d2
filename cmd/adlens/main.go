// Command adlens loads the ad platform's extracts into ClickHouse and answers
// questions about them over HTTP.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"adlens"
	"adlens/internal/commits"
	"adlens/internal/engine"
)

func main() {
	// Packages of the standard library log what a peer sent: a platform that
	// repeats our secrets unasked would have net/http print them. All that they
	// log is returned as an error too.
	log.SetOutput(io.Discard)
	engine.RunIfAsked(version)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it; else the terminal was closed
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	root := newRoot()
	var unprinted error
	root.SetOut(screen{os.Stdout, &unprinted})
	root.SetErr(screen{file: os.Stderr})
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = unprinted // of help: cobra drops it
	}
	if err != nil {
		if !errors.Is(err, errSaid) {
			fmt.Fprintln(root.ErrOrStderr(), "adlens:", explainFullDisk(explainInterrupt(ctx, err)))
		}
		os.Exit(1)
	}
}

// explainInterrupt describes an error by which a signal ended a command. The driver's own
// words are the address of the statement that was under way. Where it is not known what
// became of a load, its error says so, and an advice is given whatever ended the command.
func explainInterrupt(ctx context.Context, err error) error {
	if _, says := errors.AsType[advice](err); says || !isInterrupted(ctx, err) || errors.Is(err, commits.ErrUnknown) {
		return err
	}
	return errors.New("interrupted: what was under way did not come to its end; run the same command again")
}

// explainFullDisk says what can be done about a full disk before an error that does not say
// so itself, as those of loads do, which know what became of their files.
func explainFullDisk(err error) error {
	_, says := errors.AsType[advice](err)
	if says || adlens.KindOf(err) != adlens.DiskFull {
		return err
	}
	return fmt.Errorf("the disk is full: free some space and run the same command again: %w", err)
}

// advice is an error that says what is to be done now, or that all is done.
type advice struct{ error }

func (a advice) Unwrap() error { return a.error }

// isInterrupted reports whether an error is that of a signal.
func isInterrupted(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}

// errSaid is a failure that the user was told of already.
var errSaid = errors.New("not all that was asked is done")
