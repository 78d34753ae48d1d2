package clickhouse

import (
	"errors"
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
	others := []adlens.Refreshed{{Account: t.Name() + " other", MarketplaceID: "1", ReportType: "sdAdvertisedProduct", Through: 20_000, DeepThrough: 20_000}}
	for range 2 {
		if err := errors.Join(d.Connections.PutRefreshed(t.Context(), all), d.Connections.PutRefreshed(t.Context(), others)); err != nil {
			t.Fatal(err)
		}
		got, err := d.Connections.Refreshed(t.Context(), t.Name())
		if diff := cmp.Diff(all, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		all[0].Through++
	}
}

// Requests are an account's own, though another one has the same marketplace; those of
// other days stand next to each other, and a later one of the same days takes their place.
func TestRequestsAreRemembered(t *testing.T) {
	d := openShared(t)
	at := time.Date(2026, 11, 26, 6, 0, 0, 0, time.UTC)
	request := func(account, id string, first adlens.Day, done bool) adlens.ReportRequest {
		return adlens.ReportRequest{Account: account, MarketplaceID: "1", ReportType: "spAdvertisedProduct", Start: first, End: first + 4, ReportID: id, RequestedAt: at, Done: done}
	}
	own, other := t.Name(), t.Name()+" other"
	for _, r := range []adlens.ReportRequest{request(own, "replaced", 20_000, false), request(own, "running", 20_000, false), request(own, "waiting", 20_005, false),
		request(own, "", 19_000, true), request(own, "done", 20_010, false), request(own, "done", 20_010, true),
		request(other, "another", 20_015, false), request(other, "another", 20_005, true), request(other, "", 18_000, true)} {
		if err := d.Connections.PutRequest(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	open, err := d.Connections.OpenRequests(t.Context(), own)
	if diff := cmp.Diff([]adlens.ReportRequest{request(own, "running", 20_000, false), request(own, "waiting", 20_005, false)}, open); diff != "" || err != nil {
		t.Errorf("open are %v (-want +got):\n%s", err, diff)
	}
	nothing, err := d.Connections.NothingOf(t.Context(), own)
	if diff := cmp.Diff([]adlens.ReportRequest{request(own, "", 19_000, true)}, nothing); diff != "" || err != nil {
		t.Errorf("of nothing are %v (-want +got):\n%s", err, diff)
	}
}
