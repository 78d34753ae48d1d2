package connector

import (
	"context"
	"errors"
	"slices"
	"sync"

	"adlens"
	"adlens/internal/platform"
	"adlens/loader"
)

// Pull fetches the platform's own reports of an account's last days through all of
// its connections at once, leaves them in the layout of extracts, and loads them. A
// connection that fails keeps no other back.
func (c *Connector) Pull(ctx context.Context, account string, o PullOptions) (result loader.Result, err error) {
	all, err := c.connectionsOf(ctx, account)
	if err != nil {
		return result, err
	}
	var mu sync.Mutex
	var running sync.WaitGroup
	pulls, failures := make([]*pull, len(all)), make([]error, len(all))
	fetched := make([]struct{ done, total int }, len(all))
	for i, connection := range all {
		own := o
		own.Fetched = func(done, total int) {
			mu.Lock()
			defer mu.Unlock()
			fetched[i].done, fetched[i].total = done, total
			done, total = 0, 0
			for _, f := range fetched {
				done, total = done+f.done, total+f.total
			}
			o.Fetched(done, total)
		}
		running.Go(func() {
			pulls[i], failures[i] = c.pullConnection(ctx, connection, own)
		})
	}
	running.Wait()
	for _, p := range pulls {
		if p != nil {
			result.Files = append(result.Files, p.result.Files...)
		}
	}
	return result, errors.Join(append(failures, closePulls(ctx, pulls))...)
}

// profilesOf reads the held profiles that belong to a connection.
func (c *Connector) profilesOf(ctx context.Context, connection adlens.Connection) ([]platform.Profile, error) {
	own, _, err := c.ownAndOthers(ctx, connection.Account, connection.Name)
	if err != nil {
		return nil, err
	}
	held, err := c.Store.Profiles(ctx, connection.Account)
	return slices.DeleteFunc(held, func(p platform.Profile) bool { return !slices.Contains(own.Profiles, p.ID) }), err
}
