package extracts

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

var (
	entities       = []string{"campaigns", "adGroups", "ads"}
	adProductNames = []string{"SPONSORED_PRODUCTS", "SPONSORED_BRANDS", "SPONSORED_DISPLAY"}
	states         = []string{
		"ENABLED", "ENABLED", "ENABLED", "ENABLED", "ENABLED", "ENABLED", "PAUSED", "PAUSED", "PAUSED", "ARCHIVED",
		"enabled", "paused", "archived", "ENABLING", "PROPOSED", "OTHER", "USER_DELETED",
	}
)

// troublesome names: quotes, formulas, line ends, and text whose order differs
// between UTF-8 bytes, UTF-16 units, and any language.
var troublesome = []string{
	"Lamp", "lamp", "Lamp 10", "Lamp 9", "\u00c4pfel", "A\u0308pfel", "Zebra", "\u00e9", "e\u0301", "=SUM(A1:A9)", "+1", "-x", "@y", "'z",
	`say "hi"`, "it's", `back\slash`, "\U0001f600 emoji", "\uff76 half width", "\ufb01", "two\nlines", "a\ttab", "<b>&amp;</b>",
	"'); DROP TABLE campaigns; --", "a,b;c", "\u202eright to left", "\u00a0", "%s %d {x}", "null", "0",
}

// entityID gives ids of 15 to 20 digits, most of them beyond 2^53: neighbours
// would be one in a float.
func entityID(i int) string {
	bases := []uint64{276748589410145, 144158449488730278, 9007199254740992, 18446744073709000000, 9}
	return strconv.FormatUint(bases[i%len(bases)]+uint64(i), 10)
}

// adProductOf keeps an entity in one ad product, whatever export names it.
func adProductOf(i int) string { return adProductNames[i%3] }

// entityRows writes the entities that the filter lets pass, most of them in a
// profile, some with parents that there are not.
func (w *listWriter) entityRows(p profile, entity string, filter []string) []string {
	number, row := w.size, w.campaignRow
	switch entity {
	case "adGroups":
		number, row = w.size*3/2, w.adGroupRow
	case "ads":
		number, row = w.size*2, w.adRow
	}
	rows := []string{}
	for i := range number {
		if adProduct := adProductOf(w.campaignOf(entity, i)); (filter == nil || slices.Contains(filter, adProduct)) && w.chance(88) {
			rows = append(rows, row(p, i, adProduct))
		}
	}
	w.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// campaignOf is the number of the campaign above an entity; two more than
// there ever are.
func (w *listWriter) campaignOf(entity string, i int) int {
	switch entity {
	case "adGroups":
		return i % (w.size + 2)
	case "ads":
		return w.campaignOf("adGroups", w.adGroupOf(i))
	}
	return i
}

func (w *listWriter) adGroupOf(ad int) int { return ad % (w.size*3/2 + 2) }

func (w *listWriter) name() string {
	if w.chance(40) {
		return pick(&w.writer, troublesome)
	}
	return fmt.Sprintf("%s %03d", pick(&w.writer, troublesome), w.IntN(300))
}

func (w *listWriter) common(adProduct string) []member {
	return []member{
		{"adProduct", quote(adProduct)}, {"state", quote(pick(&w.writer, states))}, {"deliveryStatus", `"DELIVERING"`},
		{"deliveryReasons", "[]"}, {"creationDateTime", `"2023-08-08T14:23:40.091Z"`}, {"lastUpdatedDateTime", `"2023-08-08T14:23:40.091Z"`},
		{"somethingNew", `{"deep":{"er":[null,1.5]}}`},
	}
}

func (w *listWriter) price(cents int) string {
	n := 1 + w.IntN(cents)
	switch w.IntN(3) {
	case 0:
		return strconv.Itoa(1 + n/100)
	case 1:
		return fmt.Sprintf("%d.%d", n/100, 1+n/10%9)
	}
	return fmt.Sprintf("%d.%02d", n/100+1, n%100)
}

func (w *listWriter) campaignRow(p profile, i int, adProduct string) string {
	first := w.today.AddDate(0, 0, -w.IntN(900))
	money := w.object(member{"currencyCode", quote(p.currency)}, member{"amount", w.price(500_000)}, member{"ruleAmount", "12.5"})
	members := append(w.common(adProduct),
		member{"campaignId", w.id(entityID(i))}, member{"name", quote(w.name())}, member{"portfolioId", "null"},
		member{"startDate", quote(first.Format(time.DateOnly))}, member{"tags", `[{"key":"k","value":"v"}]`}, member{"optimization", "[]"},
		member{"budgetCaps", w.object(
			member{"recurrenceTimePeriod", quote(pick(&w.writer, []string{"DAILY", "DAILY", "LIFETIME"}))},
			member{"budgetType", `"MONETARY"`}, member{"budgetValue", `{"monetaryBudget":` + money + `}`})},
	)
	switch adProduct {
	case "SPONSORED_PRODUCTS":
		members = append(members, member{"targetingSettings", quote(pick(&w.writer, []string{"AUTO", "MANUAL"}))})
	case "SPONSORED_DISPLAY":
		members = append(members, member{"targetingSettings", quote(pick(&w.writer, []string{"T00020", "T00030"}))}, member{"costType", `"VCPM"`})
	}
	switch w.IntN(3) {
	case 0:
		members = append(members, member{"endDate", "null"})
	case 1:
		members = append(members, member{"endDate", quote(first.AddDate(0, 0, w.IntN(999)).Format(time.DateOnly))})
	}
	return w.object(members...)
}

func (w *listWriter) adGroupRow(p profile, i int, adProduct string) string {
	members := append(w.common(adProduct), member{"adGroupId", w.id(entityID(i))}, member{"name", quote(w.name())},
		member{"campaignId", w.id(entityID(w.campaignOf("adGroups", i)))})
	if adProduct != "SPONSORED_BRANDS" {
		members = append(members, member{"bid", w.object(member{"defaultBid", w.price(900)}, member{"currencyCode", quote(p.currency)})})
	} else if w.chance(30) {
		members = append(members, member{"bid", "null"})
	}
	return w.object(members...)
}

// adRow leaves the id out as legacy campaigns of Sponsored Brands do.
func (w *listWriter) adRow(_ profile, i int, adProduct string) string {
	members := append(w.common(adProduct), member{"adGroupId", w.id(entityID(w.adGroupOf(i)))}, member{"adType", `"PRODUCT_AD"`},
		member{"creative", `{"products":[{"productIdType":"ASIN","productId":"B0986YK83J"}]}`})
	if adProduct != "SPONSORED_BRANDS" || w.chance(60) {
		members = append(members, member{"adId", w.id(entityID(i))}, member{"name", quote(w.name())})
	}
	return w.object(members...)
}
