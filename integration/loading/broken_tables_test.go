package loading_test

import (
	"adlens/integration/house"
)

// tableFault is a broken profiles.json, rates.csv or products.csv.
type tableFault struct {
	name, file, content string
	says                []string
}

// The days are those of the clinic's figures, so that a bad table that got in
// would be seen in the answers.
func tableFaults() []tableFault {
	rates := func(name, lines string, says ...string) tableFault {
		return tableFault{name, "rates.csv", "date,currency,usd\n" + lines, says}
	}
	good := house.DaysAgo(40) + ",GBP,9.9\n"
	return []tableFault{
		{"rates of nothing", "rates.csv", "", nil},
		{"rates without a header", "rates.csv", good, nil},
		{"rates with another header", "rates.csv", "date,currency,eur\n" + good, []string{"usd"}},
		{"rates with semicolons", "rates.csv", "date;currency;usd\n" + house.DaysAgo(40) + ";GBP;9.9\n", nil},
		rates("a short line", good+house.DaysAgo(39)+",GBP\n"),
		rates("a long line", good+house.DaysAgo(39)+",GBP,1.2,7\n"),
		rates("a negative rate", good+house.DaysAgo(39)+",GBP,-1.2\n", "-1.2"),
		rates("a rate of zero", good+house.DaysAgo(39)+",GBP,0\n"),
		rates("a rate in words", good+house.DaysAgo(39)+",GBP,one\n", "one"),
		rates("a rate that is no number", good+house.DaysAgo(39)+",GBP,NaN\n", "NaN"),
		rates("an endless rate", good+house.DaysAgo(39)+",GBP,Inf\n", "Inf"),
		rates("a decimal comma", good+house.DaysAgo(39)+",GBP,\"1,2\"\n", "1,2"),
		rates("a fraction", good+house.DaysAgo(39)+",GBP,4/3\n", "4/3"),
		rates("an impossible day", good+"2026-02-30,GBP,1.2\n", "2026-02-30"),
		rates("a currency of four letters", good+house.DaysAgo(39)+",POUND,1.2\n", "POUND"),
		rates("no currency", good+house.DaysAgo(39)+",,1.2\n"),
		rates("an open quote", good+house.DaysAgo(39)+",\"GBP,1.2\n"),
		{"a bank's file of nothing", "eurofxref-hist.csv", "", nil},
		{"a page in the place of the bank's", "eurofxref.csv", "<!DOCTYPE html>\n", []string{"DOCTYPE"}},
		{"a bank's rate of zero", "eurofxref-hist.csv", "Date,USD,GBP,\n" + house.DaysAgo(40) + ",1.1,0,\n", []string{"GBP", `"0"`}},
		{"a bank's file that was cut off", "eurofxref-hist.csv", "Date,USD,GBP,\n" + house.DaysAgo(40) + ",1.1,0.8,\n" + house.DaysAgo(41) + ",1.1,0.", nil},
		{"a bank's archive that is none", "eurofxref-hist.zip", "PK\x03\x04 and nothing else", []string{"zip"}},
		{"products without a header", "products.csv", "B000,Changed\n", nil},
		{"products without titles", "products.csv", "product_id\nB000\n", []string{"title"}},
		{"products with an open quote", "products.csv", "product_id,title\nB000,\"Changed\n", nil},
		{"products with a short line", "products.csv", "product_id,title\nB000,Changed\nB001\n", nil},
		{"products in Latin-1", "products.csv", "product_id,title\nB000,Gr\xfcn\n", nil},
		{"profiles cut off", "profiles.json", `[{"profileId":500,"countryCode":"CA"`, nil},
		{"profiles without a currency", "profiles.json", `[{"profileId":500,"countryCode":"CA","timezone":"UTC","accountInfo":{"type":"seller","id":"A"}}]`, []string{"currencyCode"}},
		{"profiles without an id", "profiles.json", `[{"countryCode":"CA","currencyCode":"CAD","timezone":"UTC","accountInfo":{"type":"seller","id":"A"}}]`, []string{"profileId"}},
		{"profiles in an object", "profiles.json", `{"profiles":[]}`, nil},
	}
}
