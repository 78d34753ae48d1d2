package house

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"adlens/integration/extracts"
	"adlens/integration/harness"
	"adlens/integration/model"
)

// Flip changes a bit in the middle of a file.
func Flip(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	raw[len(raw)/2] ^= 0x10
	return os.WriteFile(path, raw, 0o600)
}

// Truncate cuts a file in half.
func Truncate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()/2)
}

// MustRefuse demands that a command failed and named these words.
func MustRefuse(t *testing.T, what string, r harness.Result, names ...string) {
	t.Helper()
	for _, name := range names {
		if r.Code != 1 || !strings.Contains(r.Stderr, name) {
			t.Errorf("%s: want exit code 1 and %s named, got %s", what, name, r)
		}
	}
}

// Killed runs a command, kills it after a while, and reports whether the command
// had ended before.
func Killed(t *testing.T, p *harness.Program, after time.Duration, args ...string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	command := p.Command(ctx, args...)
	Need(t, command.Start())
	<-time.After(after)
	// It may have ended just before; then there is nothing to kill.
	_ = command.Process.Kill()
	return command.Wait() == nil
}

// Listed are the ids of the backups that a place shows.
func (c Copied) Listed(t *testing.T) []string {
	t.Helper()
	var said struct{ Data []struct{ Backup string } }
	r := c.Run("backup", "list", "--from", c.Place, "--json")
	if r.Code != 0 || json.Unmarshal([]byte(r.Stdout), &said) != nil {
		t.Fatalf("backup list: %s", r)
	}
	ids := make([]string, len(said.Data))
	for i, b := range said.Data {
		ids[i] = b.Backup
	}
	return ids
}

// Copied is an installation with a place for its backups.
type Copied struct {
	*harness.Program
	Place string
	More  []string // flags that every command with a place needs
}

// Backup takes a backup, and says how many rows were new.
func (c Copied) Backup(t *testing.T, more ...string) (id string, rows int) {
	t.Helper()
	r := c.Run(append(append([]string{"backup", "--to", c.Place, "--json"}, c.More...), more...)...)
	var said struct {
		Backup string
		Copied int `json:"copied_rows"`
	}
	if r.Code != 0 || json.Unmarshal([]byte(r.Stdout), &said) != nil {
		t.Fatalf("backup: %s", r)
	}
	return said.Backup, said.Copied
}

// Restore restores into a program with a data directory of its own.
func (c Copied) Restore(t *testing.T, more ...string) *harness.Program {
	t.Helper()
	p := EmptyProgram(t)
	if r := p.Run(append([]string{"restore", "--from", c.Place}, more...)...); r.Code != 0 {
		t.Fatalf("restore: %s", r)
	}
	return p
}

// FiguresAndLists loads an account of reports and one of exports and records,
// but for some reports that come later.
func FiguresAndLists(t *testing.T, p *harness.Program, from uint64, later int) (figures, lists *Tenant) {
	t.Helper()
	written, err := extracts.Write(t.TempDir(), extracts.Options{Seed: from, Accounts: 1, Reports: 14 + later, Now: time.Now(), Days: 150})
	Need(t, err)
	listed, err := extracts.WriteLists(t.TempDir(), extracts.ListOptions{Seed: from, Accounts: 1, Exports: 4, Campaigns: 60, Now: time.Now()})
	Need(t, err)
	figures = &Tenant{Files: written[0], Model: model.New()}
	lists = &Tenant{Files: extracts.Account{ID: listed[0].ID}, Model: model.New()}
	for _, one := range []*Tenant{figures, lists} {
		one.Ask.Key, err = p.Account(one.Files.ID)
		Need(t, err)
	}
	Load(t, p, figures, append(figures.Take(14), figures.Files.Base)...)
	paths := append([]string{listed[0].Base}, listed[0].Records...)
	for _, export := range listed[0].Exports {
		paths = append(paths, export.Files()...)
	}
	Load(t, p, lists, paths[0])
	for _, path := range listed[0].Records {
		Load(t, p, lists, path)
	}
	Load(t, p, lists, paths[1+len(listed[0].Records):]...)
	return figures, lists
}

// Questions are many of an account, and some at random.
func Questions(r *rand.Rand, one *Tenant) []Question {
	all := append(Everything(), AllLists(one.Model)...)
	if oldest, _ := one.Model.Held(); oldest != "" {
		a := NewAsker(r, one.Model)
		for range 30 {
			q := a.Ask()
			q.Query.Del("timezone") // some day ends somewhere each hour, and with it a period between two answers
			if !model.Comparable(q.Query, time.Now(), oldest) {
				q.Query.Del("compare") // in UTC no day of its period may be over
			}
			all = append(all, q)
		}
	}
	return all
}

// SameBytes holds the answers of two servers side by side, their names too.
func SameBytes(t *testing.T, first, second harness.Client, all []Question) {
	t.Helper()
	for _, q := range all {
		a, b := Get(t, first, "/api/v1"+q.String()), Get(t, second, "/api/v1"+q.String())
		if a.Status != 200 || b.Status != a.Status || !bytes.Equal(a.Body, b.Body) || a.Header.Get("ETag") != b.Header.Get("ETag") {
			t.Errorf("%s: %s %s\nthe restored one says %s %s", q, a.Header.Get("ETag"), a, b.Header.Get("ETag"), b)
		}
	}
}

// PutRight restores an account in its place.
func (c Copied) PutRight(t *testing.T, account string) {
	t.Helper()
	if r := c.Run("restore", "--from", c.Place, "--account", account); r.Code != 0 {
		t.Fatalf("restore in its place: %s", r)
	}
}
