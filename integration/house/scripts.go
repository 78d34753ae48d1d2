package house

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/model"
	"adlens/integration/script"
)

// scripted runs scripts on the program. Accounts are named after the script,
// so that scripts share an engine without meeting.
type scripted struct {
	house   *House
	prefix  string
	clients map[string]harness.Client
}

func (s *scripted) Account(id string) error {
	if _, has := s.clients[id]; has {
		return nil
	}
	key, err := s.house.Program.Account(s.prefix + id)
	s.clients[id] = harness.Client{Address: s.house.Server.Address, Key: key}
	return err
}

func (s *scripted) Load(account, dir string) (bool, error) {
	done, err := s.house.Program.Load(s.prefix+account, dir)
	return done.Code != 0, err
}

func (s *scripted) Get(account, path string) (int, any, error) {
	answer, err := s.clients[account].Get("/api/v1" + path)
	if err != nil {
		return 0, nil, err
	}
	body, err := model.Decode(answer.Body)
	return answer.Status, body, err
}

func (s *scripted) JudgesFaults() bool { return true }

// RunScriptOn runs a script on a house.
func RunScriptOn(t *testing.T, h *House, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	Need(t, err)
	AwayFromMidnight(t)
	steps, err := script.Parse(string(text), time.Now().UTC())
	Need(t, err)
	target := &scripted{h, "s-" + strings.ReplaceAll(filepath.Base(path), ".", "-") + "-", map[string]harness.Client{}}
	target.prefix = strings.ReplaceAll(target.prefix, "_", "-")
	for _, fault := range script.Run(steps, target, t.TempDir()) {
		t.Error(fault)
	}
}

// AwayFromMidnight waits out the last minute of a day in UTC: scripts name
// days relative to today.
func AwayFromMidnight(t *testing.T) {
	t.Helper()
	now := time.Now().UTC()
	if left := now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now); left < time.Minute {
		t.Logf("waiting %v for midnight", left)
		<-time.After(left + time.Second)
	}
}
