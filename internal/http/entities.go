package http

import (
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/records"
	"adlens/internal/table"

	"github.com/go-json-experiment/json/jsontext"
)

func (w *writer) marketplace(m query.MarketplaceInfo) {
	w.text("marketplace_id", m.ID)
	w.text("country_code", m.Country)
	w.text("name", adlens.CountryName(m.Country))
	w.text("currency_code", m.Currency)
	w.text("timezone", m.TimeZone)
	w.object("counts", func() {
		for _, kind := range []struct {
			name string
			kind manifest.Kind
		}{{"campaigns", manifest.Campaigns}, {"ad_groups", manifest.AdGroups}, {"ads", manifest.Ads}} {
			if n, read := m.Counts[kind.kind]; read {
				w.number(kind.name, n)
			} else {
				w.null(kind.name, table.Whole)
			}
		}
	})
	w.day("data_first_date", m.FirstDate)
	w.day("data_last_date", m.LastDate)
}

func (w *writer) campaign(m query.Marketplace, c query.Campaign) {
	w.text("campaign_id", c.ID)
	w.text("marketplace_id", m.ID)
	w.text("name", c.Name)
	w.text("ad_product", c.AdProduct.String())
	w.text("state", string(c.State))
	w.textOrNull("targeting", c.Targeting)
	w.object("budget", func() {
		w.amount("amount", c.Budget)
		w.textOrNull("type", c.BudgetType)
		w.text("currency_code", m.Currency)
	})
	w.text("provenance", c.Provenance)
	w.day("start_date", c.Start)
	w.day("end_date", c.End)
}

func (w *writer) adGroup(m query.Marketplace, g query.AdGroup) {
	w.text("ad_group_id", g.ID)
	w.text("campaign_id", g.CampaignID)
	w.text("marketplace_id", m.ID)
	w.text("name", g.Name)
	w.text("ad_product", g.AdProduct.String())
	w.text("state", string(g.State))
	nullable(w, "default_bid", g.DefaultBid, func(bid adlens.Amount) {
		w.amount("amount", &bid)
		w.text("currency_code", m.Currency)
	})
}

func (w *writer) rule(r query.Rule) {
	w.text("rule_id", string(r.ID))
	w.text("name", r.Name)
	w.text("status", r.Status)
	w.object("scope", func() {
		w.textsOrNull("marketplaces", everywhere(r.Scope.Marketplaces))
		w.textsOrNull("campaign_ids", everywhere(r.Scope.CampaignIDs))
	})
	w.object("schedule", func() {
		w.textOrNull("frequency", r.Schedule.Frequency)
		w.textOrNull("time", r.Schedule.Time)
		w.textOrNull("timezone", r.Schedule.TimeZone)
	})
	nullable(w, "last_run", r.LastRun, func(last records.RuleRun) {
		w.runHead(last)
		w.count("changed", last.Changed)
	})
	w.timestamp("edited_at", &r.EditedAt)
}

// everywhere are the values of a scope; nil is all that there are.
func everywhere[T ~string](scope *[]T) []string {
	if scope == nil {
		return nil
	}
	values := make([]string, len(*scope))
	for i, value := range *scope {
		values[i] = string(value)
	}
	return values
}

func (w *writer) runHead(r records.RuleRun) {
	w.text("rule_run_id", string(r.ID))
	w.timestamp("started_at", &r.StartedAt)
	w.timestamp("finished_at", r.FinishedAt)
	w.text("status", r.Status)
}

func (w *writer) run(r records.RuleRun) {
	w.runHead(r)
	w.texts("marketplaces", r.Marketplaces)
	w.object("looked_at", func() {
		w.count("campaigns", r.LookedAt.Campaigns)
		w.count("ad_groups", r.LookedAt.AdGroups)
		w.count("targets", r.LookedAt.Targets)
	})
	w.count("changed", r.Changed)
	w.list("changes", func() {
		for _, c := range r.Changes {
			w.object("", func() { w.change(c) })
		}
	})
}

func (w *writer) change(c records.Change) {
	w.text("marketplace", c.Marketplace)
	w.text("entity_type", c.EntityType)
	w.text("entity_id", string(c.EntityID))
	w.optional("entity_name", c.EntityName)
	w.text("field", c.Field)
	w.json("from", compact(c.From))
	w.json("to", compact(c.To))
	w.optional("reason", c.Reason)
}

func compact(v jsontext.Value) string {
	if len(v) == 0 {
		return ""
	}
	v = v.Clone()
	if err := v.Compact(); err != nil {
		return ""
	}
	return string(v)
}

func (w *writer) activity(a records.Activity) {
	w.text("activity_id", string(a.ID))
	at := a.OccurredAt.Truncate(time.Millisecond)
	w.timestamp("occurred_at", &at)
	w.text("tool", a.Tool)
	w.text("marketplace", a.Marketplace)
	w.text("marketplace_id", string(a.MarketplaceID))
	w.textOrNull("rule_id", string(a.RuleID))
	w.textOrNull("rule_run_id", string(a.RuleRunID))
	w.text("status", a.Status)
	w.text("summary", a.Summary)
	w.count("changed", a.Changed)
}
