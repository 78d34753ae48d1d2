package connector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adlens/internal/platform"
	"adlens/internal/platform/api"
)

// profilesName is the file of the profiles that extracts are of.
const profilesName = "profiles.json"

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
	object, err := withFields(status.Raw, w.addedFields(status.Raw)...)
	if err != nil {
		return err
	}
	if err := w.requireRequested(object); err != nil {
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

// addedFields are what the platform's object does not say: whose report it is, and of
// version 2 of what and of which day it is, that it is the whole, and how new it is at
// least. The time is
// that of the request, so that it is the same in whichever try it is downloaded.
func (w *window) addedFields(raw []byte) []addedField {
	fields := []addedField{{"profileId", w.profile.ID}}
	if w.report.Legacy {
		fields = append(fields, addedField{"reportDate", platform.LegacyDay(w.start)}, addedField{"creativeType", platform.AllCreatives},
			addedField{"generatedAt", w.request.RequestedAt.UTC().Format(time.RFC3339Nano)}, addedField{"recordType", platform.LegacyRecords})
	}
	var said map[string]json.RawMessage
	json.Unmarshal(raw, &said) // what is no object is withFields' to refuse
	return slices.DeleteFunc(fields, func(f addedField) bool { return said[f.name] != nil })
}

// errOtherReport says that the platform gave a report of another profile or of other days.
var errOtherReport = errors.New("other days were requested, or another profile's")

// requireRequested makes sure that a report is of the profile and days of its window,
// which would be noted as read otherwise. What else is wrong with it is the loader's to
// refuse.
func (w *window) requireRequested(object []byte) error {
	report, err := platform.DecodeReport(bytes.NewReader(object))
	if err != nil || report.ProfileID == w.profile.ID && report.Start == w.start && report.End == w.end {
		return nil
	}
	return fmt.Errorf("report %s is of profile %s, %s to %s: %w", report.ID, report.ProfileID, report.Start, report.End, errOtherReport)
}

type addedField struct{ name, value string }

// withFields adds fields to the platform's object.
func withFields(raw []byte, fields ...addedField) ([]byte, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil, errors.New("the platform's report is no object")
	}
	head := []byte{'{'}
	for _, f := range fields {
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		head = append(append(append(head, '"'), f.name...), '"', ':')
		head = append(append(head, value...), ',')
	}
	rest := bytes.TrimSpace(raw[1:])
	if len(rest) > 0 && rest[0] == '}' {
		head = bytes.TrimSuffix(head, []byte{','})
	}
	return append(head, rest...), nil
}

// keepProfiles leaves the profiles of a connection with its reports, which no other
// account can load without them. Those of other connections, and those that the platform
// lists no more, stay; where there are some of another account, nothing is left: a
// load of the directory would take them.
func (p *pull) keepProfiles(ctx context.Context, listed []byte) (err error) {
	release, err := p.connector.lockConnections(ctx, p.account) // which change the file too
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	path := filepath.Join(p.out, profilesName)
	held, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		held, err = []byte("[]"), nil
	}
	if err != nil {
		return err
	}
	next, err := platform.MergeProfiles(held, listed)
	if err != nil {
		return fmt.Errorf("%s: %w; remove it, and it is written again", path, err)
	}
	if err := p.requireOwn(ctx, next, listed); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return writeAtomic(path, func(f *os.File) error {
		_, err := f.Write(next)
		return err
	})
}

// requireOwn makes sure that all profiles are those that were just listed, or others that
// the account holds.
func (p *pull) requireOwn(ctx context.Context, all, listed []byte) error {
	found, _, _, err := platform.DecodeListing(bytes.NewReader(all))
	if err != nil {
		return err
	}
	own, _, _, err := platform.DecodeListing(bytes.NewReader(listed))
	if err != nil {
		return err
	}
	held, err := p.connector.Store.Profiles(ctx, p.account)
	if err != nil {
		return err
	}
	own = append(own, held...)
	for _, one := range found {
		if !slices.ContainsFunc(own, func(o platform.Profile) bool { return o.ID == one.ID }) {
			return fmt.Errorf("it has profile %s, which is none of account %s; give each account a directory of its own", one.ID, p.account)
		}
	}
	return nil
}

// halfNames are names of files that are being written.
const halfNames = ".adlens-*"

// writeAtomic writes a file under a name of its own first, so that no reader ever sees
// half of it.
func writeAtomic(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), halfNames)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
