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

	"adlens/internal/engine"
)

func main() {
	// Packages of the standard library log what a peer sent: a platform that
	// repeats our secrets unasked would have net/http print them. All that they
	// log is returned as an error too.
	log.SetOutput(io.Discard)
	engine.RunIfAsked()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetOut(screen{os.Stdout})
	root.SetErr(screen{os.Stderr})
	if err := root.ExecuteContext(ctx); err != nil {
		if !errors.Is(err, errSaid) {
			fmt.Fprintln(root.ErrOrStderr(), "adlens:", err)
		}
		os.Exit(1)
	}
}

// errSaid is a failure that the user was told of already.
var errSaid = errors.New("not all that was asked is done")
