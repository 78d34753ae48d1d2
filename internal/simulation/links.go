package simulation

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"adlens/internal/auth"
)

// linkOf is the kind of link that a key's number stands for, nil for a key: of runs
// about keys the last may be one, of runs about backups all are.
func (p *Plan) linkOf(number int) *auth.Link {
	kinds := []*auth.Link{nil, auth.Feed, auth.Share}
	switch {
	case p.World == Backups:
		return kinds[1+number%2]
	case p.World == Keys && number == keysMade-1:
		return kinds[p.Seed/8%3]
	}
	return nil
}

// newSecrets makes the keys of a run, or the tokens of its links.
func (w *world) newSecrets() {
	w.keyTruths = make([]keyTruth, keysMade)
	for number := range keysMade {
		secret := auth.NewKey()
		if kind := w.plan.linkOf(number); kind != nil {
			secret = kind.NewToken()
		}
		w.secrets = append(w.secrets, secret)
	}
}

// rowsLike returns the table that the row of a key's number belongs to. Links have one
// of their own.
func (w *world) rowsLike(number int) *[]keyRow {
	if number >= 0 && w.plan.linkOf(number) != nil {
		return &w.linkRows
	}
	return &w.keyRows
}

// addLinks has links made and revoked while backups are taken. It takes nothing of the
// plan's random numbers.
func (p *Plan) addLinks() {
	r := rand.New(rand.NewPCG(p.Seed, 4))
	p.add("operator", 0, r, 2+r.IntN(4), func() Step {
		return Step{Key: r.IntN(keysMade), Do: []string{"revoke", "create"}[r.IntN(2)], Wait: []time.Duration{0, 50 * time.Millisecond, time.Minute}[r.IntN(3)]}
	})
}

// authenticate finds the record of a key or of a link's token, as it was sent.
func (s *server) authenticate(ctx context.Context, kind *auth.Link, secret auth.Key, suspect bool, now time.Time) (auth.Record, error) {
	if kind != nil {
		return s.links.Link(ctx, kind, secret.Reveal(), suspect, now)
	}
	return s.keys.Authenticate(ctx, []string{"Bearer " + secret.Reveal()}, suspect, now)
}

// heldLinks is a table of links that nothing happens to.
type heldLinks []keyRow

// KeyByHash returns what the row with the greatest revision says.
func (rows heldLinks) KeyByHash(_ context.Context, hash [32]byte) (auth.Record, bool, error) {
	r, found := newestRow(rows, hash)
	return r, found, nil
}

// compareLinks makes sure that a restored account is answered under the links that it
// had while the backup was taken, and under no other: one that was revoked before
// never answers again.
func (w *world) compareLinks(restored *world, account string, which int) {
	links := auth.NewAuthenticator(heldLinks(restored.linkRows))
	for number, secret := range w.secrets {
		if w.accountOf(number) != account {
			continue
		}
		truth, fail := w.keyTruths[number], w.truths[account].fail
		_, err := links.Link(context.Background(), w.plan.linkOf(number), secret.Reveal(), false, start)
		if err != nil && !errors.Is(err, auth.ErrInvalidKey) {
			fail("a restored link is not looked up: %v", err)
		}
		answers := err == nil
		if answers && truth.begun == 0 {
			fail("link %d answers after a restore, and was never made", number)
		}
		if which < 0 || !w.copies[which].whole {
			continue // it is not known when it was taken
		}
		c := w.copies[which]
		switch made, ended := truth.made, truth.ended; {
		case answers && truth.begun > c.ended:
			fail("link %d answers after the restore of a backup from before it was made", number)
		case answers && ended != 0 && ended < c.begun:
			fail("link %d answers after a restore, and was revoked before the backup", number)
		case !answers && made != 0 && made < c.begun && cmp.Or(truth.ending, c.ended+1) > c.ended:
			fail("link %d does not answer after a restore, and was not revoked", number)
		}
	}
}

// linkRowsOf are the rows of an account's links that a backup takes.
func (s source) linkRowsOf(account string) (all []keyRow) {
	for _, row := range s.world.linkRows {
		isFirst := !slices.ContainsFunc(all, func(other keyRow) bool { return other.record.Hash == row.record.Hash })
		if row.record.AccountID == account && (s.world.broken != FirstLinks || isFirst) {
			all = append(all, row)
		}
	}
	return all
}
