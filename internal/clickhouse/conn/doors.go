package conn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"adlens"
	"adlens/internal/query"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// doors are the hosts of one address. They have to be ways to one server: what
// one of them was told another must know. Once a database was seen behind
// them, a host with another is never asked.
type doors struct {
	mu     sync.Mutex
	behind string // the database's identity, "" while it is not known
	passed int    // how many sessions with replicas were given up
}

// pickReplica returns the replica of a new session: the first that has tables, which a new one
// lacks, and after a session that was given up the next. So processes use the same one, which
// has what they write. All are asked at once: one whose machine is gone costs the others no time.
func (r Remote) pickReplica(ctx context.Context) (string, error) {
	hosts := r.doors.inTurn(r.writer.Addr)
	if len(hosts) == 1 {
		return hosts[0], nil
	}
	ctx, cancel := context.WithTimeout(ctx, knockPatience)
	defer cancel()
	type answer struct {
		turn  int
		steps uint32
		err   error
	}
	answers := make(chan answer, len(hosts))
	for turn, host := range hosts {
		go func() {
			a := answer{turn: turn}
			a.err = askAt(ctx, optionsAt(r.writer, host), r.writer.Auth.Database, "SELECT max(number) FROM migrations", nil, ScanInto(&a.steps))
			answers <- a
		}()
	}
	const unheard, away, blank, ready = 0, 1, 2, 3
	states, closed := make([]int, len(hosts)), make([]error, len(hosts))
	var late <-chan time.Time
	for range hosts {
		select {
		case a := <-answers:
			switch {
			case a.err == nil && a.steps > 0:
				states[a.turn] = ready
			case a.err != nil && (KindOf(ctx, a.err) == adlens.EngineUnavailable || isUnanswered(ctx, a.err)):
				states[a.turn], closed[a.turn] = away, &ReplicaError{hosts[a.turn], a.err}
			default: // what keeps it from telling keeps it from being used, by its own error
				states[a.turn] = blank
			}
		case <-late:
			return hosts[slices.Index(states, ready)], nil
		case <-ctx.Done():
			return "", errors.Join(append(closed, ctx.Err())...)
		}
		// One in whose place another may still come waits for that a moment.
		switch first := slices.Index(states, ready); {
		case first >= 0 && !slices.Contains(states[:first], unheard):
			return hosts[first], nil
		case first >= 0 && late == nil:
			late = time.After(turnPatience)
		}
	}
	if first := slices.Index(states, blank); first >= 0 {
		return hosts[first], nil
	}
	return "", errors.Join(closed...)
}

// turnPatience is how long a replica that has answered waits for one whose turn is before it.
const turnPatience = time.Second

// inTurn returns hosts from the one on whose turn it is.
func (d *doors) inTurn(hosts []string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := d.passed % len(hosts)
	return slices.Concat(hosts[from:], hosts[:from])
}

// pass ends the turn of a host.
func (d *doors) pass() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passed++
}

// findOpen returns the hosts that lead to the server now.
func (d *doors) findOpen(ctx context.Context, options *clickhouse.Options) ([]string, error) {
	if len(options.Addr) == 1 {
		return options.Addr, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var open []string
	var closed []error
	for _, host := range options.Addr {
		behind, err := identifyHost(ctx, options, host)
		switch {
		case err != nil:
			closed = append(closed, fmt.Errorf("%s: %w", host, err))
			continue
		case len(open) > 0 && behind != d.behind, d.behind != "" && behind != d.behind:
			return nil, &otherServer{host: host}
		}
		d.behind = behind
		open = append(open, host)
	}
	if len(open) == 0 {
		return nil, errors.Join(closed...)
	}
	return open, nil
}

// otherServer is a host that leads to another database than the others.
type otherServer struct{ host string }

func (o *otherServer) Error() string {
	return o.host + " is another server than the hosts next to it or before; expected several addresses of one server"
}

// identifyHost returns the identity of the database that a host leads to: a table's number,
// which the server made up when our first table was made; "" before that.
func identifyHost(ctx context.Context, options *clickhouse.Options, host string) (identity string, err error) {
	err = askAt(ctx, optionsAt(options, host), "", "SELECT toString(uuid) FROM system.tables WHERE database = {database:String} AND name = 'migrations'",
		Params{"database": query.Text(options.Auth.Database)}, ScanInto(&identity))
	return identity, err
}

func optionsAt(options *clickhouse.Options, host string) *clickhouse.Options {
	one := *options
	one.Addr = []string{host}
	return &one
}
