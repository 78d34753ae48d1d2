package made

import (
	"regexp"
	"testing"
)

func TestAppendDecimal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n      int64
		places int
		want   string
	}{
		{0, 2, "0"}, {5, 2, "0.05"}, {50, 2, "0.5"}, {1450, 2, "14.5"}, {5998, 2, "59.98"},
		{1200, 2, "12"}, {1005, 2, "10.05"}, {7, 4, "0.0007"}, {10_000, 4, "1"}, {42, 0, "42"},
	} {
		if got := string(AppendDecimal(nil, c.n, c.places)); got != c.want {
			t.Errorf("%d with %d places: %s, want %s", c.n, c.places, got, c.want)
		}
	}
}

func TestUUID(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for _, n := range []uint64{0, 1, 1 << 63, ^uint64(0)} {
		if id := UUID(n, n); !form.MatchString(id) {
			t.Errorf("%d: %s", n, id)
		}
	}
}
