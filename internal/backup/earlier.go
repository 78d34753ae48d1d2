package backup

import (
	"context"
	"maps"
	"slices"
	"time"

	"adlens"
)

// EarlierAccounts returns of which time a backup has accounts, where that is
// not its own: nothing of them changed since, or they were damaged when it was taken, and
// it has what the one before had of them. An older index that cannot be read keeps nothing
// from being restored, and is left out.
func EarlierAccounts(ctx context.Context, p Place, t Taken) (map[string]time.Time, error) {
	all, err := List(ctx, p)
	if err != nil {
		return nil, err
	}
	earlier, followed := map[string]time.Time{}, map[string]string{} // by account; catalogues
	for _, e := range t.Accounts {
		followed[e.Account] = e.Catalogue
	}
	for _, name := range slices.Backward(all) {
		if name >= t.Name {
			continue
		}
		before, err := ReadIndex(ctx, p, name)
		if err != nil || before.Identity != "" && before.Identity != t.Identity {
			continue
		}
		same := map[string]string{}
		for _, e := range before.Accounts {
			if followed[e.Account] == e.Catalogue {
				same[e.Account], earlier[e.Account] = e.Catalogue, before.TakenAt
			}
		}
		if followed = same; len(followed) == 0 {
			break
		}
	}
	return earlier, ctx.Err()
}

// tellEarlier tells of which time the backup has the chosen accounts, where that is not its
// own.
func (r *restoring) tellEarlier(chosen []Entry) {
	accounts := map[time.Time][]string{}
	for _, e := range chosen {
		if at, found := r.Earlier[e.Account]; found {
			accounts[at] = append(accounts[at], e.Account)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(accounts), time.Time.Compare) {
		r.progress.Notice("backup " + r.taken.ID() + " has " + adlens.JoinFew(accounts[at], named, ", ") + " as of " + adlens.FormatTime(at) +
			": nothing changed until the backup was taken, or the account was damaged then; load again what came since")
	}
}
