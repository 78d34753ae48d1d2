package main

import (
	"context"
	"maps"
	"testing"
	"time"

	"adlens"
	"adlens/internal/auth"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/zap"
)

// ended is the context of a server that was told to stop.
func ended(t *testing.T) context.Context {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	return ctx
}

func TestTheLastUsesOfKeysAreStoredAtTheEnd(t *testing.T) {
	d, o := home(t)
	key := rotatable(t, d, o)
	usage, now := auth.NewUsage(), time.Now()
	usage.Touch(key.ID, nil, now)
	for _, rename := range []string{"RENAME TABLE api_key_uses TO uses_away", "RENAME TABLE uses_away TO api_key_uses"} {
		if err := d.Cluster.Home().Exec(t.Context(), rename, nil); err != nil {
			t.Fatal(err)
		}
		d.keepUsage(ended(t), usage, zap.NewNop()) // what cannot be stored at first is kept
	}
	stored, _, err := d.Keys.KeyByID(t.Context(), key.ID)
	if err != nil || stored.LastUsedAt == nil || now.Sub(*stored.LastUsedAt).Abs() > time.Second {
		t.Errorf("the last use of the key is %v, expected %s: %v", stored.LastUsedAt, now, err)
	}
}

// Calls that a server reserved ahead and did not let in are left to the next one.
func TestReservedCallsAreGivenBackAtTheEnd(t *testing.T) {
	d, _ := home(t)
	today := adlens.DayOf(time.Now().UTC())
	for _, left := range []int{999, 998} {
		l, err := d.newLimits(t.Context(), serveOptions{limitDay: 1000}, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		decided := l.AllowKey("acme", auth.KeyLimit{}, time.Now())
		if !decided.Allowed || len(decided.Windows) != 1 || decided.Windows[0].Name != auth.LimitDay || decided.Windows[0].Remaining != left {
			if adlens.DayOf(time.Now().UTC()) != today {
				t.Skip("a new day has begun, which counts from zero")
			}
			t.Errorf("a call of a server leaves %+v, expected %d of the day", decided, left)
		}
		l.Keep(t.Context())
		l.keepReservations(ended(t))
	}
}

func TestServersWithARedisShareBothLimits(t *testing.T) {
	d, _ := home(t)
	running := miniredis.RunT(t)
	left := map[string]int{}
	for range 2 {
		l, err := d.newLimits(t.Context(), serveOptions{redis: "redis://" + running.Addr(), limitMinute: 9, limitDay: 1000}, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			for _, w := range l.AllowKey("acme", auth.KeyLimit{}, time.Now()).Windows {
				left[w.Name] = w.Remaining
			}
		}
		l.keepReservations(ended(t))
	}
	if want := map[string]int{auth.LimitMinute: 1, auth.LimitDay: 992}; !maps.Equal(left, want) {
		t.Errorf("after four calls of each of two servers there are left %v, expected %v", left, want)
	}
}
