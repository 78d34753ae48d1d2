package simulation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shrinker makes a plan that fails shorter, as long as it still fails in the
// same way.
type shrinker struct {
	t    *testing.T
	plan *Plan
	last outcome
	runs int
}

// mostRuns bounds the work on one failure.
const mostRuns = 400

var digits = regexp.MustCompile(`[0-9]+`)

// sameFault compares faults without the numbers in them.
func sameFault(a, b string) bool {
	short := func(s string) string { return digits.ReplaceAllString(s[:min(len(s), 60)], "") }
	return b != "" && short(a) == short(b)
}

// shrink returns the shortest plan that was found, and its run.
func shrink(t *testing.T, plan *Plan) (*Plan, outcome) {
	s := &shrinker{t: t, plan: plan, last: runPlan(t, plan, false)}
	for before := -1; before != s.size() && s.runs < mostRuns; {
		before = s.size()
		s.dropActors()
		s.dropSteps()
		s.dropFiles()
		s.lowerCounts()
		s.mute(func(m *Mutes) *map[int]bool { return &m.Event })
		s.mute(func(m *Mutes) *map[int]bool { return &m.Fault })
		s.mute(func(m *Mutes) *map[int]bool { return &m.Pick })
	}
	return s.plan, runPlan(t, s.plan, true)
}

func (s *shrinker) size() (n int) {
	for _, a := range s.plan.Actors {
		for _, step := range a.Steps {
			n += 1 + len(step.Files) + step.Count
		}
	}
	m := s.plan.Mutes
	return 10_000*n - len(m.Event) - len(m.Fault) - len(m.Pick)
}

// try keeps a plan that fails in the same way.
func (s *shrinker) try(change func(*Plan)) bool {
	if s.runs++; s.runs > mostRuns {
		return false
	}
	plan := s.plan.clone()
	change(plan)
	o := runPlan(s.t, plan, false)
	if !sameFault(s.last.fault, o.fault) {
		return false
	}
	s.plan, s.last = plan, o
	return true
}

func (p *Plan) clone() *Plan {
	c := *p
	c.Actors = nil
	for _, a := range p.Actors {
		a.Steps = slices.Clone(a.Steps)
		for i := range a.Steps {
			a.Steps[i].Files = slices.Clone(a.Steps[i].Files)
		}
		c.Actors = append(c.Actors, a)
	}
	c.Mutes = Mutes{cloneSet(p.Mutes.Pick), cloneSet(p.Mutes.Fault), cloneSet(p.Mutes.Event)}
	return &c
}

func cloneSet(set map[int]bool) map[int]bool {
	c := make(map[int]bool, len(set))
	for key := range set {
		c[key] = true
	}
	return c
}

func (s *shrinker) dropActors() {
	for i := len(s.plan.Actors) - 1; i >= 0; i-- {
		s.try(func(p *Plan) { p.Actors = slices.Delete(p.Actors, i, i+1) })
	}
}

func (s *shrinker) dropSteps() {
	for i := range s.plan.Actors {
		for j := len(s.plan.Actors[i].Steps) - 1; j >= 0 && len(s.plan.Actors[i].Steps) > 1; j-- {
			s.try(func(p *Plan) { p.Actors[i].Steps = slices.Delete(p.Actors[i].Steps, j, j+1) })
		}
	}
}

func (s *shrinker) dropFiles() {
	for i := range s.plan.Actors {
		for j := range s.plan.Actors[i].Steps {
			for k := len(s.plan.Actors[i].Steps[j].Files) - 1; k >= 0 && len(s.plan.Actors[i].Steps[j].Files) > 1; k-- {
				s.try(func(p *Plan) { p.Actors[i].Steps[j].Files = slices.Delete(p.Actors[i].Steps[j].Files, k, k+1) })
			}
		}
	}
}

func (s *shrinker) lowerCounts() {
	for i := range s.plan.Actors {
		for j := range s.plan.Actors[i].Steps {
			for less := s.plan.Actors[i].Steps[j].Count - 1; less > 0; less /= 2 {
				for s.plan.Actors[i].Steps[j].Count > less && s.try(func(p *Plan) { p.Actors[i].Steps[j].Count -= less }) {
				}
			}
		}
	}
}

// mute mutes choices, many at a time and then few.
func (s *shrinker) mute(of func(*Mutes) *map[int]bool) {
	for width := s.last.steps + 1; width >= 1; width /= 2 {
		for from := 0; from <= s.last.steps && s.runs < mostRuns; from += width {
			var loud []int
			for step := from; step < from+width && step <= s.last.steps; step++ {
				if !(*of(&s.plan.Mutes))[step] {
					loud = append(loud, step)
				}
			}
			if len(loud) > 0 {
				s.try(func(p *Plan) {
					for _, step := range loud {
						(*of(&p.Mutes))[step] = true
					}
				})
			}
		}
	}
}

// story tells a run in few lines: calls of one process in a row are one line,
// unless something happened to them.
func story(p *Plan, o outcome) string {
	var lines []string
	who, calls := "", []string(nil)
	flush := func() {
		if len(calls) > 0 {
			text := calls[0]
			if len(calls) > 1 {
				text = fmt.Sprintf("%s ... %s (%d calls)", calls[0], calls[len(calls)-1], len(calls))
			}
			lines = append(lines, who+": "+text)
		}
		calls = nil
	}
	line := regexp.MustCompile(`^\d+ ((?:loader|lister|collector|reader|alone|operator|client|guesser|keeper|server|backupper|restorer|mover) [\d.]+) (.*)$`)
	for text := range strings.Lines(o.trace) {
		text = strings.TrimRight(text, "\n")
		m := line.FindStringSubmatch(text)
		switch {
		case m == nil:
			flush()
			lines = append(lines, strings.TrimLeft(text, "0123456789"))
		case strings.Contains(text, "->"):
			flush()
			lines = append(lines, m[1]+": "+m[2])
		default:
			if m[1] != who {
				flush()
			}
			who, calls = m[1], append(calls, m[2])
		}
	}
	flush()
	return fmt.Sprintf("seed %d: %s\n  %s", p.Seed, o.fault, strings.Join(lines, "\n  "))
}
