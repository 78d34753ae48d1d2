package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// format is of the index that this program writes, and the newest that it reads. A
// change that an older program would misread makes it one more. The second has the
// database's identity.
const format = 2

// Index is a backup: what it holds, and by which catalogues.
type Index struct {
	Format   int       `json:"format"`
	Program  string    `json:"program"` // always adlens
	Version  string    `json:"version"` // of the program
	Schema   uint32    `json:"schema"`  // the newest step that the database had
	TakenAt  time.Time `json:"taken_at"`
	Identity string    `json:"identity,omitempty"` // of the database; "" where an earlier version wrote it
	Accounts []Entry   `json:"accounts"`
}

// Entry is an account in an index. Its size follows from its
// catalogue.
type Entry struct {
	Account   string `json:"account_id"`
	Catalogue string `json:"catalogue"`
	SHA256    string `json:"sha256"` // of the catalogue
	Version   uint32 `json:"manifest_version"`
	Files     int    `json:"files"`
	Rows      uint64 `json:"rows"`
	Stored    int64  `json:"stored_bytes"`
}

// catalogue is an account of a backup: all files that hold its rows.
type catalogue struct {
	Account string `json:"account_id"`
	Files   []File `json:"files"`
}

// Taken is a backup in a place, and what it holds.
type Taken struct {
	Name string // of the index in the place
	Index
}

// ID is how people name a backup: the time and the beginning of its sum.
func (t Taken) ID() string { return idOf(t.Name) }

func idOf(name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(name, backups), ".json")
}

const backups = "backups/"

// indexName matches names of indexes, which sort by time.
var indexName = regexp.MustCompile(`^backups/[0-9]{8}T[0-9]{6}\.[0-9]{3}Z\.[0-9a-f]{16}\.json$`)

const indexTime = "20060102T150405.000Z"

// timeOf is when the backup of an index was taken, by its name; zero where that is no time.
func timeOf(name string) time.Time {
	at, _ := time.Parse(indexTime, name[len(backups):len(backups)+len(indexTime)])
	return at
}

// Bounds of what is read into memory.
const (
	maxIndex  = 256 << 20
	sumLetter = 16 // how many letters of a sum a name carries
)

func sumOf(parts ...[]byte) string {
	sum := sha256.New()
	for _, p := range parts {
		sum.Write(p)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// List returns the names of all backups of a place, the oldest first.
func List(ctx context.Context, p Place) ([]string, error) {
	sizes, err := p.List(ctx, backups)
	if err != nil {
		return nil, err
	}
	var all []string
	for name := range sizes {
		if indexName.MatchString(name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Choose returns the backup whose id begins so. For "" it returns the newest one of a
// database; where there is none of it, as for "", the newest of all, unless these are of
// several databases.
func Choose(ctx context.Context, p Place, id, identity string) (Taken, error) {
	all, err := List(ctx, p)
	if err != nil {
		return Taken{}, err
	}
	if len(all) == 0 {
		return Taken{}, fmt.Errorf("there is no whole backup in %s", p)
	}
	if id == "" {
		newest, err := ReadIndex(ctx, p, all[len(all)-1])
		if identity == "" || err == nil && newest.Identity == identity {
			return newest, err
		}
		of := map[string]bool{newest.Identity: true}
		for _, name := range slices.Backward(all[:len(all)-1]) {
			t, unread := ReadIndex(ctx, p, name)
			if unread == nil && t.Identity == identity {
				if err != nil { // that could be a later one of this database
					err = fmt.Errorf("%w; the newest backup of this database that can be read is %s: name it with --backup", err, t.ID())
				}
				return t, err
			}
			err = errors.Join(err, unread)
			of[t.Identity] = true
		}
		if delete(of, ""); err == nil && len(of) > 1 {
			err = fmt.Errorf("%s has backups of %d databases and none of this one: name one with --backup; see adlens backup list", p, len(of))
		}
		return newest, err
	}
	var found []string
	for _, name := range all {
		if strings.HasPrefix(idOf(name), id) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return Taken{}, fmt.Errorf("%d backups in %s have an id that begins with %q, expected one; see adlens backup list", len(found), p, id)
	}
	return ReadIndex(ctx, p, found[0])
}

// ReadIndex reads and checks an index.
func ReadIndex(ctx context.Context, p Place, name string) (Taken, error) {
	t := Taken{Name: name}
	raw, err := readAll(ctx, p, name)
	if err != nil {
		return t, err
	}
	if sum := sumOf(raw); !strings.Contains(name, "."+sum[:sumLetter]+".") {
		return t, &Damage{name, fmt.Errorf("its SHA-256 begins with %s, which its name does not say", sum[:sumLetter])}
	}
	// Of a newer format nothing may be relied on but its number.
	var head struct{ Format int }
	if err := json.Unmarshal(raw, &head); err != nil {
		return t, &Damage{name, err}
	}
	if head.Format > format {
		return t, fmt.Errorf("%s has format %d, this adlens reads formats up to %d: use the version that wrote it or a later one", name, head.Format, format)
	}
	if err := decodeStrict(raw, &t.Index); err != nil {
		return t, &Damage{name, err}
	}
	if t.Program != "adlens" || t.Format < 1 {
		return t, &Damage{name, errors.New("it is no index of a backup of adlens")}
	}
	return t, nil
}

// readCatalogue reads and checks the catalogue of an account.
func readCatalogue(ctx context.Context, p Place, e Entry) (catalogue, error) {
	var c catalogue
	raw, err := readAll(ctx, p, e.Catalogue)
	if err != nil {
		return c, err
	}
	if sum := sumOf(raw); sum != e.SHA256 {
		return c, &Damage{e.Catalogue, fmt.Errorf("its SHA-256 is %s, expected %s", sum, e.SHA256)}
	}
	if err := decodeStrict(raw, &c); err != nil {
		return c, &Damage{e.Catalogue, err}
	}
	if c.Account != e.Account {
		return c, &Damage{e.Catalogue, fmt.Errorf("it is of account %q, expected %q", c.Account, e.Account)}
	}
	return c, nil
}

func readAll(ctx context.Context, p Place, name string) ([]byte, error) {
	body, err := p.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	raw, err := io.ReadAll(io.LimitReader(body, maxIndex+1))
	if err == nil && len(raw) > maxIndex {
		err = &Damage{name, fmt.Errorf("it is larger than %d bytes", maxIndex)}
	}
	return raw, err
}

func decodeStrict(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind its end")
	}
	return nil
}

// writeJSON keeps a value as JSON under a name that carries its sum.
func writeJSON(ctx context.Context, p Place, value any, name func(sum string) string) (kept, sum string, err error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", "", err
	}
	on, err := p.Draft()
	if err != nil {
		return "", "", err
	}
	d := draft{on: on}
	sum = sumOf(raw)
	kept = name(sum[:sumLetter])
	if _, err = on.Write(raw); err == nil {
		err = p.Keep(ctx, kept, on)
	}
	return kept, sum, errors.Join(err, d.discardDraft())
}

// totalSizes sums up a catalogue.
func (c catalogue) totalSizes() (files int, rows uint64, stored int64) {
	for _, f := range c.Files {
		rows, stored = rows+f.Rows, stored+f.Stored
	}
	return len(c.Files), rows, stored
}
