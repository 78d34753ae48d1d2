package loading_test

import (
	"bytes"
	"fmt"
	"strings"

	"adlens/integration/house"
)

func exportObjectFaults() []fault {
	return []fault{
		{name: "in progress", spoil: set("status", "IN_PROGRESS"), says: []string{"status", "IN_PROGRESS", "COMPLETED"}},
		{name: "processing", spoil: set("status", "PROCESSING"), says: []string{"PROCESSING"}},
		{name: "failed", spoil: set("status", "FAILED"), says: []string{"FAILED"}},
		{name: "of targets", spoil: set("entity", "targets"), says: []string{"entity", "targets", "adGroups"}},
		{name: "of another spelling", spoil: set("entity", "ad_groups"), says: []string{"entity", "ad_groups"}},
		{name: "of nothing", spoil: func(p *house.Pair) { delete(p.Object, "entity") }, says: []string{"entity"}},
		{name: "unknown profile", spoil: set("profileId", "999"), says: []string{"profileId", "999"}},
		{name: "no profile", spoil: func(p *house.Pair) { delete(p.Object, "profileId") }, says: []string{"profileId"}},
		{name: "no export id", spoil: func(p *house.Pair) { delete(p.Object, "exportId") }, says: []string{"exportId"}},
		{name: "no time of generation", spoil: set("generatedAt", nil), says: []string{"generatedAt"}},
		{name: "garbled time of generation", spoil: set("generatedAt", "yesterday noon"), says: []string{"generatedAt", "yesterday noon"}},
		{name: "impossible time of generation", spoil: set("generatedAt", "2026-02-30T08:00:00Z"), says: []string{"generatedAt", "2026-02-30"}},
		{name: "unknown ad product in the filter", spoil: set("adProductFilter", []any{"SPONSORED_TV"}), says: []string{"adProductFilter", "SPONSORED_TV"}},
		{name: "filter in text", spoil: set("adProductFilter", "SPONSORED_PRODUCTS"), says: []string{"adProductFilter"}},
		{name: "object cut off", spoil: func(p *house.Pair) { p.RawObject = []byte(`{"exportId":"x","status":"COMP`) }},
		{name: "object is a list", spoil: func(p *house.Pair) { p.RawObject = []byte(`[]`) }},
		{name: "empty object file", spoil: func(p *house.Pair) { p.RawObject = []byte{} }},
	}
}

// rowFault spoils a member of the second of three rows.
func rowFault(name, member string, value any, says ...string) fault {
	return fault{name: name, spoil: second(member, value), says: append(says, member), row: 2}
}

func campaignFaults() []fault {
	budget := func(name string, member string, value any, says ...string) fault {
		return fault{name: name, row: 2, says: says, spoil: func(p *house.Pair) {
			caps := p.Rows[1]["budgetCaps"].(map[string]any)["budgetValue"].(map[string]any)
			caps["monetaryBudget"].(map[string]any)[member] = value
		}}
	}
	return []fault{
		rowFault("unknown state", "state", "RUNNING", "RUNNING"),
		rowFault("no state", "state", nil),
		rowFault("a number for a state", "state", 1),
		rowFault("no id", "campaignId", nil),
		rowFault("an empty id", "campaignId", ""),
		rowFault("a fractional id", "campaignId", house.Exact("1.5"), "1.5"),
		rowFault("a negative id", "campaignId", house.Exact("-2"), "-2"),
		rowFault("a boolean for an id", "campaignId", true),
		rowFault("a list for a name", "name", []any{"x"}),
		rowFault("ad product in words", "adProduct", "Sponsored Products", "Sponsored Products"),
		rowFault("no ad product", "adProduct", nil),
		rowFault("impossible start", "startDate", "2026-02-30", "2026-02-30"),
		rowFault("garbled end", "endDate", "soon", "soon"),
		budget("negative budget", "amount", house.Exact("-0.01"), "-0.01", "amount"),
		budget("budget in words", "amount", "many", "many", "amount"),
		budget("budget with a comma", "amount", "12,50", "12,50", "amount"),
		budget("budget in another currency", "currencyCode", "EUR", "EUR", "USD"),
		{name: "row without state", spoil: dropped("state"), says: []string{"state"}, row: 2},
		{name: "row without id", spoil: dropped("campaignId"), says: []string{"campaignId"}, row: 2},
		{name: "an id twice", spoil: second("campaignId", "1"), says: []string{"campaignId", "1"}, row: 2},
		{name: "another ad product than the filter's", spoil: func(p *house.Pair) {
			p.Narrow("SPONSORED_PRODUCTS")
			p.Rows[1]["adProduct"] = "SPONSORED_DISPLAY"
		}, says: []string{"adProduct", "SPONSORED_DISPLAY"}, row: 2},
	}
}

func adGroupFaults() []fault {
	bid := func(name, member string, value any, says ...string) fault {
		return fault{name: name, row: 2, says: says, spoil: func(p *house.Pair) { p.Rows[1]["bid"].(map[string]any)[member] = value }}
	}
	return []fault{
		rowFault("unknown state", "state", "LIVE", "LIVE"),
		rowFault("no id", "adGroupId", nil),
		rowFault("no campaign", "campaignId", nil),
		rowFault("an id twice", "adGroupId", 11, "11"),
		bid("negative bid", "defaultBid", house.Exact("-0.75"), "defaultBid", "-0.75"),
		bid("bid in words", "defaultBid", "cheap", "defaultBid", "cheap"),
		bid("bid in another currency", "currencyCode", "GBP", "GBP", "USD"),
	}
}

func adFaults() []fault {
	return []fault{
		rowFault("unknown state", "state", "LIVE", "LIVE"),
		rowFault("no ad group", "adGroupId", nil),
		rowFault("ad product in words", "adProduct", "Sponsored Products", "Sponsored Products"),
		rowFault("an id twice", "adId", "21", "21"),
	}
}

// exportDownloadFaults damage a download that is long enough to be read in
// several pieces.
func exportDownloadFaults() []fault {
	var rows []string
	for i := range 5_000 {
		rows = append(rows, fmt.Sprintf(`{"campaignId":%d,"adProduct":"SPONSORED_PRODUCTS","name":"Campaign %d","state":"PAUSED","startDate":"2026-01-01"}`, i+1, i))
	}
	whole := "[" + strings.Join(rows, ",") + "]"
	packed := house.Zip(whole)
	raw := func(name, content string) fault {
		return fault{name: name, spoil: func(p *house.Pair) { p.RawRows = []byte(content) }}
	}
	gz := func(name string, content []byte) fault {
		return fault{name: name, spoil: func(p *house.Pair) { p.RawRows, p.RowsName = content, p.Stem+".json.gz" }}
	}
	flipped := bytes.Clone(packed)
	flipped[len(flipped)-6] ^= 0x10 // in the checksum
	return []fault{
		raw("empty download", ""), raw("download cut off", whole[:len(whole)-30]), raw("download without its end", whole[:len(whole)-1]),
		raw("second value", whole+whole), raw("object for a list", `{"campaigns":`+whole+`}`), raw("row that is no object", `[1]`),
		raw("a name twice in a row", strings.Replace(whole, `"state"`, `"state":"ENABLED","state"`, 1)),
		raw("Latin-1", strings.Replace(whole, "Campaign 7", "Gr\xfcn", 1)),
		gz("archive cut off", packed[:len(packed)*2/3]), gz("archive with a flipped bit", flipped),
		gz("archive with garbage behind", append(bytes.Clone(packed), "garbage"...)),
		{name: "export without download", spoil: func(p *house.Pair) { p.RowsName = "" }},
		{name: "download without export", spoil: func(p *house.Pair) { p.ObjectName = "" }},
	}
}
