package loading_test

import (
	"bytes"
	"strings"
	"time"

	"adlens/integration/house"
)

// set changes a member of the report object.
func set(name string, value any) func(*house.Pair) {
	return func(p *house.Pair) { p.Object[name] = value }
}

func configure(name string, value any) func(*house.Pair) {
	return func(p *house.Pair) { p.Configuration()[name] = value }
}

// second changes a member of the second of three rows.
func second(name string, value any) func(*house.Pair) {
	return func(p *house.Pair) { p.Rows[1][name] = value }
}

func dropped(name string) func(*house.Pair) {
	return func(p *house.Pair) { delete(p.Rows[1], name) }
}

func objectFaults() []fault {
	return []fault{
		{name: "pending", spoil: set("status", "PENDING"), says: []string{"PENDING", "COMPLETED"}},
		{name: "failed", spoil: set("status", "FAILED"), says: []string{"FAILED"}},
		{name: "type of campaigns", spoil: configure("reportTypeId", "spCampaigns"), says: []string{"spCampaigns"}},
		{name: "type of another ad product", spoil: configure("reportTypeId", "sbCampaigns")},
		{name: "unknown ad product", spoil: configure("adProduct", "SPONSORED_TELEVISION"), says: []string{"SPONSORED_TELEVISION"}},
		{name: "summary unit", spoil: configure("timeUnit", "SUMMARY"), says: []string{"SUMMARY", "DAILY"}},
		{name: "grouping by campaign", spoil: configure("groupBy", []any{"campaign"}), says: []string{"campaign"}},
		{name: "a second grouping", spoil: configure("groupBy", []any{"advertiser", "campaign"}), says: []string{"campaign"}},
		{name: "filters", spoil: configure("filters", []any{map[string]any{"field": "adCreativeStatus", "values": []any{"ENABLED"}}}), says: []string{"filter"}},
		{name: "no date column", spoil: func(p *house.Pair) { p.Without("date") }, says: []string{"date"}},
		{name: "no sales column", spoil: func(p *house.Pair) { p.Without("sales7d") }, says: []string{"sales7d"}},
		{name: "no asin column", spoil: func(p *house.Pair) { p.Without("advertisedAsin") }, says: []string{"advertisedAsin"}},
		{name: "vendor without 14 days", spoil: func(p *house.Pair) {
			p.Object["profileId"] = 103
			p.Without("purchases14d")
		}, says: []string{"purchases14d"}},
		{name: "reversed range", spoil: func(p *house.Pair) {
			p.Object["startDate"], p.Object["endDate"] = p.Object["endDate"], p.Object["startDate"]
		}, says: []string{house.DaysAgo(40), house.DaysAgo(38)}},
		{name: "impossible start", spoil: set("startDate", "2026-02-30"), says: []string{"2026-02-30", "startDate"}},
		{name: "end two days ahead", spoil: func(p *house.Pair) {
			p.Object["endDate"] = house.DaysAgo(-1)
			p.Object["generatedAt"] = house.Stamp(time.Now().AddDate(0, 0, -1))
		}, says: []string{house.DaysAgo(-1)}},
		{name: "no time of generation", spoil: set("generatedAt", nil), says: []string{"generatedAt"}},
		{name: "garbled time of generation", spoil: set("generatedAt", "yesterday noon"), says: []string{"generatedAt", "yesterday noon"}},
		{name: "unknown profile", spoil: set("profileId", "999"), says: []string{"999"}},
		{name: "no profile", spoil: func(p *house.Pair) { delete(p.Object, "profileId") }, says: []string{"profileId"}},
		{name: "no report id", spoil: func(p *house.Pair) { delete(p.Object, "reportId") }, says: []string{"reportId"}},
		{name: "no rate", spoil: set("profileId", 102), says: []string{"EUR", house.DaysAgo(40)}},
		{name: "rate eight days old", spoil: func(p *house.Pair) {
			p.Object["profileId"] = 104
			p.Object["endDate"] = house.DaysAgo(32)
			p.Rows[2]["date"] = house.DaysAgo(32)
		}, says: []string{"GBP", house.DaysAgo(32)}},
		{name: "object cut off", spoil: func(p *house.Pair) { p.RawObject = []byte(`{"reportId":"x","status":"COMP`) }},
		{name: "object is a list", spoil: func(p *house.Pair) { p.RawObject = []byte(`[]`) }},
		{name: "empty object file", spoil: func(p *house.Pair) { p.RawObject = []byte{} }},
	}
}

func rowFaults() []fault {
	row := func(name, member string, value any, says ...string) fault {
		return fault{name: name, spoil: second(member, value), says: append(says, member), row: 2}
	}
	return []fault{
		row("negative count", "clicks", -1, "-1"),
		row("fractional count", "impressions", house.Exact("10.5"), "10.5"),
		row("count of 2^63", "impressions", house.Exact("9223372036854775808"), "9223372036854775808"),
		row("count of 23 digits", "purchases7d", house.Exact("12345678901234567890123"), "12345678901234567890123"),
		row("negative cost", "cost", house.Exact("-0.01"), "-0.01"),
		row("negative sales", "sales7d", house.Exact("-5"), "-5"),
		row("amount of 10^12", "cost", house.Exact("1000000000000"), "1000000000000"),
		row("amount beyond 10^12", "sales7d", house.Exact("1234567890123456.78"), "1234567890123456.78"),
		row("day before the range", "date", house.DaysAgo(41), house.DaysAgo(41)),
		row("day after the range", "date", house.DaysAgo(37), house.DaysAgo(37)),
		row("impossible day", "date", "2026-02-30", "2026-02-30"),
		row("day of another form", "date", "03/02/2026", "03/02/2026"),
		row("a row of totals", "date", "Total", "Total"),
		row("no day", "date", nil),
		row("another currency", "campaignBudgetCurrencyCode", "EUR", "EUR", "USD"),
		row("text for a cost", "cost", "12,50", "12,50"),
		row("text for a count", "clicks", "many", "many"),
		row("thousands separators", "sales7d", "1,234.50", "1,234.50"),
		row("list for an asin", "advertisedAsin", []any{"B1"}),
		{name: "row without cost", spoil: dropped("cost"), says: []string{"cost"}, row: 2},
		{name: "row without asin", spoil: dropped("advertisedAsin"), says: []string{"advertisedAsin"}, row: 2},
		{name: "row without sales", spoil: dropped("sales7d"), says: []string{"sales7d"}, row: 2},
	}
}

func downloadFaults() []fault {
	rows := `[{"date":"` + house.DaysAgo(40) + `","advertisedAsin":"A","impressions":1,"clicks":1,"cost":1,"purchases7d":1,"sales7d":1,"purchases14d":1,"sales14d":1}]`
	raw := func(name string, content []byte, says ...string) fault {
		return fault{name: name, spoil: func(p *house.Pair) { p.RawRows = content }, says: says}
	}
	packed := house.Zip(rows)
	gz := func(name string, content []byte) fault {
		return fault{name: name, spoil: func(p *house.Pair) {
			p.RawRows, p.RowsName = content, p.Stem+".json.gz"
		}}
	}
	flipped := bytes.Clone(packed)
	flipped[len(flipped)-6] ^= 0x10 // in the checksum
	return []fault{
		raw("empty download", []byte{}),
		raw("download cut off", []byte(rows[:len(rows)-20])),
		raw("download without its end", []byte(rows[:len(rows)-1])),
		raw("second value", []byte(rows+rows)),
		raw("object for a list", []byte(`{"rows":`+rows+`}`)),
		raw("row that is no object", []byte(`[1]`)),
		raw("not a number", []byte(strings.Replace(rows, `"cost":1`, `"cost":NaN`, 1))),
		raw("trailing comma", []byte(strings.Replace(rows, `}]`, `},]`, 1))),
		raw("a name twice in a row", []byte(strings.Replace(rows, `"cost":1`, `"cost":1,"cost":2`, 1)), "cost"),
		raw("Latin-1", []byte(strings.Replace(rows, `"A"`, "\"\xfc\"", 1))),
		raw("UTF-16", []byte("\xff\xfe[\x00]\x00")),
		raw("HTML", []byte("<html><body>Sorry</body></html>")),
		raw("too deep", []byte(strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000))),
		gz("archive cut off", packed[:len(packed)-9]),
		gz("archive with a flipped bit", flipped),
		gz("archive with garbage behind", append(bytes.Clone(packed), "garbage"...)),
		{name: "report without download", spoil: func(p *house.Pair) { p.RowsName = "" }},
		{name: "download without report", spoil: func(p *house.Pair) { p.ObjectName = "" }},
	}
}
