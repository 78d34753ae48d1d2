package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// Names of the contestants.
const (
	nameAPI      = "api"
	nameRepeated = "repeated"
	nameHeld     = "not modified"
	nameEngine   = "engine"
	nameRaw      = "raw"
	nameDuckDB   = "duckdb"
	nameRollups  = "duckdb rollups"
	namePostgres = "postgres"
)

// Results are all that a run found.
type Results struct {
	Command   string      `json:"command"`
	Date      string      `json:"date"`
	Machine   Machine     `json:"machine"`
	Shape     Shape       `json:"shape"`
	Left      []string    `json:"left_out"` // peers that are not here, and why
	Seconds   float64     `json:"seconds"`
	Loading   Loading     `json:"loading"`
	Storage   Storage     `json:"storage"`
	First     []First     `json:"first_requests"`
	Questions []*Measured `json:"questions"`
	Crowds    []Crowd     `json:"clients,omitempty"`
	Cancelled *Cancelled  `json:"cancelled,omitempty"`
	Soak      *Soak       `json:"soak,omitempty"`
	Growth    []*Curve    `json:"growth,omitempty"`
	Above     float64     `json:"api_above_engine_ms"`
	AboveMost float64     `json:"api_above_engine_most_ms"`
	Again     float64     `json:"repeated_ms"`
	AgainMost float64     `json:"repeated_most_ms"`
	EngineRSS int64       `json:"engine_peak_rss"`
	ServeRSS  int64       `json:"serve_peak_rss"`
	Goals     []Goal      `json:"goals"`
	Held      int         `json:"held"`
}

// First is the first request after a start of server and engine.
type First struct {
	Question string  `json:"question"`
	Start    float64 `json:"start_ms"` // until serve says that it answers
	Took     float64 `json:"first_ms"`
}

// writeJSON writes the results as JSON, where a file for them was named.
func (r *Results) writeJSON(file string) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// printResults writes the results for people. Its last line is the sum of the goals.
func (r *Results) printResults(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s, commit %s: %s, %d cores, %.0f GiB, %s\n", r.Command, r.Date, r.Machine.Commit, r.Machine.CPU, r.Machine.Cores,
		float64(r.Machine.Memory)/(1<<30), r.Machine.Go)
	for _, left := range r.Left {
		fmt.Fprintf(w, "left out: %s\n", left)
	}
	r.printLoading(w)
	r.printQuestions(w)
	r.printCrowds(w)
	r.printSoak(w)
	for _, f := range r.First {
		fmt.Fprintf(w, "first request after a start (%.0f ms): %s, %.1f ms\n", f.Start, f.Question, f.Took)
	}
	fmt.Fprintf(w, "peak memory: loader %d MiB, engine %d MiB while loading and %d MiB with all that the peers asked of it, serve %d MiB\n",
		r.Loading.PeakRSS>>20, r.Loading.EngineRSS>>20, r.EngineRSS>>20, r.ServeRSS>>20)
	r.printFastest(w)
	fmt.Fprintf(w, "took %.0f s\n\n", r.Seconds)
	for _, g := range r.Goals {
		fmt.Fprintln(w, g)
	}
	fmt.Fprintf(w, "goals: %d of %d held\n", r.Held, len(r.Goals))
}

func (r *Results) printLoading(w io.Writer) {
	l := r.Loading
	if l.Seconds > 0 {
		fmt.Fprintf(w, "loaded %d rows of extracts in %.0f s beside the generator: %.0f rows/s, %.1f MB/s\n", l.Rows, l.Seconds, float64(l.Rows)/l.Seconds, float64(l.Bytes)/1e6/l.Seconds)
	}
	for _, one := range []struct {
		what string
		r    Restate
	}{{"30 days of all slices", l.RestateAll}, {"30 days of one slice", l.RestateOne}} {
		if one.r.Runs > 0 {
			fmt.Fprintf(w, "restated %s, %d rows: %.2f s (%.0f rows/s, %.1f MB/s)\n", one.what, one.r.Rows, one.r.Seconds, float64(one.r.Rows)/one.r.Seconds, float64(one.r.Bytes)/1e6/one.r.Seconds)
		}
	}
	s := r.Storage
	fmt.Fprintf(w, "stored %d fact rows: %.2f bytes each, rollups %.1f %% of them, %d parts\n\n", s.Facts, s.PerFact, s.Share, s.Parts)
}

// printQuestions is one line for each question: medians and p99 in
// milliseconds, and how many times faster than each peer the API is.
func (r *Results) printQuestions(w io.Writer) {
	if len(r.Questions) == 0 {
		return
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := []string{"median/p99, ms"}
	for _, t := range r.Questions[0].Times {
		head = append(head, t.Contestant)
		if isPeer(t.Contestant) {
			head = append(head, "x")
		}
	}
	fmt.Fprintln(table, strings.Join(head, "\t")+"\t")
	for _, m := range r.Questions {
		line := []string{m.Question}
		for _, t := range m.Times {
			line = append(line, fmt.Sprintf("%.1f/%.1f", t.Median, t.P99))
			if isPeer(t.Contestant) {
				line = append(line, fmt.Sprintf("%.1f", t.Median/m.timesOf(nameAPI).Median))
			}
		}
		fmt.Fprintln(table, strings.Join(line, "\t")+"\t")
	}
	table.Flush()
	fmt.Fprintln(w)
}

// printFastest sums the questions up, where any were asked.
func (r *Results) printFastest(w io.Writer) {
	if len(r.Questions) == 0 {
		return
	}
	fmt.Fprintf(w, "API above the engine: %.2f ms in the middle, %.2f ms at most; repeated: %.2f ms in the middle, %.2f ms at most\n", r.Above, r.AboveMost, r.Again, r.AgainMost)
	first, beaten := r.countFastest()
	fmt.Fprintf(w, "no peer is faster in %d of %d requests\n", first, first+len(beaten))
	for _, b := range beaten {
		fmt.Fprintf(w, "  %s\n", b)
	}
}

func (r *Results) printCrowds(w io.Writer) {
	if len(r.Crowds) == 0 {
		return
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "clients\twho\tanswers/s\tp50 ms\tp99 ms\tserve MiB\tengine MiB\terrors\t")
	for _, c := range r.Crowds {
		fmt.Fprintf(table, "%d\t%s\t%.1f\t%.1f\t%.1f\t%d\t%d\t%v\t\n", c.Clients, c.Contestant, c.PerSecond, c.Median, c.P99, c.ServeRSS>>20, c.EngineRSS>>20, c.Errors)
	}
	table.Flush()
	fmt.Fprintln(w)
}

func (r *Results) printSoak(w io.Writer) {
	if c := r.Cancelled; c != nil {
		fmt.Fprintf(w, "%d requests cut with %d statements running: all gone after %.0f ms\n\n", c.Requests, c.Running, c.Freed)
	}
	s := r.Soak
	if s == nil {
		return
	}
	fmt.Fprintf(w, "%.0f s of %d clients beside %d loads: %d answers, errors %v; of the restated slice %d compared, %d mixed; medians of %d stretches of the time:\n",
		s.Seconds, soakClients, s.Loads, s.Answered, s.Errors, s.Checked, s.Mixed, stretches)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, g := range s.Growth {
		fmt.Fprintf(table, "%s\t", g.What)
		for _, m := range g.Medians {
			fmt.Fprintf(table, "%.0f\t", m)
		}
		fmt.Fprintln(table)
	}
	table.Flush()
	fmt.Fprintln(w)
}
