package conn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"adlens"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Explain says in a sentence why the server could not be used, and what to do, in place
// of the server's or the system's words: what a command says around them, such as what
// became of a load, stays. Errors that are not the server's stay as they are: what
// failed at the server has a kind.
func (r Remote) Explain(err error) error {
	var old *OldServer
	if errors.As(err, &old) {
		return fmt.Errorf("%s %w", r.describeServer(), old)
	}
	var failed *adlens.Error
	if !errors.As(err, &failed) {
		return err
	}
	for inner := failed; errors.As(inner.Err, &inner); { // others say what came of it
		failed = inner
	}
	server, cause := r.describeServer(), failed.Error()
	var shard *ShardError
	if errors.As(err, &shard) {
		address := shard.Address
		var replica *ReplicaError
		if errors.As(failed, &replica) || errors.As(err, &replica) {
			address = replica.Address
		}
		server = fmt.Sprintf("shard %d of the cluster, %s,", shard.Number, address)
		if text := (&ShardError{Number: shard.Number, Err: failed}).Error(); strings.Contains(err.Error(), text) {
			cause = text
		}
	}
	var exception *clickhouse.Exception
	var other *otherServer
	switch {
	case errors.As(failed, &other):
		return replaceCause(err, cause, other.Error())
	case errors.As(failed, &exception):
		return replaceCause(err, cause, r.explainException(server, exception))
	case failed.Kind == adlens.Cancelled: // the server is not to blame
		return err
	}
	if reason := explainNetwork(failed); reason != "" {
		return replaceCause(err, cause, server+" "+reason)
	}
	return err
}

// explained is an error whose cause is told in other words.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }

func (e *explained) Unwrap() error { return e.err }

// replaceCause puts an explanation in place of the text of an error's cause, or after
// the whole text where that does not have it.
func replaceCause(err error, cause, explanation string) error {
	before, after, found := strings.Cut(err.Error(), cause)
	if !found {
		before, after = before+": ", ""
	}
	return &explained{before + explanation + after, err}
}

func (r Remote) describeServer() string {
	return "the ClickHouse server " + strings.Join(r.writer.Addr, ", ")
}

// describeUsers names the users that we log in as.
func (r Remote) describeUsers() string {
	if r.reader.Auth.Username == r.writer.Auth.Username {
		return fmt.Sprintf("%q", r.writer.Auth.Username)
	}
	return fmt.Sprintf("%q or %q", r.writer.Auth.Username, r.reader.Auth.Username)
}

// explainException explains an exception by its code; texts are the server's own and
// change.
func (r Remote) explainException(server string, exception *clickhouse.Exception) string {
	database := r.writer.Auth.Database
	switch exception.Code {
	case codeUnknownUser, codeWrongPassword, codeRequiredPassword, codeAuthenticationFailed:
		return fmt.Sprintf("%s does not let user %s in: the name or the password is wrong", server, r.describeUsers())
	case codeAccessDenied:
		return fmt.Sprintf("%s does not let user %s do what is needed in database %q: `adlens grants` prints the statements that grant it", server, r.describeUsers(), database)
	case codeUnknownDatabase:
		return fmt.Sprintf("%s has no database %q: create it, or correct the address", server, database)
	case codeReplicaAlreadyExists:
		return fmt.Sprintf("%s lacks tables that Keeper has of a replica of its name: run SYSTEM DROP REPLICA with that name on another replica of the shard, or give this one another name in its <macros>", server)
	case codeTableIsReadOnly:
		return server + " is a replica whose session with Keeper has ended: see that Keeper runs, and that the server reaches it"
	case codeSettingConstraintViolation:
		return fmt.Sprintf("%s does not let user %s have a setting that a statement needs: %s Loosen that constraint in its profile; max_execution_time has to be allowed up to 35 seconds, and without bound for loads", server, r.describeUsers(), exception.Message)
	case codeReadonly: // whether it is a replica is not known here
		return fmt.Sprintf("%s lets user %s set nothing at all: give the reader readonly = 2 instead of 1, and the writer none; or it is a replica whose session with Keeper has ended: see that it reaches Keeper", server, r.describeUsers())
	}
	return fmt.Sprintf("%s refuses: %s (code %d)", server, exception.Message, exception.Code)
}

// explainNetwork explains why nothing that is a ClickHouse server answered, "" for
// errors of other kinds.
func explainNetwork(err error) string {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var lookup *net.DNSError
	var network net.Error
	var strange *stranger
	switch {
	case errors.As(err, &authority):
		return "has a certificate of an unknown authority: name the authority's file with --clickhouse-ca"
	case errors.As(err, &name):
		return "has a certificate for another name: use the name that it was made for, or tls_server_name=NAME in the address"
	case errors.As(err, &certificate):
		return "has a certificate that is not valid: " + certificate.Err.Error()
	case errors.As(err, &record):
		return "does not speak TLS at this port: use its secure port (9440 native, 8443 HTTP), or leave secure=true or https out"
	case errors.As(err, &lookup):
		return fmt.Sprintf("cannot be found: no address is known for %q", lookup.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "cannot be reached: nothing listens there. Is it running, and are host and port right?"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "cannot be reached: there is no route to its host. Is that running, and is the host right?"
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded), errors.Is(err, clickhouse.ErrAcquireConnTimeout):
		return "cannot be reached: it did not answer in time. Is the host right, and does a firewall let us through?"
	case errors.As(err, &strange):
		return "does not answer as ClickHouse does: is the port right? 9000 is native (clickhouse://), 8123 HTTP (http://), with TLS 9440 and 8443"
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "went away while it was asked: is it being restarted? Try again"
	}
	return ""
}
