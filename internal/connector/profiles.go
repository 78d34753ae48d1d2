package connector

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	"adlens/internal/platform"
	"adlens/internal/platform/api"
	"adlens/loader"
)

// takeProfiles asks the platform for the account's profiles and loads its
// answer as any profiles.json.
func (c *Connector) takeProfiles(ctx context.Context, client *api.Client, account string) (profiles []platform.Profile, err error) {
	defer func() { err = client.HideSecrets(err) }()
	raw, err := client.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	if profiles, _, err = platform.DecodeProfiles(bytes.NewReader(raw)); err != nil {
		return nil, err
	}
	if len(profiles) == 0 {
		return nil, errors.New("the platform lists no seller or vendor profile for these credentials in this region")
	}
	dir, err := os.MkdirTemp("", "adlens-profiles-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "profiles.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return nil, err
	}
	result, err := c.Loader.Load(ctx, account, []string{path})
	return profiles, errors.Join(err, refusedFiles(result))
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
