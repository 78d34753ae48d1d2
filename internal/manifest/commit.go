package manifest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"
)

// Commit is a row of the record of commits. Inserting it is the only visible
// act of a writer: it makes the units live that were written under its number.
//
// A writer reserves its numbers before it reads anything, and a commit names
// the one on which it builds. From the greatest number backwards that chain
// alone is live. So an insert of a writer that has died, which the database
// carries out after the next writer has read the state, is in no chain and is
// never seen: the next writer's number is greater and names another base.
type Commit struct {
	Number uint32 // greater than every number that was reserved before
	Base   uint32 // the commit on which it builds; 0 for one that names all live units itself
	Rows   uint32 // how many units were written under the number
	Digest uint64 // of all units that are live with it; 0 where it was not computed
	At     time.Time
}

// Closed is the number of the commit that an account has while a backup is
// restored in its place. Every reader and writer reads the record of commits
// first, so nothing is answered of the rows that are cleared under it.
const Closed = math.MaxUint32

// ErrClosed is the error of an account that is closed.
var ErrClosed = errors.New("it is being restored from a backup; where no restore runs, finish it: adlens restore --from PLACE --account ID")

// Chain is the commits that are live, the newest first.
type Chain []Commit

// FollowChain returns the live commits: from the greatest number backwards to
// one that builds on nothing. A base that is missing is an error: the record
// lost rows.
func FollowChain(all []Commit) (Chain, error) {
	byNumber := make(map[uint32]Commit, len(all))
	var last uint32
	for _, c := range all {
		byNumber[c.Number] = c
		last = max(last, c.Number)
	}
	var chain Chain
	if last == Closed {
		return nil, ErrClosed
	}
	for number := last; number != 0; {
		c := byNumber[number]
		chain = append(chain, c)
		if _, ok := byNumber[c.Base]; c.Base >= number || c.Base != 0 && !ok {
			return chain, fmt.Errorf("the record of commits lacks number %d, on which number %d builds", c.Base, number)
		}
		number = c.Base
	}
	return chain, nil
}

// Head returns the newest live commit, the zero Commit before the first.
func (c Chain) Head() Commit {
	if len(c) == 0 {
		return Commit{}
	}
	return c[0]
}

// Root returns the number of the oldest live commit, 0 before the first. Rows
// of smaller numbers are not needed by anything that begins now.
func (c Chain) Root() uint32 {
	if len(c) == 0 {
		return 0
	}
	return c[len(c)-1].Number
}

// Has reports whether a commit is live.
func (c Chain) Has(number uint32) bool {
	return slices.ContainsFunc(c, func(live Commit) bool { return live.Number == number })
}

// Digest identifies the live units with all that the manifest says of them, and
// is never 0. A commit carries it, so that a manifest that lost or mixed rows is
// recognised wherever it is read.
func (m Manifest) Digest() uint64 {
	h := fnv.New64a()
	for _, kind := range Kinds {
		for _, e := range m.kinds[kind] {
			h.Write(e.Encode())
		}
	}
	return max(h.Sum64(), 1)
}

// OriginOf returns the origin of what a writer, who has a random token, commits under a
// number.
func OriginOf(token string, number uint32) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, number, " ", token)
	return max(h.Sum64(), 1)
}

// Encode writes all that the entry says of its rows in one unambiguous form. Its origin is
// not in it: servers of before that was noted compute the same digest.
func (e Entry) Encode() (b []byte) {
	b = make([]byte, 0, 64+8*len(e.Derived)+128*len(e.Sources))
	number := func(n uint64) { b = binary.LittleEndian.AppendUint64(b, n) }
	text := func(s string) {
		number(uint64(len(s)))
		b = append(b, s...)
	}
	for _, n := range []uint64{uint64(e.Kind), uint64(e.Slice.Marketplace), uint64(e.Slice.AdProduct), uint64(int64(e.Start)),
		uint64(e.Generation), e.Rows, uint64(len(e.Derived)), uint64(len(e.Sources))} {
		number(n)
	}
	for _, n := range e.Derived {
		number(n)
	}
	for _, s := range e.Sources {
		text(s.ReportID)
		number(uint64(s.GeneratedAt.UnixNano()))
		text(s.SHA256)
		number(uint64(s.Days))
	}
	// Entries of before columns were noted keep their form, and their digest.
	if slices.ContainsFunc(e.Sources, func(s Source) bool { return s.Columns != "" }) {
		for _, s := range e.Sources {
			text(s.Columns)
		}
	}
	return b
}

// Counted reports whether the entries say how many rows each of their tables
// has: those of backups from before there were commits do not.
func (m Manifest) Counted() bool {
	return !slices.ContainsFunc(m.kinds[Month], func(e Entry) bool { return len(e.Derived) == 0 })
}
