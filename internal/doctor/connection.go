package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adlens"
	"adlens/internal/connector"
	"adlens/internal/manifest"
	"adlens/internal/platform"
	"adlens/internal/redis"
	"adlens/loader"
)

// forConnected runs a check for each connection to the platform, with the profiles
// that belong to it.
func (e *examination) forConnected(c *checkup, run func(*checkup, account, adlens.Connection) error) (connections int) {
	e.forEach(c, func(c *checkup, a account) error {
		all, err := e.db.Connections.Connections(e.ctx, a.ID)
		if err != nil {
			return err
		}
		var failures []error
		for _, connection := range connector.WithProfiles(all, a.profiles()) {
			connections++
			failures = append(failures, run(c, a, connection))
		}
		return errors.Join(failures...)
	})
	return connections
}

func (e *examination) checkConnections(c *checkup) (string, error) {
	if err := e.CheckKey(); err != nil {
		c.addFailure("give the key file that adlens connect made, or leave --secret-key-file out", "adlens serve does not start: %v", err)
	}
	n := e.forConnected(c, func(c *checkup, a account, connection adlens.Connection) error {
		again := fmt.Sprintf("adlens connect --account %s --name %s --region %s --client-id %s", a.ID, connection.Name, connection.Region, connection.ClientID)
		if err := e.CanOpen(connection); err != nil {
			c.addFailure("give the key file that they were sealed with by --secret-key-file, or "+again, "connection %s: its credentials cannot be read: %v", connection.Name, err)
		}
		if !connection.Accepted {
			c.addFailure(again+" with credentials that the platform takes", "connection %s: the platform refused its credentials the last time", connection.Name)
		}
		if len(connection.Untaken) > 0 {
			c.addWarning(again+" --profiles with all that are to be read", "connection %s: the platform also lists %s, not taken because they may be of another advertiser",
				connection.Name, joinFew(connection.Untaken))
		}
		return nil
	})
	e.forEach(c, e.warnAbandoned)
	if n == 0 {
		return "no account is connected to the platform", nil
	}
	return adlens.FormatCount(n, "connection") + " whose credentials can be read and were accepted the last time", nil
}

// warnAbandoned warns of marketplaces whose figures are held and that no connection
// refreshes any more.
func (e *examination) warnAbandoned(c *checkup, a account) error {
	all, err := e.db.Connections.AllConnections(e.ctx, a.ID)
	if err != nil {
		return err
	}
	refreshed, err := e.db.Connections.Refreshed(e.ctx, a.ID)
	var names []string
	for _, p := range connector.Abandoned(all, a.profiles(), refreshed) {
		name := p.Country + " " + p.ID
		for _, connection := range all {
			if connection.Removed && slices.Contains(connection.Profiles, p.ID) {
				name += " (of connection " + connection.Name + ", which was removed)"
			}
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		c.addWarning(fmt.Sprintf("adlens connect --account %s --profiles with all that a connection is to read, or load their files by hand", a.ID),
			"what is held stays readable, but is refreshed no more, because no connection has the profile: %s", joinFew(names))
	}
	return err
}

const whyFailed = "the log of adlens serve says why (campaigns could not be read); it is tried again by itself"

// checkLists looks at how reading campaigns goes. They are read on request,
// so an old list alone is nothing.
func (e *examination) checkLists(c *checkup) (string, error) {
	var oldest time.Duration
	n := e.forConnected(c, func(c *checkup, a account, connection adlens.Connection) error {
		for key, m := range a.markets {
			if !slices.Contains(connection.Profiles, m.ID) {
				continue
			}
			if err := e.warnUnread(c, a, m); err != nil {
				return err
			}
			for _, kind := range []manifest.Kind{manifest.Campaigns, manifest.AdGroups, manifest.Ads} {
				for _, l := range a.manifest.Of(kind) {
					if l.Slice.Marketplace == key && len(l.Sources) > 0 {
						oldest = max(oldest, e.Now().Sub(l.Sources[0].GeneratedAt))
					}
				}
			}
		}
		return nil
	})
	switch {
	case n == 0:
		return "no account is connected to the platform", nil
	case oldest == 0:
		return "none was read yet; they are read once a day, and when campaigns are requested", nil
	}
	return fmt.Sprintf("the oldest is of %s ago; they are read once a day, and when campaigns are requested", formatAge(oldest)), nil
}

// warnUnread warns of a marketplace whose lists could not be read: of all, or of
// those that failed where others were read.
func (e *examination) warnUnread(c *checkup, a account, m loader.Marketplace) error {
	work := connector.ListsWork(a.ID, m.ID)
	attempt, found, err := e.db.Connections.Attempt(e.ctx, work)
	if err != nil {
		return err
	}
	if found && attempt.Failures > 0 && !e.isBusy(work) {
		c.addWarning(whyFailed, "the lists of %s %s could not be read, %s, last begun %s ago", m.Country, m.ID, inARow(attempt.Failures), formatAge(attempt.Age))
		return nil
	}
	for _, name := range loader.ListNames() {
		attempt, found, err := e.db.Connections.Attempt(e.ctx, connector.ListWork(a.ID, m.ID, name))
		if err != nil {
			return err
		}
		if found && attempt.Failures > 0 {
			c.addWarning(whyFailed, "the %s of %s %s could not be read, %s, the last time %s ago", name, m.Country, m.ID, inARow(attempt.Failures), formatAge(attempt.Age))
		}
	}
	return nil
}

// isBusy reports whether some work is under way, which counts as failed until it
// has ended.
func (e *examination) isBusy(work string) bool {
	held, err := e.locks.Held(e.ctx, work)
	return err == nil && held
}

// refreshPatience is for how many days after one has ended its reports may be
// outstanding: the platform has bad days.
const refreshPatience = 2

// checkRefreshes looks at how the daily refresh of figures goes. Accounts that are
// only pulled by hand are none of its business: their data are young or old.
func (e *examination) checkRefreshes(c *checkup) (string, error) {
	n := e.forConnected(c, func(c *checkup, a account, connection adlens.Connection) error {
		work := connector.ReportsWork(a.ID, connection.Name)
		attempt, found, err := e.db.Connections.Attempt(e.ctx, work)
		if err != nil {
			return err
		}
		if found && attempt.Failures > 0 && !e.isBusy(work) {
			c.addWarning("the log of adlens serve says why (figures could not be refreshed); it is tried again by itself",
				"connection %s: figures could not be refreshed, %s, last begun %s ago", connection.Name, inARow(attempt.Failures), formatAge(attempt.Age))
			return nil
		}
		if !connection.Accepted {
			return nil // said already
		}
		return e.warnLagging(c, a, connection, found && !e.isBusy(work))
	})
	if n == 0 {
		return "no account is connected to the platform", nil
	}
	return adlens.FormatCount(n, "connection") + " without a failed refresh", nil
}

// warnLagging warns of reports of a connection's profiles that are behind. Where a refresh
// has ended they are also those that were never read, as the platform refuses them: that
// is no failure which another try the same day would mend.
func (e *examination) warnLagging(c *checkup, a account, connection adlens.Connection, hasEnded bool) error {
	all, err := e.db.Connections.Refreshed(e.ctx, a.ID)
	var late []string
	for _, m := range a.markets {
		if !slices.Contains(connection.Profiles, m.ID) {
			continue
		}
		read := map[string]bool{}
		for _, r := range all {
			if m.ID != r.MarketplaceID {
				continue
			}
			read[r.ReportType] = true
			if r.Through < connector.LastEnded(m.Profile, e.Now())-refreshPatience {
				late = append(late, fmt.Sprintf("%s of %s %s up to %s", r.ReportType, m.Country, m.ID, r.Through))
			}
		}
		for _, t := range platform.ReportTypes {
			if hasEnded && !read[t.ID] {
				late = append(late, fmt.Sprintf("%s of %s %s never read", t.ID, m.Country, m.ID))
			}
		}
	}
	if len(late) > 0 {
		slices.Sort(late)
		c.addWarning("adlens serve refreshes them once a day; is it running, and does its log say why? adlens pull --account "+a.ID+" does it now", "connection %s: figures are behind: %s", connection.Name, joinFew(late))
	}
	return err
}

func inARow(failures int) string {
	if failures == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times in a row", failures)
}

// formatAge writes how long ago something was.
func formatAge(age time.Duration) string {
	switch {
	case age < 0:
		return "0s"
	case age > 48*time.Hour:
		return fmt.Sprintf("%d days", int(age/(24*time.Hour)))
	case age > time.Hour:
		return fmt.Sprintf("%d h", int(age/time.Hour))
	}
	return age.Round(time.Second).String()
}

// redisPatience is how long Redis may take to answer.
const redisPatience = 5 * time.Second

func (e *examination) limitsStore(c *checkup) (string, error) {
	if e.Redis == "" {
		return "none is configured: each server counts for itself", nil
	}
	ctx, cancel := context.WithTimeout(e.ctx, redisPatience)
	defer cancel()
	slowest, err := redis.CheckScript(ctx, e.Redis)
	if err != nil {
		c.addFailure("start Redis, or correct ADLENS_REDIS: it has to be no replica and no node of a cluster, and to permit scripts; meanwhile each server counts for itself",
			"Redis does not answer, or refuses: %v", err)
	}
	return fmt.Sprintf("Redis answers in %s", slowest.Round(100*time.Microsecond)), nil
}
