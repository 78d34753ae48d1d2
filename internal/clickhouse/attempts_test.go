package clickhouse

import (
	"testing"
	"time"

	"adlens"

	"github.com/google/go-cmp/cmp"
)

func TestAttemptsAreRemembered(t *testing.T) {
	d := openShared(t)
	ctx := t.Context()
	reports, lists, other := "reports/"+t.Name()+"/NA", "lists/"+t.Name()+"/1", "lists/"+t.Name()+"x/1"
	if _, found, err := d.Connections.Attempt(ctx, lists); found || err != nil {
		t.Fatalf("an attempt that never was: %v %v", found, err)
	}
	for _, name := range []string{reports, lists, other} {
		if err := d.Connections.BeginAttempt(ctx, name, 3); err != nil {
			t.Fatal(err)
		}
	}
	attempt := func(name string, failures int, longest time.Duration) {
		t.Helper()
		a, found, err := d.Connections.Attempt(ctx, name)
		if err != nil || !found || a.Failures != failures || a.Age < 0 || a.Age > longest {
			t.Errorf("%s: %+v %v %v; expected %d failures, begun within %v", name, a, found, err, failures, longest)
		}
	}
	attempt(lists, 3, time.Minute)
	if err := d.Connections.EndAttempt(ctx, lists, 4); err != nil {
		t.Fatal(err)
	}
	attempt(lists, 4, time.Minute)
	if err := d.Connections.Forgive(ctx, reports, "lists/"+t.Name()+"/"); err != nil {
		t.Fatal(err)
	}
	attempt(lists, 1, time.Minute) // and not as read, which would rest for a day
	attempt(other, 3, time.Minute)
	attempt(reports, 0, 100*365*24*time.Hour)
	if a, _, _ := d.Connections.Attempt(ctx, reports); a.Age < 24*time.Hour {
		t.Errorf("reports have to wait: %+v", a)
	}
}

func TestHowFarReportsWereReadIsRemembered(t *testing.T) {
	d := openShared(t)
	all := []adlens.Refreshed{
		{Account: t.Name(), MarketplaceID: "1", ReportType: "sbCampaigns", Through: 20_000, DeepThrough: 19_998},
		{Account: t.Name(), MarketplaceID: "1", ReportType: "spAdvertisedProduct", Through: 20_000, DeepThrough: 20_000},
	}
	for range 2 {
		if err := d.Connections.PutRefreshed(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		got, err := d.Connections.Refreshed(t.Context(), t.Name())
		if diff := cmp.Diff(all, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		all[0].Through++
	}
}
