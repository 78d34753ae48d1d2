package loader

import (
	"context"
	"fmt"
	"strings"
)

// overlay is how files of a kind are loaded each of which is put over the ones before.
type overlay[T any] struct {
	read    func(*session, context.Context) (T, error)            // what is held
	put     func(*session, file, T) (next T, rows int, err error) // a file over that
	same    func(before, next T) (bool, error)
	publish func(*session, context.Context, T) error
}

// overlays load the files that are put over one another.
var overlays = map[kind]func(*session, context.Context, []file) error{
	kindProfiles: profiles.loadOver, kindRates: overlayRates(readRates).loadOver, kindBankRates: overlayRates(readBankRates).loadOver, kindTitles: titles.loadOver,
	kindRules: overlayRecords(rules).loadOver, kindRuleRuns: overlayRecords(ruleRuns).loadOver, kindActivity: overlayRecords(activity).loadOver,
}

// loadOver loads files in their order and makes visible what they come to. Published one
// by one, files that were loaded before would each bring back for a moment what a later
// one has replaced.
func (o overlay[T]) loadOver(s *session, ctx context.Context, files []file) error {
	held, err := o.read(s, ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", files[0].shown, err)
	}
	over := held
	var changing []string // files
	var results []FileResult
	for _, f := range files {
		s.stepProgress(f)
		next, rows, err := o.put(s, f, over)
		if isRefusal(err) {
			if err := s.refuseFile(f, err); err != nil {
				return err
			}
			continue
		}
		same := false
		if err == nil {
			same, err = o.same(over, next)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.shown, err)
		}
		if !same {
			over, changing = next, append(changing, f.shown)
		}
		results = append(results, FileResult{File: f.shown, Status: statusOf(!same), Rows: rows})
	}
	same := len(changing) == 0
	if !same && len(files) > 1 { // a later file may have taken back what an earlier one changed
		same, err = o.same(held, over)
	}
	if err == nil && !same {
		err = o.publish(s, ctx, over)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(changing, ", "), err)
	}
	for _, r := range results {
		if same {
			r.Status = Unchanged
		}
		s.addResult(r)
	}
	return nil
}
