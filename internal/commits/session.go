package commits

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"adlens"
	"adlens/internal/flight"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

const (
	// reserved is how many numbers a session takes at a time.
	reserved = 1024
	// longestChain is how many commits may build on one that names all live
	// units. Then one names them all again, and older rows can go.
	longestChain = 64
	// skipped is how many numbers are passed over where blocks of numbers that
	// were taken are not on record any more.
	skipped = 1 << 20
	// confirmPatience is how long a store may take to come back, so that a writer
	// learns what became of its commit.
	confirmPatience = 30 * time.Second
)

// Session is the work of an account's only writer, from taking the account's
// lock to giving it back. Its methods are not for concurrent use.
type Session struct {
	port    tables.Port
	account string
	token   string

	first, next, end uint32               // the numbers of this session: where they begin, the next free one, the end of the last block
	blocks           []tables.Reservation // as Begin read them, until the first numbers are taken
	record           []manifest.Commit    // as it was read last
	chain            manifest.Chain
	manifest         manifest.Manifest

	orderly bool // it is known what became of every number before first
	open    int  // commits that were begun, and of which it is not known that they are live
	certain bool // a commit of this session is live: no other writer had taken over by then
	dead    []manifest.Entry
}

// Begin opens a session. Where every earlier one ended in order, it takes
// numbers when it needs the first one: a load that finds nothing to change
// writes nothing. Else numbers are reserved before anything is read, so that
// whatever an earlier writer still commits has a smaller number, and a fence is
// committed: from then on no late insert of that writer can become live.
func Begin(ctx context.Context, port tables.Port, account, token string) (*Session, error) {
	s := &Session{port: port, account: account, token: token}
	orderly, err := s.beginOrderly(ctx)
	if orderly || err != nil {
		return s, err
	}
	for used := uint32(0); ; {
		if err := s.takeNumbersAbove(ctx, used); err != nil {
			return nil, err
		}
		settled, err := port.Settled().Read(ctx, account)
		if err != nil {
			return nil, err
		}
		if err := s.refreshState(ctx); err != nil {
			return s, err
		}
		known := newestSettled(settled)
		s.orderly = s.orderly && known >= s.first
		// Numbers in use that are greater: another writer was faster, or the table
		// of blocks lost rows.
		if used = max(known-1, s.manifest.Version, newestGeneration(s.manifest)); used < s.first {
			break
		}
		s.orderly = false
	}
	if s.orderly {
		return s, nil
	}
	// A fence on a record that lost its newest commits would hide the loss.
	seals, err := port.Seals().Read(ctx, account)
	if err != nil {
		return s, err
	}
	if lost := lostCommits(s.chain, seals); len(lost) > 0 {
		return s, s.lostError(ctx, lost)
	}
	return s, s.commitFence(ctx)
}

// beginOrderly reads what is live where every number that was ever reserved is
// settled, and reports whether that is so. What is settled is read first: a
// writer settles its numbers after its last commit.
func (s *Session) beginOrderly(ctx context.Context) (bool, error) {
	var settled []tables.Settled
	err := flight.Together(func() (err error) {
		settled, err = s.port.Settled().Read(ctx, s.account)
		return err
	}, func() (err error) {
		s.blocks, err = s.port.Reservations().Read(ctx, s.account)
		return err
	})
	if err != nil {
		return false, err
	}
	if s.first = firstFree(s.blocks); s.first != newestSettled(settled) {
		return false, nil
	}
	if err := s.refreshState(ctx); err != nil {
		return false, err
	}
	s.orderly = max(s.manifest.Version, newestGeneration(s.manifest)) < s.first
	return s.orderly, nil
}

// takeFirstNumbers reserves numbers in a session that began without. Where
// another writer has reserved some meanwhile, a fence keeps it out, unless it
// has committed.
func (s *Session) takeFirstNumbers(ctx context.Context) error {
	seen := s.first
	if err := s.takeNumbersAbove(ctx, 0); err != nil || s.first == seen {
		return err
	}
	s.orderly = false
	if err := s.Confirm(ctx); err != nil {
		return err
	}
	return s.commitFence(ctx)
}

func firstFree(blocks []tables.Reservation) uint32 {
	first := uint32(1)
	for _, r := range blocks {
		first = max(first, r.Next)
	}
	return first
}

// lostError is the error of an account that lost something, unless another
// writer has taken over: then what seems to be lost is what it has added.
func (s *Session) lostError(ctx context.Context, faults []string) error {
	if err := s.Confirm(ctx); err != nil {
		return err
	}
	return Damaged(s.account, faults)
}

// RequireWhole refuses an account that lost commits, or rows of some tables.
func (s *Session) RequireWhole(ctx context.Context, seals []tables.Seal, counts []tables.Count, of ...string) error {
	if faults := append(lostCommits(s.chain, seals), RowFaults(s.manifest.Entries(), counts, of...)...); len(faults) > 0 {
		return s.lostError(ctx, faults)
	}
	return s.skipUsed(ctx, counts)
}

// RequireRows refuses an account of which some live entries lost rows of some tables.
func (s *Session) RequireRows(ctx context.Context, live []manifest.Entry, counts []tables.Count, of ...string) error {
	if faults := RowFaults(live, counts, of...); len(faults) > 0 {
		return s.lostError(ctx, faults)
	}
	return nil
}

// takeNumbersAbove begins the session's numbers above one that is in use.
func (s *Session) takeNumbersAbove(ctx context.Context, used uint32) error {
	s.next, s.end, s.orderly = 0, 0, used == 0
	err := s.reserveNumbers(ctx, used)
	s.first = s.next
	return err
}

func newestGeneration(m manifest.Manifest) (newest uint32) {
	for _, e := range m.Entries() {
		newest = max(newest, e.Generation)
	}
	return newest
}

// skipUsed makes sure that no number is given out that rows are stored under:
// those of a writer that died, and whose block of numbers was lost.
func (s *Session) skipUsed(ctx context.Context, counts []tables.Count) error {
	var used uint32
	for _, c := range counts {
		used = max(used, c.Generation)
	}
	if used < max(s.first, s.next) {
		return nil
	}
	if err := s.takeNumbersAbove(ctx, used); err != nil {
		return err
	}
	if err := s.Confirm(ctx); err != nil {
		return err
	}
	return s.commitFence(ctx)
}

// Manifest returns what is live: what was read at the beginning, and the
// session's own commits.
func (s *Session) Manifest() manifest.Manifest { return s.manifest }

// Chain returns the live commits as the session knows them.
func (s *Session) Chain() manifest.Chain { return s.chain }

// Number returns a number that was never used.
func (s *Session) Number(ctx context.Context) (uint32, error) {
	var err error
	switch {
	case s.end == 0:
		err = s.takeFirstNumbers(ctx)
	case s.next == s.end:
		err = s.reserveNumbers(ctx, 0)
	}
	if err != nil {
		return 0, err
	}
	s.next++
	return s.next - 1, nil
}

// BeginCommit returns the number of a commit. It is smaller than every other
// number that is taken for the commit, and greater than all before.
func (s *Session) BeginCommit(ctx context.Context) (uint32, error) {
	number, err := s.Number(ctx)
	if err == nil {
		s.open++
	}
	return number, err
}

// reserveNumbers takes a block of numbers, all greater than one that is known to be in
// use. Further blocks of a session have to follow its last one: where they do not, another
// writer has begun in between, and with greater numbers this one would outdo it.
func (s *Session) reserveNumbers(ctx context.Context, used uint32) error {
	known := s.blocks
	s.blocks = nil
	mine, err := takeBlock(ctx, s.port, s.account, known, func(first uint32) (tables.Reservation, error) {
		if s.end != 0 && first != s.end {
			return tables.Reservation{}, errTakenOver
		}
		left := math.MaxUint32 - max(first, used)
		if used >= first {
			first, left = used+skipped, left-min(left, skipped)
		}
		if left < reserved {
			return tables.Reservation{}, errNoNumbers(s.account)
		}
		return tables.Reservation{First: first, Next: first + reserved, Token: s.token}, nil
	})
	if err == nil {
		s.next, s.end = mine.First, mine.Next
	}
	return err
}

// takeBlock takes a block of numbers that begins at the first free one, or above. Two
// writers that read the same greatest number write the same block; each reads the blocks
// once more, and leaves its own where it sees another's there or above, so at most one
// keeps it, however old what it read first is. Where it does not see its own, the account has
// moved to another shard meanwhile, where no other writer would see it either. known are the
// blocks where they were read.
func takeBlock(ctx context.Context, port tables.Port, account string, known []tables.Reservation, block func(first uint32) (tables.Reservation, error)) (mine tables.Reservation, err error) {
	for ; ; known = nil {
		if len(known) == 0 {
			if known, err = port.Reservations().Read(ctx, account); err != nil {
				return mine, err
			}
		}
		if mine, err = block(firstFree(known)); err != nil {
			return mine, err
		}
		if err := port.Reservations().Append(ctx, account, mine); err != nil {
			return mine, err
		}
		all, err := port.Reservations().Read(ctx, account)
		if err != nil || slices.Contains(all, mine) && !isOutdone(all, mine) {
			return mine, err
		}
	}
}

// isOutdone reports whether another writer has taken numbers of a block, or above it.
func isOutdone(all []tables.Reservation, mine tables.Reservation) bool {
	return slices.ContainsFunc(all, func(r tables.Reservation) bool { return r.Token != mine.Token && mine.First < r.Next })
}

func newestSettled(all []tables.Settled) uint32 {
	newest := uint32(1) // of an account of which no number was ever taken
	for _, settled := range all {
		newest = max(newest, settled.Next)
	}
	return newest
}

func (s *Session) refreshState(ctx context.Context) error {
	state, err := Read(ctx, s.port, s.account)
	s.chain, s.manifest = state.Chain, state.Manifest
	return err
}

// commitFence commits nothing under a number of its own, so that every smaller number
// that is not live by now never will be. It fails where it is not what is live
// then: another writer has begun meanwhile. It is sealed as a commit is: what is live by
// then may have no seal of its own, and who builds on it is told that it is loaded.
func (s *Session) commitFence(ctx context.Context) error {
	fence, err := s.writeFence(ctx, s.chain.Head())
	if err != nil {
		return err
	}
	s.chain = s.extendChain(fence)
	if err := s.Confirm(ctx); err != nil {
		return err
	}
	return s.sealCommit(ctx, fence.Number)
}

func (s *Session) writeFence(ctx context.Context, head manifest.Commit) (fence manifest.Commit, err error) {
	number, err := s.Number(ctx)
	if err != nil {
		return fence, err
	}
	fence = manifest.Commit{Number: number, Base: head.Number, Rows: head.Rows, Digest: head.Digest}
	return fence, s.port.Commits().Append(ctx, s.account, fence)
}

// sealCommit has a later loss of a commit noticed.
func (s *Session) sealCommit(ctx context.Context, number uint32) error {
	return s.port.Seals().Append(ctx, s.account, tables.Seal{Number: number})
}

// Confirm returns an error where another writer has taken over, or may have:
// then what the session read may not be what is live.
func (s *Session) Confirm(ctx context.Context) error {
	before := s.first
	if s.end == 0 {
		before-- // the number is not the session's yet
	}
	chain, _, contested, err := s.readChain(ctx, before)
	if err == nil && (contested || chain.Head().Number != s.chain.Head().Number) {
		err = errTakenOver
	}
	return err
}

var errTakenOver = errors.New("another process took the account's lock over meanwhile; run the command again")

// ErrUnknown is the error of a commit of which it cannot be known yet whether
// it is live, or stays so: the store does not answer, another writer has taken over,
// or it could not be sealed.
var ErrUnknown = errors.New("it is not known yet whether the load was made visible")

// Commit makes entries live under a number of BeginCommit, all at once. The
// rows of their generations are in the store. After an error that is not
// ErrUnknown nothing of the commit is live, and nothing ever will be.
func (s *Session) Commit(ctx context.Context, number uint32, entries []manifest.Entry) error {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i].Origin = manifest.OriginOf(s.token, number)
	}
	next := s.manifest.With(number, entries...)
	c := manifest.Commit{Number: number, Base: s.chain.Head().Number}
	if len(s.chain) >= longestChain || len(s.chain) == 0 {
		c.Base, entries = 0, next.Entries()
	}
	rows := make([]tables.Unit, len(entries))
	for i, e := range entries {
		rows[i] = tables.Unit{Number: number, Entry: e}
	}
	c.Rows, c.Digest = uint32(next.Len()), next.Digest()
	if err := s.port.Units().Append(ctx, s.account, rows...); err != nil {
		return err
	}
	failed := s.port.Commits().Append(ctx, s.account, c)
	if err := s.confirmCommit(ctx, c, failed); err != nil {
		return err
	}
	s.certain = true
	s.retireReplaced(entries)
	s.chain, s.manifest = s.extendChain(c), next
	if err := s.sealCommit(ctx, number); err != nil {
		return unknownError(err, nil) // without a seal it may be lost unnoticed, and must not be noted as loaded
	}
	s.open--
	return nil
}

// extendChain returns the chain with one more commit.
func (s *Session) extendChain(c manifest.Commit) manifest.Chain {
	if c.Base == 0 {
		return manifest.Chain{c}
	}
	return append(manifest.Chain{c}, s.chain...)
}

// Discard remembers rows that were written under a number and will not be part of
// a commit.
func (s *Session) Discard(e manifest.Entry) { s.dead = append(s.dead, e) }

// retireReplaced remembers what entries have replaced.
func (s *Session) retireReplaced(entries []manifest.Entry) {
	for _, e := range entries {
		if before, ok := s.manifest.Find(e.Unit); ok && before.Generation != e.Generation {
			s.dead = append(s.dead, before)
		}
	}
}

// confirmCommit finds out what became of a commit. Only the store knows: after an
// error the insert may have taken place or may yet do so, and after a success
// another writer may have taken over. failed is the error of the insert.
func (s *Session) confirmCommit(ctx context.Context, c manifest.Commit, failed error) error {
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), confirmPatience)
	defer cancel()
	chain, record, contested, err := s.readChain(looking, c.Number)
	if err == nil && !contested && chain.Head().Number < c.Number {
		// The insert is still on its way, or was refused. A fence decides it.
		chain, record, contested, err = s.decideCommit(looking, chain, c.Number)
	}
	if err == nil {
		s.record = record
	}
	switch {
	case err != nil:
		return unknownError(failed, err)
	case contested || chain.Head().Number < c.Number:
		return unknownError(failed, nil)
	case chain.Has(c.Number):
		return nil
	case chain.Root() > c.Number && chain[len(chain)-1].Rows >= c.Rows:
		// A later commit names all units, and the chain begins with it: whether it
		// was built on this one cannot be seen any more, unless it has too few.
		return unknownError(failed, nil)
	}
	s.chain = chain
	return rejectedError(failed)
}

// decideCommit fences a commit off that did not arrive, and looks once more.
func (s *Session) decideCommit(ctx context.Context, chain manifest.Chain, number uint32) (manifest.Chain, []manifest.Commit, bool, error) {
	fence, err := s.writeFence(ctx, chain.Head())
	if err != nil {
		return chain, nil, false, err
	}
	chain, record, contested, err := s.readChain(ctx, number)
	if err == nil && chain.Has(fence.Number) {
		err = s.sealCommit(ctx, fence.Number)
	}
	return chain, record, contested, err
}

// readChain reads the live chain, and then whether a writer has reserved numbers
// above it that has committed nothing yet. Such a writer may have read another
// state, and its fence is going to make that one live: until then nothing is
// certain. Who reserves after this look reads the chain that it has read, so
// the order of the two is what a certain answer rests on.
func (s *Session) readChain(ctx context.Context, number uint32) (chain manifest.Chain, record []manifest.Commit, contested bool, err error) {
	record, err = readRecord(ctx, s.port, s.account)
	if err != nil {
		return nil, nil, false, err
	}
	if chain, err = manifest.FollowChain(record); err != nil {
		return nil, nil, false, err
	}
	reservations, err := s.port.Reservations().Read(ctx, s.account)
	newest := max(number, chain.Head().Number)
	for _, r := range reservations {
		contested = contested || r.Token != s.token && r.First > newest
	}
	return chain, record, contested, err
}

// unknownError is the error of a commit that may be live or become so.
func unknownError(failed, looked error) error {
	err := errors.Join(failed, looked)
	if err == nil {
		err = errTakenOver
	}
	kind := adlens.KindOf(err)
	if adlens.KindOf(looked) == adlens.DiskFull {
		kind = adlens.DiskFull // an engine that is gone because of it is started again
	}
	return &adlens.Error{Kind: kind, Err: fmt.Errorf("%w: %w", ErrUnknown, err)}
}

// rejectedError is the error of a commit that is not live and never will be.
func rejectedError(failed error) error {
	if failed != nil {
		return failed
	}
	return errors.New("another process took the account's lock over and has loaded since; nothing of this load was made visible")
}
