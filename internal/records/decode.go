package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"adlens"
	"adlens/internal/catalogue"
	"adlens/internal/platform"

	"github.com/go-json-experiment/json"
)

// maxLine bounds a record; a run's changes are the longest.
const maxLine = 16 << 20

// Record is one of the kinds of records.
type Record interface {
	Rule | RuleRun | Activity
}

// Decode reads NDJSON, one record a line. check may complete a record. The
// error is of the first line that is wrong, and names it.
func Decode[R Record](r io.Reader, check func(*R) error) ([]R, error) {
	var all []R
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	number := 0
	for lines.Scan() {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var record R
		if err := platform.Decode(line, &record, number); err != nil {
			return nil, lineError(number, err)
		}
		if err := check(&record); err != nil {
			return nil, fmt.Errorf("row %d: %w", number, err)
		}
		all = append(all, record)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("row %d: more than %d bytes", number+1, maxLine)
	}
	return all, lines.Err()
}

// EncodeRecord writes a record as it is stored.
func EncodeRecord[R Record](record R) ([]byte, error) { return json.Marshal(record) }

// lineError names the line, where the error does not.
func lineError(number int, err error) error {
	var fault *platform.Fault
	if errors.As(err, &fault) {
		return err
	}
	return fmt.Errorf("row %d: %w", number, platform.Damage(err))
}

func need(ok bool, field string, value any, expected string) error {
	if ok {
		return nil
	}
	if text := fmt.Sprint(value); text != "" {
		return fmt.Errorf("%s is %q, expected %s", field, text, expected)
	}
	return fmt.Errorf("%s is missing, expected %s", field, expected)
}

// needTime needs a time of the years that sort as they should.
func needTime(field string, t time.Time) error {
	if t.IsZero() {
		return need(false, field, "", "a time like 2026-11-20T10:24:00.000Z")
	}
	return need(t.Year() >= 1970 && t.Year() <= 2261, field, t.Format(time.RFC3339), "a time between the years 1970 and 2261")
}

// canonical spells countries as the platform does.
func canonical(countries []string) {
	for i, code := range countries {
		countries[i] = adlens.CanonicalCountry(code)
	}
}

// CheckRule tells what is wrong with a rule, and spells its countries. Of a
// deleted one only the id counts.
func CheckRule(r *Rule) error {
	err := need(r.ID != "", "rule_id", r.ID, "an id")
	if r.Deleted {
		return err
	}
	if r.Scope.Marketplaces != nil {
		canonical(*r.Scope.Marketplaces)
	}
	return errors.Join(err, need(r.Status == "on" || r.Status == "off", "status", r.Status, "on or off"), needTime("edited_at", r.EditedAt))
}

// CheckRun tells what is wrong with a rule run, and spells its countries.
func CheckRun(r *RuleRun) error {
	err := need(r.ID != "", "rule_run_id", r.ID, "an id")
	if r.Deleted {
		return err
	}
	canonical(r.Marketplaces)
	for i := range r.Changes {
		r.Changes[i].Marketplace = adlens.CanonicalCountry(r.Changes[i].Marketplace)
	}
	err = errors.Join(err, need(r.RuleID != "", "rule_id", r.RuleID, "an id"), needTime("started_at", r.StartedAt))
	if r.FinishedAt != nil {
		err = errors.Join(err, needTime("finished_at", *r.FinishedAt))
	}
	return err
}

// CheckActivity tells what is wrong with an activity entry.
func CheckActivity(a *Activity) error {
	err := need(a.ID != "", "activity_id", a.ID, "an id")
	if a.Deleted {
		return err
	}
	return errors.Join(err, needTime("occurred_at", a.OccurredAt),
		need(slices.Contains(catalogue.Tools, a.Tool), "tool", a.Tool, "one of "+strings.Join(catalogue.Tools, ", ")),
		need(a.Marketplace != "" || a.MarketplaceID != "", "marketplace", "", "marketplace or marketplace_id"))
}
