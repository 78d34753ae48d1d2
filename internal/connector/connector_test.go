package connector

import (
	"context"
	"errors"
	"testing"

	"adlens"
	"adlens/internal/platform/api"
)

// wall is a store of one connection.
type wall struct {
	*memory
	stored adlens.Connection
}

func (w *wall) Connections(context.Context, string) ([]adlens.Connection, error) {
	return []adlens.Connection{w.stored}, nil
}

func (w *wall) PutConnection(_ context.Context, c adlens.Connection) error {
	w.stored = c
	return nil
}

func TestARefusalOfOldCredentialsSaysNothingOfNewOnes(t *testing.T) {
	before := adlens.Connection{Account: "acme", Name: "NA", ClientID: "app", Sealed: "old", Accepted: true, Profiles: []string{"1"}}
	w := &wall{newMemory("acme"), before}
	c := New(Config{Store: w, Locks: w})
	w.stored.Sealed = "new" // while the old ones were in use
	if err := c.noteAccepted(t.Context(), before, api.Unauthorized); !errors.Is(err, api.Unauthorized) {
		t.Errorf("the error is %v", err)
	}
	if w.stored.Sealed != "new" || !w.stored.Accepted {
		t.Errorf("stored is %+v, expected the new credentials, accepted", w.stored)
	}
	if err := c.noteAccepted(t.Context(), w.stored, api.Unauthorized); !errors.Is(err, api.Unauthorized) || w.stored.Accepted {
		t.Errorf("the refusal of the new ones is not noted: %+v, %v", w.stored, err)
	}
	if err := c.noteAccepted(t.Context(), w.stored, nil); err != nil || !w.stored.Accepted {
		t.Errorf("that they are taken again is not noted: %+v, %v", w.stored, err)
	}
}
