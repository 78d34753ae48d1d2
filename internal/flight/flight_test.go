package flight

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestThoseWhoAskAtOnceShareOneComputation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[string, int]
		var computed atomic.Int32
		land := make(chan struct{})
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				value, err := g.Do(t.Context(), "a", func(context.Context) (int, error) {
					computed.Add(1)
					<-land
					return 7, nil
				})
				if value != 7 || err != nil {
					t.Errorf("got %d, %v", value, err)
				}
			})
		}
		synctest.Wait()
		other, err := g.Do(t.Context(), "b", func(context.Context) (int, error) { return 8, nil })
		if other != 8 || err != nil {
			t.Errorf("another key got %d, %v", other, err)
		}
		close(land)
		all.Wait()
		if computed.Load() != 1 {
			t.Errorf("computed %d times", computed.Load())
		}
	})
}

func TestWhoeverBeganMayLeaveAndTheOthersStillGetTheirAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[string, int]
		first, leave := context.WithCancel(t.Context())
		land := make(chan struct{})
		compute := func(ctx context.Context) (int, error) {
			<-land
			return 7, ctx.Err()
		}
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := g.Do(first, "a", compute); !errors.Is(err, context.Canceled) {
				t.Errorf("who left got %v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if value, err := g.Do(t.Context(), "a", compute); value != 7 || err != nil {
				t.Errorf("who stayed got %d, %v", value, err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		close(land)
		all.Wait()
	})
}

func TestAComputationThatNobodyWaitsForIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group[string, int]
		ctx, leave := context.WithCancel(t.Context())
		told := make(chan error, 1)
		go g.Do(ctx, "a", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			told <- ctx.Err()
			return 0, ctx.Err()
		})
		synctest.Wait()
		leave()
		if err := <-told; !errors.Is(err, context.Canceled) {
			t.Errorf("told %v", err)
		}
		value, err := g.Do(t.Context(), "a", func(context.Context) (int, error) { return 8, nil })
		if value != 8 || err != nil {
			t.Errorf("who came later got %d, %v", value, err)
		}
	})
}

func TestAPanicIsAnErrorForEverybody(t *testing.T) {
	var g Group[string, int]
	_, err := g.Do(t.Context(), "a", func(context.Context) (int, error) { panic("no such thing") })
	if err == nil || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("got %v", err)
	}
}
