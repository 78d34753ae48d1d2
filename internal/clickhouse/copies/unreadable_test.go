package copies

import (
	"strings"
	"testing"
)

func TestARefusalSaysHowManySharedPartsItDoesNotName(t *testing.T) {
	parts := []unreadablePart{{table: "facts", name: "all_1_1_0"}}
	if err := requireUnshared("acme", parts); err != nil {
		t.Errorf("a part of this account alone: %v", err)
	}
	for _, name := range []string{"all_2_2_0", "all_3_3_0", "all_4_4_0", "all_5_5_0", "all_6_6_0"} {
		parts = append(parts, unreadablePart{table: "facts", name: name, shared: true})
	}
	err := requireUnshared("acme", parts)
	if want := "(facts all_2_2_0, facts all_3_3_0, facts all_4_4_0 and 2 more)"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}
}
