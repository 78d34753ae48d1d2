package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"syscall"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// kindOfCode is what kind of error an exception is.
var kindOfCode = map[int32]adlens.Kind{
	codeTimeoutExceeded:                   adlens.QueryTimeout,
	codeTooSlow:                           adlens.QueryTimeout,
	codeTooManyRows:                       adlens.Overloaded,
	codeQuotaExceeded:                     adlens.Overloaded,
	codeTooManySimultaneousQueries:        adlens.Overloaded,
	codeMemoryLimitExceeded:               adlens.Overloaded,
	codeTooManyBytes:                      adlens.Overloaded,
	codeTooManyRowsOrBytes:                adlens.Overloaded,
	codeSetSizeLimitExceeded:              adlens.Overloaded,
	codeNotEnoughSpace:                    adlens.DiskFull,
	codeCannotReadAllData:                 adlens.Damaged,
	codeTooLargeSizeCompressed:            adlens.Damaged, // of a block
	codeChecksumDoesntMatch:               adlens.Damaged,
	codeFileDoesntExist:                   adlens.Damaged,
	codeNoFileInDataPart:                  adlens.Damaged,
	codeBadSizeOfFileInDataPart:           adlens.Damaged,
	codeCorruptedData:                     adlens.Damaged,
	codeCannotDecompress:                  adlens.Damaged,
	codeUnknownCodec:                      adlens.Damaged,           // of a block
	codeQueryWasCancelled:                 adlens.EngineUnavailable, // by a server that shuts down, or KILL QUERY: callers who leave are known before
	codeRequiredPassword:                  adlens.EngineUnavailable, // another incarnation
	codeAuthenticationFailed:              adlens.EngineUnavailable, // another incarnation
	codeSettingConstraintViolation:        adlens.EngineUnavailable, // of the user's profile, before anything ran
	codeNoZookeeper:                       adlens.EngineUnavailable,
	codeAborted:                           adlens.EngineUnavailable, // the server is shutting down
	codeTableIsReadOnly:                   adlens.EngineUnavailable, // a replica that does not reach Keeper
	codeTooFewLiveReplicas:                adlens.EngineUnavailable,
	codeUnsatisfiedQuorumForPreviousWrite: adlens.EngineUnavailable,
	codeReplicaIsNotInQuorum:              adlens.EngineUnavailable,
	codeUnfinished:                        adlens.EngineUnavailable, // a deletion on a replica that is away
	codeUnknownStatusOfInsert:             adlens.EngineUnavailable, // Keeper went away meanwhile
	codeKeeperException:                   adlens.EngineUnavailable,
}

// saysFull matches what the server's system says where a file cannot be written,
// made or synced for lack of space. The exceptions have many codes, of whatever
// was being done: CANNOT_FSYNC, CANNOT_OPEN_FILE, STD_EXCEPTION.
var saysFull = regexp.MustCompile(`No space left on device|Disk quota exceeded`)

// saysUnread matches what the server adds to whatever keeps it from reading a part of
// a table. A part whose small files changed ends in any code: INCORRECT_DATA,
// LOGICAL_ERROR.
var saysUnread = regexp.MustCompile(`\(while reading from part `)

// saysSpilled matches what the server adds where it reads back what a statement itself put
// aside on the disk. A disk that was full for a moment cut that.
var saysSpilled = regexp.MustCompile(`While executing (BufferingFromFileSource|SourceFromNativeStream)\b`)

// KindOf returns the kind of an error that a statement ended with.
func KindOf(ctx context.Context, err error) adlens.Kind {
	var known *adlens.Error
	if errors.As(err, &known) {
		return known.Kind
	}
	var network *net.OpError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return adlens.Cancelled
	case errors.As(err, &network) && network.Op == "dial": // no statement was begun
		return adlens.EngineUnavailable
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return adlens.QueryTimeout
	case errors.Is(err, context.Canceled):
		return adlens.Cancelled
	}
	if errors.Is(err, clickhouse.ErrAcquireConnTimeout) {
		return adlens.Overloaded
	}
	var exception *clickhouse.Exception
	if errors.As(err, &exception) {
		if saysSpilled.MatchString(exception.Message) && kindOfCode[exception.Code] == adlens.Damaged && !saysUnread.MatchString(exception.Message) {
			return adlens.DiskFull
		}
		if kind, ok := kindOfCode[exception.Code]; ok {
			return kind
		}
		if saysFull.MatchString(exception.Message) {
			return adlens.DiskFull
		}
		if saysUnread.MatchString(exception.Message) {
			return adlens.Damaged
		}
		return adlens.Internal
	}
	if isStrange(err) {
		return adlens.EngineUnavailable
	}
	var other net.Error
	if errors.As(err, &other) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, clickhouse.ErrConnectionClosed) { // of a session that another statement has dropped
		return adlens.EngineUnavailable
	}
	return adlens.Internal
}

// isStrange reports whether what answered over HTTP is a gateway without a server behind
// it, or an engine that is not ours.
func isStrange(err error) bool {
	var answer *clickhouse.HTTPError
	return errors.As(err, &answer) && (answer.StatusCode >= 500 || answer.StatusCode == 404)
}

// IsUnknown reports whether a server lacks the database or a table.
func IsUnknown(err error) bool {
	return isException(err, codeUnknownDatabase) || isException(err, codeUnknownTable)
}

// isUnwritten reports whether a replica refused a statement because it lacks what others have,
// rows or tables, or does not reach Keeper, or was not reached itself.
func isUnwritten(err error) bool {
	var lagging *laggingReplica
	var network *net.OpError
	return isException(err, codeTableIsReadOnly) || isException(err, codeReadonly) || isException(err, codeReplicaIsNotInQuorum) || IsUnknown(err) ||
		errors.As(err, &lagging) || errors.Is(err, ErrOutdated) || errors.As(err, &network) && network.Op == "dial" ||
		errors.Is(err, clickhouse.ErrConnectionClosed) // of a session that another statement has dropped
}

// IsAway reports whether a server is not there, or does not answer in the time that one may take.
func IsAway(ctx context.Context, err error) bool {
	kind := adlens.KindOf(err)
	return kind == adlens.EngineUnavailable || kind == adlens.QueryTimeout && ctx.Err() == nil
}

// IsUnknownDatabase reports whether a server lacks the database.
func IsUnknownDatabase(err error) bool { return isException(err, codeUnknownDatabase) }

func isException(err error, code int32) bool {
	var exception *clickhouse.Exception
	return errors.As(err, &exception) && exception.Code == code
}

// unavailableError is why no server was found. A caller that left while it was looked
// for has not seen that it is away.
func unavailableError(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &adlens.Error{Kind: adlens.Cancelled, Err: err}
	}
	return &adlens.Error{Kind: adlens.EngineUnavailable, Err: err}
}

// refusal is why a server is not the one that it is taken for, or cannot be known to be.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// Refusal returns an error that says that a server is not the one that it is
// taken for, or cannot be known to be.
func Refusal(format string, args ...any) error {
	return &adlens.Error{Kind: adlens.Damaged, Err: &refusal{fmt.Sprintf(format, args...)}}
}

// IsRefusal reports whether a server is not the one that it is taken for.
func IsRefusal(err error) bool {
	var r *refusal
	return errors.As(err, &r)
}

// ShardError is an error of one shard of a cluster.
type ShardError struct {
	Number  uint16
	Address string
	Err     error
}

func (e *ShardError) Error() string { return fmt.Sprintf("shard %d: %s", e.Number, e.Err) }

func (e *ShardError) Unwrap() error { return e.Err }

// OldServer is the error of a server whose version is too old.
type OldServer struct{ Has, Needs string }

func (o *OldServer) Error() string {
	return fmt.Sprintf("is version %s; expected %s or a later one", o.Has, o.Needs)
}
