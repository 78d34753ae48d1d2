package loader

import (
	"context"
	"fmt"

	"adlens"
)

// ProfileHolder is an account that has a profile.
type ProfileHolder struct{ ProfileID, Account string }

// namedHolders is how many profiles of other accounts a notice names.
const namedHolders = 5

// noteElsewhere reports those new profiles of the files that other accounts have already. A
// profile may be in two accounts, so it is no error, but profiles are never removed: another
// client's folder would be taken for good silently. A look that fails harms no load.
func (s *session) noteElsewhere(ctx context.Context, next []Marketplace) {
	added := map[string]Marketplace{}
	var ids []string
	for _, m := range next {
		if _, held := s.findMarketplace(m.ID); !held {
			added[m.ID], ids = m, append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	holders, err := s.store.ProfilesElsewhere(ctx, s.account, ids)
	if err != nil {
		s.noteFile(s.profileFiles[ids[0]], fmt.Sprintf("could not check whether other accounts have its profiles: %v", err))
		return
	}
	if len(holders) == 0 {
		return
	}
	var named []string
	for _, h := range holders {
		m := added[h.ProfileID]
		called := m.Country
		if name := adlens.CleanText(m.Name, 60); name != "" {
			called = name + ", " + m.Country
		}
		named = append(named, fmt.Sprintf("profile %s (%s) of account %s", m.ID, called, h.Account))
	}
	s.noteFile(s.profileFiles[holders[0].ProfileID], fmt.Sprintf(
		"new profiles of account %s are in other accounts too: %s; if that is a mistake, load no more files of those accounts into this one, or choose the profiles of its connection with adlens connect --profiles: a newer report replaces figures, but a profile stays listed, and only a backup from before, restored into a new data directory or database, is without it",
		s.account, adlens.JoinFew(named, namedHolders, ", ")))
}
