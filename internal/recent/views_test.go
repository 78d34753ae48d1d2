package recent

import (
	"context"
	"testing"
)

// renewing is a source that has another view under the same version, as a database that was
// put back and loaded on, which shows when it is asked for the version.
type renewing struct {
	views *Views[int]
	view  int
	known int // what the view was read with
}

func (r *renewing) Mark(string) (uint64, bool) { return 0, false }

func (r *renewing) Version(context.Context, string) (uint32, error) {
	if r.view == 2 {
		r.views.Forget("")
	}
	return 7, nil
}

func (r *renewing) View(_ context.Context, _ string, known int) (int, uint32, error) {
	r.known = known
	return r.view, 7, nil
}

func TestAViewThatIsForgottenWhileItsVersionIsReadIsReadAgain(t *testing.T) {
	source := &renewing{}
	source.views = NewViews(source, 1, func(int) int { return 1 })
	for _, source.view = range []int{1, 2} {
		if got, err := source.views.Current(t.Context(), "acme"); err != nil || got != source.view || source.known != 0 {
			t.Errorf("view %d is answered with %d, read with %d: %v", source.view, got, source.known, err)
		}
	}
}
