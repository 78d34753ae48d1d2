package commits

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// State is what the record of commits says of an account at one moment.
type State struct {
	Chain    manifest.Chain
	Manifest manifest.Manifest
}

// Read returns what is live of an account now. A record that lost rows is an
// error of kind adlens.Damaged.
func Read(ctx context.Context, port tables.Port, account string) (State, error) {
	// Commits first: the units of a commit were written before it, so all of
	// them are there when they are read after it.
	all, err := readRecord(ctx, port, account)
	if err != nil {
		return State{}, err
	}
	units, err := port.Units().Read(ctx, account)
	if err != nil {
		return State{}, err
	}
	return resolveState(account, all, units)
}

// Units returns what each live commit of an account made live, also what later ones replaced,
// as far back as the record goes.
func Units(ctx context.Context, port tables.Port, account string) ([]tables.Unit, error) {
	record, err := readRecord(ctx, port, account)
	if err != nil {
		return nil, err
	}
	chain, err := manifest.FollowChain(record)
	if err != nil {
		return nil, damagedError(account, err)
	}
	units, err := port.Units().Read(ctx, account)
	return slices.DeleteFunc(units, func(u tables.Unit) bool { return !chain.Has(u.Number) }), err
}

// readRecord reads the record of commits. A replica may get a commit before the one on which
// it builds, although that was written before it: one that is missing is lost if it still is
// when the record is read once more.
func readRecord(ctx context.Context, port tables.Port, account string) (record []manifest.Commit, err error) {
	for lacks := ""; ; {
		if record, err = port.Commits().Read(ctx, account); err != nil {
			return nil, err
		}
		_, broken := manifest.FollowChain(record)
		if broken == nil || errors.Is(broken, manifest.ErrClosed) || broken.Error() == lacks {
			return record, nil
		}
		lacks = broken.Error()
	}
}

// ReadAll returns what is live of every account, and what is wrong with the
// records of accounts that cannot be resolved.
func ReadAll(ctx context.Context, port tables.Port) (states map[string]State, faults map[string]error, err error) {
	all, err := port.Commits().ReadAll(ctx)
	if err != nil {
		return nil, nil, err
	}
	units, err := port.Units().ReadAll(ctx)
	if err != nil {
		return nil, nil, err
	}
	states, faults = map[string]State{}, map[string]error{}
	for account, record := range all {
		s, err := resolveState(account, record, units[account])
		if err != nil {
			s, err = Read(ctx, port, account) // where loads go on, of what two replicas have
		}
		switch {
		case adlens.KindOf(err) == adlens.Damaged:
			faults[account] = err
		case err != nil:
			return nil, nil, err
		}
		states[account] = s
	}
	return states, faults, nil
}

// resolveState finds the live chain, and of each unit the entry of the newest live
// commit that wrote it.
func resolveState(account string, record []manifest.Commit, units []tables.Unit) (State, error) {
	chain, err := manifest.FollowChain(record)
	if err != nil {
		return State{Chain: chain}, damagedError(account, err)
	}
	live := make(map[uint32]bool, len(chain))
	for _, c := range chain {
		live[c.Number] = true
	}
	newest := make(map[manifest.Unit]tables.Unit, len(units))
	for _, u := range units {
		if before, ok := newest[u.Unit]; live[u.Number] && (!ok || before.Number < u.Number) {
			newest[u.Unit] = u
		}
	}
	entries := make([]manifest.Entry, 0, len(newest))
	for _, u := range newest {
		entries = append(entries, u.Entry)
	}
	head := chain.Head()
	s := State{chain, manifest.New(head.Number, entries...)}
	if head.Digest != 0 && head.Digest != s.Manifest.Digest() || head.Digest == 0 && uint32(s.Manifest.Len()) < head.Rows {
		return s, damagedError(account, fmt.Errorf("%s: what it says of commit %d is not what was written", recordLost, head.Number))
	}
	return s, nil
}

// recordLost is how a record of commits that lost rows is named.
const recordLost = "the record of what is loaded (tables commits and commit_units) is older or shorter than it was"

// Damaged returns the error of an account that lost something.
func Damaged(account string, faults []string) error {
	return damagedError(account, errors.New(Summary(faults)))
}

func damagedError(account string, err error) error {
	return &adlens.Error{Kind: adlens.Damaged, Err: fmt.Errorf("stored data of account %s is damaged: %w", account, err)}
}
