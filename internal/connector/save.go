package connector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"adlens/internal/platform/api"
)

// The names of an extract's two files end so.
const (
	reportSuffix   = ".report.json"
	downloadSuffix = ".json.gz"
)

func cutReport(name string) (stem string, ok bool) { return strings.CutSuffix(name, reportSuffix) }

// saveReport downloads a completed report and leaves it as an extract. The
// object is written last, and that of another report of the same days goes
// first, so that a directory never holds one without its own download.
func (p *pull) saveReport(ctx context.Context, w *window, status api.Status) error {
	object, err := withProfile(status.Raw, w.profile.ID)
	if err != nil {
		return err
	}
	stem := filepath.Join(p.out, w.windowName())
	err = writeAtomic(stem+downloadSuffix, func(f *os.File) error {
		if err := p.client.Download(ctx, status.URL, f); err != nil {
			return err
		}
		return removeIfThere(stem + reportSuffix)
	})
	if err != nil {
		return err
	}
	return writeAtomic(stem+reportSuffix, func(f *os.File) error {
		_, err := f.Write(object)
		return err
	})
}

// withProfile adds the profile's id to the platform's object, which does not
// say whose report it is.
func withProfile(raw []byte, profile string) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil, errors.New("the platform's report is no object")
	}
	id, err := json.Marshal(profile)
	if err != nil {
		return nil, err
	}
	head := append([]byte(`{"profileId":`), id...)
	if rest := bytes.TrimSpace(raw[1:]); len(rest) > 0 && rest[0] != '}' {
		head = append(head, ',')
	}
	return append(head, raw[1:]...), nil
}

// writeAtomic writes a file under a name of its own first, so that nobody ever sees
// half of it.
func writeAtomic(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".adlens-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
