package simulation

import (
	"context"
	"slices"
	"strings"
	"time"

	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// Broken is a fault of the program that can be switched on, to see that the
// simulation finds it. Each lies between the program and the store, so nothing
// of the program knows of it.
type Broken string

// The faults of the program.
const (
	NoFence           Broken = "A writer that finds the work of a dead one does not fence it off"
	GreatestWins      Broken = "Of a unit the greatest number wins, whether its commit is in the chain or not"
	BelieveNumbers    Broken = "Numbers are used without a second look at who else took them"
	BelieveFailures   Broken = "A load whose commit had no answer is reported as not visible"
	BelieveSuccesses  Broken = "A commit that was answered is believed although another writer has taken over"
	IgnoreSeals       Broken = "Lost commits are not noticed: seals are not read"
	BelieveRows       Broken = "An account is read without a look for lost rows"
	BelieveUnits      Broken = "What the record says is not compared with the digest of its commit"
	CollectAtOnce     Broken = "Dead rows are deleted while they may be read"
	CollectLive       Broken = "Rows of the newest generation are deleted with the dead ones"
	CommitFirst       Broken = "A commit is written before the units that it is about"
	NumbersForEver    Broken = "Products keep numbers of loads that are not live"
	LedgerFirst       Broken = "Files are noted as loaded before they are"
	CopyAll           Broken = "Days that a newer report restates are copied as well"
	AnyOfEqualReports Broken = "Of two reports of one time, the one that is loaded last wins"
	FirstObject       Broken = "Of a report's objects the one that is loaded first counts"
	RatesAlone        Broken = "A new rate does not convert what is held"
	ListsApart        Broken = "A reading replaces campaigns without their ad groups and ads"
	OlderLists        Broken = "An older list replaces a newer one"
	SmallUncounted    Broken = "Lost rows of small tables are not noticed"
	BuildOnLosses     Broken = "A load takes over what is left of rows that were lost"
	BuildOnLater      Broken = "A load takes over what is left of rows that were lost since it began"
	DamageForAll      Broken = "Damage to one account is damage to all"
	RowsOfAll         Broken = "Rows of a generation are read of all accounts"
	TrimLive          Broken = "The record of commits is cut above the commit that names all units"
	KeysByClock       Broken = "Of a key's changes the one with the latest clock counts"
	KeptKeys          Broken = "A key that a server has in memory is not looked up again"
	NoMark            Broken = "A change of a key leaves no mark"
	UnmarkedCommit    Broken = "A commit leaves no mark"
	SuspectsOut       Broken = "An address that sent wrong keys is refused with valid ones too"
	CountBehind       Broken = "The day's count is stored after requests were let in"
	CountForgotten    Broken = "The day's count of servers that ended is forgotten"
	UnsettledBackup   Broken = "A backup is called whole before its files outlive a power cut"
	BackupOfNone      Broken = "A damaged account keeps the others from being backed up"
	FirstLinks        Broken = "A backup has the first row of a link, and not its newest"
	ReadFirst         Broken = "A report is noted as read before it is loaded"
	RestoreOpen       Broken = "An account is answered while a backup is restored in its place"
	RestoreUnlocked   Broken = "A restore in place does not take the account's lock"
	RestoreAtOnce     Broken = "A repeated restore in place does not wait for what the one before has sent"
	SkipUnread        Broken = "Rows that cannot be read are passed over"
	KeepUnread        Broken = "A restore in place leaves rows that cannot be read"
	SameNumbers       Broken = "Rows that are restored get the numbers that an earlier restore gave them"
	WallMinutes       Broken = "The minute's limit goes by the wall clock"
	LookOnce          Broken = "What one look alone misses is taken for lost"
	UnreadHides       Broken = "Where rows of one account cannot be read, losses of the others are not noticed"
	NoCatchUp         Broken = "A replica is not made to catch up"
	KeptViews         Broken = "What a server keeps outlives a disk that is put back"
	AnswerOn          Broken = "An answer goes on over a disk that is put back"
	PlacesForEver     Broken = "A process believes for ever where an account is"
	MoveUnsettled     Broken = "A move gives the lock back before others have read the new place"
	MoveAtOnce        Broken = "A move deletes what requests still read where the account was"
	MoveUncompared    Broken = "What a move has copied is not compared"
	MoveBlind         Broken = "A move deletes what other shards have without a look at what is left of it"
	MoveUnfenced      Broken = "A move does not fence off a writer that may have a commit under way"
	MoveUnheld        Broken = "A move goes on after its lock has ended"
	LatePlace         Broken = "The place of an account is written after the lock has ended"
	LateDeletion      Broken = "A deletion of a move is carried out after the lock has ended"
	LateCopy          Broken = "Rows that a move copies are written after the lock has ended"
)

// faultsOfPrograms are all of them, in the order of their table.
var faultsOfPrograms = []Broken{NoFence, GreatestWins, BelieveNumbers, BelieveFailures, BelieveSuccesses, IgnoreSeals, BelieveRows, BelieveUnits,
	CollectAtOnce, CollectLive, CommitFirst, NumbersForEver, LedgerFirst, CopyAll, AnyOfEqualReports, FirstObject, RatesAlone,
	ListsApart, OlderLists, SmallUncounted, BuildOnLosses, BuildOnLater, DamageForAll, RowsOfAll, TrimLive,
	KeysByClock, KeptKeys, NoMark, UnmarkedCommit, SuspectsOut, CountBehind, CountForgotten, WallMinutes,
	UnsettledBackup, BackupOfNone, FirstLinks, ReadFirst, RestoreOpen, RestoreUnlocked, RestoreAtOnce, SkipUnread, KeepUnread, SameNumbers, LookOnce, UnreadHides, NoCatchUp, KeptViews, AnswerOn,
	PlacesForEver, MoveUnsettled, MoveAtOnce, MoveUncompared, MoveBlind, MoveUnfenced, MoveUnheld, LatePlace, LateDeletion, LateCopy}

// hooks change what a process is told, or does. Nil hooks change nothing.
type hooks struct {
	reservations func([]tables.Reservation) []tables.Reservation
	commits      func([]manifest.Commit) []manifest.Commit
	units        func([]tables.Unit) []tables.Unit
	seals        func([]tables.Seal) []tables.Seal
	naming       func(context.Context, string, []tables.Unit) (skip bool, err error)
	committing   func(context.Context, string, manifest.Commit) (skip bool, err error)
	deleting     func([]tables.Deletion) []tables.Deletion
	counting     func(account string, all []tables.Count) []tables.Count
	recounting   func(account string, all []tables.Count) []tables.Count // before a commit
	trimming     func(account string, number uint32) uint32
	copyAll      bool
	allNumbers   bool
	allAccounts  bool
}

// hooks are those of one process.
func (b Broken) hooks(p *process) (h hooks) {
	switch b {
	case NoFence:
		p.dropFences(&h)
	case GreatestWins:
		h.commits = chainAll
	case BelieveNumbers:
		h.reservations = func(all []tables.Reservation) []tables.Reservation {
			return slices.DeleteFunc(all, func(r tables.Reservation) bool {
				return p.session != nil && r.Token != p.token0() && r.First == p.reserved
			})
		}
	case BelieveSuccesses:
		p.believeSuccesses(&h)
	case IgnoreSeals:
		h.seals = func([]tables.Seal) []tables.Seal { return nil }
	case BelieveUnits:
		h.commits = withoutDigests
	case CollectLive:
		h.deleting = func(all []tables.Deletion) []tables.Deletion {
			for i, d := range all {
				all[i].Generations = append(d.Generations, p.newest(d.Account, d.Table))
			}
			return all
		}
	case CommitFirst:
		p.commitFirst(&h)
	case NumbersForEver:
		h.allNumbers = true
	case LedgerFirst:
		h.committing = func(ctx context.Context, account string, c manifest.Commit) (bool, error) {
			if a := p.op.atoms[c.Number]; a != nil {
				return false, store{p}.InsertLedger(ctx, account, p.world.plan.universe.linesOf(a.files))
			}
			return false, nil
		}
	case CopyAll:
		h.copyAll = true
	case AnyOfEqualReports:
		h.commits, h.units = withoutDigests, withSources(func(s *manifest.Source) { s.ReportID = "" })
	case FirstObject:
		h.commits, h.units = withoutDigests, withSources(func(s *manifest.Source) { s.Columns = strings.Repeat(",", 99) })
	case RatesAlone:
		p.leaveOut(&h, manifest.Rates, manifest.Month, manifest.Year)
	case ListsApart:
		p.leaveOut(&h, manifest.Campaigns, manifest.AdGroups, manifest.Ads)
	case OlderLists:
		h.commits, h.units = withoutDigests, withoutListTimes
	case SmallUncounted:
		h.counting = func(account string, all []tables.Count) []tables.Count {
			return p.pretendWhole(account, all, tables.SmallOfGenerations())
		}
	case BuildOnLosses:
		if p.writer {
			h.counting = func(account string, all []tables.Count) []tables.Count {
				return p.pretendWhole(account, all, tables.OfGenerations())
			}
		}
	case BuildOnLater:
		h.recounting = func(account string, all []tables.Count) []tables.Count {
			return p.pretendWhole(account, all, []string{"facts"})
		}
	case RowsOfAll:
		h.allAccounts = true
	case RestoreOpen:
		h.committing = func(_ context.Context, _ string, c manifest.Commit) (bool, error) {
			return c.Number == manifest.Closed, nil
		}
	case SameNumbers:
		h.reservations = func(all []tables.Reservation) []tables.Reservation {
			return slices.DeleteFunc(all, func(r tables.Reservation) bool {
				return p.op != nil && p.op.backup != 0 && r.Next-r.First > 1<<20 && r.Token != p.token0()
			})
		}
	case TrimLive:
		h.trimming = func(account string, _ uint32) uint32 { return p.world.truths[account].now.number }
	}
	return h
}

// pretendWhole returns counts with which nothing is missing in some tables.
func (p *process) pretendWhole(account string, all []tables.Count, names []string) []tables.Count {
	state, err := commits.Read(context.Background(), p.world.rows, account)
	if err != nil {
		return all
	}
	live := liveGenerations(state.Manifest)
	all = slices.DeleteFunc(all, func(c tables.Count) bool {
		return c.Account == account && live[c.Generation] && slices.Contains(names, c.Table)
	})
	for _, e := range state.Manifest.Entries() {
		for i, table := range tables.OfKind(e.Kind) {
			if slices.Contains(names, table) {
				all = append(all, tables.Count{Account: account, Table: table, Generation: e.Generation, Rows: e.RowsAt(i)})
			}
		}
	}
	return all
}

// dropFences shows a process its own fences, which no other process sees.
func (p *process) dropFences(h *hooks) {
	var fences []manifest.Commit
	h.committing = func(_ context.Context, _ string, c manifest.Commit) (bool, error) {
		if p.op.atoms[c.Number] != nil {
			return false, nil
		}
		fences = append(fences, c)
		return true, nil
	}
	h.commits = func(all []manifest.Commit) []manifest.Commit { return append(all, fences...) }
}

// chainAll makes each commit build on the one of the next smaller number.
func chainAll(all []manifest.Commit) []manifest.Commit {
	slices.SortFunc(all, func(a, b manifest.Commit) int { return int(a.Number) - int(b.Number) })
	all = slices.CompactFunc(all, func(a, b manifest.Commit) bool { return a.Number == b.Number })
	for i := range all {
		if i > 0 {
			all[i].Base = all[i-1].Number
		}
	}
	return withoutDigests(all)
}

func withoutDigests(all []manifest.Commit) []manifest.Commit {
	for i := range all {
		all[i].Digest, all[i].Rows = 0, 0
	}
	return all
}

// withSources changes the sources of units.
func withSources(change func(*manifest.Source)) func([]tables.Unit) []tables.Unit {
	return func(all []tables.Unit) []tables.Unit {
		for i, u := range all {
			all[i].Sources = slices.Clone(u.Sources)
			for j := range all[i].Sources {
				change(&all[i].Sources[j])
			}
		}
		return all
	}
}

func withoutListTimes(all []tables.Unit) []tables.Unit {
	for i, u := range all {
		if u.Kind != manifest.Month {
			all[i].Sources = slices.Clone(u.Sources)
			for j := range all[i].Sources {
				all[i].Sources[j].GeneratedAt = time.Unix(0, 0).UTC()
			}
		}
	}
	return all
}

// believeSuccesses shows a process its own commit as the newest, once the
// insert was answered.
func (p *process) believeSuccesses(h *hooks) {
	var answered uint32
	h.committing = func(ctx context.Context, account string, c manifest.Commit) (bool, error) {
		answered = 0
		err := port{p}.commits().append(ctx, account, []manifest.Commit{c})
		if err == nil && p.op.atoms[c.Number] != nil {
			answered = c.Number
		}
		return true, err
	}
	h.commits = func(all []manifest.Commit) []manifest.Commit {
		return slices.DeleteFunc(all, func(c manifest.Commit) bool { return answered != 0 && c.Number > answered })
	}
	h.reservations = func(all []tables.Reservation) []tables.Reservation {
		seen := answered
		answered = 0 // the look is over
		return slices.DeleteFunc(all, func(r tables.Reservation) bool { return seen != 0 && r.First > seen })
	}
}

func (p *process) commitFirst(h *hooks) {
	held := map[uint32][]tables.Unit{}
	h.naming = func(_ context.Context, _ string, rows []tables.Unit) (bool, error) {
		held[rows[0].Number] = rows
		return true, nil
	}
	h.committing = func(ctx context.Context, account string, c manifest.Commit) (bool, error) {
		err := port{p}.commits().append(ctx, account, []manifest.Commit{c})
		if rows := held[c.Number]; err == nil && rows != nil {
			err = port{p}.Units().(table[tables.Unit]).append(ctx, account, rows)
		}
		return true, err
	}
}

// leaveOut leaves units of some kinds out of commits of one kind.
func (p *process) leaveOut(h *hooks, of manifest.Kind, kinds ...manifest.Kind) {
	h.commits = withoutDigests
	h.naming = func(ctx context.Context, account string, rows []tables.Unit) (bool, error) {
		if !slices.ContainsFunc(rows, func(u tables.Unit) bool { return u.Kind == of }) {
			return false, nil
		}
		rows = slices.DeleteFunc(slices.Clone(rows), func(u tables.Unit) bool { return slices.Contains(kinds, u.Kind) })
		return true, port{p}.Units().(table[tables.Unit]).append(ctx, account, rows)
	}
}

// token0 is the token of the process's newest session.
func (p *process) token0() string { return p.lastToken }

// newest is the greatest generation of a table.
func (p *process) newest(account, table string) (newest uint32) {
	counts, _ := p.world.rows.CountRows(context.Background(), account, table)
	for _, c := range counts {
		newest = max(newest, c.Generation)
	}
	return newest
}

func liveGenerations(m manifest.Manifest) map[uint32]bool {
	live := map[uint32]bool{}
	for _, e := range m.Entries() {
		live[e.Generation] = true
	}
	return live
}

// placeClock is the clock by which a process judges how old a place is.
func (b Broken) placeClock(w *world) func() time.Time {
	if b == PlacesForEver {
		return func() time.Time { return start }
	}
	return w.now
}
