package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Machine says what a run ran on, without names of it.
type Machine struct {
	System string `json:"system"`
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory int64  `json:"memory_bytes"`
	Go     string `json:"go"`
	Commit string `json:"commit"`
}

func thisMachine() Machine {
	m := Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version(),
		CPU: procLine("/proc/cpuinfo", "model name"), Memory: parseKilobytes(procLine("/proc/meminfo", "MemTotal"))}
	if text, err := exec.Command("git", "describe", "--always", "--dirty").Output(); err == nil {
		m.Commit = string(bytes.TrimSpace(text))
	}
	return m
}

// procLine is the value of a name in one of the kernel's tables, "" where it
// is not there.
func procLine(file, name string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func parseKilobytes(text string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
	return n << 10
}

// residentMemory is the memory of a process, in bytes: now, and at its highest.
func residentMemory(pid int) (now, peak int64) {
	file := fmt.Sprintf("/proc/%d/status", pid)
	return parseKilobytes(procLine(file, "VmRSS")), parseKilobytes(procLine(file, "VmHWM"))
}

// countDescriptors is how many files a process has open.
func countDescriptors(pid int) int64 {
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return int64(len(all))
}

// countThreads is how many threads a process has.
func countThreads(pid int) int64 {
	n, _ := strconv.ParseInt(procLine(fmt.Sprintf("/proc/%d/status", pid), "Threads"), 10, 64)
	return n
}
