package standin

import (
	"net/http"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a profile's day must not depend on the machine's files
)

// Profile is an advertiser in one country. Only ID is needed: the country is
// the US where none is named, and the rest follows from it.
type Profile struct {
	ID            int64
	Country       string
	Currency      string
	TimeZone      string
	MarketplaceID string
	AccountID     string
	Name          string
	Type          string // seller, vendor or agency; seller where empty
	SubType       string // such as KDP_AUTHOR
	DailyBudget   float64
	NoPayment     bool // has no valid payment method
	// ViewOnly is not listed unless the call asks for accessLevel=view.
	ViewOnly bool
	// Extra adds members to the answer, or replaces them.
	Extra map[string]any
}

func (p Profile) withDefaults() Profile {
	if p.Country == "" {
		p.Country = "US"
	}
	known := countries[p.Country]
	p.Currency = orDefault(p.Currency, known.currency)
	p.TimeZone = orDefault(p.TimeZone, known.zone)
	p.MarketplaceID = orDefault(p.MarketplaceID, known.marketplace)
	p.Type = orDefault(p.Type, "seller")
	p.AccountID = orDefault(p.AccountID, "A3STANDIN")
	return p
}

func orDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (p Profile) homeRegion() Region { return countries[p.Country].region }

// todayAt is the day that it is for the advertiser.
func (p Profile) todayAt(now time.Time) time.Time {
	if zone, err := time.LoadLocation(p.TimeZone); err == nil {
		now = now.In(zone)
	}
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
}

func (p Profile) profileObject() map[string]any {
	info := map[string]any{
		"marketplaceStringId": p.MarketplaceID, "id": p.AccountID, "type": p.Type, "validPaymentMethod": !p.NoPayment,
	}
	if p.Name != "" {
		info["name"] = p.Name
	}
	if p.SubType != "" {
		info["subType"] = p.SubType
	}
	object := map[string]any{
		"profileId": p.ID, "countryCode": p.Country, "currencyCode": p.Currency, "timezone": p.TimeZone, "accountInfo": info,
	}
	if p.Type != "vendor" {
		object["dailyBudget"] = p.DailyBudget
	}
	for name, value := range p.Extra {
		object[name] = value
	}
	return object
}

// The parameters of the profile list and the values that they take.
var profileParameters = map[string][]string{
	"apiProgram":               {"billing", "campaign", "paymentMethod", "store", "report", "account", "posts"},
	"accessLevel":              {"edit", "view"},
	"profileTypeFilter":        {"seller", "vendor", "agency"},
	"validPaymentMethodFilter": {"true", "false"},
}

func (p *Platform) listProfiles(q *query) reply {
	parameters := q.URL.Query()
	for name, allowed := range profileParameters {
		for _, value := range commaList(parameters.Get(name)) {
			if !slices.Contains(allowed, value) {
				return refuseCall(http.StatusBadRequest, Details, "Invalid value %q of %s", value, name)
			}
		}
	}
	types := commaList(parameters.Get("profileTypeFilter"))
	payment := parameters.Get("validPaymentMethodFilter")
	list := []any{}
	for _, profile := range p.data.allProfiles() {
		switch {
		case profile.homeRegion() != q.region, !q.grant.seesProfile(profile.ID):
		// Sources disagree on the default; editing is the one that hides more.
		case profile.ViewOnly && parameters.Get("accessLevel") != "view":
		case types != nil && !slices.Contains(types, profile.Type):
		case payment != "" && (payment == "true") == profile.NoPayment:
		default:
			list = append(list, profile.profileObject())
		}
	}
	return reply{status: http.StatusOK, body: list}
}

// commaList splits a parameter; none is nil.
func commaList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
