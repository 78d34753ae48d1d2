package clickhouse

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/query"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// A database that was emptied, or put in the place of another one, answers zeros
// and refuses nothing. So each has a random identity, which others remember: the
// first shard that of each shard, each shard that of the first, and a file in the
// data directory that of the only database or of the first shard.

// own is the number of a database's own identity.
const own = 0

// identity is what a server says of itself. Nothing is made to find it out.
type identity struct {
	id    string            // "" where it was never given one
	ids   []string          // of a database that several opened first at once
	of    map[uint16]string // what it remembers of others, by their numbers
	blank bool              // there are no tables
}

func (s *server) identity(ctx context.Context) (identity, error) {
	i := identity{of: map[uint16]string{}}
	tables, err := s.tables(ctx)
	if isUnknown(err) {
		err = nil
	}
	if i.blank = !slices.Contains(tables, "migrations"); err != nil || !slices.Contains(tables, "identities") {
		return i, err
	}
	err = s.asOwner(ctx, "SELECT number, groupArray(id), argMax(id, made_at) FROM identities GROUP BY number", nil, each(func(scan func(...any) error) error {
		var number uint16
		var all []string
		var last string
		err := scan(&number, &all, &last)
		if i.of[number] = last; number == own {
			i.ids, i.id = all, slices.Min(all)
		}
		return err
	}))
	return i, err
}

const unknownTable = 60 // UNKNOWN_TABLE

// isUnknown reports whether a server lacks the database or a table.
func isUnknown(err error) bool {
	var exception *clickhouse.Exception
	return errors.As(err, &exception) && (exception.Code == unknownDatabase || exception.Code == unknownTable)
}

// notTheOne is a server that is not the one that it is taken for.
type notTheOne struct{ text string }

func (n *notTheOne) Error() string { return n.text }

func refusal(format string, args ...any) error {
	return &adlens.Error{Kind: adlens.Damaged, Err: &notTheOne{fmt.Sprintf(format, args...)}}
}

func isRefusal(err error) bool {
	var n *notTheOne
	return errors.As(err, &n)
}

// was reports whether a database is one that was known.
func (i identity) was(known string) bool { return slices.Contains(i.ids, known) }

// has says what there is, for people.
func (i identity) has() string {
	switch {
	case i.blank:
		return "is empty"
	case i.id == "":
		return "has no identity"
	}
	return "is another one, " + i.id
}

// recognize makes sure that a server is the one that it is taken for, before
// anything is made there. It changes nothing.
func (db *DB) recognize(ctx context.Context, s *server) (identity, error) {
	is, err := s.identity(ctx)
	if err == nil && s.id != "" && !is.was(s.id) {
		return is, refusal("the database at %s %s; a moment ago it was %s: put that one back", s.place(), is.has(), s.id)
	}
	if err != nil || s.id != "" {
		return is, err
	}
	if s == db.home {
		return is, db.recognizeHome(is)
	}
	return is, db.recognizeShard(ctx, s, is)
}

func (db *DB) recognizeHome(is identity) error {
	known, err := db.memory.read()
	if err != nil || known == "" || is.was(known) {
		return err
	}
	return refusal("the database of %s %s, and %s says that it has accounts and is %s: put that database back as it was; or restore a backup into a new data directory and a new database; or, where you mean to begin with this one, move %s away",
		db.home.place(), is.has(), db.memory.Path, known, db.memory.Path)
}

func (db *DB) recognizeShard(ctx context.Context, s *server, is identity) error {
	if err := db.home.ready(ctx); err != nil {
		return err
	}
	home, err := db.home.identity(ctx)
	if err != nil {
		return err
	}
	known := home.of[s.number]
	if first := is.of[db.home.number]; first != "" && home.id != "" && !home.was(first) {
		return refusal("the database at %s belongs to a cluster whose first shard is %s; the first shard is %s: put the right servers there", s.place(), first, home.id)
	}
	if is.was(known) {
		return nil
	}
	accounts, err := db.placedOn(ctx, s)
	if err != nil || len(accounts) == 0 {
		return err
	}
	if known == "" && !is.blank { // made before there were identities
		tables, err := tablesWith(ctx, s, leavable, "")
		if err != nil || len(tables) > 0 {
			return err
		}
		return refusal("the database at %s has no row of any account, and %s on it: %s", s.place(), areOn(accounts), whatHelps)
	}
	return refusal("the database at %s %s, and %s on shard %d, which was %s: %s", s.place(), is.has(), areOn(accounts), s.number, orUnknown(known), whatHelps)
}

const whatHelps = "put the right server back; or restore each of these accounts from a backup to another shard, adlens restore --from PLACE --account ID, and then this server is taken as a new one"

func orUnknown(id string) string {
	if id == "" {
		return "never opened"
	}
	return id
}

func areOn(accounts []string) string {
	const most = 5
	names := strings.Join(accounts[:min(most, len(accounts))], ", ")
	if more := len(accounts) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	if len(accounts) == 1 {
		return "the account " + names + " is"
	}
	return "the accounts " + names + " are"
}

// placedOn are the accounts that are on a shard.
func (db *DB) placedOn(ctx context.Context, s *server) ([]string, error) {
	return collect(ctx, db.home, "SELECT account_id FROM placements GROUP BY account_id HAVING argMax(shard, version) = {shard:UInt16} ORDER BY account_id",
		Params{"shard": number(uint32(s.number))}, func(scan func(...any) error) (id string, err error) {
			err = scan(&id)
			return id, err
		})
}

// identify gives a server its identity where it has none, and has it remembered.
func (db *DB) identify(ctx context.Context, s *server) error {
	is, err := s.identity(ctx)
	if err == nil && is.id == "" {
		if err = s.note(ctx, own, rand.Text()); err == nil {
			is, err = s.identity(ctx) // another process may have been first
		}
	}
	if err != nil {
		return err
	}
	s.id = is.id
	if s == db.home {
		// Counting reads no row: a server starts where accounts cannot be read.
		accounts, err := collect(ctx, s, "SELECT count() FROM accounts", nil, func(scan func(...any) error) (n uint64, err error) {
			err = scan(&n)
			return n, err
		})
		if err == nil && accounts[0] > 0 {
			err = db.memory.keep(s.id)
		}
		return err
	}
	home, err := db.home.identity(ctx)
	if err == nil && !is.was(home.of[s.number]) {
		err = db.home.note(ctx, s.number, is.id)
	}
	if err == nil && !home.was(is.of[db.home.number]) {
		err = s.note(ctx, db.home.number, home.id)
	}
	return err
}

func (s *server) note(ctx context.Context, shard uint16, id string) error {
	return s.exec(ctx, "INSERT INTO identities SELECT {number:UInt16}, {id:String}, now64(9)", Params{"number": number(uint32(shard)), "id": query.Text(id)})
}

// place is where a server is, for people.
func (s *server) place() string {
	if address := s.address(); address != "" {
		return address
	}
	return "the engine"
}

// stillItself makes sure that connections lead to the database that was there
// before.
func (s *server) stillItself(ctx context.Context, p *pool) error {
	if s.id == "" {
		return nil
	}
	now := identity{}
	err := s.ask(context.WithValue(ctx, verifying{}, true), p, p.writer, "SELECT groupArray(id), min(id) FROM identities WHERE number = 0", nil,
		each(func(scan func(...any) error) error { return scan(&now.ids, &now.id) }))
	if now.blank = isUnknown(err); err != nil && !now.blank {
		return err
	}
	if now.was(s.id) {
		return s.refuse(nil)
	}
	return s.refuse(refusal("the database at %s is not the one that was there before: it %s, and was %s; put that one back", s.place(), now.has(), s.id))
}

type verifying struct{}

// refuse notes why nothing of a server is used, nil where it is.
func (s *server) refuse(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refused = nil; isRefusal(err) {
		s.refused = s.named(err)
	}
	return err
}

// Recognize makes sure that all servers are those that they are taken for, and
// returns what is wrong with each that is not. It changes nothing.
func (db *DB) Recognize(ctx context.Context) (wrong []error) {
	for _, s := range db.shards {
		if _, err := db.recognize(ctx, s); isRefusal(err) {
			wrong = append(wrong, s.named(err))
		}
	}
	return wrong
}
