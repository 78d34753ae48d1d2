package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"adlens"
)

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
	flags.IntVar(&o.pace.rounds, "rounds", 9, "rounds of a request")
	flags.DurationVar(&o.pace.budget, "budget", 200*time.Millisecond, "time of one contestant for one request, after which it sits out")
	flags.DurationVar(&o.crowdFor, "clients", 3*time.Second, "how long clients ask at once; 0 leaves them out")
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
	o.command = "go run ./bench"
	flags.Visit(func(f *flag.Flag) {
		if !placeFlags[f.Name] {
			o.command += fmt.Sprintf(" -%s=%s", f.Name, f.Value)
		}
	})
	if len(o.sizes) == 1 {
		return o, "", fmt.Errorf("-growth is %s, expected two sizes at least", *growth)
	}
	return o, output, nil
}

// placeFlags name places of this machine, which are no part of what was run.
var placeFlags = names("adlens", "keep", "duckdb", "json")

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
