package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// Curve is one measured thing at all sizes. With y proportional to rows^e, e is
// its exponent.
type Curve struct {
	What     string    `json:"what"`
	Unit     string    `json:"unit"`
	Rows     []float64 `json:"rows"`
	Values   []float64 `json:"values"`
	Exponent float64   `json:"exponent"`
}

// measureGrowth runs every size and fits what was measured.
func measureGrowth(ctx context.Context, o options) (curves []*Curve, err error) {
	if !o.kept {
		defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	}
	// PostgreSQL, which is not root, must get through.
	if err := os.Chmod(o.dir, 0o711); err != nil {
		return nil, err
	}
	for _, rows := range o.sizes {
		one := o
		one.shape, one.dir = o.shape.withRows(rows, slices.Max(o.sizes)), filepath.Join(o.dir, fmt.Sprint(rows))
		if err := os.MkdirAll(one.dir, 0o711); err != nil {
			return nil, err
		}
		b, err := openBench(ctx, one)
		if err != nil {
			return nil, err
		}
		if err := b.runSteps(ctx); err != nil {
			return nil, err
		}
		b.results.addCurves(&curves)
	}
	for _, c := range curves {
		c.Exponent = fitExponent(c.Rows, c.Values)
	}
	return curves, nil
}

// withRows is the shape with fewer rows: the heavy account gets lighter, and of
// the small ones there are fewer, but each is as large as before.
func (s Shape) withRows(rows, largest int) Shape {
	s.Rows = rows
	if s.Small > 0 {
		s.Small = max(1, s.Small*rows/largest)
	}
	return s
}

// addCurves adds a size's results to the curves.
func (r *Results) addCurves(all *[]*Curve) {
	rows := float64(r.Storage.Facts)
	add := func(what, unit string, value float64) {
		i := slices.IndexFunc(*all, func(c *Curve) bool { return c.What == what })
		if i < 0 {
			i = len(*all)
			*all = append(*all, &Curve{What: what, Unit: unit})
		}
		c := (*all)[i]
		c.Rows, c.Values = append(c.Rows, rows), append(c.Values, value)
	}
	add("loading", "s", r.Loading.Seconds)
	add("loader, peak memory", "MiB", float64(r.Loading.PeakRSS>>20))
	add("engine, peak memory while loading", "MiB", float64(r.Loading.EngineRSS>>20))
	add("serve, peak memory", "MiB", float64(r.ServeRSS>>20))
	add("facts on disk", "MiB", float64(r.Storage.FactBytes)/(1<<20))
	add("rollups on disk", "MiB", float64(r.Storage.RollupBytes)/(1<<20))
	add("restating 30 days of all slices", "s", r.Loading.RestateAll.Seconds)
	add("restating 30 days of one slice", "s", r.Loading.RestateOne.Seconds)
	var names []string
	medians := map[string][]float64{}
	for _, m := range r.Questions {
		for _, t := range m.Times {
			if t.Contestant != nameAPI && t.Contestant != nameRaw {
				continue
			}
			name := t.Contestant + ": " + ofAnyAccount(m.Question)
			if medians[name] == nil {
				names = append(names, name)
			}
			medians[name] = append(medians[name], t.Median)
		}
	}
	for _, name := range names {
		add(name, "ms", percentileOf(medians[name], 50))
	}
}

// ofAnyAccount names a request to one of the small accounts as one to any of
// them: at each size there are others of the same kind.
func ofAnyAccount(question string) string {
	if account, what, ok := strings.Cut(question, ": "); ok && account != heavyID {
		return "a small account: " + what
	}
	return question
}

func printCurves(w io.Writer, curves []*Curve) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for i, c := range curves {
		if i == 0 {
			head := []string{"stored fact rows"}
			for _, rows := range c.Rows {
				head = append(head, fmt.Sprintf("%.0f", rows))
			}
			fmt.Fprintln(table, strings.Join(append(head, "exponent"), "\t")+"\t")
		}
		line := []string{c.What + ", " + c.Unit}
		for _, v := range c.Values {
			line = append(line, fmt.Sprintf("%.1f", v))
		}
		fmt.Fprintln(table, strings.Join(append(line, fmt.Sprintf("%.2f", c.Exponent)), "\t")+"\t")
	}
	table.Flush()
}
