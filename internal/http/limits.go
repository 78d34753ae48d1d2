package http

import (
	"time"

	"adlens/internal/answer"
)

// Every limit of a request, published in the documentation.
const (
	maxAddress = 16 << 10 // bytes of path and query
	maxHeaders = 16 << 10 // bytes of all header lines
	maxBody    = 1 << 10  // bytes; no endpoint needs any

	// hardHeaders is where the server stops reading. Between maxHeaders and
	// this an answer explains itself.
	hardHeaders = 1 << 20

	// maxConnections bounds what connections cost in memory and descriptors,
	// whichever client opens them. Each may hold a header of hardHeaders for
	// readHeaderTimeout.
	maxConnections = 2_000

	// otherFiles is how many descriptors are kept for all else, such as connections to
	// the database. A process that may open few keeps half of them.
	otherFiles = 200

	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	idleTimeout       = 60 * time.Second
	writeTimeout      = answer.Timeout + 15*time.Second

	// A client that takes sendBlock of an answer has writeTimeout again for the next
	// one, so that a large answer reaches a slow client, until maxSending after the
	// first: the answer's memory is not held for ever. The network's buffers count as the
	// client, and are refilled in large steps.
	sendBlock  = 256 << 10
	maxSending = 10 * time.Minute

	// assistantTimeout is longer than the deadline that each tool sets itself after its
	// caller was looked up: what says that a call took too long is still sent.
	assistantTimeout = answer.Timeout + 10*time.Second

	// A server that cannot be asked now, most often because it restarts, is
	// back after about this long.
	unavailableRetry = 2 * time.Second

	// Damaged data waits until it is restored.
	damagedRetry = time.Minute
)
