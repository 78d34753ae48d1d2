package query

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/catalogue"
)

// Statement is text of the engine's SQL and the values of its typed server
// parameters, in the server's text form. The text is one of the few that the
// files in sql/ can make; no value is ever part of it.
type Statement struct {
	SQL    string
	Params map[string]string
}

// String writes the statement as the golden files keep it.
func (s Statement) String() string {
	var b strings.Builder
	b.WriteString(s.SQL)
	for _, name := range slices.Sorted(maps.Keys(s.Params)) {
		fmt.Fprintf(&b, "-- %s = %s\n", name, s.Params[name])
	}
	return b.String()
}

//go:embed sql/*.sql
var files embed.FS

func readTemplate(name string) string {
	text, err := files.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // the file is part of the binary
	}
	return string(text)
}

// fillTemplate puts texts of this package into the slots of a template. The first
// text of a slot is taken.
func fillTemplate(name string, slots ...string) string {
	return strings.NewReplacer(append(slots, measureSlots...)...).Replace(readTemplate(name))
}

// prefixEarlier begins the names of the earlier period's measures.
const prefixEarlier = "earlier_"

// measureSlots are terms of what every request sums.
var measureSlots = append(summandSlots(headlineSummands),
	"/*halves*/", EachMeasure(",\n    ", func(m catalogue.Measure) string {
		return fmt.Sprintf("toUInt64(%[1]s), toUInt64(bitShiftRight(%[1]s, 64))", WholeTerm(m, m.Name))
	}))

// DayTotalsStatement reads the day totals of generations whole, in US dollars or in
// the marketplaces' own currencies. Of generations from before rollups had those, it
// adds up the facts.
func (plan Plan) DayTotalsStatement(local bool) Statement {
	if !local {
		return Statement{fillTemplate("day_totals"), plan.buildParams(plan.setDays)}
	}
	summands := Request{Local: true, Currency: LocalCurrency}.summands()
	var halves, wide []string
	for i, s := range summands {
		halves = append(halves, fmt.Sprintf("toUInt64(%[1]s_sum), toUInt64(bitShiftRight(%[1]s_sum, 64))", s.name))
		if catalogue.Headline[i].IsAmount() {
			wide = append(wide, fmt.Sprintf("bitShiftRight(%s_sum, 128) > 0", s.name))
		}
	}
	divided, undivided := splitDivided(plan.Days)
	return Statement{fillTemplate("day_totals_local", slices.Concat(sumSlots(summands, ""), summandSlots(summands),
		[]string{"/*local halves*/", strings.Join(halves, ",\n    "), "/*too wide*/", strings.Join(wide, " OR ")})...),
		plan.buildParams(func(v map[string]string) {
			v["days"], v["undivided_days"] = Numbers(generationsOf(divided)), Numbers(generationsOf(undivided))
		})}
}

// periodParts are the tables of a report, joined, and their parameters. Tables that
// have nothing to say are left out.
func (plan Plan) periodParts(r Request) (string, []parameters) {
	var parts []string
	var values []parameters
	add := func(template, table, day string, set ...parameters) {
		parts = append(parts, r.fillTemplate(template, "/*table*/", table, "/*columns*/", strings.Join(r.partColumns(table, day), ", "), "/*narrowed*/", plan.condition()))
		values = append(values, set...)
	}
	years, undividedYears := plan.Years, []Live(nil)
	months, undividedMonths := plan.Months, []Live(nil)
	level := "products"
	if r.isByAdGroup() {
		years, undividedYears = splitDivided(years)
		months, undividedMonths = splitDivided(months)
		level = "ad_groups"
	}
	addYears := func(years []Live, table, prefix string) {
		if len(years) > 0 {
			add("report_"+prefix+"years", table, "year", func(v map[string]string) { v[prefix+"years"] = Numbers(generationsOf(years)) })
		}
	}
	addMonths := func(months []Live, table, prefix string) {
		if len(months) > 0 {
			add("report_"+prefix+"months", table, "month", func(v map[string]string) {
				v[prefix+"months"], v[prefix+"calendar"] = Numbers(generationsOf(months)), CalendarYears(startsOf(months))
			})
		}
	}
	addYears(years, "year_"+level, "")
	addYears(undividedYears, "year_products", "undivided_")
	addMonths(months, "month_"+level, "")
	addMonths(undividedMonths, "month_products", "undivided_")
	if len(plan.Days) > 0 {
		add("report_days", "facts", "day", plan.setDays, plan.setPeriod, plan.setUnreported)
	}
	if r.Granularity != "" {
		values = append(values, func(v map[string]string) { v["first_bucket"] = fmt.Sprint(r.bucketOf(r.Period.Start)) })
	}
	return strings.Join(parts, "    UNION ALL\n"), values
}

// splitDivided are the units that have a rollup by ad group, and those that have none.
func splitDivided(units []Live) (divided, undivided []Live) {
	for _, l := range units {
		if l.Undivided {
			undivided = append(undivided, l)
		} else {
			divided = append(divided, l)
		}
	}
	return divided, undivided
}

// partColumns are what a table's rows are divided by; day is its column of days.
func (r Request) partColumns(table, day string) []string {
	columns := []string{"product_key", "marketplace_key"}
	if r.isByAdGroup() {
		columns = append(columns, adGroupColumns(table)...)
	}
	if r.divides(dimAdProduct) {
		columns = append(columns, "ad_product")
	}
	if r.Granularity != "" {
		columns = append(columns, fmt.Sprintf(bucketTerms[r.Granularity], day)+" - {first_bucket:Int32} AS bucket")
	}
	return columns
}

// bucketTerms are bucketOf in SQL.
var bucketTerms = map[string]string{
	ByDay:   "toInt32(%s)",
	ByWeek:  "intDiv(toInt32(%s) + 3, 7)",
	ByMonth: "toInt32(toYear(%[1]s) * 12 + toMonth(%[1]s))",
}

// RankedStatement sums by the request's dimensions, puts the rows in order and cuts
// a page of them. names are the generations of the names.
func (plan Plan) RankedStatement(r Request, names NameGenerations) Statement {
	parts, values := plan.periodParts(r)
	slots := sumSlots(r.summands(), "")
	if plan.Earlier != nil {
		parts, values = plan.bothParts(r, parts, values)
		slots = sumSlots(r.summands(), "", prefixEarlier)
	}
	terms := plan.sortTerms(r)
	page := "report_page"
	if r.divides(dimProduct) {
		page = "report_page_of_products" // the only one that reads their ids and titles
	}
	slots = slices.Concat(groupSlots(r), slots, entitySlots(r), []string{"/*parts*/\n", parts, "/*marketplaces*/", plan.marketplaceKeys(r),
		"/*shown*/", terms.shown, "/*candidates*/", terms.candidates, "/*order*/", terms.order})
	text := fillTemplate(page, append(slices.Clone(slots), "/*ranked*/\n", fillTemplate("report_ranked", slots...))...)
	return Statement{text, plan.buildParams(append(values, terms.set, plan.setKeys, func(v map[string]string) {
		from := r.rowsBefore() - plan.Skipped
		v["limit"], v["offset"] = fmt.Sprint(r.PageSize), fmt.Sprint(from)
		if r.divides(dimProduct) {
			v["products"], v["titles"] = fmt.Sprint(names.Products), fmt.Sprint(names.Titles)
		}
		if r.divides(dimCampaign) || r.divides(dimAdGroup) {
			v["entities"] = fmt.Sprint(names.Entities)
		}
		if terms.candidates != "" {
			v["until"] = fmt.Sprint(from + r.PageSize)
		}
	})...)}
}

// adGroupColumns are the campaign and the ad group of a table's rows, none where
// they are of products alone.
func adGroupColumns(table string) []string {
	if strings.HasSuffix(table, "_products") {
		return []string{"toUInt32(0) AS campaign_key", "toUInt32(0) AS ad_group_key"}
	}
	return []string{"campaign_key", "ad_group_key"}
}

// entitySlots join the ids of campaigns and ad groups to the rows that may be on a
// page.
func entitySlots(r Request) []string {
	before, after := "", ""
	for _, d := range identified {
		if d.isOf == 0 || !r.divides(d.name) {
			continue
		}
		before += fillTemplate("report_entities", "/*id*/", d.id)
		after = fmt.Sprintf("        ) AS ranked ON entities.entity_key = ranked.%s\n", d.key) + after
	}
	return []string{"/*entities*/\n", before, "/*joined*/\n", after}
}

// groupSlots are the columns that rows are grouped by, and what those are of a row
// that is not divided by them.
func groupSlots(r Request) []string {
	var keys, shown []string
	add := func(divided bool, column, otherwise string) {
		if divided {
			keys, otherwise = append(keys, column), "page."+column
		}
		shown = append(shown, otherwise)
	}
	add(r.Granularity != "", "bucket", "toInt64(0)")
	add(r.divides(dimMarketplace), "marketplace_key", "toUInt16(0)")
	add(r.divides(dimAdProduct), "ad_product", "toUInt8(0)")
	add(r.divides(dimCampaign), "campaign_key", "toUInt32(0)")
	add(r.divides(dimAdGroup), "ad_group_key", "toUInt32(0)")
	selected := slices.Concat([]string{"toUInt32(0) AS product_key"}, keys)
	if r.divides(dimProduct) {
		selected = slices.Concat([]string{"product_key"}, keys)
		keys = selected
	}
	slots := []string{"/*groups*/", strings.Join(shown, ", "), "/*keys*/", strings.Join(selected, ", ")}
	if len(keys) > 0 {
		return append(slots, "/*group by*/", "GROUP BY "+strings.Join(keys, ", "))
	}
	if r.sumsFurther() {
		slots = append(slots, "/*any sum*/", "true") // what was reported as 0 is not unknown
	}
	return append(slots, "/*group by*/", "")
}

// rankingTerms are the texts of a ranked statement that follow from its sort, and
// their parameters.
type rankingTerms struct {
	shown, candidates, order string
	set                      parameters
}

// sortTerms orders as placeComparison and groupComparison do: by the value as shown,
// null last both ways, then by the dimensions, of a product by its id, none last.
// Candidates are all that may be on the page: what is tied with its last row is
// among them.
func (plan Plan) sortTerms(r Request) rankingTerms {
	terms := map[string]string{
		dimMarketplace: "indexOf({marketplaces:Array(UInt16)}, marketplace_key)",
		dimAdProduct:   "indexOf({ad_products:Array(UInt8)}, ad_product)",
	}
	for _, d := range identified {
		terms[d.name] = fmt.Sprintf("%[1]s = '', %[1]s", d.id)
	}
	byID := func(dimension string) bool {
		return slices.ContainsFunc(identified, func(d identifiedDimension) bool { return d.name == dimension })
	}
	for dimension := range granularities {
		terms[dimension] = "bucket"
	}
	direction := map[string]string{Ascending: " ASC", Descending: " DESC"}[r.Order]
	sorted := r.sortedDimension()
	of := rankingTerms{set: func(v map[string]string) { plan.setOrders(v, r) }}
	switch {
	case byID(sorted):
		of.shown, of.order = "0", terms[sorted]+direction
	case sorted == "":
		of.shown = r.sortQuotient().sqlTerm(r.summands())
	case r.hasLastBucket():
		of.shown = "if(bucket > {last_bucket:Int32}, NULL, bucket)"
	default:
		of.shown = terms[sorted]
	}
	if of.order == "" {
		of.order = "shown" + direction + " NULLS LAST"
	}
	for _, dimension := range r.Dimensions {
		if byID(dimension) && !byID(sorted) && of.candidates == "" {
			of.candidates = of.order // ids are not known there
		}
		if dimension != sorted || !byID(sorted) {
			of.order += ", " + terms[dimension]
		}
	}
	if !byID(sorted) {
		of.candidates = "ORDER BY " + cmp.Or(of.candidates, of.order) + "\n        LIMIT {until:UInt64} WITH TIES"
	}
	return of
}

// hasLastBucket reports whether rows are sorted by a date that only the earlier
// period may have: such rows have none of their own, and come last.
func (r Request) hasLastBucket() bool {
	return r.Compared() && granularities[r.sortedDimension()] != ""
}

// setOrders sets what orders rows beside their figures and ids.
func (plan Plan) setOrders(v map[string]string, r Request) {
	if r.divides(dimMarketplace) {
		v["marketplaces"] = Numbers(plan.MarketplaceOrder)
	}
	if r.divides(dimAdProduct) {
		v["ad_products"] = Numbers(adProductOrder)
	}
	if r.hasLastBucket() {
		v["last_bucket"] = fmt.Sprint(r.offsetFrom(r.Period.Start, r.Period.End))
	}
}

// sortedDimension is the dimension that rows are sorted by, "" for a figure.
func (r Request) sortedDimension() string {
	if r.Sort == SortProduct {
		return dimProduct
	}
	if r.divides(r.Sort) {
		return r.Sort
	}
	return ""
}

// adProductOrder are the stored numbers of the ad products in the order of their
// names.
var adProductOrder = func() (numbers []uint32) {
	for _, product := range slices.SortedFunc(slices.Values(adlens.AdProducts), func(a, b adlens.AdProduct) int {
		return strings.Compare(a.String(), b.String())
	}) {
		numbers = append(numbers, uint32(product))
	}
	return numbers
}()

// unitTable is a table of which whole generations are kept in memory.
type unitTable uint8

const (
	yearUnits unitTable = iota
	monthUnits
	dayUnits
)

// unitTables are the texts of statements about the tables, and how the tables
// that have partitions are divided into them.
var unitTables = [...]struct {
	name, day, order string
	column           func(catalogue.Measure) string
	partition        string
	calendar         func(starts []adlens.Day) string
}{
	yearUnits: {name: "year_products", day: "toUInt16(0)", column: rollupNumber, order: "product_key"},
	monthUnits: {name: "month_products", day: "toUInt16(0)", column: rollupNumber, order: "product_key",
		partition: "toYear(month)", calendar: CalendarYears},
	dayUnits: {name: "facts", day: "toUInt16(day)", column: factNumber, order: "day, product_key",
		partition: "toYYYYMM(day)", calendar: CalendarMonths},
}

// factNumber is a measure of a fact as a number of 64 bits, which hold it.
func factNumber(m catalogue.Measure) string { return storedWhole(m, m.Name) }

// rollupNumber is a measure of a rollup as one, mostMeasure where it is larger.
func rollupNumber(m catalogue.Measure) string { return cappedNumber(m, m.Name) }

func cappedNumber(m catalogue.Measure, term string) string {
	return fmt.Sprintf("toUInt64(least(%s, %d))", WholeTerm(m, term), int64(mostMeasure))
}

// unitsStatement reads what a plan needs of generations, divided by its level.
func (plan Plan) unitsStatement(table unitTable, units []Live) Statement {
	t := unitTables[table]
	params := map[string]string{"account": Text(plan.Account), "generations": Numbers(generationsOf(units))}
	plan.setKeys(params)
	partitions := ""
	if t.partition != "" {
		partitions = "\n  AND " + t.partition + " IN {calendar:Array(UInt32)}"
		params["calendar"] = t.calendar(startsOf(units))
	}
	name, column, order, group := t.name, t.column, t.order, ""
	key := plan.by.key()
	if plan.needsAdGroups() {
		name = strings.Replace(name, "_products", "_ad_groups", 1)
	}
	if plan.by != byProduct || plan.isNarrow() { // else rows are added up as they are stored
		group = "\nGROUP BY generation, day_number, " + key
		order = "day_number, " + key
		column = func(m catalogue.Measure) string { return cappedNumber(m, "sum("+WideTerm(m, m.Name)+")") }
	}
	return Statement{fillTemplate("units", "/*table*/", name, "/*day*/", t.day, "/*key*/", key, "/*columns*/", EachMeasure(", ", column),
		"/*partitions*/", partitions, "/*narrowed*/", plan.condition(), "/*group by*/", group, "/*order*/", order), params}
}

// marketplaceKeys is the term for the marketplaces of a product, where rows show
// them. Small keys are collected as bits, which costs the engine less than sets.
func (plan Plan) marketplaceKeys(r Request) string {
	if !r.isOfProducts() {
		return "CAST([], 'Array(UInt16)')"
	}
	hasFigures := anyFigure(r.summands())
	if !plan.SmallKeys {
		return "groupUniqArrayIf(marketplace_key, " + hasFigures + ")"
	}
	return "CAST(bitPositionsToArray(groupBitOrIf(bitShiftLeft(toUInt64(1), marketplace_key), " + hasFigures + ")), 'Array(UInt16)')"
}

// parameters sets some of a statement's parameters.
type parameters func(map[string]string)

// buildParams begins with the account: no statement is without it.
func (plan Plan) buildParams(values ...parameters) map[string]string {
	params := map[string]string{"account": Text(plan.Account)}
	for _, set := range values {
		set(params)
	}
	return params
}

func (plan Plan) setDays(v map[string]string) { v["days"] = Numbers(generationsOf(plan.Days)) }

func (plan Plan) setPeriod(v map[string]string) {
	v["from"], v["to"] = storableDay(plan.From).String(), storableDay(plan.To).String()
}

// storableDay keeps a day inside what the engine's Date can say. Held days are,
// so nothing is lost.
func storableDay(d adlens.Day) adlens.Day {
	return max(adlens.FirstStorableDay, min(d, adlens.LastStorableDay))
}

// Numbers writes a parameter that is an array of UInt32 or UInt64.
func Numbers[N uint32 | uint64](all []N) string {
	text := make([]string, len(all))
	for i, n := range all {
		text[i] = fmt.Sprint(n)
	}
	return "[" + strings.Join(text, ",") + "]"
}

// Text writes a String parameter as the engine reads it.
func Text(text string) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(text)
}

// generationsOf are the generations alone, for a statement.
func generationsOf(all []Live) []uint32 {
	generations := make([]uint32, len(all))
	for i := range all {
		generations[i] = all[i].Generation
	}
	return generations
}

// A generation's rows are in the partitions of its months or years alone, and
// a statement that does not say which reads too much: in each part where the
// next account begins, the index does not say what generations a granule has.

// CalendarMonths writes the months of days, each once, as an Array(UInt32)
// parameter of numbers that toYYYYMM makes.
func CalendarMonths(days []adlens.Day) string {
	return distinctNumbers(days, func(d adlens.Day) uint32 { return uint32(d.Year()*100) + uint32(d.Time().Month()) })
}

// CalendarYears writes the years of days, each once, as toYear makes them.
func CalendarYears(days []adlens.Day) string {
	return distinctNumbers(days, func(d adlens.Day) uint32 { return uint32(d.Year()) })
}

func distinctNumbers(days []adlens.Day, numberOf func(adlens.Day) uint32) string {
	numbers := make([]uint32, len(days))
	for i, d := range days {
		numbers[i] = numberOf(d)
	}
	slices.Sort(numbers)
	return Numbers(slices.Compact(numbers))
}

// startsOf are the days on which units begin.
func startsOf(units []Live) []adlens.Day {
	starts := make([]adlens.Day, len(units))
	for i := range units {
		starts[i] = units[i].Start
	}
	return starts
}
