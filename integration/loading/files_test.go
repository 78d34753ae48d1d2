package loading_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"adlens/integration/harness"
	"adlens/integration/house"
)

// oddFile is a file as it may well come, by what is odd about it, with what
// stands beside it.
type oddFile struct {
	name, file, content string
	beside              map[string]string
}

// The days are fixed, so that the answers are the same on any day.
const (
	oddObject = `{"reportId":"odd","profileId":101,"status":"COMPLETED","startDate":"2026-11-02","endDate":"2026-11-03","generatedAt":"2026-11-04T08:00:00Z",` +
		`"configuration":{"adProduct":"SPONSORED_PRODUCTS","reportTypeId":"spAdvertisedProduct","groupBy":["advertiser"],"timeUnit":"DAILY",` +
		`"columns":["date","advertisedAsin","impressions","clicks","cost","purchases7d","sales7d","campaignId","campaignBudgetCurrencyCode"]}}`
	oddRow    = `{"date":"2026-11-02","advertisedAsin":"A","impressions":9,"clicks":1,"cost":1.5,"purchases7d":0,"sales7d":0}`
	oddExport = `{"exportId":"odd","profileId":101,"entity":"campaigns","status":"COMPLETED","generatedAt":"2026-11-04T08:00:00Z"}`
	oddList   = `{"campaignId":1,"adProduct":"SPONSORED_PRODUCTS","name":"One","state":"ENABLED"}`
	oddRule   = `{"rule_id":"one","name":"One","status":"on","edited_at":"2026-10-01T08:00:00Z"}`
)

// replaced takes one text of a right file for another.
func replaced(text, old, with string) string {
	if !strings.Contains(text, old) {
		panic(old + " is not in " + text)
	}
	return strings.Replace(text, old, with, 1)
}

func asUTF16(text string) string {
	bytes := []byte("\xff\xfe")
	for _, unit := range utf16.Encode([]rune(text)) {
		bytes = append(bytes, byte(unit), byte(unit>>8))
	}
	return string(bytes)
}

func oddReports() []oddFile {
	rows := func(name, content string) oddFile {
		return oddFile{name, "odd.json", content, map[string]string{"odd.report.json": oddObject}}
	}
	row := func(name, old, with string) oddFile {
		return rows(name, "["+oddRow+",\n"+replaced(oddRow, old, with)+"]")
	}
	object := func(name, old, with string) oddFile {
		return oddFile{name, "odd.report.json", replaced(oddObject, old, with), map[string]string{"odd.json": "[" + oddRow + "]"}}
	}
	packed := func(name, content string) oddFile {
		return oddFile{name, "odd.json.gz", content, map[string]string{"odd.report.json": oddObject}}
	}
	good := "[" + oddRow + "]"
	gz := string(house.Zip(good))
	return []oddFile{
		rows("nothing", ""), rows("no rows", "[]"), rows("a mark of the byte order", "\ufeff"+good), rows("UTF-16", asUTF16(good)),
		rows("Latin-1", replaced(good, `"A"`, "\"\xfc\"")), rows("a cut in the middle of a row", good[:60]), rows("a cut before the end", good[:len(good)-1]),
		rows("two reports in one", good+good), rows("something behind", good+" x"), rows("a comma too many", "["+oddRow+",]"), rows("an object", `{"rows":`+good+`}`), rows("null", "null"),
		rows("a page of the web", "<!DOCTYPE html><html>Sign in</html>"), rows("lines instead of a list", oddRow+"\n"+oddRow), rows("a comment", "[//x\n"+oddRow+"]"),
		rows("single quotes", "[{'date':'2026-11-02'}]"), rows("a NUL", replaced(good, `"A"`, `"\u0000"`)),
		packed("an archive cut off", gz[:len(gz)-10]), packed("an archive with a flipped bit", gz[:len(gz)-6]+"\x10"+gz[len(gz)-5:]), packed("an archive with something behind", gz+"garbage"),
		packed("an archive that is none", good), packed("an archive in an archive", string(house.Zip(gz))), packed("a zip file", "PK\x03\x04"+strings.Repeat("x", 50)),
		row("a name twice", `"clicks":1`, `"clicks":1,"clicks":2`), row("a name twice, once in disguise", `"clicks":1`, `"clicks":1,"\u0063licks":2`),
		row("a name in capitals", `"clicks"`, `"Clicks"`), row("no clicks", `"clicks":1,`, ""), row("a column more", `"clicks":1`, `"clicks":1,"new":{"a":[1]}`),
		row("a day that does not exist", "2026-11-02", "2026-02-30"), row("a day of another country", "2026-11-02", "02/11/2026"), row("a day before the range", "2026-11-02", "2026-11-01"),
		row("an hour beside the day", "2026-11-02", "2026-11-02T24:00"), row("a total", "2026-11-02", "Total"), row("a negative count", `"clicks":1`, `"clicks":-1`),
		row("half a click", `"clicks":1`, `"clicks":0.5`), row("a count in quotes", `"clicks":1`, `"clicks":"1"`), row("a count of 2^64", `"clicks":1`, `"clicks":18446744073709551616`),
		row("a count of 23 digits", `"clicks":1`, `"clicks":99999999999999999999999`), row("a count as a power", `"clicks":1`, `"clicks":1e2`),
		row("a count below zero that is zero", `"clicks":1`, `"clicks":-0`), row("no number", `"clicks":1`, `"clicks":NaN`), row("endless", `"cost":1.5`, `"cost":Infinity`), row("less than nothing, endlessly", `"cost":1.5`, `"cost":-Inf`),
		row("an empty value", `"cost":1.5`, `"cost":`), row("a dash", `"cost":1.5`, `"cost":"-"`), row("not applicable", `"cost":1.5`, `"cost":"N/A"`),
		row("a decimal comma", `"cost":1.5`, `"cost":"1.234,50"`), row("a thousands comma", `"cost":1.5`, `"cost":"1,234.50"`), row("a dollar sign", `"cost":1.5`, `"cost":"$12"`),
		row("a currency behind", `"cost":1.5`, `"cost":"12 USD"`), row("an underscore", `"cost":1.5`, `"cost":1_000`), row("hexadecimal", `"cost":1.5`, `"cost":0x10`), row("octal", `"cost":1.5`, `"cost":010`), row("a plus", `"cost":1.5`, `"cost":+1`),
		row("no zero before the point", `"cost":1.5`, `"cost":.5`), row("nothing behind the point", `"cost":1.5`, `"cost":1.`), row("a tiny power", `"cost":1.5`, `"cost":1e-400`), row("a huge power", `"cost":1.5`, `"cost":1e400`),
		row("a power of many digits", `"cost":1.5`, `"cost":1e99999999999999999999`), row("nothing to a huge power", `"cost":1.5`, `"cost":0e999999999`), row("less than nothing", `"cost":1.5`, `"cost":-5`), row("minus nothing", `"cost":1.5`, `"cost":-0.00`),
		row("21 decimals", `"cost":1.5`, `"cost":1.000000000000000000001`), row("a million millions", `"cost":1.5`, `"cost":1000000000000`), row("Arabic digits", `"cost":1.5`, `"cost":"١٢"`), row("true", `"cost":1.5`, `"cost":true`), row("null for a count and an amount", `"clicks":1,"cost":1.5`, `"clicks":null,"cost":null`), row("a list", `"cost":1.5`, `"cost":[1.5]`),
		row("another currency", `"clicks":1`, `"clicks":1,"campaignBudgetCurrencyCode":"EUR"`), row("an id beyond 2^53", `"clicks":1`, `"clicks":1,"campaignId":9007199254740993`), row("a product's id without end", `"A"`, `"`+strings.Repeat("A", 65)+`"`),
		row("a formula for a product", `"A"`, `"=HYPERLINK(\"x\")"`), row("more clicks than impressions", `"clicks":1`, `"clicks":99`),
		object("a year mistyped", "2026-11-04T08", "2062-11-04T08"), object("another profile", `"profileId":101`, `"profileId":999`), object("a profile as a float", `"profileId":101`, `"profileId":1.01e2`), object("unfinished", "COMPLETED", "PROCESSING"), object("a report of the future", "2026-11-03\",\"gen", "2027-11-03\",\"gen"),
		object("a range reversed", "2026-11-02", "2026-11-09"), object("a filter", `"timeUnit"`, `"filters":[{"field":"x","values":["y"]}],"timeUnit"`), object("sums", "DAILY", "SUMMARY"), object("another grouping", "advertiser", "campaign"), object("another kind of report", "spAdvertisedProduct", "spSearchTerm"),
		object("a name twice", `"reportId":"odd"`, `"reportId":"odd","reportId":"even"`), object("a name in capitals", `"reportId"`, `"ReportID"`), object("a list", oddObject, "["+oddObject+"]"), object("a second object", oddObject, oddObject+oddObject), object("text for a list", `["advertiser"]`, `"advertiser"`),
		{"a report alone", "odd.report.json", oddObject, nil}, {"a download alone", "odd.json", good, nil}, {"two downloads", "odd.json", good, map[string]string{"odd.json.gz": gz, "odd.report.json": oddObject}},
	}
}

func oddTables() []oddFile {
	rates := func(name, line string) oddFile {
		return oddFile{name, "rates.csv", "date,currency,usd\n" + line + "\n", nil}
	}
	titles := func(name, content string) oddFile { return oddFile{name, "products.csv", content, nil} }
	rule := func(name, old, with string) oddFile {
		return oddFile{name, "rules.ndjson", oddRule + "\n" + replaced(oddRule, old, with) + "\n", nil}
	}
	list := func(name, old, with string) oddFile {
		second := replaced(oddList, `"campaignId":1`, `"campaignId":2`)
		return oddFile{name, "odd.json", "[" + oddList + ",\n" + replaced(second, old, with) + "]", map[string]string{"odd.export.json": oddExport}}
	}
	return []oddFile{
		titles("an empty table", ""), titles("a header alone", "product_id,title\n"), titles("a mark of the byte order", "\ufeffproduct_id,title\nA,One\n"), titles("no header", "A,One\n"), titles("semicolons", "product_id;title\nA;One\n"), titles("tabs", "product_id\ttitle\nA\tOne\n"),
		titles("UTF-16", asUTF16("product_id,title\nA,One\n")), titles("Latin-1", "product_id,title\nA,Gr\xfcn\n"), titles("a missing column", "product_id\nA\n"), titles("a column more", "product_id,title,price\nA,One,2\n"), titles("a column twice", "product_id,product_id\nA,One\n"),
		titles("columns the other way round", "title,product_id\nOne,A\n"), titles("a short row", "product_id,title\nA,One\nB\n"), titles("a long row", "product_id,title\nA,One,two\n"), titles("an open quote", "product_id,title\nA,\"One\nB,Two\n"), titles("a bare quote", "product_id,title\nA,12\" lamp\n"),
		titles("something behind a quote", "product_id,title\nA,\"One\" two\n"), titles("a line break in quotes", "product_id,title\nA,\"One\ntwo\"\n"), titles("line ends of an old Mac", "product_id,title\rA,One\rB,Two\r"), titles("line ends of Windows", "product_id,title\r\nA,One\r\n"), titles("a last line without an end", "product_id,title\nA,One"),
		titles("no id", "product_id,title\n,One\n"), titles("a NUL", "product_id,title\nA,One\x00two\n"), titles("a formula", "product_id,title\nA,=cmd|' /C calc'!A0\n"), titles("right to left and a face", "product_id,title\nA,\u202eeno \U0001f600\n"),
		rates("no number", "2026-11-02,EUR,NaN"), rates("endless", "2026-11-02,EUR,Inf"), rates("hexadecimal", "2026-11-02,EUR,0x1p-2"), rates("an underscore", "2026-11-02,EUR,1_0"), rates("a power", "2026-11-02,EUR,1e0"), rates("a decimal comma", `2026-11-02,EUR,"1,1"`), rates("a plus", "2026-11-02,EUR,+1.1"),
		rates("less than nothing", "2026-11-02,EUR,-1.1"), rates("nothing", "2026-11-02,EUR,0"), rates("a space", "2026-11-02,EUR, 1.1"), rates("ten thousand", "2026-11-02,EUR,10000"), rates("a currency in small letters", "2026-11-02,eur,1.1"), rates("no currency", "2026-11-02,,1.1"), rates("dollars that are not one", "2026-11-02,USD,1.1"),
		rates("a day that does not exist", "2026-02-30,EUR,1.1"), rates("a day of another country", "02.11.2026,EUR,1.1"), rates("a day before all", "1969-12-31,EUR,1.1"), rates("a day after all", "2200-01-01,EUR,1.1"), rates("two rates of a day", "2026-11-02,EUR,1.1\n2026-11-02,EUR,1.2"),
		{"rates cut off in their last one", "rates.csv", "date,currency,usd\n2026-11-02,EUR,1.1\n2026-11-03,EUR,1.0", nil},
		titles("titles cut off in their last one", "product_id,title\nA,One\nB,Tw"),
		rule("a line broken in the middle", `"name"`, "\n\"name\""), rule("no id", `"rule_id":"one",`, ""), rule("another status", `"on"`, `"enabled"`), rule("a time that does not exist", "2026-10-01T08", "2026-10-01T25"), rule("a name twice", `"name"`, `"name":"x","name"`), rule("a name in capitals", `"status"`, `"Status"`),
		rule("two on a line", "}", "}"+oddRule), rule("a list", oddRule, "["+oddRule+"]"), rule("no JSON", oddRule, "one"), rule("an id as a float", `"one"`, "1.5"),
		list("an id twice", `"campaignId":2`, `"campaignId":1`), list("no id", `"campaignId":2,`, ""), list("an unknown state", "ENABLED", "RUNNING"), list("an ad product that is not kept", "SPONSORED_PRODUCTS", "SPONSORED_TELEVISION"), list("an ad product in words", "SPONSORED_PRODUCTS", "Sponsored Products"), list("no ad product", `"adProduct":"SPONSORED_PRODUCTS",`, ""), list("a number for a name", `"One"`, "1"), list("a name without end", `"One"`, `"`+strings.Repeat("n", 10_001)+`"`), list("a day that does not exist", `"state"`, `"startDate":"2026-02-30","state"`),
		list("a budget less than nothing", `"state"`, `"budgetCaps":{"budgetValue":{"monetaryBudget":{"amount":-1,"currencyCode":"USD"}}},"state"`), list("a budget in another currency", `"state"`, `"budgetCaps":{"budgetValue":{"monetaryBudget":{"amount":1,"currencyCode":"EUR"}}},"state"`),
		{"an export alone", "odd.export.json", oddExport, nil},
		{"profiles in an object", "profiles.json", `{"profiles":[]}`, nil}, {"profiles cut off", "profiles.json", `[{"profileId":500`, nil}, {"a profile without a currency", "profiles.json", `[{"profileId":500,"countryCode":"CA","timezone":"UTC","accountInfo":{"type":"seller"}}]`, nil},
		{"a profile twice", "profiles.json", `[` + oddProfile + `,` + oddProfile + `]`, nil}, {"a profile in another currency", "profiles.json", `[` + replaced(replaced(oddProfile, "500", "101"), "CAD", "EUR") + `]`, nil},
	}
}

const oddProfile = `{"profileId":500,"countryCode":"CA","currencyCode":"CAD","timezone":"America/Toronto","accountInfo":{"type":"seller","name":"x"}}`

func TestOddFilesHaveTheirClearAnswer(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for title, files := range map[string][]oddFile{"reports": oddReports(), "tables, lists and records": oddTables()} {
		var paths []string
		for i, f := range files {
			dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
			house.Put(t, dir, f.file, []byte(f.content))
			for name, content := range f.beside {
				house.Put(t, dir, name, []byte(content))
			}
			paths = append(paths, dir)
		}
		done, err := h.Load(one.Files.ID, paths...)
		house.Need(t, err)
		var all house.Table
		for i, f := range files {
			all.Row(f.name, shownFile(f), becameOf(done, paths[i]))
		}
		all.Check(t, strings.Trim(strings.Fields(title)[0], ",")+".md", "Odd "+title+" and the answers to them")
	}
}

// shownFile is an odd file as a reader sees it: of a report only the rows that
// are odd.
func shownFile(f oddFile) string {
	text := strings.TrimPrefix(f.content, "["+oddRow+",\n")
	beside := ""
	if f.file == "odd.json" && f.beside != nil || f.file == "odd.json.gz" {
		beside = " with " + strings.Join(slices.Sorted(maps.Keys(f.beside)), ", ")
	}
	if strings.HasPrefix(text, "\x1f\x8b") {
		return f.file + beside + " (packed)"
	}
	return f.file + beside + "\n" + house.Clipped(text, 360)
}

// becameOf is what a load says of the files of a directory.
func becameOf(done harness.Loading, dir string) string {
	var said []string
	for _, f := range done.Files {
		if name, ok := strings.CutPrefix(f.File, dir+string(os.PathSeparator)); ok {
			// Whether it says something new is not the point here.
			line := name + ": " + strings.NewReplacer("loaded", "taken", "unchanged", "taken").Replace(f.Status)
			if f.Error != "" {
				line += ": " + f.Error
			}
			if f.Notice != "" {
				line += "; notice: " + f.Notice
			}
			said = append(said, strings.ReplaceAll(line, dir, "DIR"))
		}
	}
	return strings.Join(said, "\n")
}
