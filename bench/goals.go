package main

import (
	"fmt"
	"math"
	"strings"
)

// Goal is one of the goals of a run.
type Goal struct {
	What     string  `json:"what"`
	On       string  `json:"measured_on"`
	Measured float64 `json:"measured"`
	Goal     float64 `json:"goal"`
	AtLeast  bool    `json:"at_least"`
	Unit     string  `json:"unit"`
	Held     bool    `json:"held"`
}

func atLeast(what, on string, measured, goal float64, unit string) Goal {
	return Goal{what, on, measured, goal, true, unit, measured >= goal}
}

func atMost(what, on string, measured, goal float64, unit string) Goal {
	return Goal{what, on, measured, goal, false, unit, measured <= goal}
}

func (g Goal) String() string {
	sign, held := "at most", "MISSED"
	if g.AtLeast {
		sign = "at least"
	}
	if g.Held {
		held = "held"
	}
	return fmt.Sprintf("%-6s  %s: %.2f%s, goal %s %g%s (%s)", held, g.What, g.Measured, g.Unit, sign, g.Goal, g.Unit, g.On)
}

// speedupOver is how many times faster adlens answers than a contestant.
func (r *Results) speedupOver(question, than string) (float64, bool) {
	for _, m := range r.Questions {
		if m.Question != question {
			continue
		}
		ours, theirs := m.timesOf(nameAPI), m.timesOf(than)
		if ours == nil || theirs == nil {
			return 0, false
		}
		return theirs.Median / ours.Median, true
	}
	return 0, false
}

// ratioGoals are those of part one: how many times faster than whom.
var ratioGoals = []struct {
	question, than string
	goal           float64
}{
	{qSummaryAll, nameRaw, 40}, {qSummaryAll, nameDuckDB, 25},
	{qMonthsAll, nameRaw, 40}, {qMonthsAll, nameDuckDB, 25},
	{qProductsAll, nameRaw, 40}, {qProductsAll, nameDuckDB, 25}, {qProductsSome, nameRaw, 70},
	{qYear, nameRaw, 6}, {qFourYears, nameRaw, 8}, {qNamed30, nameRaw, 1.8},
}

// judgeGoals finds the goals that the run has measured.
func (r *Results) judgeGoals() {
	r.Goals = nil
	for _, g := range ratioGoals {
		if times, ok := r.speedupOver(g.question, g.than); ok {
			r.Goals = append(r.Goals, atLeast("faster than "+g.than, g.question, times, g.goal, "x"))
		}
	}
	if times, ok := r.speedupOver(qAny30, nameRaw); ok {
		r.Goals = append(r.Goals, atMost("time against raw", qAny30, 1/times, 1.3, "x"))
	}
	r.judgeSmall()
	r.judgeAbove()
	r.judgeLoading()
	r.judgeCrowd()
	r.Held = 0
	for _, g := range r.Goals {
		if g.Held {
			r.Held++
		}
	}
}

// judgeSmall: no question of a small account may be much slower than raw.
func (r *Results) judgeSmall() {
	worst, on := 0.0, ""
	for _, m := range r.Questions {
		ours, raw := m.timesOf(nameAPI), m.timesOf(nameRaw)
		if m.Account == heavyID || ours == nil || raw == nil {
			continue
		}
		if ratio := ours.Median / raw.Median; ratio > worst {
			worst, on = ratio, m.Question
		}
	}
	if on != "" {
		r.Goals = append(r.Goals, atMost("small account, time against raw, the worst", on, worst, 1.3, "x"))
	}
}

// judgeAbove: what the API adds to the engine, and what a repeated request
// takes, in the middle of all questions.
func (r *Results) judgeAbove() {
	var above, repeated []float64
	for _, m := range r.Questions {
		ours, engine, again := m.timesOf(nameAPI), m.timesOf(nameEngine), m.timesOf(nameRepeated)
		if ours != nil && engine != nil {
			above = append(above, ours.Median-engine.Median)
		}
		if again != nil {
			repeated = append(repeated, again.Median)
		}
	}
	if len(above) > 0 {
		r.Above = percentileOf(above, 50)
		r.AboveMost = percentileOf(above, 100)
		r.Goals = append(r.Goals, atMost("the API above the engine, p50", "the middle of all requests", r.Above, 1, " ms"))
	}
	if len(repeated) > 0 {
		r.Again = percentileOf(repeated, 50)
		r.AgainMost = percentileOf(repeated, 100)
		r.Goals = append(r.Goals, atMost("the same request again, p50", "the middle of all requests", r.Again, 0.3, " ms"))
	}
}

func (r *Results) judgeLoading() {
	all, one := r.Loading.RestateAll, r.Loading.RestateOne
	if all.Runs > 0 {
		r.Goals = append(r.Goals,
			atMost("restating 30 days x 18 slices", fmt.Sprintf("%d rows", all.Rows), all.Seconds, 5, " s"),
			atMost("restating 30 days of one slice", fmt.Sprintf("%d rows", one.Rows), one.Seconds, 0.5, " s"))
	}
	if r.Storage.Facts > 0 {
		r.Goals = append(r.Goals,
			atMost("bytes of a fact row", fmt.Sprintf("%d measures, %d rows", measures, r.Storage.Facts), r.Storage.PerFact, 12, ""),
			atMost("rollups, part of the facts", "active parts", r.Storage.Share, 45, " %"))
	}
}

// goalClients is how many clients the goals of concurrency speak of.
const goalClients = 64

func (r *Results) judgeCrowd() {
	ours, raw := r.crowdOf(nameAPI), r.crowdOf(nameRaw)
	if ours == nil {
		return
	}
	on := fmt.Sprintf("%d mixed clients", goalClients)
	if raw != nil && raw.PerSecond > 0 {
		r.Goals = append(r.Goals, atLeast("throughput against raw", on, ours.PerSecond/raw.PerSecond, 40, "x"))
	}
	r.Goals = append(r.Goals, atMost("p99", on, ours.P99/1000, 1.3, " s"))
}

func (r *Results) crowdOf(name string) *Crowd {
	for i := range r.Crowds {
		if r.Crowds[i].Contestant == name && r.Crowds[i].Clients == goalClients {
			return &r.Crowds[i]
		}
	}
	return nil
}

// countFastest counts the questions that no peer answers faster than adlens, and
// names the others with the fastest peer.
func (r *Results) countFastest() (first int, beaten []string) {
	for _, m := range r.Questions {
		ours := m.timesOf(nameAPI)
		best, by := math.Inf(1), ""
		for _, t := range m.Times {
			if isPeer(t.Contestant) && t.Median < best {
				best, by = t.Median, t.Contestant
			}
		}
		if ours == nil || by == "" {
			continue
		}
		if ours.Median <= best {
			first++
			continue
		}
		beaten = append(beaten, fmt.Sprintf("%s: %.1f ms, %s %.1f ms", m.Question, ours.Median, by, best))
	}
	return first, beaten
}

func isPeer(name string) bool {
	return name == nameRaw || strings.HasPrefix(name, nameDuckDB) || name == namePostgres
}
