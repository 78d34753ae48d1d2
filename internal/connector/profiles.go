package connector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/loader"
)

// listProfiles asks the platform for the profiles of a login. raw is its answer; the
// names are made fit to be shown.
func listProfiles(ctx context.Context, client *api.Client) (raw []byte, profiles []platform.Profile, err error) {
	defer func() { err = client.HideSecrets(err) }()
	if raw, err = client.Profiles(ctx); err != nil {
		return nil, nil, err
	}
	if profiles, _, err = platform.DecodeProfiles(bytes.NewReader(raw)); err != nil {
		return nil, nil, err
	}
	if len(profiles) == 0 {
		return nil, nil, errors.New("the platform lists no seller or vendor profile for these credentials in this region")
	}
	for i, p := range profiles { // these are shown, and not loaded
		profiles[i].Name, profiles[i].Advertiser = client.CleanText(p.Name), client.CleanText(p.Advertiser)
	}
	return raw, profiles, nil
}

// takeProfiles asks the platform for the profiles of a connection, notes which are
// its own, and makes those the account's marketplaces.
func (c *Connector) takeProfiles(ctx context.Context, client *api.Client, used adlens.Connection) (taken []platform.Profile, err error) {
	raw, listed, err := listProfiles(ctx, client)
	if err != nil {
		return nil, err
	}
	if taken, err = c.noteListed(ctx, used, listed); err != nil {
		return nil, err
	}
	return taken, c.loadProfiles(ctx, client, used.Account, raw, taken)
}

// noteListed divides what the platform lists for a connection, and stores what
// changed of it.
func (c *Connector) noteListed(ctx context.Context, used adlens.Connection, listed []platform.Profile) (taken []platform.Profile, err error) {
	release, err := c.lockConnections(ctx, used.Account)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	own, others, err := c.ownAndOthers(ctx, used.Account, used.Name)
	if err != nil {
		return nil, err
	}
	if own.Sealed != used.Sealed {
		return nil, fmt.Errorf("connection %q of account %q was changed or removed meanwhile", used.Name, used.Account)
	}
	taken, untaken := splitListed(own.Connection, others, listed)
	if len(taken) == 0 {
		return nil, fmt.Errorf("the platform lists none of the profiles of connection %q any more, but %s", used.Name, describeProfiles(listed))
	}
	next := own.stored
	next.Profiles = slices.Concat(next.Profiles, without(idsOf(taken), next.Profiles))
	next.Untaken = idsOf(untaken)
	if len(untaken) > 0 {
		c.Notice(used.Account, fmt.Sprintf("not taken, because they may be of another advertiser: %s; %s", describeProfiles(untaken), HowToChoose(next)))
	}
	if slices.Equal(next.Profiles, own.stored.Profiles) && slices.Equal(next.Untaken, own.stored.Untaken) {
		return taken, nil
	}
	return taken, c.Store.PutConnection(ctx, next)
}

// HowToChoose returns the command that chooses the profiles of a connection.
func HowToChoose(c adlens.Connection) string {
	return fmt.Sprintf("choose with: adlens connect --account %s --name %s --region %s --client-id %s --profiles ID,ID (or --countries US,CA)", c.Account, c.Name, c.Region, c.ClientID)
}

// loadProfiles loads some of the platform's profiles as any profiles.json.
func (c *Connector) loadProfiles(ctx context.Context, client *api.Client, account string, raw []byte, taken []platform.Profile) (err error) {
	defer func() { err = client.HideSecrets(err) }()
	ids := idsOf(taken)
	narrow, err := platform.NarrowProfiles(raw, func(id string) bool { return slices.Contains(ids, id) })
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "adlens-profiles-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "profiles.json")
	if err := os.WriteFile(path, narrow, 0o600); err != nil {
		return err
	}
	result, err := c.load(ctx, account, []string{path})
	return errors.Join(err, refusedFiles(result))
}

// load loads files, of one connection at a time: together they would wait for the
// lock of the account.
func (c *Connector) load(ctx context.Context, account string, paths []string) (loader.Result, error) {
	c.loading.Lock()
	defer c.loading.Unlock()
	return c.Loader.Load(ctx, account, paths)
}

// storeLists puts lists in the place of those that are held, in turn with load.
func (c *Connector) storeLists(ctx context.Context, account string, read loader.Lists) error {
	c.loading.Lock()
	defer c.loading.Unlock()
	return c.Loader.ReplaceLists(ctx, account, read)
}

// refusedFiles says which files of a load were refused, and why.
func refusedFiles(r loader.Result) error {
	var all []error
	for _, f := range r.Files {
		if f.Status == loader.Refused {
			all = append(all, errors.New(f.File+": "+*f.Error))
		}
	}
	return errors.Join(all...)
}
