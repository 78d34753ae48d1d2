package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"adlens/internal/answer"
	"adlens/internal/query"

	"go.uber.org/zap"
)

const (
	// fillPatience bounds one reading into memory. Generations that die
	// meanwhile are there for much longer (loader.CollectAfter), but not those of an
	// account that moves to another shard, which keep their numbers: what began at the
	// old one ends before its rows are deleted (commits.Leaving), as requests do.
	fillPatience = answer.Timeout
	// afterFailure is how long an engine that failed is left alone.
	afterFailure = time.Second
)

// keepFigures reads into memory what requests have missed, and between that
// what may be requested next: for this it rests as long as it worked, so that
// those who wait for the engine have it.
func keepFigures(ctx context.Context, figures *query.Service, log *zap.Logger) {
	for ctx.Err() == nil {
		began := time.Now()
		worked, err := fillFigures(ctx, figures)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			log.Warn("figures could not be read into memory", zap.Error(err))
			awaitMiss(ctx, time.After(afterFailure), nil)
		case worked:
			awaitMiss(ctx, time.After(time.Since(began)), figures.Missed())
		default:
			awaitMiss(ctx, nil, figures.Missed())
		}
	}
}

func fillFigures(ctx context.Context, figures *query.Service) (worked bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, fillPatience)
	defer cancel()
	return figures.Fill(ctx)
}

// awaitMiss waits for a time, or until a request has missed something.
func awaitMiss(ctx context.Context, over <-chan time.Time, missed <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-over:
	case <-missed:
	}
}

const (
	// answerShare is which share of the machine's memory answers have together.
	answerShare = 16
	// figureShare is which share of it figures have at most, where no flag says more.
	figureShare = 8
	// heapShare and heapShareBeside are what the program itself has of it in hundredths,
	// alone and where the embedded engine, which takes up to 60, runs on the same machine.
	heapShare, heapShareBeside = 90, 35
	// workRoom is what the program takes beside what it was told to keep.
	workRoom = 256 << 20
	// memoryUnknown is taken for the machine's memory where it does not say.
	memoryUnknown = 4 << 30
)

// fitMemory has a small machine keep fewer figures in memory, where none said how many: what is
// kept has to fit beside all else.
func (so *serveOptions) fitMemory() {
	if so.isGiven == nil || !so.isGiven("figure-memory") {
		so.memory = min(so.memory, machineMemory()/figureShare)
	}
}

// boundHeap has garbage collected earlier where the machine's memory would not do: what is
// in use may double by it otherwise, and a container ends that takes more than it has. What
// the program keeps on purpose fits in any case: collecting would find nothing, and never
// rest. The environment's GOMEMLIMIT counts instead.
func boundHeap(embedded bool, kept int) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	share := heapShare
	if embedded {
		share = heapShareBeside
	}
	debug.SetMemoryLimit(max(int64(machineMemory())/100*int64(share), int64(kept)+workRoom))
}

// machineMemory is how many bytes of memory the machine has, or the container
// where that has less.
func machineMemory() int {
	bytes := memoryUnknown
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kilobytes int
		if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kilobytes); err == nil {
			bytes = kilobytes << 10
		}
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if limit, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && limit > 0 {
			bytes = min(bytes, limit)
		}
	}
	return bytes
}
