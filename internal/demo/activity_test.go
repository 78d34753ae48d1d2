package demo

import (
	"slices"
	"testing"

	"adlens/internal/made"
)

func TestEntries(t *testing.T) {
	t.Parallel()
	for month := range 12 {
		o := officeOf(t, today.AddDate(0, month, 7))
		campaigns := map[string]*campaign{}
		for _, m := range markets {
			for _, c := range o.listCampaigns(m) {
				campaigns[formatID(c.id)] = c
			}
		}
		seen, ids := map[string]int{}, map[string]bool{}
		for _, e := range o.listEntries() {
			seen[e.Tool]++
			seen["by country"] += one(e.Marketplace != "")
			seen["by id"] += one(e.MarketplaceID != "")
			if ids[e.ActivityID] || e.OccurredAt >= made.Instant(o.today.Time()) || (e.Marketplace == "") == (e.MarketplaceID == "") || e.Summary == "" {
				t.Errorf("entry %+v", e)
			}
			ids[e.ActivityID] = true
			for _, id := range slices.Concat(e.CreatedIDs, e.ChangedIDs) {
				c := campaigns[id]
				if c == nil || e.Marketplace != c.market.country && e.MarketplaceID != c.market.profileID {
					t.Errorf("entry %+v: campaign %s", e, id)
				}
			}
		}
		for _, want := range []string{"rule", "campaign_create", "campaign_copy", "product_add", "undo", "by country", "by id"} {
			if seen[want] == 0 {
				t.Errorf("%v: no entry is %s", o.today, want)
			}
		}
		checkProvenance(t, o, campaigns)
	}
}

func checkProvenance(t *testing.T, o *account, campaigns map[string]*campaign) {
	t.Helper()
	created, changed := map[string]bool{}, map[string]bool{}
	for _, e := range o.listEntries() {
		for _, id := range e.CreatedIDs {
			created[id] = true
		}
		for _, id := range e.ChangedIDs {
			changed[id] = true
		}
	}
	for _, m := range markets {
		var counts [3]int
		for id, c := range campaigns {
			switch {
			case c.market != m:
			case created[id]:
				counts[0]++
			case changed[id]:
				counts[1]++
			default:
				counts[2]++
			}
		}
		if slices.Min(counts[:]) == 0 {
			t.Errorf("%v, %s: %d created, %d changed, %d untouched", o.today, m.country, counts[0], counts[1], counts[2])
		}
	}
}

// A run with changes that was no test is told once in each of its marketplaces.
func TestRunsAreTold(t *testing.T) {
	t.Parallel()
	o := officeOf(t, today)
	told, changed := map[string]int{}, map[string]int{}
	for _, e := range o.listEntries() {
		if e.Tool == "rule" {
			told[*e.RuleRunID]++
			changed[*e.RuleRunID] += e.Changed
		}
	}
	for _, run := range o.listRuns() {
		want := 0
		if !run.Test && run.Changed > 0 {
			want = len(run.Marketplaces)
		}
		if told[run.RuleRunID] != want || want > 0 && changed[run.RuleRunID] != run.Changed {
			t.Errorf("run %s is told %d times with %d changes, want %d with %d", run.RuleRunID, told[run.RuleRunID], changed[run.RuleRunID], want, run.Changed)
		}
	}
}
