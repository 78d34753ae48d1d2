package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"adlens/integration/containers"
)

// Program is the binary with one data directory.
type Program struct {
	Bin, DataDir string
	Settings     []string // variables of its environment
	loads        sync.Mutex
	servers      []*containers.ClickHouse // none for the embedded engine, several for a cluster
	alone        bool                     // the servers are this program's
	keeps        bool                     // KeepEngine was called
	holding      sync.Mutex
	held         *os.File // users.lock, shared
}

// New finds or builds the binary. Its data are where ADLENS_TEST_STORE says:
// in the embedded engine, or in a database of its own in containers. An empty
// data directory gets its tables; NewAt leaves it empty.
func New(dataDir string) (*Program, error) {
	bin, err := Binary()
	p := &Program{Bin: bin, DataDir: dataDir}
	if err != nil {
		return p, err
	}
	if !Contained() {
		return p, p.copyTemplate()
	}
	servers, err := sharedStore()
	if err != nil {
		return p, err
	}
	return p, p.useServers(servers)
}

// Result is how a command ended.
type Result struct {
	Code           int
	Stdout, Stderr string
	Memory         int64 // about the most bytes that it held
}

func (r Result) String() string {
	return fmt.Sprintf("exit code %d\nstandard output: %s\nstandard error: %s", r.Code, r.Stdout, r.Stderr)
}

// Patience is how long tests wait for what has to come: it ends what hangs, and is no
// measure of anything. A machine may be several times slower than usual.
const Patience = 10 * time.Minute

// Command prepares a command on the data directory.
func (p *Program) Command(ctx context.Context, args ...string) *exec.Cmd {
	if !slices.Contains(args, "--data-dir") {
		args = append(args, "--data-dir", p.DataDir)
	}
	command := exec.CommandContext(ctx, p.Bin, args...)
	command.Dir = Root()
	// A child that outlives a killed parent must not hold the test up.
	command.WaitDelay = 5 * time.Second
	for _, setting := range os.Environ() {
		// Settings of the person who runs the tests must not leak in.
		if !strings.HasPrefix(setting, "ADLENS_") {
			command.Env = append(command.Env, setting)
		}
	}
	// Nothing of the outside is asked unless a test says where.
	command.Env = append(command.Env, "ADLENS_RATES_URL=none")
	command.Env = append(command.Env, p.Settings...)
	return command
}

// Run runs a command to its end.
func (p *Program) Run(args ...string) Result {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	command := p.Command(ctx, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := p.holdEngine()
	if err == nil {
		err = command.Start()
	}
	var held int64
	if err == nil {
		ended := make(chan struct{})
		most := watchPeak(command.Process.Pid, ended)
		err = command.Wait()
		close(ended)
		held = <-most
	}
	result := Result{Code: command.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String(), Memory: held}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		result.Code, result.Stderr = -1, result.Stderr+err.Error()
	}
	return result
}

// Account adds an account and makes a key of it.
func (p *Program) Account(id string) (key string, err error) {
	if r := p.Run("account", "add", id, "--name", "Account "+id); r.Code != 0 {
		return "", fmt.Errorf("account add %s: %s", id, r)
	}
	return p.Key(id)
}

// Key makes a key of an account.
func (p *Program) Key(account string, more ...string) (string, error) {
	r := p.Run(append([]string{"key", "create", "--account", account, "--name", "Key of " + account}, more...)...)
	key := strings.TrimSuffix(r.Stdout, "\n")
	if r.Code != 0 || !strings.HasPrefix(key, "key_live_") || strings.ContainsAny(key, " \n") {
		return "", fmt.Errorf("want a key alone on standard output, got %s", r)
	}
	return key, nil
}

// File is what a load says of one file.
type File struct {
	File, Status, Error, Notice string
	Rows                        *json.Number
}

// Loading is the outcome of a load command.
type Loading struct {
	Result
	Files []File
}

// Load loads paths for an account. Loads on one data directory take turns
// here; what happens when they do not is a test of its own.
func (p *Program) Load(account string, paths ...string) (Loading, error) {
	p.loads.Lock()
	defer p.loads.Unlock()
	return p.LoadNow(account, paths...)
}

// LoadNow is Load without waiting for others.
func (p *Program) LoadNow(account string, paths ...string) (Loading, error) {
	l := Loading{Result: p.Run(p.LoadArgs(account, paths...)...)}
	if err := json.Unmarshal([]byte(l.Stdout), &l); err != nil {
		return l, fmt.Errorf("load --json: %w: %s", err, l.Result)
	}
	return l, nil
}

// LoadArgs are the words of a load command, paths last.
func (p *Program) LoadArgs(account string, paths ...string) []string {
	return append([]string{"load", "--account", account, "--json", "--data-dir", p.DataDir}, paths...)
}

// Status is what became of the file with this stem: its report object, its
// download or both may be named. Refused beats loaded beats unchanged.
func (l Loading) Status(stem string) (status, fault string) {
	for _, rank := range []string{"refused", "loaded", "unchanged", "skipped"} {
		for _, f := range l.Files {
			if f.Status == rank && hasStem(f.File, stem) {
				return f.Status, f.Error
			}
		}
	}
	return "", ""
}

func hasStem(path, stem string) bool {
	name := path[strings.LastIndex(path, "/")+1:]
	return name == stem || strings.HasPrefix(name, stem+".")
}

// Named are the names under which a load speaks of a stem.
func (l Loading) Named(stem string) string {
	var names []string
	for _, f := range l.Files {
		if hasStem(f.File, stem) {
			names = append(names, f.File)
		}
	}
	return strings.Join(names, " ")
}
