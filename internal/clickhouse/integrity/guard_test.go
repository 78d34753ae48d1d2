package integrity

import (
	"errors"
	"testing"

	"adlens/internal/commits"
)

// What is met while everything is inspected was not inspected yet where it was met late.
func TestAnAlarmDuringAnInspectionIsKept(t *testing.T) {
	g := NewGuard()
	first, second := errors.New("first"), errors.New("second")
	g.Alarm(first)
	calm := g.Calmer()
	calm()
	if _, met := g.known(); met != nil {
		t.Errorf("known is still %v", met)
	}
	g.Alarm(first)
	calm = g.Calmer()
	g.Alarm(second)
	calm()
	if _, met := g.known(); met != second {
		t.Errorf("known is %v, want what was met meanwhile", met)
	}
}

// The server looks again, and says what it found, once the guard has heard of something.
func TestALossAndAnAlarmAreHeard(t *testing.T) {
	for name, c := range map[string]struct {
		meet func(g *Guard)
		lost bool // of the account
	}{
		"a loss":                   {func(g *Guard) { g.withholdLosses([]commits.Loss{{Account: "acme", What: "lost"}}) }, true},
		"rows that cannot be read": {func(g *Guard) { g.Alarm(errors.New("unreadable")) }, false},
	} {
		g := NewGuard()
		if !g.IsQuiet() {
			t.Errorf("before %s, the guard is not quiet", name)
		}
		c.meet(g)
		select {
		case <-g.Alarms():
		default:
			t.Errorf("%s raises no alarm", name)
		}
		if refused := g.Admit("acme"); g.IsQuiet() || (refused != nil) != c.lost {
			t.Errorf("after %s, the guard is quiet: %t, and the account is refused: %v", name, g.IsQuiet(), refused)
		}
	}
}
