package integrity

import (
	"context"
	"errors"
	"slices"
	"testing"

	"adlens/internal/clickhouse/conn"
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

// What cannot be read is met elsewhere the second time, or its part has another name then:
// the account is withheld all the same. Rows that only one look misses are none.
func TestWhatCannotBeReadIsNoLessLostInOtherWords(t *testing.T) {
	looks := [][]Loss{
		{{Account: "a", What: "part all_1_1_0", Unread: true}, {Account: "b", What: "one row"}, {Account: "c", What: "one row"}, {Account: "d", What: "part all_1_1_0", Unread: true}, {Account: "e", What: "one row"}},
		{{Account: "a", What: "part all_1_1_0_5", Unread: true}, {Account: "b", What: "one row"}, {Account: "d", What: "one row of two"}, {Account: "e", What: "part all_2_2_0", Unread: true}, {Account: "c", What: "two rows"}},
	}
	n := 0
	found, err := lookTwice(t.Context(), nil, func(context.Context, *conn.Session) ([]Loss, error) {
		n++
		return looks[n-1], nil
	})
	if err != nil || !slices.Equal(found, looks[1][:4]) {
		t.Errorf("lost are %v: %v", found, err)
	}
}
