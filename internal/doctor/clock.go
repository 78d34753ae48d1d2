package doctor

import (
	"fmt"
	"time"
)

// How far clocks may be apart: a little is nothing, more confuses limits, keys
// that expire, and which day today is.
const (
	clockSlack = 5 * time.Second
	clockWrong = time.Minute
)

func (e *examination) checkClocks(c *checkup) (string, error) {
	apart, err := e.db.Audit.Clocks(e.ctx, e.Now)
	if err != nil {
		return "", err
	}
	for _, one := range apart {
		if one.Ahead.Abs() > clockSlack {
			c.addFinding(clockSeverity(one.Ahead.Abs()), "set the clocks of both machines by NTP", "the clock of %s is %s this machine's", []any{one.Server, describeOffset(one.Ahead)})
		}
	}
	after := e.Now()
	e.forEach(c, func(c *checkup, a account) error {
		committed, err := e.db.Audit.NewestCommit(e.ctx, a.ID)
		if ahead := committed.Sub(after); err == nil && ahead > clockSlack {
			c.addFinding(clockSeverity(ahead), "set the clocks of this machine and of the database's by NTP; which day is today, and which keys have expired, goes by it",
				"the last load is dated %s, which is %s from now: this clock is late, or the database's was early", []any{formatTime(committed), ahead.Round(time.Second)})
		}
		return err
	})
	return fmt.Sprintf("%s, the same as the database's", formatTime(after)), nil
}

func clockSeverity(apart time.Duration) Status {
	if apart > clockWrong {
		return Failed
	}
	return Warning
}

func describeOffset(apart time.Duration) string {
	if apart < 0 {
		return fmt.Sprintf("%s behind", (-apart).Round(time.Millisecond))
	}
	return fmt.Sprintf("%s ahead of", apart.Round(time.Millisecond))
}
