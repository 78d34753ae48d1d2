package query

import (
	"slices"
	"strings"

	"adlens/internal/catalogue"
)

// Nearest returns the name that a value was probably meant to be: the closest
// one where few letters differ, else the only one that begins like it, else that
// of the figure with this label, as purchases of Orders, else "".
func Nearest(value string, names []string) string {
	value = strings.ToLower(strings.TrimSpace(value))
	if len(value) < 2 || len(value) > 64 {
		return ""
	}
	best, bestDistance := "", 1+min(3, (len(value)+1)/3)
	for _, name := range names {
		if d := editDistance(value, strings.ToLower(name)); d < bestDistance {
			best, bestDistance = name, d
		}
	}
	if best == "" {
		best = uniqueCompletion(value, names)
	}
	labeled := func(f catalogue.Figure) bool {
		return strings.EqualFold(f.Label, value) && slices.Contains(names, f.Name)
	}
	if i := slices.IndexFunc(catalogue.Figures, labeled); best == "" && i >= 0 {
		best = catalogue.Figures[i].Name
	}
	return best
}

// uniqueCompletion finds the only name that begins with a value.
func uniqueCompletion(value string, names []string) (only string) {
	for _, name := range names {
		if len(value) < 3 || !strings.HasPrefix(strings.ToLower(name), value) {
			continue
		}
		if only != "" {
			return ""
		}
		only = name
	}
	return only
}

// editDistance counts the letters to insert, delete, replace or swap with their
// neighbour to get from one word to another.
func editDistance(a, b string) int {
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(last[j]+cost, last[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
