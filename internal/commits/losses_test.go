package commits

import (
	"context"
	"slices"
	"testing"
)

// What cannot be read is met elsewhere the second time, or its part has another name then:
// the account is withheld all the same. Rows that only one look misses are none.
func TestWhatCannotBeReadIsNoLessLostInOtherWords(t *testing.T) {
	looks := [][]Loss{
		{{Account: "a", What: "part all_1_1_0", Unread: true}, {Account: "b", What: "one row"}, {Account: "c", What: "one row"}, {Account: "d", What: "part all_1_1_0", Unread: true}, {Account: "e", What: "one row"}},
		{{Account: "a", What: "part all_1_1_0_5", Unread: true}, {Account: "b", What: "one row"}, {Account: "d", What: "one row of two"}, {Account: "e", What: "part all_2_2_0", Unread: true}, {Account: "c", What: "two rows"}},
	}
	n := 0
	found, err := lookTwice(t.Context(), nil, func(context.Context, Database) ([]Loss, error) {
		n++
		return looks[n-1], nil
	})
	if err != nil || !slices.Equal(found, looks[1][:4]) {
		t.Errorf("lost are %v: %v", found, err)
	}
}
