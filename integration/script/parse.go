package script

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Step is one command of a script with the indented lines below it.
type Step struct {
	Line  int
	Verb  string
	Args  []string
	Block []string
}

var verbs = map[string]bool{
	"account": true, "profiles": true, "rates": true, "bank": true, "products": true,
	"report": true, "load": true, "get": true,
}

// Parse reads a script. Today fills {today}, {today-3} and {today+1}.
func Parse(text string, today time.Time) ([]Step, error) {
	var steps []Step
	for i, line := range strings.Split(fillDays(text, today), "\n") {
		line = strings.TrimRight(line, " \t\r")
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || strings.HasPrefix(bare, "#"):
		case bare != line && len(steps) == 0:
			return nil, fmt.Errorf("line %d: an indented line before any command", i+1)
		case bare != line:
			last := &steps[len(steps)-1]
			last.Block = append(last.Block, bare)
		default:
			words := strings.Fields(line)
			if !verbs[words[0]] {
				return nil, fmt.Errorf("line %d: unknown command %q", i+1, words[0])
			}
			steps = append(steps, Step{Line: i + 1, Verb: words[0], Args: words[1:]})
		}
	}
	return steps, nil
}

var dayMark = regexp.MustCompile(`\{today([+-][0-9]+)?\}`)

func fillDays(text string, today time.Time) string {
	return dayMark.ReplaceAllStringFunc(text, func(mark string) string {
		days := 0
		if offset := dayMark.FindStringSubmatch(mark)[1]; offset != "" {
			// The expression admits only digits, so this cannot fail.
			days, _ = strconv.Atoi(offset)
		}
		return today.AddDate(0, 0, days).Format(time.DateOnly)
	})
}
