package conn

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"adlens"
	"adlens/internal/tables"
)

// Guard keeps damaged rows from being read.
type Guard interface {
	// Admit returns why nothing of an account, in the text form of a parameter,
	// may be read.
	Admit(account string) error
	// Alarm hears of rows that were met and cannot be read.
	Alarm(err error)
	// Inspect looks through a session before anything else is read from it.
	Inspect(ctx context.Context, c *Session) error
	// Renew hears that a server is another than those that were met before, or was
	// restarted since, before anything but what Inspect reads is read from it.
	Renew()
}

// Checks are what has to hold of a server before it is used. Each may be nil.
type Checks struct {
	// Prepare brings the schema up to date, before anything else is done.
	Prepare func(context.Context) error
	// Verify makes sure that a session leads to the database that was there
	// before, and notes a refusal. Its error is ErrOutdated where that has to be
	// prepared again.
	Verify func(context.Context, *Session) error
	Guard  Guard
}

// Server is one ClickHouse. It is safe for concurrent use.
type Server struct {
	source Source
	checks Checks
	gate   *gate
	turns  turns
	behind tables.Behind
	counts counts

	preparing chan struct{} // held by the caller that prepares the server
	prepared  atomic.Bool
	outdated  atomic.Bool // it was prepared, and has to be again

	finding chan struct{} // held by the caller that looks for the server
	absence absence
	mu      sync.Mutex
	session *Session
	refused error         // why nothing of it is used: it is not the server that it was
	met     []incarnation // that were inspected, the newest last
}

// mostReads is how many statements may read at once, whatever a machine has: a session
// has 64 connections, and the embedded engine takes 64 statements of all its users.
const mostReads = 48

// NewServer returns a server that is looked for when it is first used.
func NewServer(source Source, checks Checks) *Server {
	return &Server{source: source, checks: checks, gate: newGate(min(mostReads, max(4, 2*runtime.NumCPU()))), preparing: make(chan struct{}, 1), finding: make(chan struct{}, 1)}
}

// Source returns where the server is looked for.
func (s *Server) Source() Source { return s.source }

// MakeReady prepares the server unless that was done already. A shard may have
// been away when the others were opened.
func (s *Server) MakeReady(ctx context.Context) error {
	if s.prepared.Load() || s.checks.Prepare == nil {
		return nil
	}
	select {
	case s.preparing <- struct{}{}:
		defer func() { <-s.preparing }()
	case <-ctx.Done():
		return unavailableError(ctx, ctx.Err())
	}
	if s.prepared.Load() {
		return nil
	}
	if err := s.absence.read(); err != nil {
		return err
	}
	ctx = context.WithValue(ctx, preparer{}, s)
	began := time.Now()
	if err := s.NoteRefusal(s.checks.Prepare(ctx)); err != nil {
		s.noteAbsence(ctx, began, err)
		if c := s.currentSession(); c != nil && IsRefusal(err) {
			s.dropSession(c) // another server may be there the next time
		}
		return err
	}
	if s.checks.Guard != nil { // it was away when the others were inspected
		c, err := s.Connect(ctx)
		if err == nil {
			err = s.checks.Guard.Inspect(ctx, c)
		}
		if err != nil {
			return err
		}
	}
	s.prepared.Store(true)
	s.outdated.Store(false)
	return nil
}

// preparer is the key of the server that a context prepares.
type preparer struct{}

func isPreparing(ctx context.Context, s *Server) bool { return ctx.Value(preparer{}) == s }

// ErrOutdated is why a server has to be prepared again: its tables are of an earlier version,
// as where an older copy of its disk was put back.
var ErrOutdated error = &adlens.Error{Kind: adlens.EngineUnavailable, Err: errors.New("the tables are of an earlier version than they were")}

// Close gives all connections back.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil {
		return nil
	}
	err := s.session.close()
	s.session = nil
	return err
}

// Connect returns the session, opening one where there is none. A server that turns out to
// have an earlier version of its tables is prepared again first.
func (s *Server) Connect(ctx context.Context) (*Session, error) {
	if isPreparing(ctx, s) {
		return s.connect(ctx)
	}
	if !s.outdated.Load() {
		c, err := s.connect(ctx)
		if !errors.Is(err, ErrOutdated) || !s.outdated.Load() {
			return c, err
		}
	}
	if err := s.MakeReady(ctx); err != nil {
		return nil, err
	}
	return s.connect(ctx)
}

// connect opens a session where there is none. One caller looks for the server, which may
// take a while; the others wait no longer than their contexts let them.
func (s *Server) connect(ctx context.Context) (*Session, error) {
	if c, err := s.heldSession(ctx); c != nil || err != nil {
		return c, err
	}
	select {
	case s.finding <- struct{}{}:
		defer func() { <-s.finding }()
	case <-ctx.Done():
		return nil, unavailableError(ctx, ctx.Err())
	}
	if c, err := s.heldSession(ctx); c != nil || err != nil {
		return c, err
	}
	if err := s.absence.read(); err != nil && ctx.Value(searching{}) == nil {
		return nil, err
	}
	began := time.Now()
	c, err := s.openSession(ctx)
	if err != nil {
		s.noteAbsence(ctx, began, err)
		return nil, err
	}
	last := s.countReplicas() < 2 || ctx.Value(lastReplica{}) != nil
	now, err := s.identifySession(ctx, c)
	if err == nil || IsUnknown(err) { // an empty server is refused by its name
		wrong := s.verifySession(ctx, c)
		if errors.Is(wrong, ErrOutdated) && s.takesOutdated(ctx, last) {
			wrong = nil
		}
		err = cmp.Or(wrong, err)
	}
	// Of replicas the next one is used, and this one waits for a command.
	if errors.Is(err, ErrOutdated) && last {
		s.outdated.Store(true)
		s.prepared.Store(false)
	}
	if err == nil && s.checks.Guard != nil && (s.checks.Prepare == nil || s.prepared.Load()) {
		err = s.checks.Guard.Inspect(ctx, c)
	}
	if err != nil {
		if isUnanswered(ctx, err) { // the statement itself was not begun
			err = unavailableError(ctx, err)
		}
		if s.countReplicas() < 2 { // of replicas the next one is tried
			s.noteAbsence(ctx, began, err)
		}
		s.passReplica()
		return nil, errors.Join(err, c.close())
	}
	s.noteServer(c, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = c
	return c, nil
}

// takesOutdated reports whether a session may lead to tables of an earlier version. The caller
// that prepares the server needs it where no replica is current: one that refused its new
// tables must not answer afterwards. Other callers only look at what is there.
func (s *Server) takesOutdated(ctx context.Context, last bool) bool {
	if isPreparing(ctx, s) {
		return last
	}
	return !s.prepared.Load() && !s.outdated.Load()
}

// heldSession returns the session that there is. While the server is prepared again, others
// than who does that have none.
func (s *Server) heldSession(ctx context.Context) (*Session, error) {
	c := s.currentSession()
	if c != nil && s.outdated.Load() && !isPreparing(ctx, s) {
		return nil, ErrOutdated
	}
	return c, nil
}

func (s *Server) currentSession() *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

// dropSession forgets a session that turned out to lead nowhere, unless that was done
// already.
func (s *Server) dropSession(lost *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == lost {
		s.session = nil
		s.passReplica()
		go lost.close()
	}
}

// Disconnect drops the session, so that the server is looked for again.
func (s *Server) Disconnect() {
	if c := s.currentSession(); c != nil {
		s.dropSession(c)
	}
}

// verifySession makes sure that a session leads to the server that was there before.
func (s *Server) verifySession(ctx context.Context, c *Session) error {
	if s.checks.Verify == nil {
		return nil
	}
	return s.checks.Verify(context.WithValue(ctx, verifying{}, true), c)
}

type verifying struct{}

// NoteRefusal remembers why nothing of the server is used, nil where it is, and
// returns it. Tables that are back after that may be those of a backup.
func (s *Server) NoteRefusal(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused = nil; IsRefusal(err) {
		s.refused, s.met = err, nil
	}
	return err
}

// Refused returns why nothing of the server is used, nil where it is.
func (s *Server) Refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// repeatWithin is how long after it came a statement may be begun once more. An
// account may have moved to another server meanwhile, and what is left of it here be
// deleted soon (commits.Leaving).
const repeatWithin = 20 * time.Second

// Read runs a statement as the reader, when it is the turn of the account
// that is its parameter. A server that went away in the middle is looked for
// once more within the deadline, unless that or the search took long: reading twice does no harm.
func (s *Server) Read(ctx context.Context, sql string, params Params, read func(Rows) error) error {
	if isPreparing(ctx, s) { // for whom those may wait who have the places
		return s.ReadOnce(ctx, sql, params, read)
	}
	came := time.Now()
	leave, err := s.gate.acquirePlace(ctx, params["account"])
	if err != nil {
		s.counts.refused.Add(1)
		return err
	}
	defer leave()
	began := time.Now()
	s.counts.waited.Add(int64(began.Sub(came)))
	defer func() { s.counts.addStatement(time.Since(began)) }()
	err = s.ReadOnce(ctx, sql, params, read)
	if adlens.KindOf(err) == adlens.EngineUnavailable && ctx.Err() == nil && time.Since(came) < repeatWithin {
		err = s.ReadOnce(ctx, sql, params, read)
	}
	return err
}

// ReadOnce runs a statement as the reader, without waiting for a turn; once more where the
// server turns out to have been restarted.
func (s *Server) ReadOnce(ctx context.Context, sql string, params Params, read func(Rows) error) error {
	use := func(ctx context.Context, c *Session, read func(Rows) error) error {
		if err := s.Admit(ctx, params["account"]); err != nil {
			return err
		}
		if err := c.readAs(ctx, c.reader, sql, params, read); err != nil || isInspecting(ctx) {
			return err
		}
		return s.confirmServer(ctx, c)
	}
	err := s.read(ctx, read, use)
	if errors.Is(err, errRestarted) {
		err = s.read(ctx, read, use)
	}
	return err
}

// Admit returns why nothing of an account, in the text form of a parameter, may be read, nil
// where it may.
func (s *Server) Admit(ctx context.Context, account string) error {
	if s.checks.Guard == nil || isInspecting(ctx) {
		return nil
	}
	return s.checks.Guard.Admit(account)
}

// ReadAsOwner runs a reading statement as the user who owns the tables, who may
// look into the system's as well.
func (s *Server) ReadAsOwner(ctx context.Context, sql string, params Params, read func(Rows) error) error {
	return s.read(ctx, read, func(ctx context.Context, c *Session, read func(Rows) error) error {
		return c.Read(ctx, sql, params, read)
	})
}

// read uses the session to read, and that with the next replica where there is one and a row was
// not read yet.
func (s *Server) read(ctx context.Context, read func(Rows) error, use func(context.Context, *Session, func(Rows) error) error) error {
	begun := false
	again := func(err error) bool {
		return !begun && (adlens.KindOf(err) == adlens.EngineUnavailable || isUnwritten(err))
	}
	return s.withSession(ctx, again, func(ctx context.Context, c *Session) error {
		return use(ctx, c, func(rows Rows) error { return read(countedRows{rows, &begun}) })
	})
}

// countedRows note whether there was a row.
type countedRows struct {
	Rows
	begun *bool
}

func (r countedRows) Next() bool {
	next := r.Rows.Next()
	*r.begun = *r.begun || next
	return next
}

// withSession uses the session. Where a server has replicas, the next one is used after an
// error for which that makes sense; the last one is waited for.
func (s *Server) withSession(ctx context.Context, again func(error) bool, use func(context.Context, *Session) error) error {
	for others := s.countReplicas() - 1; ; others-- {
		if others == 0 {
			ctx = context.WithValue(ctx, lastReplica{}, true)
		}
		c, err := s.Connect(ctx)
		if err == nil {
			err = use(ctx, c)
		}
		if err == nil || others <= 0 || ctx.Err() != nil || !again(err) {
			return err
		}
		if c != nil {
			s.dropSession(c)
		}
	}
}

// ReadTexts runs a statement of one text column on the system tables, into which
// only the owner may look.
func (s *Server) ReadTexts(ctx context.Context, sql string) (texts []string, err error) {
	err = s.ReadAsOwner(ctx, sql, nil, EachRow(func(scan Scan) error {
		var text string
		err := scan(&text)
		texts = append(texts, text)
		return err
	}))
	return texts, err
}

// Export runs a statement that reads much, as the owner: it has no deadline of
// its own and takes no turn from a request. It is not repeated once visit has
// seen a row.
func (s *Server) Export(ctx context.Context, sql string, params Params, visit func(Scan) error) error {
	return s.read(ctx, EachRow(visit), func(ctx context.Context, c *Session, read func(Rows) error) error {
		return c.Export(ctx, sql, params, read)
	})
}

// Exec runs a writing statement. It is not repeated where it is not known what it did.
func (s *Server) Exec(ctx context.Context, sql string, params Params) error {
	return s.write(ctx, sql, func(ctx context.Context, c *Session) error { return c.execStatement(ctx, sql, params) })
}

// replicaPatience is how long a replica may take to take a block, or to give the next row
// of an export: one that stands still would keep its caller, and with that the lock on an
// account, for as long as it does.
const replicaPatience = 5 * time.Minute

// Insert sends one block of columns, which is filled for each attempt.
func (s *Server) Insert(ctx context.Context, sql string, fillBatch func(Batch) error) error {
	return s.write(ctx, sql, func(ctx context.Context, c *Session) error {
		if s.IsReplicated() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, replicaPatience)
			defer cancel()
		}
		return c.insertBatch(ctx, sql, fillBatch)
	})
}

// write runs a writing statement, where there are replicas in its turn.
func (s *Server) write(ctx context.Context, sql string, use func(context.Context, *Session) error) error {
	attempt := func(ctx context.Context) error {
		return s.withSession(context.WithValue(ctx, searching{}, true), isUnwritten, use)
	}
	if s.IsReplicated() {
		return s.turns.writeInTurn(ctx, sql, attempt)
	}
	return attempt(withPromptness(ctx))
}

// Ping reports whether the server answers. It does not wait for its turn: a busy
// server is not a dead one.
func (s *Server) Ping(ctx context.Context) error {
	var one uint8
	return s.ReadOnce(ctx, "SELECT 1", nil, ScanInto(&one))
}

// handleError gives an error of a session its kind, and forgets a session with a server
// that is not there.
func (s *Server) handleError(ctx context.Context, c *Session, err error) error {
	if IsUnknown(err) && ctx.Value(verifying{}) == nil && s.countReplicas() < 2 {
		if other := s.verifySession(ctx, c); other != nil {
			s.dropSession(c)
			return other
		}
	}
	kind := KindOf(ctx, err)
	failed := &adlens.Error{Kind: kind, Err: c.nameReplica(err)}
	switch kind {
	case adlens.EngineUnavailable:
		// Of a statement that was ended, by KILL QUERY or in a stop, the next one tells
		// whether the server is there.
		if !isException(err, codeUnsatisfiedQuorumForPreviousWrite) && !isException(err, codeQueryWasCancelled) {
			s.dropSession(c)
		}
	case adlens.QueryTimeout:
		s.suspect(c)
	case adlens.Damaged:
		s.Alarm(ctx, failed)
	}
	return failed
}

// Alarm tells the guard of rows that were lost or cannot be read, except where
// the caller looks for such.
func (s *Server) Alarm(ctx context.Context, err error) {
	if s.checks.Guard != nil && !isInspecting(ctx) {
		s.checks.Guard.Alarm(err)
	}
}

type inspecting struct{}

// Inspecting returns a context for reading an account to find out what is wrong
// with it: withheld accounts are read, and damage raises no alarm.
func Inspecting(ctx context.Context) context.Context {
	return context.WithValue(ctx, inspecting{}, true)
}

// Watching returns a context in which damage raises the alarm again.
func Watching(ctx context.Context) context.Context { return context.WithValue(ctx, inspecting{}, nil) }

func isInspecting(ctx context.Context) bool { return ctx.Value(inspecting{}) != nil }
