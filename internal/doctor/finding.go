package doctor

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"adlens"
)

// Status says how bad a finding is.
type Status string

// The statuses of findings.
const (
	OK      Status = "ok"
	Warning Status = "warning" // it works, but not for long, or not as it may seem
	Failed  Status = "failed"  // something does not work, or figures would be wrong
)

// Finding is what one check found. The names of its fields are stable, and so
// are those of the checks.
type Finding struct {
	Check   string  `json:"check"`
	Status  Status  `json:"status"`
	Detail  string  `json:"detail"`
	Advice  *string `json:"advice"`  // null where nothing needs to be done
	Account *string `json:"account"` // null where it concerns no single one
}

// Worst is the worst status among findings.
func Worst(all []Finding) Status {
	worst := OK
	for _, f := range all {
		if f.Status == Failed || f.Status == Warning && worst == OK {
			worst = f.Status
		}
	}
	return worst
}

// checkup is one check while it runs.
type checkup struct {
	name     string
	account  string
	findings []Finding
}

// forAccount returns the same check for an account.
func (c *checkup) forAccount(account string, run func(*checkup) error) error {
	one := &checkup{name: c.name, account: account}
	err := run(one)
	c.findings = append(c.findings, one.findings...)
	return err
}

func (c *checkup) addWarning(advice, detail string, args ...any) {
	c.addFinding(Warning, advice, detail, args)
}

func (c *checkup) addFailure(advice, detail string, args ...any) {
	c.addFinding(Failed, advice, detail, args)
}

// addUnchecked says why there is nothing else to say.
func (c *checkup) addUnchecked(err error) {
	advice := "read engine/engine.log in the data directory, or the server's log"
	if adlens.KindOf(err) == adlens.Damaged {
		advice = "the other findings name the table and say what to do; without --quick all tables are read"
	}
	c.addFailure(advice, "it could not be checked: %v", err)
}

func (c *checkup) addFinding(status Status, advice, detail string, args []any) {
	f := Finding{Check: c.name, Status: status, Detail: replaceControls(fmt.Sprintf(detail, args...))}
	if advice != "" {
		f.Advice = &advice
	}
	if c.account != "" {
		f.Account = &c.account
	}
	c.findings = append(c.findings, f)
}

// replaceControls makes one line of a text that may come from files or from a server.
func replaceControls(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// joinFew lists some of many texts, of which neighbours that are the same count once.
func joinFew(all []string) string {
	return adlens.JoinFew(slices.Compact(slices.Clone(all)), 3, ", ")
}

// formatBytes writes bytes for people.
func formatBytes(bytes uint64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	n, unit := float64(bytes), 0
	for n >= 1024 && unit < len(units)-1 {
		n, unit = n/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f %s", n, units[unit])
}
