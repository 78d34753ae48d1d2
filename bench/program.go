package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// program is the built adlens on a data directory of the benchmark's own.
type program struct{ bin, dataDir string }

// used is what a command of the program took.
type used struct {
	Wall    time.Duration
	PeakRSS int64 // bytes
}

func (p program) prepareCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.bin, append(args, "--data-dir", p.dataDir)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}

// runCommand runs a command to its end and returns what it printed.
func (p program) runCommand(ctx context.Context, args ...string) (string, used, error) {
	cmd := p.prepareCommand(ctx, args...)
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &trouble
	began := time.Now()
	err := cmd.Run()
	if err != nil {
		return "", used{}, fmt.Errorf("adlens %s: %w: %s%s", strings.Join(args, " "), err, trouble.String(), out.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return strings.TrimSpace(out.String()), used{time.Since(began), usage.Maxrss << 10}, nil
}

// hasFlag reports whether a command's help mentions a flag.
func (p program) hasFlag(ctx context.Context, command, flag string) bool {
	help, _, err := p.runCommand(ctx, command, "--help")
	return err == nil && strings.Contains(help, flag)
}

// server is a running adlens serve.
type server struct {
	address string
	cmd     *exec.Cmd
	ended   chan error
}

const startPatience = time.Minute

// startServer starts the API on a free port without limits, and waits for its
// address.
func (p program) startServer(more ...string) (*server, error) {
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--limit-minute", "0", "--limit-day", "0", "--log-level", "error", "--json"}, more...)
	s := &server{cmd: p.prepareCommand(context.Background(), args...), ended: make(chan error, 1)}
	s.cmd.Stderr = os.Stderr
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.cmd.Stdout = write
	err = s.cmd.Start()
	write.Close()
	if err != nil {
		read.Close()
		return nil, err
	}
	said := make(chan string, 1)
	var reading sync.WaitGroup
	reading.Go(func() {
		lines := bufio.NewReader(read)
		first, _ := lines.ReadString('\n')
		said <- first
		io.Copy(io.Discard, lines)
		read.Close()
	})
	go func() {
		reading.Wait()
		s.ended <- s.cmd.Wait()
	}()
	select {
	case first := <-said:
		var message struct{ Address string }
		if err := json.Unmarshal([]byte(first), &message); err != nil {
			return nil, fmt.Errorf("adlens serve said %q, expected its address: %w", first, err)
		}
		s.address = message.Address
		return s, nil
	case <-time.After(startPatience):
		s.cmd.Process.Kill()
		return nil, fmt.Errorf("adlens serve did not answer within %s", startPatience)
	}
}

func (s *server) processID() int { return s.cmd.Process.Pid }

// stopProcess ends the server and waits for it.
func (s *server) stopProcess() error {
	if s == nil {
		return nil
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-s.ended:
		return err
	case <-time.After(startPatience):
		s.cmd.Process.Kill()
		return fmt.Errorf("adlens serve did not end within %s", startPatience)
	}
}
