// Command adlens loads the ad platform's extracts into ClickHouse and answers
// questions about them over HTTP.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"adlens/internal/engine"
)

func main() {
	engine.RunIfAsked()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newRoot().ExecuteContext(ctx); err != nil {
		if !errors.Is(err, errSaid) {
			fmt.Fprintln(os.Stderr, "adlens:", err)
		}
		os.Exit(1)
	}
}

// errSaid is a failure that the user was told of already.
var errSaid = errors.New("not all that was asked is done")
