package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// state is what is known of the data in a directory, so that a later run can
// use it again.
type state struct {
	Shape    json.RawMessage   `json:"shape"`
	Totals   map[string]Totals `json:"totals"` // by account, of what is live
	Keys     map[string]string `json:"keys"`   // API keys by account
	Restated []restated        `json:"restated"`
	Loading  Loading           `json:"loading"`
	Batches  int               `json:"batches"` // of extracts that are loaded
	Filled   bool              `json:"filled"`  // all are, and the restatements
	Raw      bool              `json:"raw"`     // the raw table is filled
	DuckDB   bool              `json:"duckdb"`  // so is DuckDB's
	Postgres bool              `json:"postgres"`

	path string
	mu   sync.Mutex // of what is noted while peers are filled side by side
}

// markDone saves that something is done.
func (s *state) markDone(done *bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	*done = true
	return s.saveState()
}

// restated is a window that a later report replaced.
type restated struct {
	Account string `json:"account"`
	Slices  int    `json:"slices"` // so many, from the first
	From    string `json:"from"`   // YYYY-MM-DD
	To      string `json:"to"`
}

// openState reads the state of a directory, a new one where there is none.
func openState(dir string, shape Shape) (s *state, err error) {
	wanted, err := json.Marshal(shape)
	if err != nil {
		return nil, err
	}
	s = &state{Shape: wanted, Totals: map[string]Totals{}, Keys: map[string]string{}, path: filepath.Join(dir, "bench.json")}
	text, err := os.ReadFile(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, s.Shape); err != nil {
		return nil, err
	}
	if !bytes.Equal(compact.Bytes(), wanted) {
		return nil, fmt.Errorf("%s holds data of another shape, %s; this run is of %s (remove the directory, or give the same flags and -end)", dir, compact.Bytes(), wanted)
	}
	return s, nil
}

// saveState writes the state.
func (s *state) saveState() error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.path, text, 0o600)
}
