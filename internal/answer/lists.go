package answer

import (
	"slices"
	"time"

	"adlens"
	"adlens/internal/auth"
	"adlens/internal/formats"
	"adlens/internal/manifest"
	"adlens/internal/query"
	"adlens/internal/records"

	"github.com/go-json-experiment/json/jsontext"
)

func (w *writer) marketplaces(m marketplaces) {
	formats.Rows(w.Writer, "data", query.MarketplaceInfo{}, slices.Values(m.all), w.marketplace)
	w.Object("meta", func() {
		var last *adlens.Day
		if _, newest, held := m.view.Manifest.HeldDays(manifest.Any); held {
			last = &newest
		}
		w.day("data_last_date", last)
	})
}

func (w *writer) campaigns(p *query.Page[query.Campaign]) {
	writePage(w, p, true, func(c query.Campaign) { w.campaign(p.Request.Marketplace, c) })
}

func (w *writer) adGroups(p *query.Page[query.AdGroup]) {
	writePage(w, p, true, func(g query.AdGroup) { w.adGroup(p.Request.Marketplace, g) })
}

func (w *writer) rules(p *query.Page[query.Rule]) { writePage(w, p, false, w.rule) }

func (w *writer) activities(p *query.Page[records.Activity]) { writePage(w, p, false, w.activity) }

// writePage writes a page of a list. Of one that is synced from the platform,
// its time is written too.
func writePage[T any](w *writer, p *query.Page[T], synced bool, describe func(T)) {
	var blank T
	formats.Rows(w.Writer, "data", blank, slices.Values(p.Rows), describe)
	w.pagination(p.Request.Paging, p.Total, p.Truncated())
	w.Object("meta", func() {
		if synced {
			w.timestamp("synced_at", p.SyncedAt)
			w.Bool("syncing", p.Request.Syncing)
		}
		if p.Truncated() {
			w.Bool("truncated", true)
		}
	})
}

func (w *writer) runs(all []records.RuleRun) {
	formats.Rows(w.Writer, "data", records.RuleRun{}, slices.Values(all), w.run)
	w.Object("meta", func() {})
}

// account is an account and the key that is used.
type account struct {
	auth.Caller
	lastDate    *adlens.Day
	connected   bool       // credentials are stored and were last accepted
	connectedAt *time.Time // nil where none are stored
}

func (w *writer) account(a account) {
	w.Text("account_id", a.Account.ID)
	w.Text("name", a.Account.Name)
	w.Bool("is_demo", a.Account.IsDemo)
	w.Object("subscription", func() { w.Text("status", a.Account.Subscription) })
	w.Object("platform", func() {
		w.Bool("connected", a.connected)
		w.timestamp("connected_at", a.connectedAt)
	})
	w.Object("api_key", func() {
		w.Text("name", a.Key.Name)
		w.Text("start", a.Key.Start)
		w.Texts("scopes", a.Key.Scopes)
		w.timestamp("created_at", &a.Key.CreatedAt)
		w.timestamp("last_used_at", a.LastUse)
	})
	w.Null("connected_app", formats.JSONText)
	w.Object("meta", func() { w.day("data_last_date", a.lastDate) })
}

func (w *writer) marketplace(m query.MarketplaceInfo) {
	w.Text("marketplace_id", m.ID)
	w.Text("country_code", m.Country)
	w.Text("name", adlens.CountryName(m.Country))
	w.Text("currency_code", m.Currency)
	w.Text("timezone", m.TimeZone)
	w.Object("counts", func() {
		for _, kind := range []struct {
			name string
			kind manifest.Kind
		}{{"campaigns", manifest.Campaigns}, {"ad_groups", manifest.AdGroups}, {"ads", manifest.Ads}} {
			if n, read := m.Counts[kind.kind]; read {
				w.number(kind.name, n)
			} else {
				w.Null(kind.name, formats.Whole)
			}
		}
	})
	w.day("data_first_date", m.FirstDate)
	w.day("data_last_date", m.LastDate)
}

func (w *writer) campaign(m query.Marketplace, c query.Campaign) {
	w.Text("campaign_id", c.ID)
	w.Text("marketplace_id", m.ID)
	w.Text("name", c.Name)
	w.Text("ad_product", c.AdProduct.String())
	w.Text("state", string(c.State))
	w.TextOrNull("targeting", c.Targeting)
	w.Object("budget", func() {
		w.amount("amount", c.Budget)
		w.TextOrNull("type", c.BudgetType)
		w.Text("currency_code", m.Currency)
	})
	w.Text("provenance", c.Provenance)
	w.day("start_date", c.Start)
	w.day("end_date", c.End)
}

func (w *writer) adGroup(m query.Marketplace, g query.AdGroup) {
	w.Text("ad_group_id", g.ID)
	w.Text("campaign_id", g.CampaignID)
	w.Text("marketplace_id", m.ID)
	w.Text("name", g.Name)
	w.Text("ad_product", g.AdProduct.String())
	w.Text("state", string(g.State))
	formats.Nullable(w.Writer, "default_bid", g.DefaultBid, func(bid adlens.Amount) {
		w.amount("amount", &bid)
		w.Text("currency_code", m.Currency)
	})
}

func (w *writer) rule(r query.Rule) {
	w.Text("rule_id", string(r.ID))
	w.Text("name", r.Name)
	w.Text("status", r.Status)
	w.Object("scope", func() {
		w.TextsOrNull("marketplaces", everywhere(r.Scope.Marketplaces))
		w.TextsOrNull("campaign_ids", everywhere(r.Scope.CampaignIDs))
	})
	w.Object("schedule", func() {
		w.TextOrNull("frequency", r.Schedule.Frequency)
		w.TextOrNull("time", r.Schedule.Time)
		w.TextOrNull("timezone", r.Schedule.TimeZone)
	})
	formats.Nullable(w.Writer, "last_run", r.LastRun, func(last records.RuleRun) {
		w.runHead(last)
		w.Count("changed", last.Changed)
	})
	w.timestamp("edited_at", &r.EditedAt)
}

// everywhere returns the values of a scope; nil is all that there are.
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
	w.Text("rule_run_id", string(r.ID))
	w.timestamp("started_at", &r.StartedAt)
	w.timestamp("finished_at", r.FinishedAt)
	w.Text("status", r.Status)
}

func (w *writer) run(r records.RuleRun) {
	w.runHead(r)
	w.Texts("marketplaces", r.Marketplaces)
	w.Object("looked_at", func() {
		w.Count("campaigns", r.LookedAt.Campaigns)
		w.Count("ad_groups", r.LookedAt.AdGroups)
		w.Count("targets", r.LookedAt.Targets)
	})
	w.Count("changed", r.Changed)
	w.List("changes", func() {
		for _, c := range r.Changes {
			w.Object("", func() { w.change(c) })
		}
	})
}

func (w *writer) change(c records.Change) {
	w.Text("marketplace", c.Marketplace)
	w.Text("entity_type", c.EntityType)
	w.Text("entity_id", string(c.EntityID))
	w.OptionalText("entity_name", c.EntityName)
	w.Text("field", c.Field)
	w.JSON("from", compact(c.From))
	w.JSON("to", compact(c.To))
	w.OptionalText("reason", c.Reason)
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
	w.Text("activity_id", string(a.ID))
	at := a.OccurredAt.Truncate(time.Millisecond)
	w.timestamp("occurred_at", &at)
	w.Text("tool", a.Tool)
	w.Text("marketplace", a.Marketplace)
	w.Text("marketplace_id", string(a.MarketplaceID))
	w.TextOrNull("rule_id", string(a.RuleID))
	w.TextOrNull("rule_run_id", string(a.RuleRunID))
	w.Text("status", a.Status)
	w.Text("summary", a.Summary)
	w.Count("changed", a.Changed)
}
