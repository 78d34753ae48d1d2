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

func (w *writer) writeMarketplaces(m marketplaces) {
	formats.Rows(w.Writer, "data", query.MarketplaceInfo{}, slices.Values(m.all), w.writeMarketplace)
	w.Object("meta", func() {
		held := m.view.MetaAtAll()
		w.writeDay("data_last_date", held.LastDate)
		w.writeLacks(held)
	})
}

func (w *writer) writeCampaigns(p *query.Page[query.Campaign]) {
	writePage(w, p, true, func(c query.Campaign) { w.writeCampaign(p.Request.Marketplace, c) })
}

func (w *writer) adGroups(p *query.Page[query.AdGroup]) {
	writePage(w, p, true, func(g query.AdGroup) { w.adGroup(p.Request.Marketplace, g) })
}

func (w *writer) writeRules(p *query.Page[query.Rule]) { writePage(w, p, false, w.writeRule) }

func (w *writer) writeActivities(p *query.Page[records.Activity]) {
	writePage(w, p, false, w.writeActivity)
}

// writePage writes a page of a list. Of one that is synced from the platform,
// its time is written too.
func writePage[T any](w *writer, p *query.Page[T], synced bool, describe func(T)) {
	var blank T
	formats.Rows(w.Writer, "data", blank, slices.Values(p.Rows), describe)
	w.writePagination(p.Request.Paging, p.Total, p.Truncated())
	w.Object("meta", func() {
		if synced {
			w.writeTimestamp("synced_at", p.SyncedAt)
			w.Bool("syncing", p.Request.Syncing)
		}
		if p.Truncated() {
			w.Bool("truncated", true)
		}
	})
}

func (w *writer) writeRuns(all []query.RuleRun) {
	formats.Rows(w.Writer, "data", query.RuleRun{}, slices.Values(all), w.writeRun)
	w.Object("meta", func() {})
}

// account is an account and the key that is used.
type account struct {
	auth.Caller
	lastDate    *adlens.Day
	connected   bool       // credentials are stored and were last accepted
	connectedAt *time.Time // nil where none are stored
	app         *connectedApp
}

func (w *writer) writeAccount(a account) {
	w.Text("account_id", a.Account.ID)
	w.Text("name", a.Account.Name)
	w.Bool("is_demo", a.Account.IsDemo)
	w.Object("subscription", func() { w.Text("status", a.Account.Subscription) })
	w.Object("platform", func() {
		w.Bool("connected", a.connected)
		w.writeTimestamp("connected_at", a.connectedAt)
	})
	w.Object("api_key", func() {
		w.Text("name", a.Key.Name)
		w.Text("start", a.Key.Start)
		w.Texts("scopes", a.Key.Scopes)
		if a.Marketplaces != nil {
			w.Texts("marketplaces", a.Marketplaces)
		}
		w.writeTimestamp("created_at", &a.Key.CreatedAt)
		w.writeTimestamp("last_used_at", a.LastUse)
		if a.Key.ExpiresAt != nil {
			w.writeTimestamp("expires_at", a.Key.ExpiresAt)
		}
	})
	formats.Nullable(w.Writer, "connected_app", a.app, func(app connectedApp) {
		w.Text("name", app.name)
		w.writeTimestamp("connected_at", &app.at)
	})
	w.Object("meta", func() { w.writeDay("data_last_date", a.lastDate) })
}

func (w *writer) writeMarketplace(m query.MarketplaceInfo) {
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
				w.writeInt(kind.name, n)
			} else {
				w.Null(kind.name, formats.Whole)
			}
		}
	})
	w.writeDay("data_first_date", m.FirstDate)
	w.writeDay("data_last_date", m.LastDate)
}

func (w *writer) writeCampaign(m query.Marketplace, c query.Campaign) {
	w.Text("campaign_id", c.ID)
	w.Text("marketplace_id", m.ID)
	w.Text("name", c.Name)
	w.Text("ad_product", c.AdProduct.String())
	w.Text("state", string(c.State))
	w.TextOrNull("targeting", c.Targeting)
	w.Object("budget", func() {
		w.writeAmount("amount", c.Budget)
		w.TextOrNull("type", c.BudgetType)
		w.Text("currency_code", m.Currency)
	})
	w.Text("provenance", c.Provenance)
	w.writeDay("start_date", c.Start)
	w.writeDay("end_date", c.End)
}

func (w *writer) adGroup(m query.Marketplace, g query.AdGroup) {
	w.Text("ad_group_id", g.ID)
	w.Text("campaign_id", g.CampaignID)
	w.Text("marketplace_id", m.ID)
	w.Text("name", g.Name)
	w.Text("ad_product", g.AdProduct.String())
	w.Text("state", string(g.State))
	formats.Nullable(w.Writer, "default_bid", g.DefaultBid, func(bid adlens.Amount) {
		w.writeAmount("amount", &bid)
		w.Text("currency_code", m.Currency)
	})
}

func (w *writer) writeRule(r query.Rule) {
	w.Text("rule_id", string(r.ID))
	w.Text("name", r.Name)
	w.Text("status", r.Status)
	w.Object("scope", func() {
		w.TextsOrNull("marketplaces", scopeValues(r.Scope.Marketplaces))
		w.TextsOrNull("campaign_ids", scopeValues(r.Scope.CampaignIDs))
	})
	w.Object("schedule", func() {
		w.TextOrNull("frequency", r.Schedule.Frequency)
		w.TextOrNull("time", r.Schedule.Time)
		w.TextOrNull("timezone", r.Schedule.TimeZone)
	})
	formats.Nullable(w.Writer, "last_run", r.LastRun, func(last query.RuleRun) {
		w.runHead(last.RuleRun)
		w.countOrNull("changed", last.Changed, last.ChangedUnknown)
	})
	w.writeTimestamp("edited_at", &r.EditedAt)
}

// scopeValues returns the values of a scope; nil is all that there are.
func scopeValues[T ~string](scope *[]T) []string {
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
	w.writeTimestamp("started_at", &r.StartedAt)
	w.writeTimestamp("finished_at", r.FinishedAt)
	w.Text("status", r.Status)
}

func (w *writer) writeRun(r query.RuleRun) {
	w.runHead(r.RuleRun)
	w.Texts("marketplaces", r.Marketplaces)
	w.Object("looked_at", func() {
		w.countOrNull("campaigns", r.LookedAt.Campaigns, r.LookedAtUnknown)
		w.countOrNull("ad_groups", r.LookedAt.AdGroups, r.LookedAtUnknown)
		w.countOrNull("targets", r.LookedAt.Targets, r.LookedAtUnknown)
	})
	w.countOrNull("changed", r.Changed, r.ChangedUnknown)
	w.List("changes", func() {
		for _, c := range r.Changes {
			w.Object("", func() { w.writeChange(c) })
		}
	})
}

func (w *writer) writeChange(c records.Change) {
	w.Text("marketplace", c.Marketplace)
	w.Text("entity_type", c.EntityType)
	w.Text("entity_id", string(c.EntityID))
	w.OptionalText("entity_name", c.EntityName)
	w.Text("field", c.Field)
	w.JSON("from", compactJSON(c.From))
	w.JSON("to", compactJSON(c.To))
	w.OptionalText("reason", c.Reason)
}

func compactJSON(v jsontext.Value) string {
	if len(v) == 0 {
		return ""
	}
	v = v.Clone()
	if err := v.Compact(); err != nil {
		return ""
	}
	return string(v)
}

func (w *writer) writeActivity(a records.Activity) {
	w.Text("activity_id", string(a.ID))
	at := a.OccurredAt.Truncate(time.Millisecond)
	w.writeTimestamp("occurred_at", &at)
	w.Text("tool", a.Tool)
	w.Text("marketplace", a.Marketplace)
	w.Text("marketplace_id", string(a.MarketplaceID))
	w.TextOrNull("rule_id", string(a.RuleID))
	w.TextOrNull("rule_run_id", string(a.RuleRunID))
	w.Text("status", a.Status)
	w.Text("summary", a.Summary)
	w.Count("changed", a.Changed)
}
