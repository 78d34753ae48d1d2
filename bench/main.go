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
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"adlens"
	"adlens/internal/engine"
)

func main() {
	engine.RunIfAsked()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context) error {
	o, output, err := read(os.Args[1:])
	if err != nil {
		return err
	}
	if err := o.directory(); err != nil {
		return err
	}
	r := Results{Command: "bench " + strings.Join(os.Args[1:], " ")}
	if len(o.sizes) > 0 {
		if r.Growth, err = grow(ctx, o); err != nil {
			return err
		}
		r.Machine, r.Date = thisMachine(), time.Now().UTC().Format(time.DateOnly)
		printCurves(os.Stdout, r.Growth)
		return r.write(output)
	}
	b, err := open(ctx, o)
	if err != nil {
		return err
	}
	if err := b.all(ctx); err != nil {
		return err
	}
	b.results.Command = r.Command
	b.results.judge()
	b.results.print(os.Stdout)
	return b.results.write(output)
}

// all is a whole run, and the end of it.
func (b *bench) all(ctx context.Context) (err error) {
	defer func() {
		err = errors.Join(err, b.close())
		b.results.Seconds = time.Since(b.now).Seconds()
	}()
	for _, step := range []func(context.Context) error{b.measure, b.together, b.finish, b.leave, b.first} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// together is what many clients do at once.
func (b *bench) together(ctx context.Context) error {
	numbers := []int{goalClients}
	if b.concurrency {
		numbers = []int{1, 2, 4, 8, 16, 32, 64, 128, 256}
		if err := b.cancel(ctx); err != nil {
			return err
		}
	}
	if b.crowdFor > 0 {
		if err := b.crowds(ctx, numbers, b.crowdFor); err != nil {
			return err
		}
	}
	if b.soaking > 0 {
		return b.soak(ctx, b.soaking)
	}
	return nil
}

// read reads the flags.
func read(args []string) (o options, output string, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	s := &o.shape
	flags.IntVar(&s.Rows, "rows", 6_000_000, "fact rows of all accounts, about")
	flags.IntVar(&s.Small, "small-accounts", 12, "small accounts beside the heavy one, which has 60 % of the rows")
	flags.IntVar(&s.Products, "products", 10_000, "products of the heavy account")
	flags.IntVar(&s.Years, "years", 6, "years of 365 days")
	flags.Float64Var(&s.Zipf, "zipf", 1, "exponent by which products' shares fall with their rank")
	flags.BoolVar(&s.OneProduct, "one-product", false, "one product has all clicks, spend and orders")
	flags.BoolVar(&s.GapYear, "gap-year", false, "the year in the middle has reports without rows")
	flags.Uint64Var(&s.Seed, "seed", 1, "of the generator and of a shuffled order")
	end := flags.String("end", "", "last day with figures; yesterday by default")
	flags.IntVar(&o.restatements, "restatements", 0, "windows of 30 days restated at the end, whose old rows are left uncollected")
	flags.StringVar(&o.order, "order", "fixed", "of the requests: fixed or shuffled")
	flags.StringVar(&o.dir, "keep", "", "directory in which the data stays for a later run; a temporary one by default")
	flags.StringVar(&o.bin, "adlens", "bin/adlens", "the built program")
	flags.StringVar(&o.duckScript, "duckdb", "bench/duckdb/peer.mjs", "script that runs DuckDB")
	peers := flags.String("peers", "raw,duckdb,postgres", "who answers beside adlens")
	requests := flags.String("requests", "", "regular expression of the names of requests")
	flags.IntVar(&o.pace.rounds, "rounds", 15, "rounds of a request")
	flags.DurationVar(&o.pace.budget, "budget", time.Second, "time of one contestant for one request, after which it sits out")
	flags.DurationVar(&o.crowdFor, "clients", 10*time.Second, "how long clients ask at once; 0 leaves them out")
	flags.BoolVar(&o.concurrency, "concurrency", false, "1, 2, 4 to 256 clients instead of 64, and clients that go away")
	flags.DurationVar(&o.soaking, "soak", 0, "how long a mixed load runs beside loads that restate, watched for growth and for mixed answers")
	growth := flags.String("growth", "", "sizes, 1000000,10000000 for example: one run for each, and how all that was measured grows")
	flags.StringVar(&output, "json", "", "file for everything that was measured")
	quiet := flags.Bool("quiet", false, "no progress on standard error")
	if err := flags.Parse(args); err != nil {
		return o, "", err
	}
	if flags.NArg() > 0 {
		return o, "", fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if o.order != "fixed" && o.order != "shuffled" {
		return o, "", fmt.Errorf("-order is %q, expected fixed or shuffled", o.order)
	}
	s.End = adlens.DayOf(time.Now().UTC()) - 1
	if *end != "" {
		if s.End, err = adlens.ParseDay(*end); err != nil {
			return o, "", err
		}
	}
	o.peers = strings.Split(*peers, ",")
	if o.requests, err = regexp.Compile(*requests); err != nil {
		return o, "", err
	}
	o.say = progress(*quiet)
	for size := range strings.SplitSeq(*growth, ",") {
		rows, err := strconv.Atoi(size)
		if err != nil && *growth != "" {
			return o, "", fmt.Errorf("-growth: %q is no number of rows", size)
		}
		if err == nil {
			o.sizes = append(o.sizes, rows)
		}
	}
	return o, output, nil
}

// directory finds the program and a place for the data.
func (o *options) directory() (err error) {
	if o.bin, err = filepath.Abs(o.bin); err != nil {
		return err
	}
	if _, err := os.Stat(o.bin); err != nil {
		return fmt.Errorf("the program is not built: %w; make build does that", err)
	}
	if o.kept = o.dir != ""; !o.kept {
		o.dir, err = os.MkdirTemp("", "adlens-bench-")
		return err
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	return os.MkdirAll(o.dir, 0o700)
}

// progress says on standard error what happens.
func progress(quiet bool) func(string, ...any) {
	began := time.Now()
	return func(format string, args ...any) {
		if !quiet {
			fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
		}
	}
}

func shuffle(all []*question, seed uint64) {
	rand.New(rand.NewPCG(seed, seed)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}
