package backup

import (
	"context"
	"maps"
	"slices"
	"time"

	"adlens"
)

// earlierAccounts returns of which time a backup has some of its accounts, where that is
// not its own: nothing of them changed since, or they were damaged when it was taken, and
// it has what the one before had of them. An older index that cannot be read keeps nothing
// from being restored, and is left out.
func earlierAccounts(ctx context.Context, p Place, t Taken, of []Entry) (map[string]time.Time, error) {
	all, err := List(ctx, p)
	if err != nil {
		return nil, err
	}
	earlier, followed := map[string]time.Time{}, map[string]string{} // by account; catalogues
	for _, e := range of {
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

// tellEarlier tells of which time the backup has accounts, where that is not its own.
func (r *restoring) tellEarlier(earlier map[string]time.Time) {
	accounts := map[time.Time][]string{}
	for _, id := range slices.Sorted(maps.Keys(earlier)) {
		accounts[earlier[id]] = append(accounts[earlier[id]], id)
	}
	for _, at := range slices.SortedFunc(maps.Keys(accounts), time.Time.Compare) {
		r.progress.Notice("backup " + r.taken.ID() + " has " + adlens.JoinFew(accounts[at], named, ", ") + " as of " + adlens.FormatTime(at) +
			": nothing changed until the backup was taken, or the account was damaged then; load again what came since")
	}
}
