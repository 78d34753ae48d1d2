package connector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/loader"
)

// listing is what the platform lists for a login.
type listing struct {
	raw      []byte             // its answer
	profiles []platform.Profile // with names that are fit to be shown
	faults   map[string]error   // what is wrong with some of them, by id
}

// listProfiles asks the platform for the profiles of a login.
func listProfiles(ctx context.Context, client *api.Client) (found listing, err error) {
	defer func() { err = client.HideSecrets(err) }()
	if found.raw, err = client.Profiles(ctx); err != nil {
		return found, err
	}
	if found.profiles, found.faults, _, err = platform.DecodeListing(bytes.NewReader(found.raw)); err != nil {
		return found, err
	}
	if len(found.profiles) == 0 {
		return found, errors.New("the platform lists no seller or vendor profile for these credentials in this region")
	}
	for i := range found.profiles { // these are shown, and not loaded
		shown := &found.profiles[i]
		for _, text := range []*string{&shown.Name, &shown.Advertiser, &shown.Country, &shown.Currency, &shown.TimeZone} {
			*text = client.CleanText(*text)
		}
	}
	return found, nil
}

// takeProfiles asks the platform for the profiles of a connection, notes which are
// its own, and makes those the account's marketplaces. raw is the platform's answer
// without others; leftOut is why some of the connection's are not taken.
func (c *Connector) takeProfiles(ctx context.Context, client *api.Client, used adlens.Connection) (taken []platform.Profile, raw []byte, leftOut, err error) {
	found, err := listProfiles(ctx, client)
	if err != nil {
		return nil, nil, nil, err
	}
	taken, unlisted, err := c.noteListed(ctx, used, found.profiles)
	if err != nil {
		return nil, nil, nil, err
	}
	if taken, leftOut, err = c.loadProfiles(ctx, client, used.Account, found, taken); err == nil {
		raw, err = found.narrowTo(idsOf(taken))
	}
	return taken, raw, errors.Join(unlisted, leftOut), err
}

// narrowTo returns the platform's answer with some of its profiles alone.
func (l listing) narrowTo(ids []string) ([]byte, error) {
	return platform.NarrowProfiles(l.raw, func(id string) bool { return slices.Contains(ids, id) })
}

// noteListed divides what the platform lists for a connection, and stores what
// changed of it. unlisted names the connection's profiles that it lists no more.
func (c *Connector) noteListed(ctx context.Context, used adlens.Connection, listed []platform.Profile) (taken []platform.Profile, unlisted, err error) {
	release, err := c.lockConnections(ctx, used.Account)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	own, others, err := c.ownAndOthers(ctx, used.Account, used.Name)
	if err != nil {
		return nil, nil, err
	}
	if own.Sealed != used.Sealed {
		return nil, nil, fmt.Errorf("connection %q of account %q was changed or removed meanwhile", used.Name, used.Account)
	}
	held, err := c.Store.Profiles(ctx, used.Account)
	if err != nil {
		return nil, nil, err
	}
	taken, untaken := splitListed(own.Connection, others, listed, held)
	if len(taken) == 0 {
		return nil, nil, fmt.Errorf("the platform lists none of the profiles of connection %q any more, but %s", used.Name, describeProfiles(listed))
	}
	next := own.stored
	unlisted = requireListed(next, listed)
	next.Profiles = slices.Concat(next.Profiles, without(idsOf(taken), next.Profiles))
	next.Untaken = untakenOf(own.Connection, untaken, listed)
	if len(untaken) > 0 {
		c.Notice(used.Account, fmt.Sprintf("not taken, because they may be of another advertiser: %s; %s", describeProfiles(untaken), HowToChoose(next, "")))
	}
	if slices.Equal(next.Profiles, own.stored.Profiles) && slices.Equal(next.Untaken, own.stored.Untaken) {
		return taken, unlisted, nil
	}
	return taken, unlisted, c.Store.PutConnection(ctx, next)
}

// requireListed names the connection's profiles that the platform lists no more.
func requireListed(c adlens.Connection, listed []platform.Profile) error {
	gone := without(c.Profiles, idsOf(listed))
	if len(gone) == 0 {
		return nil
	}
	return fmt.Errorf("the platform no longer lists profile %s, whose figures stay as they are; if that is for good, %s", strings.Join(gone, ", "), HowToChoose(c, ""))
}

// HowToChoose returns the command that chooses the profiles of a connection. redirect is
// the return address of the consent that brought its refresh token, which no operator
// has seen then; "" for none.
func HowToChoose(c adlens.Connection, redirect string) string {
	if redirect != "" {
		redirect = " --redirect-url " + shellWord(redirect)
	}
	return fmt.Sprintf("choose with: adlens connect --account %s --name %s --region %s --client-id %s%s --profiles ID,ID (or --countries US,CA)", c.Account, c.Name, c.Region, c.ClientID, redirect)
}

var plainWord = regexp.MustCompile(`^[0-9A-Za-z:/._-]+$`)

// shellWord quotes what a shell would not take as it is.
func shellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// loadProfiles makes some of the profiles found the account's marketplaces. One that is
// not sound, or may not change as it did, is left out, and keeps no other from being
// read; that all are left out is an error.
func (c *Connector) loadProfiles(ctx context.Context, client *api.Client, account string, found listing, wanted []platform.Profile) (taken []platform.Profile, leftOut, err error) {
	defer func() { leftOut, err = client.HideSecrets(leftOut), client.HideSecrets(err) }()
	leaveOut := func(p platform.Profile, why error) {
		leftOut = errors.Join(leftOut, fmt.Errorf("profile %s (%s) is left out: %w", p.ID, p.Country, why))
	}
	for _, p := range wanted {
		if fault := found.faults[p.ID]; fault != nil {
			leaveOut(p, fault)
		} else {
			taken = append(taken, p)
		}
	}
	refused, err := c.loadListed(ctx, account, found, idsOf(taken))
	if refused != nil { // each for itself tells which it is
		all := taken
		taken = nil
		for _, p := range all {
			switch refused, failed := c.loadListed(ctx, account, found, []string{p.ID}); {
			case failed != nil:
				err = errors.Join(err, failed)
			case refused != nil:
				leaveOut(p, refused)
			default:
				taken = append(taken, p)
			}
		}
	}
	if err == nil && len(taken) == 0 {
		return nil, nil, leftOut
	}
	return taken, leftOut, err
}

// loadListed loads some of the platform's profiles as any profiles.json.
func (c *Connector) loadListed(ctx context.Context, account string, found listing, ids []string) (refused, err error) {
	narrow, err := found.narrowTo(ids)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "adlens-profiles-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, profilesName)
	if err := os.WriteFile(path, narrow, 0o600); err != nil {
		return nil, err
	}
	result, err := c.load(ctx, account, []string{path})
	return refusedFiles(result), err
}

// load loads files, of one connection of an account at a time: together they would
// wait for the lock of the account.
func (c *Connector) load(ctx context.Context, account string, paths []string) (loader.Result, error) {
	leave, err := c.enterAccount(ctx, account)
	if err != nil {
		return loader.Result{}, err
	}
	defer leave()
	return c.Loader.Load(ctx, account, paths)
}

// storeLists puts lists in the place of those that are held, in turn with load.
func (c *Connector) storeLists(ctx context.Context, account string, read loader.Lists) error {
	leave, err := c.enterAccount(ctx, account)
	if err != nil {
		return err
	}
	defer leave()
	return c.Loader.ReplaceLists(ctx, account, read)
}

// enterAccount waits until nothing else is loaded here for an account. What is loaded
// for others does not matter: it may wait for long for a lock of theirs.
func (c *Connector) enterAccount(ctx context.Context, account string) (leave func(), err error) {
	c.mu.Lock()
	turn, known := c.loading[account]
	if !known {
		turn = make(chan struct{}, 1)
		c.loading[account] = turn
	}
	c.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
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
