package catalogue

import "slices"

// Dimension is what figures are divided by. Each of its values with figures is
// an element, point or row of an answer.
type Dimension struct {
	Name    string
	Columns []Column // which value of the dimension a row is of, before its figures
	Further []Column // of rows of an answer that has this dimension alone
	// Granularity is what a dimension of time divides by; a report has one at most.
	Granularity string

	Schema     string // of a row of an answer that has this dimension alone, in the API's document; "" without one
	Words      string // what a row is
	Comparison string // the schema of the earlier side of a row
}

// OwnColumns returns the columns of rows of an answer that has this dimension alone.
func (d Dimension) OwnColumns() []Column { return slices.Concat(d.Columns, d.Further) }

// Column is a column of rows that is not a figure.
type Column struct {
	Name   string
	Schema string // of its values in the API's document, unless they are text
	Format string // of text
	List   bool
	Null   bool // values may be null
	Words  string
}

// Dimensions are all dimensions, in the order of the API's document.
var Dimensions = []Dimension{
	{Name: "date", Granularity: "day", Schema: "TimelinePoint", Words: "The figures of a day, week or month.", Comparison: "PointComparison",
		Columns: []Column{{Name: "date", Format: "date", Null: true,
			Words: "The day, or the first day of the week or month; null only with `compare`, where the earlier period alone reaches so far."}}},
	{Name: "week", Granularity: "week", Columns: []Column{{Name: "week", Format: "date", Null: true, Words: "Monday's date; the row has the days of the week that are inside the period. Null as `date` is."}}},
	{Name: "month", Granularity: "month", Columns: []Column{{Name: "month", Format: "date", Null: true, Words: "The month's first day; the row has the days of the month that are inside the period. Null as `date` is."}}},
	{Name: "marketplace", Schema: "MarketplaceFigures", Words: "One marketplace's part of the totals.", Comparison: "Comparison",
		Columns: []Column{
			{Name: "marketplace", Schema: "CountryCode"},
			{Name: "marketplace_id", Words: "The marketplace's id."}}},
	{Name: "ad_product", Schema: "AdProductFigures", Words: "One kind of advertising's part of the totals.", Comparison: "Comparison",
		Columns: []Column{{Name: "ad_product", Schema: "AdProduct"}}},
	{Name: "campaign",
		Columns: []Column{
			{Name: "campaign_id", Null: true, Words: "The campaign's id; null for the group of figures that the platform ties to no campaign, and of reports that were loaded before campaigns were kept."},
			{Name: "campaign_name", Null: true, Words: "The campaign's newest known name, of archived ones too; null where none is known."}}},
	{Name: "ad_group",
		Columns: []Column{
			{Name: "ad_group_id", Null: true, Words: "The ad group's id; null as `campaign_id` is."},
			{Name: "ad_group_name", Null: true, Words: "The ad group's newest known name; null where none is known."}}},
	{Name: "product", Schema: "Product", Words: "One advertised product's figures.", Comparison: "Comparison",
		Columns: []Column{
			{Name: "product_id", Null: true, Words: "The product's identifier; null for the group of figures that the platform ties to no product."},
			{Name: "title", Null: true, Words: "The product's title; null where none was loaded."}},
		Further: []Column{
			{Name: "marketplaces", Schema: "CountryCode", List: true,
				Words: "Countries with figures of this row in the period and filters, sorted; none where only the earlier period has figures."}}},
}

// DimensionNames are the names of the dimensions, in their order.
var DimensionNames = func() (names []string) {
	for _, d := range Dimensions {
		names = append(names, d.Name)
	}
	return names
}()

// TimeDimensions are the names of the dimensions of time, by granularity.
var TimeDimensions = func() map[string]string {
	names := map[string]string{}
	for _, d := range Dimensions {
		if d.Granularity != "" {
			names[d.Granularity] = d.Name
		}
	}
	return names
}()
