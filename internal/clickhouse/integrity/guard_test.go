package integrity

import (
	"errors"
	"testing"
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
