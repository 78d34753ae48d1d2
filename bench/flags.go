package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"adlens"
)

// flagTexts are flags that are understood after all were read.
type flagTexts struct{ end, peers, requests, growth string }

// readFlags reads the flags; output is the file for all that is measured.
func readFlags(args []string) (o options, output string, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	var t flagTexts
	shapeFlags(flags, &o.shape, &t)
	flags.IntVar(&o.restatements, "restatements", 0, "windows of 30 days restated at the end, whose old rows are left uncollected")
	flags.StringVar(&o.order, "order", "fixed", "of the requests: fixed or shuffled")
	flags.StringVar(&o.dir, "keep", "", "directory in which the data stays for a later run; a temporary one by default")
	flags.StringVar(&o.bin, "adlens", "bin/adlens", "the built program")
	flags.StringVar(&o.duckScript, "duckdb", "bench/duckdb/peer.mjs", "script that runs DuckDB")
	flags.StringVar(&t.peers, "peers", "raw,duckdb,postgres", "who answers beside adlens; none for adlens alone")
	flags.StringVar(&t.requests, "requests", "", "regular expression of the names of requests")
	flags.IntVar(&o.pace.rounds, "rounds", 5, "rounds of a request")
	flags.DurationVar(&o.pace.budget, "budget", 20*time.Millisecond, "time of one contestant for one request, after which it sits out")
	flags.DurationVar(&o.crowdFor, "clients", 2*time.Second, "how long clients ask at once; 0 leaves them out")
	flags.BoolVar(&o.concurrency, "concurrency", false, "1, 2, 4 to 256 clients instead of 64, and clients that go away")
	flags.DurationVar(&o.soaking, "soak", 0, "how long a mixed load runs beside loads that restate, watched for growth and for mixed answers")
	flags.StringVar(&t.growth, "growth", "", "sizes, 1000000,10000000 for example: one run for each, and how all that was measured grows")
	flags.StringVar(&output, "json", "", "file for everything that was measured")
	quiet := flags.Bool("quiet", false, "no progress on standard error")
	if err := flags.Parse(args); err != nil {
		return o, "", err
	}
	if flags.NArg() > 0 {
		return o, "", fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	o.say = progressLogger(*quiet)
	o.command = commandOf(flags)
	return o, output, o.parseTexts(t)
}

// shapeFlags are the flags of the data.
func shapeFlags(flags *flag.FlagSet, s *Shape, t *flagTexts) {
	flags.IntVar(&s.Rows, "rows", 6_000_000, "fact rows of all accounts, about")
	flags.IntVar(&s.Small, "small-accounts", 3, "small accounts beside the heavy one, which has 60 % of the rows; with -growth, of the largest size")
	flags.IntVar(&s.Products, "products", 10_000, "products of the heavy account")
	flags.IntVar(&s.Campaigns, "campaigns", 0, "campaigns of the heavy account, about; on average a product runs in three of each marketplace and ad product; 0 gives each marketplace one")
	flags.IntVar(&s.Years, "years", 6, "years of 365 days")
	flags.Float64Var(&s.Zipf, "zipf", 1, "exponent by which products' shares fall with their rank")
	flags.BoolVar(&s.OneProduct, "one-product", false, "one product has all clicks, spend and orders")
	flags.BoolVar(&s.GapYear, "gap-year", false, "the year in the middle has reports without rows")
	flags.Uint64Var(&s.Seed, "seed", 1, "of the generator and of a shuffled order")
	flags.StringVar(&t.end, "end", "", "last day with figures; yesterday by default")
}

// parseTexts takes what flags said in words.
func (o *options) parseTexts(t flagTexts) (err error) {
	if o.order != "fixed" && o.order != "shuffled" {
		return fmt.Errorf("-order is %q, expected fixed or shuffled", o.order)
	}
	o.shape.End = adlens.DayOf(time.Now().UTC()) - 1
	if t.end != "" {
		if o.shape.End, err = adlens.ParseDay(t.end); err != nil {
			return fmt.Errorf("-end: %w", err)
		}
	}
	if o.peers, err = parsePeers(t.peers); err != nil {
		return err
	}
	if o.requests, err = regexp.Compile(t.requests); err != nil {
		return fmt.Errorf("-requests: %w", err)
	}
	o.sizes, err = parseSizes(t.growth)
	return err
}

// parseSizes are the rows of a run for growth; none where it is not requested.
func parseSizes(list string) ([]int, error) {
	if list == "" {
		return nil, nil
	}
	var all []int
	for text := range strings.SplitSeq(list, ",") {
		rows, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("-growth: %q is no number of rows", text)
		}
		all = append(all, rows)
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("-growth is %s, expected two sizes at least", list)
	}
	return all, nil
}

// commandOf is the command that repeats a run, without places of this machine.
func commandOf(flags *flag.FlagSet) string {
	command := "go run ./bench"
	flags.Visit(func(f *flag.Flag) {
		if !placeFlags[f.Name] {
			command += fmt.Sprintf(" -%s=%s", f.Name, f.Value)
		}
	})
	return command
}

// parsePeers are the peers of a list.
func parsePeers(list string) ([]string, error) {
	if list == "none" {
		return nil, nil
	}
	all := strings.Split(list, ",")
	for _, name := range all {
		if !slices.Contains([]string{nameRaw, nameDuckDB, namePostgres}, name) {
			return nil, fmt.Errorf("-peers: %q is none of raw, duckdb, postgres", name)
		}
	}
	return all, nil
}

// placeFlags name places of this machine, which are no part of what was run.
var placeFlags = map[string]bool{"adlens": true, "keep": true, "duckdb": true, "json": true}

// preparePaths finds the program and a place for the data.
func (o *options) preparePaths() (err error) {
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
