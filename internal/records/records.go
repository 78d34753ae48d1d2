// Package records holds the service's own records: rules, their runs, and the
// operations that it ran on the platform. They come as NDJSON, one object a
// line, and keep their words from there to the answer.
package records

import (
	"time"

	"adlens/internal/platform"

	"github.com/go-json-experiment/json/jsontext"
)

// ID is an identifier, text from the first byte on.
type ID = platform.ID

// Rule is something that the service does to campaigns on a schedule.
type Rule struct {
	ID       ID        `json:"rule_id"`
	Name     string    `json:"name"`
	Status   string    `json:"status"` // on, off
	Scope    Scope     `json:"scope"`
	Schedule Schedule  `json:"schedule"`
	EditedAt time.Time `json:"edited_at"`
	Deleted  bool      `json:"deleted,omitzero"`
}

// Scope is where a rule acts; nil is everywhere.
type Scope struct {
	Marketplaces *[]string `json:"marketplaces"`
	CampaignIDs  *[]ID     `json:"campaign_ids"`
}

// Schedule is when a rule runs.
type Schedule struct {
	Frequency string `json:"frequency"`
	Time      string `json:"time"`
	TimeZone  string `json:"timezone"`
}

// RuleRun is what one run of a rule looked at and changed.
type RuleRun struct {
	ID           ID         `json:"rule_run_id"`
	RuleID       ID         `json:"rule_id"`
	Test         bool       `json:"test"`
	StartedAt    time.Time  `json:"started_at"`
	FinishedAt   *time.Time `json:"finished_at"`
	Status       string     `json:"status"`
	Marketplaces []string   `json:"marketplaces"`
	LookedAt     LookedAt   `json:"looked_at"`
	Changed      uint64     `json:"changed"`
	Changes      []Change   `json:"changes"`
	Deleted      bool       `json:"deleted,omitzero"`
}

// LookedAt counts what a run looked at.
type LookedAt struct {
	Campaigns uint64 `json:"campaigns"`
	AdGroups  uint64 `json:"ad_groups"`
	Targets   uint64 `json:"targets"`
}

// Change is one thing that a run changed; From and To are kept as written.
type Change struct {
	Marketplace string         `json:"marketplace"`
	EntityType  string         `json:"entity_type"`
	EntityID    ID             `json:"entity_id"`
	EntityName  *string        `json:"entity_name"`
	Field       string         `json:"field"`
	From        jsontext.Value `json:"from"`
	To          jsontext.Value `json:"to"`
	Reason      *string        `json:"reason"`
}

// Activity is an operation that the service ran on the platform.
type Activity struct {
	ID                 ID        `json:"activity_id"`
	OccurredAt         time.Time `json:"occurred_at"`
	Tool               string    `json:"tool"`
	Marketplace        string    `json:"marketplace"`
	MarketplaceID      ID        `json:"marketplace_id"`
	RuleID             ID        `json:"rule_id"`
	RuleRunID          ID        `json:"rule_run_id"`
	Status             string    `json:"status"`
	Summary            string    `json:"summary"`
	Changed            uint64    `json:"changed"`
	CreatedCampaignIDs []ID      `json:"created_campaign_ids"`
	ChangedCampaignIDs []ID      `json:"changed_campaign_ids"`
	Deleted            bool      `json:"deleted,omitzero"`
}
