// Command bench measures adlens beside the ways in which the same questions
// could be answered without it, on the same rows, in one interleaved run. It
// generates extracts, loads them by the built program, compares every answer
// with what the plain rows say, and ends with the goals that are held.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"adlens/internal/engine"
)

func main() {
	engine.RunIfAsked("bench")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runBench(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func runBench(ctx context.Context, args []string) error {
	o, output, err := readFlags(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := o.preparePaths(); err != nil {
		return err
	}
	r := Results{Command: o.command}
	if len(o.sizes) > 0 {
		if r.Growth, err = measureGrowth(ctx, o); err != nil {
			return err
		}
		r.Machine, r.Date = thisMachine(), time.Now().UTC().Format(time.DateOnly)
		printCurves(os.Stdout, r.Growth)
		return r.writeJSON(output)
	}
	b, err := openBench(ctx, o)
	if err != nil {
		return err
	}
	if err := b.runSteps(ctx); err != nil {
		return err
	}
	b.results.Command = o.command
	b.results.judgeGoals()
	b.results.printResults(os.Stdout)
	return b.results.writeJSON(output)
}

// runSteps is a whole run, and the end of it.
func (b *bench) runSteps(ctx context.Context) (err error) {
	defer func() {
		err = errors.Join(err, b.close())
		b.results.Seconds = time.Since(b.now).Seconds()
	}()
	for _, step := range []func(context.Context) error{b.measureAll, b.measureConcurrency, b.recordUsage, b.releaseEngine, b.measureFirst} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// measureConcurrency is what many clients do at once.
func (b *bench) measureConcurrency(ctx context.Context) error {
	numbers := []int{goalClients}
	if b.concurrency {
		numbers = []int{1, 2, 4, 8, 16, 32, 64, 128, 256}
		if err := b.cancelRequests(ctx); err != nil {
			return err
		}
	}
	if b.crowdFor > 0 {
		if err := b.measureCrowds(ctx, numbers, b.crowdFor); err != nil {
			return err
		}
	}
	if b.soaking > 0 {
		return b.runSoak(ctx, b.soaking)
	}
	return nil
}

// progressLogger says on standard error what happens.
func progressLogger(quiet bool) func(string, ...any) {
	began := time.Now()
	return func(format string, args ...any) {
		if !quiet {
			fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
		}
	}
}

func shuffleQuestions(all []*question, seed uint64) {
	rand.New(rand.NewPCG(seed, seed)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}
