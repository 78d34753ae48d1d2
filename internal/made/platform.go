package made

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"adlens"
	"adlens/internal/platform"
)

// Profile is an element of the platform's list of profiles.
type Profile struct {
	ProfileID    json.Number `json:"profileId"`
	CountryCode  string      `json:"countryCode"`
	CurrencyCode string      `json:"currencyCode"`
	DailyBudget  int64       `json:"dailyBudget,omitempty"` // of sellers
	Timezone     string      `json:"timezone"`
	AccountInfo  AccountInfo `json:"accountInfo"`
}

// AccountInfo is what a profile says of its account.
type AccountInfo struct {
	MarketplaceStringID string `json:"marketplaceStringId"`
	ID                  string `json:"id"`
	Type                string `json:"type"` // seller, vendor or agency
	Name                string `json:"name"`
	ValidPaymentMethod  bool   `json:"validPaymentMethod"`
}

// Report is the platform's object of a completed report, with the profile
// added.
type Report struct {
	ProfileID     json.Number   `json:"profileId"`
	ReportID      string        `json:"reportId"`
	Name          string        `json:"name"`
	Status        string        `json:"status"`
	StartDate     string        `json:"startDate"`
	EndDate       string        `json:"endDate"`
	Configuration Configuration `json:"configuration"`
	CreatedAt     string        `json:"createdAt"`
	UpdatedAt     string        `json:"updatedAt"`
	GeneratedAt   string        `json:"generatedAt"`
	FailureReason *string       `json:"failureReason"`
	FileSize      int           `json:"fileSize"`
	URL           string        `json:"url"`
	URLExpiresAt  string        `json:"urlExpiresAt"`
}

// Configuration is what the report was requested with.
type Configuration struct {
	AdProduct    string   `json:"adProduct"`
	ReportTypeID string   `json:"reportTypeId"`
	GroupBy      []string `json:"groupBy"`
	Columns      []string `json:"columns"`
	TimeUnit     string   `json:"timeUnit"`
	Format       string   `json:"format"`
	Filters      []string `json:"filters"`
}

// NewReport describes a report that was requested at one time and ready at
// another, but for its name, its profile and the size of its download.
func NewReport(id string, t *platform.ReportType, columns []string, first, last adlens.Day, created, generated time.Time) Report {
	return Report{
		ReportID: id, Status: "COMPLETED", StartDate: first.String(), EndDate: last.String(),
		Configuration: Configuration{
			AdProduct: t.AdProduct.String(), ReportTypeID: t.ID, GroupBy: []string{t.GroupBy},
			Columns: columns, TimeUnit: "DAILY", Format: "GZIP_JSON",
		},
		CreatedAt: Instant(created), UpdatedAt: Instant(generated), GeneratedAt: Instant(generated),
		URL: "https://reports.example.com/" + id + "/report-" + id + ".json.gz", URLExpiresAt: Instant(generated.Add(time.Hour)),
	}
}

// ReportTypeOf returns the report type that has an ad product's figures.
func ReportTypeOf(p adlens.AdProduct) *platform.ReportType {
	return platform.ReportTypes[slices.IndexFunc(platform.ReportTypes, func(t *platform.ReportType) bool { return t.AdProduct == p })]
}

// Export is the platform's object of a completed export, with the profile and
// the entity added.
type Export struct {
	ProfileID       json.Number     `json:"profileId"`
	Entity          platform.Entity `json:"entity"`
	ExportID        string          `json:"exportId"`
	Status          string          `json:"status"`
	URL             string          `json:"url"`
	FileSize        int             `json:"fileSize"`
	URLExpiresAt    string          `json:"urlExpiresAt"`
	GeneratedAt     string          `json:"generatedAt"`
	CreatedAt       string          `json:"createdAt"`
	AdProductFilter []string        `json:"adProductFilter,omitempty"`
}

// NewExport describes an export, but for its profile and the size of its
// download.
func NewExport(id string, entity platform.Entity, created, generated time.Time) Export {
	return Export{
		Entity: entity, ExportID: id, Status: "COMPLETED", CreatedAt: Instant(created), GeneratedAt: Instant(generated),
		URL:          fmt.Sprintf("https://exports.example.com/%s/%s.json.gz", id, entity),
		URLExpiresAt: Instant(generated.Add(time.Hour)),
	}
}

// Campaign is a row of an export of campaigns, in the platform's common model.
type Campaign struct {
	CampaignID        string     `json:"campaignId"`
	AdProduct         string     `json:"adProduct"`
	Name              string     `json:"name"`
	State             string     `json:"state"`
	StartDate         string     `json:"startDate"`
	EndDate           string     `json:"endDate,omitempty"`
	DeliveryStatus    string     `json:"deliveryStatus"`
	DeliveryReasons   []string   `json:"deliveryReasons,omitempty"`
	TargetingSettings string     `json:"targetingSettings,omitempty"`
	CostType          string     `json:"costType,omitempty"`
	BrandEntityID     string     `json:"brandEntityId,omitempty"`
	BudgetCaps        BudgetCaps `json:"budgetCaps"`
	CreationDateTime  string     `json:"creationDateTime"`
}

// BudgetCaps is a campaign's budget.
type BudgetCaps struct {
	RecurrenceTimePeriod string      `json:"recurrenceTimePeriod"` // DAILY or LIFETIME
	BudgetType           string      `json:"budgetType"`
	BudgetValue          BudgetValue `json:"budgetValue"`
}

// BudgetValue wraps the amount of a budget.
type BudgetValue struct {
	MonetaryBudget MonetaryBudget `json:"monetaryBudget"`
}

// MonetaryBudget is the amount of a budget.
type MonetaryBudget struct {
	CurrencyCode string      `json:"currencyCode"`
	Amount       json.Number `json:"amount"`
}

// NewBudget returns a budget of money for a DAILY or LIFETIME period.
func NewBudget(period, currency string, amount json.Number) BudgetCaps {
	return BudgetCaps{period, "MONETARY", BudgetValue{MonetaryBudget{currency, amount}}}
}

// AdGroup is a row of an export of ad groups.
type AdGroup struct {
	AdGroupID        string `json:"adGroupId"`
	CampaignID       string `json:"campaignId"`
	AdProduct        string `json:"adProduct"`
	Name             string `json:"name"`
	State            string `json:"state"`
	DeliveryStatus   string `json:"deliveryStatus"`
	Bid              *Bid   `json:"bid,omitempty"` // Sponsored Brands has none
	CreationDateTime string `json:"creationDateTime"`
}

// Bid is what is bid in an ad group.
type Bid struct {
	DefaultBid   json.Number `json:"defaultBid"`
	CurrencyCode string      `json:"currencyCode"`
}

// Ad is a row of an export of ads.
type Ad struct {
	AdID             string   `json:"adId,omitempty"`
	AdGroupID        string   `json:"adGroupId"`
	AdProduct        string   `json:"adProduct"`
	State            string   `json:"state"`
	AdType           string   `json:"adType"`
	Creative         Creative `json:"creative"`
	DeliveryStatus   string   `json:"deliveryStatus"`
	CreationDateTime string   `json:"creationDateTime"`
}

// Creative is what an ad shows.
type Creative struct {
	Products []CreativeProduct `json:"products"`
}

// CreativeProduct is a product that an ad shows.
type CreativeProduct struct {
	ProductIDType string `json:"productIdType"`
	ProductID     string `json:"productId"`
}

// NewCreative returns a creative that shows products.
func NewCreative(products ...string) Creative {
	c := Creative{Products: []CreativeProduct{}}
	for _, id := range products {
		c.Products = append(c.Products, CreativeProduct{"ASIN", id})
	}
	return c
}

// Instant returns a time as the platform writes it.
func Instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// UUID returns 128 bits in the form of a random UUID.
func UUID(high, low uint64) string {
	high = high&^0xf000 | 0x4000
	low = low&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&(1<<48-1))
}
