package harness

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// watchPeak follows the most memory that a process has held until it ends or is
// told to stop, in bytes. What the system says at the end of a child begins
// with what this process held when it made the child. What it takes in its last
// moments may be missed.
func watchPeak(pid int, stop <-chan struct{}) <-chan int64 {
	found := make(chan int64, 1)
	go func() {
		var most int64
		for {
			most = max(most, heldOf(pid))
			select {
			case <-stop:
				found <- most
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return found
}

// heldOf is the most that a process has held so far, 0 where it has ended.
func heldOf(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	kilobytes, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	n, err := strconv.ParseInt(string(kilobytes), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// PeakMemory is the most memory that the server has held so far, in bytes.
func (s *Server) PeakMemory() int64 { return heldOf(s.command.Process.Pid) }
