package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"

	"adlens"
	"adlens/internal/clickhouse/conn"
	"adlens/internal/clickhouse/schema"
	"adlens/internal/query"
	"adlens/internal/tables"
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

func (s *Shard) readIdentity(ctx context.Context) (identity, error) {
	i := identity{of: map[uint16]string{}}
	names, err := schema.ReadTables(ctx, s.Server)
	if conn.IsUnknown(err) {
		err = nil
	}
	if i.blank = !slices.Contains(names, "migrations"); err != nil || !slices.Contains(names, "identities") {
		return i, err
	}
	err = s.ReadAsOwner(ctx, "SELECT number, groupArray(id), argMax(id, made_at) FROM identities GROUP BY number", nil, conn.EachRow(func(scan conn.Scan) error {
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

// hasID reports whether a database is one that was known.
func (i identity) hasID(known string) bool { return slices.Contains(i.ids, known) }

// describeState says what there is, for people.
func (i identity) describeState() string {
	switch {
	case i.blank:
		return "is empty"
	case i.id == "":
		return "has no identity"
	}
	return "is another one, " + i.id
}

// recognizeServer makes sure that a server is the one that it is taken for, before
// anything is made there, and returns what it says of itself. It changes nothing.
func (s *Shard) recognizeServer(ctx context.Context) (identity, error) {
	is, err := s.readIdentity(ctx)
	id := s.knownID()
	if err == nil && id != "" && !is.hasID(id) {
		return is, conn.Refusal("the database at %s %s; a moment ago it was %s: put that one back", s.Describe(), is.describeState(), id)
	}
	if err != nil || id != "" {
		return is, err
	}
	if s == s.cluster.Home() {
		return is, s.recognizeHome(is)
	}
	return is, s.recognizeShard(ctx, is)
}

func (s *Shard) recognizeHome(is identity) error {
	memory := s.cluster.memory
	known, err := memory.Read()
	if err != nil || known == "" || is.hasID(known) {
		return err
	}
	return conn.Refusal("the database of %s %s, and %s says that it has accounts and is %s: put that database back as it was; or restore a backup into a new data directory and a new database; or, where you mean to begin with this one, move %s away",
		s.Describe(), is.describeState(), memory.Path, known, memory.Path)
}

func (s *Shard) recognizeShard(ctx context.Context, is identity) error {
	first := s.cluster.Home()
	if err := first.MakeReady(ctx); err != nil {
		return err
	}
	home, err := first.readIdentity(ctx)
	if err != nil {
		return err
	}
	known := home.of[s.Number]
	if id := is.of[first.Number]; id != "" && home.id != "" && !home.hasID(id) {
		return conn.Refusal("the database at %s belongs to a cluster whose first shard is %s; the first shard is %s: put the right servers there", s.Describe(), id, home.id)
	}
	if is.hasID(known) {
		return nil
	}
	accounts, err := s.cluster.placements.accountsOn(ctx, s)
	if err != nil || len(accounts) == 0 {
		return err
	}
	if known == "" && !is.blank { // made before there were identities
		held, err := s.TablesWith(ctx, tables.OfShards(), "")
		if err != nil || len(held) > 0 {
			return err
		}
		return conn.Refusal("the database at %s has no row of any account, and %s on it: %s", s.Describe(), areOn(accounts), whatHelps)
	}
	return conn.Refusal("the database at %s %s, and %s on shard %d, which was %s: %s", s.Describe(), is.describeState(), areOn(accounts), s.Number, orUnknown(known), whatHelps)
}

const whatHelps = "put the right server back; or restore each of these accounts from a backup to another shard, adlens restore --from PLACE --account ID, or give up one that no backup has, adlens account move ID --shard N --lost, and then this server is taken as a new one"

func orUnknown(id string) string {
	if id == "" {
		return "never opened"
	}
	return id
}

func areOn(accounts []string) string {
	names := adlens.JoinFew(accounts, 5, ", ")
	if len(accounts) == 1 {
		return "the account " + names + " is"
	}
	return "the accounts " + names + " are"
}

// assignIdentity gives a server its identity where it has none, and has it remembered. is
// is what it said of itself before its schema was brought up to date.
func (s *Shard) assignIdentity(ctx context.Context, is identity) (err error) {
	if is.id == "" {
		is, err = s.readIdentity(ctx) // another process may have been first
	}
	if err == nil && is.id == "" {
		if err = s.noteIdentity(ctx, own, rand.Text()); err == nil {
			is, err = s.readIdentity(ctx) // another process may have been first
		}
	}
	if err != nil {
		return err
	}
	s.id.Store(is.id)
	first := s.cluster.Home()
	if s == first {
		if known, err := s.cluster.memory.Read(); known != "" || err != nil {
			return err // it was recognized by that
		}
		// Counting reads no row: a server starts where accounts cannot be read.
		accounts, err := conn.Value[uint64](ctx, s, "SELECT count() FROM accounts", nil)
		if err == nil && accounts > 0 {
			err = s.cluster.RememberIdentity()
		}
		return err
	}
	home, err := first.readIdentity(ctx)
	if err == nil && !is.hasID(home.of[s.Number]) {
		err = first.noteIdentity(ctx, s.Number, is.id)
	}
	if err == nil && !home.hasID(is.of[first.Number]) {
		err = s.noteIdentity(ctx, first.Number, home.id)
	}
	return err
}

// noteIdentity notes an identity after all that are noted: by a clock that was ahead once, an
// earlier one would go on to be the last.
func (s *Shard) noteIdentity(ctx context.Context, shard uint16, id string) error {
	return s.Exec(ctx, `
INSERT INTO identities
SELECT {number:UInt16}, {id:String}, greatest(now64(9, 'UTC'), max(made_at) + INTERVAL 1 NANOSECOND)
FROM identities
WHERE number = {number:UInt16}`, conn.Params{"number": conn.Number(shard), "id": query.Text(id)})
}

// knownID is the identity that the database had when it was last looked at.
func (s *Shard) knownID() string {
	id, _ := s.id.Load().(string)
	return id
}

// Identity returns which database it is: of a cluster, its first shard.
func (c *Cluster) Identity() string { return c.Home().knownID() }

// SettleIdentity looks again which database it is: of processes that opened it first at
// once, one may have seen its own identity alone, and another one counts.
func (c *Cluster) SettleIdentity(ctx context.Context) error {
	first := c.Home()
	is, err := first.readIdentity(ctx)
	if err == nil && is.hasID(first.knownID()) {
		first.id.Store(is.id)
	}
	return err
}

// RememberIdentity writes down, away from the database, which one it is. It has
// accounts from now on.
func (c *Cluster) RememberIdentity() error {
	id := c.Identity()
	if id == "" {
		return nil
	}
	return c.memory.Keep(id)
}

// verifySession makes sure that a session leads to the database that was there before, with
// the tables of this version.
func (s *Shard) verifySession(ctx context.Context, session *conn.Session) error {
	id := s.knownID()
	if id == "" && s.IsReplicated() {
		return requireSteps(ctx, session)
	}
	if id == "" {
		return nil
	}
	now := identity{}
	err := session.Read(ctx, "SELECT groupArray(id), min(id) FROM identities WHERE number = 0", nil, conn.ScanInto(&now.ids, &now.id))
	if now.blank = conn.IsUnknown(err); err != nil && !now.blank {
		return err
	}
	if now.blank && s.IsReplicated() {
		return conn.ErrOutdated // another is used; where all are empty, the shard is refused once it is prepared again
	}
	if now.hasID(id) {
		return cmp.Or(s.NoteRefusal(nil), requireSteps(ctx, session))
	}
	return s.NoteRefusal(conn.Refusal("the database at %s is not the one that was there before: it %s, and was %s; put that one back", s.Describe(), now.describeState(), id))
}

// requireSteps returns conn.ErrOutdated where a server lacks steps of this version.
func requireSteps(ctx context.Context, session *conn.Session) error {
	newest, err := schema.Newest()
	if err != nil {
		return err
	}
	var applied uint32
	err = session.Read(ctx, "SELECT max(number) FROM migrations", nil, conn.ScanInto(&applied))
	if conn.IsUnknown(err) || err == nil && applied < newest {
		return conn.ErrOutdated
	}
	return err
}

// Recognize makes sure that all servers are those that they are taken for, and
// returns what is wrong with each that is not. It changes nothing.
func (c *Cluster) Recognize(ctx context.Context) (wrong []error) {
	for _, s := range c.shards {
		if _, err := s.recognizeServer(ctx); conn.IsRefusal(err) {
			wrong = append(wrong, s.Name(err))
		}
	}
	return wrong
}

// Lacking returns why a replica is not used of each server whose others have all tables.
func (c *Cluster) Lacking() (lacking []error) {
	for _, s := range c.shards {
		if err := s.lacking.Load(); err != nil && *err != nil {
			lacking = append(lacking, s.Name(*err))
		}
	}
	return lacking
}

// Refused returns why nothing is used of each server that is not the one that its
// accounts are on.
func (c *Cluster) Refused() (refused []error) {
	for _, s := range c.shards {
		if err := s.Refused(); err != nil {
			refused = append(refused, s.Name(err))
		}
	}
	return refused
}
