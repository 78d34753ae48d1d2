package api

import (
	"strings"

	"adlens"
	"adlens/internal/platform"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// entityRow is a row of any list of any ad product. The three spell the same
// things differently: ids as text or numbers, states in capitals or not, a
// budget bare or in an object, days with hyphens or without.
type entityRow struct {
	CampaignID    *platform.ID   `json:"campaignId"`
	AdGroupID     *platform.ID   `json:"adGroupId"`
	AdID          *platform.ID   `json:"adId"`
	Name          string         `json:"name"`
	State         string         `json:"state"`
	TargetingType string         `json:"targetingType"`
	Budget        jsontext.Value `json:"budget"`
	BudgetType    string         `json:"budgetType"`
	DefaultBid    jsontext.Value `json:"defaultBid"`
	StartDate     *platform.ID   `json:"startDate"` // text or a whole number, like an id
	EndDate       *platform.ID   `json:"endDate"`
	MultiGroup    *bool          `json:"isMultiAdGroupsEnabled"` // of campaigns of Sponsored Brands
}

// rowReader takes values out of one row and keeps the first fault.
type rowReader struct {
	row     *entityRow
	number  int
	product adlens.AdProduct
	fault   error
}

// takeRows makes each row a T, or fails with the first value that is wrong.
func takeRows[T any](rows []entityRow, product adlens.AdProduct, take func(*rowReader) T) ([]T, error) {
	all := make([]T, 0, len(rows))
	for i := range rows {
		r := rowReader{row: &rows[i], number: i + 1, product: product}
		all = append(all, take(&r))
		if r.fault != nil {
			return nil, r.fault
		}
	}
	return all, nil
}

func (r *rowReader) readCampaign() platform.Campaign {
	budget, budgetType := r.readBudget()
	return platform.Campaign{
		ID: r.readID("campaignId", r.row.CampaignID), Name: r.row.Name, AdProduct: r.product, State: r.readState(),
		Targeting: oneOf(r.row.TargetingType, "AUTO", "MANUAL"),
		Budget:    budget, BudgetType: oneOf(budgetType, "DAILY", "LIFETIME"),
		Start: r.readDay("startDate", r.row.StartDate), End: r.readDay("endDate", r.row.EndDate),
		Form: platform.FormOf(r.product, r.row.MultiGroup),
	}
}

func (r *rowReader) adGroup() platform.AdGroup {
	return platform.AdGroup{
		ID: r.readID("adGroupId", r.row.AdGroupID), CampaignID: r.readID("campaignId", r.row.CampaignID), Name: r.row.Name,
		AdProduct: r.product, State: r.readState(), DefaultBid: r.readAmount("defaultBid", r.row.DefaultBid),
	}
}

func (r *rowReader) readAd() platform.Ad {
	ad := platform.Ad{AdGroupID: r.readID("adGroupId", r.row.AdGroupID), AdProduct: r.product, State: r.readState()}
	if r.product != adlens.SponsoredBrands || r.row.AdID != nil {
		ad.ID = r.readID("adId", r.row.AdID)
	}
	return ad
}

// checkValue keeps a fault where a value is wrong.
func (r *rowReader) checkValue(ok bool, field, value, expected string) {
	if !ok && r.fault == nil {
		r.fault = &platform.Fault{Row: r.number, Field: field, Value: value, Expected: expected}
	}
}

func (r *rowReader) readID(field string, id *platform.ID) string {
	ok := id != nil && idForm.MatchString(string(*id))
	if !ok {
		r.checkValue(false, field, textOf(id), "an id")
		return ""
	}
	return string(*id)
}

func textOf(id *platform.ID) string {
	if id == nil {
		return ""
	}
	return string(*id)
}

func (r *rowReader) readState() platform.State {
	state, ok := platform.ParseState(r.row.State)
	r.checkValue(ok, "state", r.row.State, platform.StateWords)
	return state
}

// readBudget reads a bare budget with its type beside it, or both in an object.
func (r *rowReader) readBudget() (*adlens.Amount, string) {
	if r.row.Budget.Kind() != '{' {
		return r.readAmount("budget", r.row.Budget), r.row.BudgetType
	}
	var o struct {
		Budget     jsontext.Value `json:"budget"`
		BudgetType string         `json:"budgetType"`
	}
	err := json.Unmarshal(r.row.Budget, &o)
	r.checkValue(err == nil, "budget", string(r.row.Budget), "an object with budget and budgetType")
	return r.readAmount("budget.budget", o.Budget), o.BudgetType
}

func (r *rowReader) readAmount(field string, raw jsontext.Value) *adlens.Amount {
	if isAbsent(raw) {
		return nil
	}
	a, err := adlens.ParseAmount(raw)
	r.checkValue(raw.Kind() == '0' && err == nil, field, string(raw), "an amount from 0 to below 1000000000000 with at most 20 decimals")
	return &a
}

// readDay reads 2026-08-01 and 20260801; null, absent and empty are no day.
func (r *rowReader) readDay(field string, id *platform.ID) *adlens.Day {
	text := textOf(id)
	if text == "" {
		return nil
	}
	written := text
	if len(text) == len("20060102") {
		written = text[:4] + "-" + text[4:6] + "-" + text[6:]
	}
	day, err := adlens.ParseDay(written)
	r.checkValue(err == nil, field, text, "a day written YYYY-MM-DD or YYYYMMDD that exists")
	r.checkValue(day >= platform.FirstCampaignDay, field, text, "a day from "+platform.FirstCampaignDay.String()+" on")
	return &day
}

// oneOf returns a word in capitals where it is one of those known, else "".
func oneOf(word string, known ...string) string {
	word = strings.ToUpper(word)
	for _, k := range known {
		if word == k {
			return k
		}
	}
	return ""
}
