package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Plan is what a run is made of. All of it, and all that happens in the run,
// follows from the seed; a plan that was made shorter has less of it.
type Plan struct {
	Seed      uint64
	World     World
	Accounts  []string
	Chain     int // commits that the record begins with
	Lock      lock
	Split     bool   // each report becomes visible by itself
	FaultRate uint32 // of 65536 calls
	EventRate uint32 // of 65536 steps
	Vanish    bool   // rows may vanish
	Replicas  bool   // each process reads of a replica of its own
	Minute    int    // the limits of keys
	Day       int
	Ahead     bool  // the store's clock was ahead when the first key was made
	CopyAt    int   // the step of the storm at which the disk is copied; 0 for none
	BackAt    []int // those at which the copy is put back
	Actors    []Actor
	Mutes     Mutes
	Broken    Broken

	universe *universe
}

// World is a kind of run. Each seed is of one.
type World string

// The kinds of runs.
const (
	OneAccount   World = "one account"
	ManyAccounts World = "several accounts on one store"
	LongChain    World = "a long record of commits"
	Losses       World = "engines that die often, and lose rows"
	SlowReaders  World = "readers that are slow"
	Keys         World = "keys and limits"
	Backups      World = "backups"
	Repairs      World = "damaged accounts that are restored in their place"
	Undone       World = "a disk that is put back as it was"
	Moves        World = "accounts that move between shards"
)

// worldOf returns the kind of a seed's run.
func worldOf(seed uint64) World {
	switch seed % 16 {
	case 2:
		return Backups
	case 8:
		return Repairs
	case 10:
		return Undone
	case 11:
		return Moves
	}
	switch seed % 8 {
	case 1:
		return ManyAccounts
	case 4:
		return Keys
	case 5:
		return LongChain
	case 6:
		return Losses
	case 7:
		return SlowReaders
	}
	return OneAccount
}

// Actor is a row of things that one process does after the other.
type Actor struct {
	Name, Kind string // loader, lister, collector, reader; backupper, restorer, mover; operator, client, guesser, keeper
	Steps      []Step
}

// Step is one thing that an actor does.
type Step struct {
	Account  string        // of all but collectors
	Files    []int         // of loaders and listers
	Wait     time.Duration // before it
	Question Question      // of readers
	Shard    uint16        // of movers

	Server, Key, Count int           // of clients and guessers; of keepers; of backuppers, how many they keep; -1 for a key that was never made
	Pause              time.Duration // after each of Count
	Do                 string        // of operators
	Expires            time.Duration
}

// Question is what a reader asks for.
type Question string

// The questions.
const (
	Days     Question = "days"
	Products Question = "products of months and years"
	Facts    Question = "facts"
	Texts    Question = "titles, rates, rules and lists"
)

var questions = []Question{Days, Products, Facts, Texts}

// lock is how writers are kept apart.
type lock int

const (
	lockFile  lock = iota // a file's lock, which ends with its process
	lockLease             // a claim that ends when it is not renewed
	lockNone              // none: the record of commits alone keeps them apart
)

// NewPlan makes the plan of a seed.
func NewPlan(u *universe, seed uint64) *Plan {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &Plan{Seed: seed, World: worldOf(seed), Accounts: []string{"acme"}, universe: u, Split: seed%5 == 1, Lock: []lock{lockFile, lockFile, lockLease, lockLease, lockNone}[r.IntN(5)],
		FaultRate: []uint32{0, 400, 1500, 5000}[r.IntN(4)], EventRate: []uint32{0, 250, 800, 2500}[r.IntN(4)], Vanish: r.IntN(4) == 0}
	p.Replicas = seed%3 > 0 && p.Lock != lockFile
	if p.World == Keys {
		p.planKeys(r)
		return p
	}
	waits := []time.Duration{0}
	switch p.World {
	case ManyAccounts:
		p.Accounts = []string{"acme", "bolt", "coil"}[:2+r.IntN(2)]
	case LongChain:
		// Close to the length at which a record begins once more, and with time
		// for its older part to go.
		p.Chain, waits = 56+r.IntN(10), []time.Duration{0, 16 * time.Minute}
	case Backups:
		p.EventRate, p.Vanish = max(p.EventRate, 1200), r.IntN(2) == 0
		p.Accounts = []string{"acme", "bolt"}
		p.add("backupper", 0, r, 2+r.IntN(2), func() Step {
			return Step{Wait: []time.Duration{0, 50 * time.Millisecond, time.Minute}[r.IntN(3)], Count: r.IntN(3)}
		})
		p.addLinks()
	case Repairs:
		// Without a lock nothing keeps two restores of one account apart.
		waits = []time.Duration{0, 0, time.Minute}
		p.FaultRate, p.EventRate, p.Vanish, p.Lock = max(p.FaultRate, 1500), max(p.EventRate, 800), true, min(p.Lock, lockLease)
		p.Accounts = []string{"acme", "bolt"}
		for i := range 2 {
			p.add("restorer", i, r, 2+r.IntN(3), func() Step { return Step{Wait: []time.Duration{0, 0, 20 * time.Second, time.Minute}[r.IntN(4)]} })
		}
		p.add("backupper", 0, r, r.IntN(2), func() Step { return Step{Wait: 50 * time.Millisecond} })
	case Moves:
		// Without a lock nothing keeps two movers apart.
		waits = []time.Duration{0, 0, 20 * time.Second, 2 * time.Minute}
		p.Lock, p.FaultRate, p.EventRate = lockLease, p.FaultRate/4, 800+p.EventRate
		p.Replicas = seed/16%3 > 0
		p.Accounts = []string{"acme", "bolt"}[:1+r.IntN(5)/3]
		for i := range 2 {
			p.add("mover", i, r, 3+r.IntN(3), func() Step {
				return Step{Shard: uint16(1 + r.IntN(2)), Wait: []time.Duration{0, 0, 20 * time.Second, time.Minute}[r.IntN(4)]}
			})
			p.add("reader", 8+i, r, 10, func() Step {
				return Step{Question: questions[r.IntN(len(questions))], Wait: []time.Duration{0, 100 * time.Millisecond, 4 * time.Second, 30 * time.Second}[r.IntN(4)]}
			})
		}
	case Losses:
		p.Accounts = []string{"acme", "bolt"}[:1+r.IntN(2)]
		p.Vanish, p.EventRate = true, 2500
	case Undone:
		// What replicas lack then, and what else was lost, is left out.
		p.Lock, p.Replicas, p.Vanish = lockLease, false, false
		p.Accounts = []string{"acme", "bolt"}[:1+r.IntN(2)]
		p.CopyAt = 1 + r.IntN(200)
		for at := p.CopyAt; len(p.BackAt) < 4; {
			at += 100 + r.IntN(300)
			p.BackAt = append(p.BackAt, at)
		}
		for i := range 2 {
			p.add("loader", 8+i, r, 4, func() Step { return Step{Files: u.some(r)} })
			p.add("reader", 8+i, r, 20, func() Step {
				return Step{Question: questions[r.IntN(len(questions))], Wait: []time.Duration{0, 50 * time.Millisecond, 100 * time.Millisecond}[r.IntN(3)]}
			})
		}
	}
	objects := rand.New(rand.NewPCG(seed, 2))
	for i := range 1 + r.IntN(3) {
		p.add("loader", i, r, 1+r.IntN(3), func() Step {
			return Step{Files: u.withObjects(objects, u.some(r)), Wait: waits[r.IntN(len(waits))]}
		})
	}
	p.add("lister", 0, r, r.IntN(3), func() Step { return Step{Files: []int{u.single - 1 - r.IntN(3)}} })
	collections, rests := r.IntN(3), []time.Duration{0, time.Minute, 16 * time.Minute}
	if p.World == SlowReaders {
		collections, rests = 6, []time.Duration{50 * time.Millisecond, 150 * time.Millisecond, 250 * time.Millisecond} // a step takes one
	}
	p.add("collector", 0, r, collections, func() Step { return Step{Wait: rests[r.IntN(len(rests))]} })
	for i := range 1 + r.IntN(2) {
		p.add("reader", i, r, 2+r.IntN(5), func() Step {
			s := Step{Question: questions[r.IntN(len(questions))]}
			if p.World == Repairs { // which last some time
				s.Wait = []time.Duration{0, 50 * time.Millisecond, 20 * time.Second, time.Minute}[r.IntN(4)]
			}
			return s
		})
	}
	return p
}

// planKeys plans servers that let requests in.
func (p *Plan) planKeys(r *rand.Rand) {
	p.Accounts = []string{"acme", "bolt"}
	p.Minute, p.Day, p.Ahead = []int{0, 0, 3, 10}[r.IntN(4)], []int{8, 20, 150, 1000}[r.IntN(4)], r.IntN(4) == 0
	servers := 1 + r.IntN(2)
	pause := func() time.Duration {
		return []time.Duration{0, 0, 300 * time.Millisecond, 900 * time.Millisecond, 2 * time.Second, 13 * time.Second}[r.IntN(6)]
	}
	for i := range 2 + r.IntN(3) {
		p.add("client", i, r, 2+r.IntN(4), func() Step {
			return Step{Server: r.IntN(servers), Key: r.IntN(keysMade), Count: 1 + r.IntN(9), Wait: pause(), Pause: pause()}
		})
	}
	p.add("operator", 0, r, 2+r.IntN(4), func() Step {
		return Step{Key: r.IntN(keysMade), Do: []string{"revoke", "create", "create to expire"}[r.IntN(3)], Wait: pause(), Expires: time.Duration(1+r.IntN(20)) * time.Second}
	})
	if r.IntN(3) == 0 {
		p.add("guesser", 0, r, 1, func() Step { return Step{Server: 0, Key: -1, Count: 190 + r.IntN(40)} })
	}
	for i := range servers {
		p.add("keeper", i, r, 1, func() Step { return Step{Server: i, Count: 5 + r.IntN(40), Pause: 250 * time.Millisecond} })
	}
}

// keysMade is how many keys there are.
const keysMade = 3

func (p *Plan) add(kind string, number int, r *rand.Rand, steps int, step func() Step) {
	a := Actor{Name: fmt.Sprintf("%s %d", kind, number+1), Kind: kind}
	for range steps {
		s := step()
		if kind != "collector" {
			s.Account = p.Accounts[r.IntN(len(p.Accounts))]
		}
		a.Steps = append(a.Steps, s)
	}
	if steps > 0 {
		p.Actors = append(p.Actors, a)
	}
}

// some are some files, more often few than many.
func (u *universe) some(r *rand.Rand) []int {
	n := 1 + r.IntN(3)
	if r.IntN(4) == 0 {
		n += r.IntN(6)
	}
	var files []int
	for range n {
		if f := firstOther + r.IntN(u.single-firstOther-3); !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	return files
}

// last are the files of the last load: all that do not change one another.
func (u *universe) last() []int {
	var files []int
	newest := map[string]int{}
	for i, f := range u.files {
		switch f.kind {
		case "report", "export":
			files = append(files, i)
		case "lists":
		default:
			newest[f.kind] = i
		}
	}
	for _, kind := range []string{"profiles", "rates", "bank rates", "titles", "rules"} {
		files = append(files, newest[kind])
	}
	return files
}
