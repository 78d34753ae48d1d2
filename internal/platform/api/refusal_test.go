package api

import (
	"errors"
	"testing"
)

// The first two texts are recorded (airbytehq/airbyte pull/55217; the other out
// of a test of a public client of 2026), the others are forms of the same words
// in which the platform's services answer.
func TestTheRetentionWallIsReadOutOfItsRefusal(t *testing.T) {
	for body, want := range map[string]string{
		`{"code":"400","detail":"startDate (2025-01-01) must be equal to or after report type data retention start date (2025-01-03)"}`:   "2025-01-03",
		`{"code":"400","detail":"startDate (2026-07-16) must be equal to or after report type data retention start date (2026-07-31)"}`:   "2026-07-31",
		`{"code":"400","details":"startDate (2025-01-01) must be equal to or after report type data retention start date (2025-01-03)."}`: "2025-01-03",
		`{"message":"StartDate 2025-01-01 must be equal to or after report type Data Retention Start Date: 2025-01-03"}`:                  "2025-01-03",
		`{"errors":[{"message":"startDate must be equal to or after report type data retention start date \"2025-01-03\""}]}`:             "2025-01-03",
		`startDate (2025-01-01) must be equal to or after report type data retention start date (2025-01-03)`:                             "2025-01-03",
		`{"detail":"startDate (2025-01-01) must be equal to or after report type data retention start date (2025-02-31)"}`:                "",
		`{"detail":"startDate (2025-01-01) must be equal to or after report type data retention start date (unknown)"}`:                   "",
		`{"detail":"startDate (2025-01-01) must not be after endDate (2024-12-31)"}`:                                                      "",
		`{"detail":"Report date is too far in the past"}`:                                                                                 "",
	} {
		r := newRig(t, say(400, body))
		_, err := r.client.CreateReport(ctx, "1", goodRequest())
		r.fails(err, Refused)
		got := ""
		if day, ok := RetentionStart(err); ok {
			got = day.String()
		}
		if got != want || len(r.calls) != 1 {
			t.Errorf("%s: read %q after %d calls, expected %q", body, got, len(r.calls), want)
		}
	}
	r := newRig(t, say(503, `{"detail":"data retention start date (2025-01-03)"}`))
	_, err := r.client.CreateReport(ctx, "1", goodRequest())
	r.errors = append(r.errors, err)
	if _, ok := RetentionStart(err); ok {
		t.Error("a failure for now is taken for a wall")
	}
}

func TestWhatAProfileNeverHasIsKnownByItsWordsAlone(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		never  bool
	}{
		{400, `{"code":"400","details":"KDP authors do not have access to Sponsored Brands functionality"}`, true},
		{400, `{"code":"400","detail":"KDP authors do not have access to Sponsored Brands functionality."}`, true},
		{400, `{"details":"Tactic T00020 is not supported for report API in marketplace A1C3SOZRARQ6R3."}`, true},
		{403, `{"details":"KDP authors do not have access to Sponsored Brands functionality"}`, false},
		{400, `{"details":"Not authorized to access scope 1234"}`, false},
		{400, `{"details":"Invalid Advertiser or Marketplace ID."}`, false},
		{400, `{"details":"configuration columns includes invalid values: (date)"}`, false},
	} {
		r := newRig(t, say(c.status, c.body))
		_, err := r.client.CreateReport(ctx, "1", goodRequest())
		r.fails(err, Refused) // whatever else it is
		if errors.Is(err, NotOffered) != c.never {
			t.Errorf("%d %s: never is %v, expected %v", c.status, c.body, !c.never, c.never)
		}
	}
}
