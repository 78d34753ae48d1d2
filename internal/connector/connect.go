package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/platform"
)

// nameForm is what a connection may be named.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckNew says why a connection of this name and region cannot be made, as far as
// it can be told before anything is sent.
func (c *Connector) CheckNew(ctx context.Context, wanted adlens.Connection) error {
	if !nameForm.MatchString(wanted.Name) {
		return fmt.Errorf("--name %q: expected 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first", wanted.Name)
	}
	stored, found, err := c.findConnection(ctx, wanted.Account, wanted.Name)
	if err == nil && found && stored.Region != wanted.Region {
		err = fmt.Errorf("connection %q of account %q is of region %s, not %s: give this one another --name, or remove that one first: adlens connection remove --account %s --name %s",
			wanted.Name, wanted.Account, stored.Region, wanted.Region, wanted.Account, wanted.Name)
	}
	return err
}

// Connect checks credentials against the platform and stores them sealed, for a
// connection with an account, name, region, client id and choice. One that has the
// name is renewed; without a choice it keeps its own. It returns the profiles taken,
// which are the account's marketplaces from then on, also where the error is that others
// are left out. Where nothing can be taken, nothing is changed: one error of that is
// SeveralAdvertisers.
func (c *Connector) Connect(ctx context.Context, wanted adlens.Connection, s Secrets) (taken []platform.Profile, err error) {
	if err := c.CheckNew(ctx, wanted); err != nil {
		return nil, err
	}
	client, err := c.newClient(wanted, s)
	if err != nil {
		return nil, err
	}
	found, err := listProfiles(ctx, client)
	if err != nil {
		return nil, err
	}
	release, err := c.lockConnections(ctx, wanted.Account)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	next, taken, err := c.renew(ctx, wanted, found.profiles)
	if err != nil {
		return nil, client.HideSecrets(err)
	}
	otherKey, err := c.sealsOtherwise(ctx, wanted.Account)
	if err != nil {
		return nil, err
	}
	if err := c.sealSecrets(&next, s); err != nil {
		return nil, err
	}
	taken, leftOut, err := c.loadProfiles(ctx, client, wanted.Account, found, taken)
	if err != nil {
		return nil, err
	}
	// What failed with the credentials before says nothing of these.
	if err := errors.Join(c.Store.PutConnection(ctx, next), c.Store.Forgive(ctx, ReportsWork(next.Account, next.Name), ListsWork(next.Account, ""))); err != nil {
		return nil, err
	}
	if otherKey {
		c.Notice(wanted.Account, fmt.Sprintf("connection %q is sealed with another secret key than others that are stored: servers with theirs cannot read it; unless theirs is lost, connect again with it (--secret-key-file)", next.Name))
	}
	return taken, errors.Join(requireListed(next, found.profiles), leftOut)
}

// sealsOtherwise reports whether the operator's key is another one than that of stored
// credentials, as on a machine that is not the servers': it does not open some of the account, or
// none at all.
func (c *Connector) sealsOtherwise(ctx context.Context, account string) (bool, error) {
	all, err := c.Store.Connections(ctx, "")
	opened, closed := 0, 0
	for _, one := range all {
		switch {
		case one.Sealed == "":
		case c.CanOpen(one) == nil:
			opened++
		case one.Account == account:
			return true, err
		default:
			closed++
		}
	}
	return opened == 0 && closed > 0, err
}

// renew returns the connection that is to be stored, and which of the profiles found
// it takes.
func (c *Connector) renew(ctx context.Context, wanted adlens.Connection, found []platform.Profile) (next adlens.Connection, taken []platform.Profile, err error) {
	own, others, err := c.ownAndOthers(ctx, wanted.Account, wanted.Name)
	if err != nil {
		return next, nil, err
	}
	next, next.ConnectedAt, next.Accepted = wanted, time.Now().UTC().Truncate(time.Millisecond), true
	if own.found {
		next.ConnectedAt = own.stored.ConnectedAt
	}
	if own.found && wanted.Choice.IsNone() {
		held, err := c.Store.Profiles(ctx, wanted.Account)
		if err != nil {
			return next, nil, err
		}
		var untaken []platform.Profile
		taken, untaken = splitListed(own.Connection, others, found, held)
		next.Choice, next.Untaken = own.Choice, untakenOf(own.Connection, untaken, found)
		next.Profiles = slices.Concat(own.stored.Profiles, without(idsOf(taken), own.stored.Profiles))
		if len(taken) == 0 {
			err = fmt.Errorf("the platform lists none of the profiles of connection %q for these credentials, but %s; choose of them with --profiles or --countries, or give another --name", wanted.Name, describeProfiles(found))
		}
		return next, taken, err
	}
	if taken, err = chooseProfiles(found, wanted.Choice); err != nil {
		return next, nil, err
	}
	for _, p := range taken {
		if owner, owned := ownerOf(others, p.ID); owned {
			return next, nil, fmt.Errorf("profile %s (%s) belongs to connection %q of account %q already; choose others with --profiles, or remove that connection", p.ID, p.Country, owner.Name, owner.Account)
		}
	}
	next.Profiles = idsOf(taken)
	return next, taken, nil
}

func (c *Connector) sealSecrets(connection *adlens.Connection, s Secrets) error {
	key, err := c.Key()
	if err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err == nil {
		connection.Sealed = key.Seal(text, sealPurpose(*connection))
	}
	return err
}

// Remove ends a connection. What was read through it stays held.
func (c *Connector) Remove(ctx context.Context, account, name string) (removed adlens.Connection, err error) {
	release, err := c.lockConnections(ctx, account)
	if err != nil {
		return removed, err
	}
	defer func() { err = errors.Join(err, release()) }()
	own, others, err := c.ownAndOthers(ctx, account, name)
	if err != nil {
		return removed, err
	}
	if !own.found {
		return removed, fmt.Errorf("account %q has no connection %q; it has %s", account, name, namesOf(others))
	}
	removed = own.Connection // with the profiles of one that had none noted yet
	removed.Sealed, removed.Accepted, removed.Untaken, removed.Removed = "", false, nil, true
	return removed, c.Store.PutConnection(ctx, removed)
}

func namesOf(connections []adlens.Connection) string {
	if len(connections) == 0 {
		return "none"
	}
	names := make([]string, len(connections))
	for i, c := range connections {
		names[i] = fmt.Sprintf("%q", c.Name)
	}
	return strings.Join(names, ", ")
}

// lockConnections lets one process at a time change an account's connections.
func (c *Connector) lockConnections(ctx context.Context, account string) (release func() error, err error) {
	return c.Locks.Lock(ctx, "connection/"+account, func(string) {})
}

// ownConnection is a connection with the profiles that belong to it, and as it is
// stored.
type ownConnection struct {
	adlens.Connection
	stored adlens.Connection
	found  bool
}

// ownAndOthers reads the connection of a name and the account's others.
func (c *Connector) ownAndOthers(ctx context.Context, account, name string) (own ownConnection, others []adlens.Connection, err error) {
	stored, err := c.Store.Connections(ctx, account)
	if err != nil {
		return own, nil, err
	}
	all, err := c.withProfiles(ctx, account, stored)
	for i, one := range all {
		if one.Name == name {
			own = ownConnection{one, stored[i], true}
		} else {
			others = append(others, one)
		}
	}
	return own, others, err
}

// findConnection reads the connection of a name.
func (c *Connector) findConnection(ctx context.Context, account, name string) (one adlens.Connection, found bool, err error) {
	own, _, err := c.ownAndOthers(ctx, account, name)
	return own.stored, own.found, err
}

// connectionsOf reads the connections of an account with the profiles that belong to
// them; that there is none is an error.
func (c *Connector) connectionsOf(ctx context.Context, account string) ([]adlens.Connection, error) {
	all, err := c.Store.Connections(ctx, account)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("account %q is not connected to the platform; connect it with: adlens connect --account %s --region REGION --client-id ID", account, account)
	}
	if err != nil {
		return nil, err
	}
	return c.withProfiles(ctx, account, all)
}

// withProfiles is WithProfiles, which needs what is held only for connections that
// were made before they had profiles.
func (c *Connector) withProfiles(ctx context.Context, account string, all []adlens.Connection) ([]adlens.Connection, error) {
	if !slices.ContainsFunc(all, func(one adlens.Connection) bool { return len(one.Profiles) == 0 }) {
		return all, nil
	}
	held, err := c.Store.Profiles(ctx, account)
	return WithProfiles(all, held), err
}

// connectionOf reads the connection that a profile belongs to.
func (c *Connector) connectionOf(ctx context.Context, account, profileID string) (one adlens.Connection, found bool, err error) {
	all, err := c.Store.Connections(ctx, account)
	if err != nil || len(all) == 0 {
		return one, false, err
	}
	if all, err = c.withProfiles(ctx, account, all); err != nil {
		return one, false, err
	}
	one, found = ownerOf(all, profileID)
	return one, found, nil
}
