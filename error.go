package adlens

import (
	"errors"
	"syscall"
)

// Kind says what sort of failure an error is, so that a room that must react
// to it (a status code, a retry) need not know where it came from.
type Kind string

// The kinds of failure of the store and of the services above it.
const (
	EngineUnavailable Kind = "engine_unavailable" // the engine cannot be reached
	Overloaded        Kind = "overloaded"         // a limit of memory, rows or concurrency
	DiskFull          Kind = "disk_full"          // nothing more can be written
	Damaged           Kind = "damaged"            // the disk lost or changed what was stored
	QueryTimeout      Kind = "query_timeout"      // the deadline passed
	Cancelled         Kind = "cancelled"          // the caller went away
	Internal          Kind = "internal"
)

// Error is an error of a known kind.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of an error. One that says none is of a full disk where
// the system says so, as of our own files next to the engine's, else internal.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return DiskFull
	}
	return Internal
}
