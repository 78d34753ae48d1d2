package doctor

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/loader"
)

// account is one account as it is held.
type account struct {
	adlens.Account
	manifest manifest.Manifest
	markets  map[uint16]loader.Marketplace
}

// profiles returns the marketplaces as the platform knows them, in a fixed order.
func (a account) profiles() (all []platform.Profile) {
	for _, key := range slices.Sorted(maps.Keys(a.markets)) {
		all = append(all, a.markets[key].Profile)
	}
	return all
}

// isCanceled reports whether the subscription has ended: the account then needs neither
// keys nor fresh figures.
func (a account) isCanceled() bool { return a.Subscription == adlens.Canceled }

// unitName names a unit for people, beside the table that it is of.
func (a account) unitName(u manifest.Unit) string {
	if u.Slice == (manifest.Slice{}) {
		return "the whole"
	}
	where := fmt.Sprintf("marketplace %d", u.Slice.Marketplace)
	if m, ok := a.markets[u.Slice.Marketplace]; ok {
		where = m.Country + " " + m.ID
	}
	text := fmt.Sprintf("%s, %s", where, u.Slice.KindName())
	switch u.Kind {
	case manifest.Month:
		return text + u.Start.Time().Format(", 2006-01")
	case manifest.Year:
		return text + u.Start.Time().Format(", 2006")
	}
	return text
}

// readAccounts reads the accounts that are examined. What is wrong with one of
// them is found by the checks.
func (e *examination) readAccounts() error {
	all, err := e.db.Accounts.Accounts(e.ctx)
	if err != nil {
		return err
	}
	for _, known := range all {
		if e.Account != "" && e.Account != known.ID {
			continue
		}
		a := account{Account: known, markets: map[uint16]loader.Marketplace{}}
		if a.manifest, err = e.db.Tables.Manifest(e.ctx, a.ID); err != nil && !e.isUnreadable(a.ID, err) {
			return err
		}
		markets, err := e.db.Loads.Marketplaces(e.ctx, a.ID, a.manifest.Generation(manifest.Unit{Kind: manifest.Marketplaces}))
		if err != nil && !e.isUnreadable(a.ID, err) {
			return err
		}
		if e.unreadable[a.ID] != nil {
			continue
		}
		for _, m := range markets {
			a.markets[m.Key] = m
		}
		e.accounts = append(e.accounts, a)
	}
	return nil
}

// isUnreadable notes an account that the other checks cannot look at, where an
// error says that it is damaged.
func (e *examination) isUnreadable(account string, err error) bool {
	if adlens.KindOf(err) != adlens.Damaged {
		return false
	}
	e.unreadable[account] = err
	return true
}

func (e *examination) someAccount(c *checkup) (string, error) {
	if len(e.accounts)+len(e.unreadable)+len(e.lost) > 0 {
		return adlens.FormatCount(len(e.accounts)+len(e.unreadable), "account"), nil
	}
	backup, err := e.db.Sink.Noted(e.ctx, "")
	if backup != "" {
		c.addFailure("run the same adlens restore again; where one runs, wait for it", "there is none, and a restore of the backup %s did not end", backup)
	} else {
		c.addWarning("adlens account add ID --name NAME; adlens demo makes one to look at", "there is none")
	}
	return "", err
}

func (e *examination) dataAge(c *checkup) (string, error) {
	today := adlens.DayOf(e.Now().UTC())
	oldest := adlens.Day(0)
	e.forEach(c, func(c *checkup, a account) error {
		_, newest, held := a.manifest.HeldDays(manifest.Any)
		if held && (oldest == 0 || newest < oldest) {
			oldest = newest
		}
		if a.isCanceled() {
			return nil
		}
		switch {
		case !held:
			c.addWarning(fmt.Sprintf("adlens load --account %s PATH, or adlens pull --account %s", a.ID, a.ID), "no figures are held")
		case newest < today-adlens.StaleDays:
			c.addWarning(e.adviceToRefresh(a), "the newest day with figures is %s, %d days ago", newest, today-newest)
		default:
			e.warnBehind(c, a, newest)
		}
		return nil
	})
	if oldest == 0 {
		return "no account to look at", nil
	}
	return "every account has figures up to " + oldest.String() + " or later", nil
}

// warnBehind warns of marketplaces, and of ad products in the others, whose figures end before
// the newest, and of days that no report covers between those that one does.
func (e *examination) warnBehind(c *checkup, a account, newest adlens.Day) {
	var holes []string
	for _, key := range slices.Sorted(maps.Keys(a.markets)) {
		m := a.markets[key]
		_, last, held := a.manifest.HeldDays(func(s manifest.Slice) bool {
			return s.Marketplace == key && slices.Contains(adlens.AdProducts, s.AdProduct)
		})
		if held && last < newest-adlens.BehindDays {
			c.addWarning(e.adviceToRefresh(a), "the figures of %s %s end on %s, those of other marketplaces on %s", m.Country, m.ID, last, newest)
		}
		for _, p := range adlens.AdProducts {
			for _, run := range a.manifest.NotHeld(manifest.Slice{Marketplace: key, AdProduct: p}, last) {
				switch {
				case run.Last < last:
					holes = append(holes, fmt.Sprintf("%s of %s %s %s", run, m.Country, m.ID, p))
				case run.First <= last-adlens.BehindDays:
					c.addWarning(e.adviceToRefresh(a), "the figures of %s %s end on %s for %s, those of other ad products on %s", m.Country, m.ID, run.First-1, p, last)
				}
			}
		}
	}
	if holes != nil {
		c.addWarning("load reports of these days, without rows where there were no ads", "no report that is loaded covers %s", joinFew(holes))
	}
}

func (e *examination) adviceToRefresh(a account) string {
	if a.IsDemo {
		return "adlens demo brings it up to date"
	}
	return fmt.Sprintf("load newer reports; a connected account is refreshed by adlens serve, or by adlens pull --account %s", a.ID)
}

// expiryNotice is for how long before its end the operator should know of a key or link.
const expiryNotice = 14 * 24 * time.Hour

func (e *examination) checkKeys(c *checkup) (string, error) {
	valid := 0
	e.forEach(c, func(c *checkup, a account) error {
		links, err := e.checkLinks(c, a)
		if err != nil {
			return err
		}
		live, err := e.keysOf(c, a)
		valid += live
		if err != nil || live+links > 0 || a.isCanceled() {
			return err
		}
		apps, err := e.db.Apps.Apps(e.ctx, a.ID)
		connected := false
		for _, app := range apps {
			connected = connected || app.Connected(e.Now())
		}
		if err == nil && !connected {
			c.addWarning(adviceToRenew(a), "no key or link is valid and no assistant is connected: every request for the account is refused")
		}
		return err
	})
	return adlens.FormatCount(valid, "valid key"), nil
}

func adviceToRenew(a account) string {
	return fmt.Sprintf("adlens key create --account %s --name NAME", a.ID)
}

func (e *examination) keysOf(c *checkup, a account) (live int, err error) {
	now := e.Now()
	all, err := e.db.Keys.Keys(e.ctx, a.ID)
	for _, k := range all {
		switch {
		case k.RevokedAt != nil:
		case k.Successor != "":
			if k.ValidAt(now) {
				live++
				for _, next := range all {
					if next.ID == k.Successor && k.LastUsedAt != nil && k.LastUsedAt.After(next.CreatedAt) {
						c.addWarning("give the successor to the clients that use this key", "key %s (%s) ends at %s, was replaced by %s, and was used at %s",
							k.ID, k.Name, formatTime(*k.ExpiresAt), k.Successor, formatTime(*k.LastUsedAt))
					}
				}
			}
		case k.ExpiresAt == nil:
			live++
		default:
			if k.ValidAt(now) {
				live++
			}
			e.warnOfExpiry(c, k, "key", "key", adviceToRenew(a))
		}
	}
	return live, err
}

// checkLinks warns of feed and share links as of keys, and of those that answer 404. Most
// links are meant to end: one that has expired is reported only if it was in use until lately.
func (e *examination) checkLinks(c *checkup, a account) (valid int, err error) {
	now := e.Now()
	all, err := e.db.Feeds.Feeds(e.ctx, a.ID)
	for _, l := range all {
		kind, command := auth.Feed, "feed"
		if auth.Share.IsOf(l) {
			kind, command = auth.Share, "share"
		}
		if l.ValidAt(now) {
			valid++
			refusal, err := e.RefusalOf(e.ctx, e.db, a.Account, l)
			if err != nil && adlens.KindOf(err) != adlens.Damaged { // which is a finding already
				return valid, err
			}
			if refusal != nil {
				c.addWarning(fmt.Sprintf("adlens %s create, with what is accepted, and adlens %s revoke %s", command, command, l.ID), "%s %s (%s) answers 404: %v", kind.Name, l.ID, l.Name, refusal)
			}
		}
		inUse := l.LastUsedAt != nil && now.Sub(*l.LastUsedAt) < expiryNotice
		if l.RevokedAt != nil || l.ExpiresAt == nil || !l.ValidAt(now) && !inUse {
			continue
		}
		e.warnOfExpiry(c, l, kind.Name, command, fmt.Sprintf("adlens %s create, with what adlens %s list --account %s shows of it", command, command, a.ID))
	}
	return valid, err
}

// warnOfExpiry warns of a key or link that expires soon, or has expired. renew is how to
// make another.
func (e *examination) warnOfExpiry(c *checkup, r auth.Record, what, command, renew string) {
	switch left := r.ExpiresAt.Sub(e.Now()); {
	case left <= 0:
		c.addWarning(fmt.Sprintf("%s; or, where it is no longer needed: adlens %s revoke %s", renew, command, r.ID), "%s %s (%s) expired at %s", what, r.ID, r.Name, formatTime(*r.ExpiresAt))
	case left < expiryNotice:
		c.addWarning(fmt.Sprintf("%s, and give it to the clients that use this %s", renew, what), "%s %s (%s) expires at %s", what, r.ID, r.Name, formatTime(*r.ExpiresAt))
	}
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
