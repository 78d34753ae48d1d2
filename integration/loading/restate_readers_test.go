package loading_test

import (
	"testing"

	"adlens/integration/house"
	"adlens/integration/model"
)

func TestReadersSeeTheOldSliceOrTheNewOneNeverAMixture(t *testing.T) {
	t.Parallel()
	h := house.Shared(t)
	one := &house.Tenant{Model: model.New()}
	one.Files.ID = house.AccountID(t)
	one.Ask = h.Client(t, one.Files.ID)
	house.Load(t, h.Program, one, house.ProfilesFile(t, t.TempDir(), [4]string{"101", "US", "USD", "seller"}))
	s := &house.Stage{Client: one.Ask, Questions: house.FixedQuestions()}
	steps := house.Restatements(t, house.Scaled(8))
	for _, paths := range steps {
		one.Model.Load(paths...)
		s.Remember(t, one.Model)
	}
	s.Play(t, h, one.Files.ID, steps)
}
