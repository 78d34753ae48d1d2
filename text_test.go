package adlens

import "testing"

func TestOfManyTextsTheFirstAreListed(t *testing.T) {
	all := []string{"a", "b", "c", "d"}
	for got, want := range map[string]string{
		JoinFew(nil, 2, ", "): "", JoinFew(all, 4, ", "): "a, b, c, d", JoinFew(all, 3, ", "): "a, b, c and 1 more",
		JoinFew(all[:2], 3, "; "): "a; b", JoinFew(all, 2, "; "): "a; b; and 2 more",
	} {
		if got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}

func TestACountHasItsNoun(t *testing.T) {
	for n, want := range []string{"0 keys", "1 key", "2 keys"} {
		if got := FormatCount(n, "key"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
