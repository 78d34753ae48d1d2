package made

import (
	"bytes"
	"encoding/csv"
	"encoding/json"

	"adlens"
)

// Rule is one of the user's rules, as the service records it.
type Rule struct {
	RuleID   string   `json:"rule_id"`
	Name     string   `json:"name"`
	Status   string   `json:"status"` // on or off
	Scope    Scope    `json:"scope"`
	Schedule Schedule `json:"schedule"`
	EditedAt string   `json:"edited_at"`
}

// Scope is what a rule looks after.
type Scope struct {
	Marketplaces []string `json:"marketplaces"`
	CampaignIDs  []string `json:"campaign_ids"` // null for all
}

// Schedule is when a rule runs.
type Schedule struct {
	Frequency string `json:"frequency"`
	Time      string `json:"time"`
	Timezone  string `json:"timezone"`
}

// Run is one run of a rule.
type Run struct {
	RuleRunID    string   `json:"rule_run_id"`
	RuleID       string   `json:"rule_id"`
	Test         bool     `json:"test"`
	StartedAt    string   `json:"started_at"`
	FinishedAt   string   `json:"finished_at"`
	Status       string   `json:"status"`
	Marketplaces []string `json:"marketplaces"`
	LookedAt     LookedAt `json:"looked_at"`
	Changed      int      `json:"changed"`
	Changes      []Change `json:"changes"`
}

// LookedAt counts what a run looked at.
type LookedAt struct {
	Campaigns int `json:"campaigns"`
	AdGroups  int `json:"ad_groups"`
	Targets   int `json:"targets"`
}

// Change is one thing that a run changed.
type Change struct {
	Marketplace string `json:"marketplace"`
	EntityType  string `json:"entity_type"`
	EntityID    string `json:"entity_id"`
	EntityName  string `json:"entity_name"`
	Field       string `json:"field"`
	From        any    `json:"from"` // amounts are in the marketplace's currency
	To          any    `json:"to"`
	Reason      string `json:"reason"`
}

// Entry is an operation that the service ran on the platform in one
// marketplace.
type Entry struct {
	ActivityID    string   `json:"activity_id"`
	OccurredAt    string   `json:"occurred_at"`
	Tool          string   `json:"tool"`
	Marketplace   string   `json:"marketplace,omitempty"` // this or the id
	MarketplaceID string   `json:"marketplace_id,omitempty"`
	RuleID        *string  `json:"rule_id"`
	RuleRunID     *string  `json:"rule_run_id"`
	Status        string   `json:"status"`
	Summary       string   `json:"summary"`
	Changed       int      `json:"changed"`
	CreatedIDs    []string `json:"created_campaign_ids"`
	ChangedIDs    []string `json:"changed_campaign_ids"`
}

// Lines returns records with one on each line.
func Lines[T any](records []T) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range records {
		if err := e.Encode(&records[i]); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// Rates is a table of exchange rates under construction.
type Rates struct{ text []byte }

// Add adds what a unit of a currency is worth on a day, in US dollars.
func (r *Rates) Add(day adlens.Day, currency, usd string) {
	r.text = append(r.text, day.String()+","+currency+","+usd+"\n"...)
}

// Bytes returns the table.
func (r *Rates) Bytes() []byte { return append([]byte("date,currency,usd\n"), r.text...) }

// Titles returns the table of products' titles, whose rows are an id and a
// title each.
func Titles(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.WriteAll(append([][]string{{"product_id", "title"}}, rows...))
	return b.Bytes(), err
}
