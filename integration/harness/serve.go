package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Server is a running adlens serve.
type Server struct {
	Address string
	Key     string // of the demonstration account, where it serves that
	program *Program
	command *exec.Cmd
	stderr  *log
	ended   chan struct{} // closed when the process is gone
}

// log collects standard error; the process and the test both touch it.
type log struct {
	sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.Lock()
	defer l.Unlock()
	return l.text.String()
}

// Serve starts the API on a free port with both limits off, unless more says
// otherwise, and waits until it says that it answers.
func (p *Program) Serve(more ...string) (*Server, error) {
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--limit-minute", "0", "--limit-day", "0", "--json"}, more...)
	if !slices.Contains(args, "--platform-url") {
		args = append(args, "--platform-url", unreachable, "--platform-token-url", unreachable)
	}
	return p.startServer(args)
}

// Where nothing listens: a server under test never speaks to the true platform,
// whatever its accounts are connected to.
const unreachable = "http://127.0.0.1:1"

func (p *Program) startServer(args []string) (*Server, error) {
	s := &Server{program: p, stderr: &log{}, ended: make(chan struct{})}
	s.command = p.Command(context.Background(), args...)
	s.command.Stderr = s.stderr
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.command.Stdout = write
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	if err := write.Close(); err != nil {
		return nil, err
	}
	first := make(chan string, 1)
	go drainOutput(read, first)
	go func() {
		// How it ended is read from ProcessState by those who wait.
		_ = s.command.Wait()
		close(s.ended)
	}()
	return s, s.awaitAddress(first)
}

// drainOutput passes the first line on and reads the rest away, so that the program
// never blocks on its output.
func drainOutput(read *os.File, first chan<- string) {
	defer read.Close()
	lines := bufio.NewReader(read)
	line, _ := lines.ReadString('\n')
	first <- line
	_, _ = io.Copy(io.Discard, lines)
}

func (s *Server) awaitAddress(first <-chan string) error {
	select {
	case line := <-first:
		var said struct{ Address, Key string }
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.Address == "" {
			s.Kill()
			return fmt.Errorf("it said %q, not its address; standard error: %s", line, s.stderr)
		}
		s.Address, s.Key = said.Address, said.Key
		return nil
	case <-time.After(Patience):
		s.Kill()
		return fmt.Errorf("nothing answered within %v; standard error: %s", Patience, s.stderr)
	}
}

// Stop asks the server to end and demands exit code 0.
func (s *Server) Stop() error {
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.ended:
	case <-time.After(Patience):
		s.Kill()
		return fmt.Errorf("serve did not end within %v of SIGTERM; standard error: %s", Patience, s.stderr)
	}
	if code := s.command.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("serve ended with exit code %d after SIGTERM; standard error: %s", code, s.stderr)
	}
	return nil
}

// Kill ends the server at once, as a power cut would, and waits for it.
func (s *Server) Kill() {
	_ = s.command.Process.Kill()
	<-s.ended
}

// Signal sends a signal that ends the server, and waits for its end.
func (s *Server) Signal(signal os.Signal) error {
	if err := s.command.Process.Signal(signal); err != nil {
		return err
	}
	select {
	case <-s.ended:
		return nil
	case <-time.After(Patience):
		s.Kill()
		return fmt.Errorf("serve did not end within %v of %v", Patience, signal)
	}
}

// Log is what the server wrote on standard error.
func (s *Server) Log() string { return s.stderr.String() }

// EnginePID is the process of the engine that owns the data directory.
func (p *Program) EnginePID() (int, error) {
	content, err := os.ReadFile(filepath.Join(p.DataDir, "engine", "engine.json"))
	if err != nil {
		return 0, err
	}
	var engine struct{ PID int }
	if err := json.Unmarshal(content, &engine); err != nil {
		return 0, err
	}
	if engine.PID <= 1 {
		return 0, fmt.Errorf("engine.json names process %d", engine.PID)
	}
	return engine.PID, nil
}

// KillEngine kills the engine's process, or the server that is this program's
// alone, which is then started again. The process must be that of the data directory:
// a stale number may by now be another engine's.
func (p *Program) KillEngine() error {
	if p.alone {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		for _, server := range p.servers {
			if err := errors.Join(server.Kill(ctx), server.Start(ctx)); err != nil {
				return err
			}
		}
		return nil
	}
	pid, err := p.EnginePID()
	if err != nil {
		return err
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer process.Release()
	running, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return err
	}
	if arguments := strings.Split(string(running), "\x00"); !slices.Contains(arguments, p.DataDir) {
		return fmt.Errorf("process %d is %q, not the engine of %s", pid, arguments, p.DataDir)
	}
	return process.Kill()
}

// PID is the server's process.
func (s *Server) PID() int { return s.command.Process.Pid }
