package oauth

import (
	"context"
	"net/netip"
	"time"

	"adlens/internal/auth"
)

// Bounds of guessing invitations, codes and tokens. Invitations are 60 random bits for
// ten minutes, the others more; what is bounded is the work that guesses make.
const (
	guessesAllowed      = 20 // wrong ones of an address in any minute
	guessesOfAllAllowed = 1_000
	turnPatience        = 10 * time.Second
	turnsAwaited        = 100
)

// guesses bounds wrong secrets of a kind, of an address and in all. Beyond a bound
// entries are not refused but looked up one at a time, in their order: a valid
// one gets in, and guessing keeps one look-up busy at most.
type guesses struct {
	byAddress *auth.Failures
	ofAll     *auth.Failures
	waiting   chan struct{} // held while waiting for the turn
	turn      chan struct{} // held while an entry beyond a bound is looked up
}

func newGuesses() *guesses {
	return &guesses{byAddress: auth.NewFailuresUpTo(guessesAllowed), ofAll: auth.NewFailuresUpTo(guessesOfAllAllowed),
		waiting: make(chan struct{}, turnsAwaited), turn: make(chan struct{}, 1)}
}

// everyone is the one address under which all guesses are counted.
var everyone = netip.IPv4Unspecified()

// guard looks up a secret and counts it if it is wrong. wait is how long the address
// has to wait if the secret was wrong beyond a bound, or could not even be looked up.
func (g *guesses) guard(ctx context.Context, remote netip.Addr, now time.Time, find func() (right bool, err error)) (right bool, wait time.Duration, err error) {
	wait = max(g.byAddress.Wait(remote, now), g.ofAll.Wait(everyone, now))
	if wait > 0 {
		select {
		case g.waiting <- struct{}{}:
			defer func() { <-g.waiting }()
		default:
			return false, wait, nil
		}
		ctx, cancel := context.WithTimeout(ctx, turnPatience)
		defer cancel()
		select {
		case g.turn <- struct{}{}:
			defer func() { <-g.turn }()
		case <-ctx.Done():
			return false, wait, nil
		}
	}
	if right, err = find(); right || err != nil {
		return right, 0, err
	}
	if wait == 0 {
		g.byAddress.Note(remote, now)
		g.ofAll.Note(everyone, now)
	}
	return false, wait, nil
}
