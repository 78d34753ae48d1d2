package extracts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"adlens/internal/made"
	"adlens/internal/platform"
)

var (
	entities       = []platform.Entity{platform.Campaigns, platform.AdGroups, platform.Ads}
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
func (w *listWriter) entityRows(p profile, entity platform.Entity, filter []string) []string {
	number, row := w.size, w.campaignRow
	switch entity {
	case platform.AdGroups:
		number, row = w.size*3/2, w.adGroupRow
	case platform.Ads:
		number, row = w.size*2, w.adRow
	}
	rows := []string{}
	for i := range number {
		if adProduct := adProductOf(w.campaignOf(entity, i)); (filter == nil || slices.Contains(filter, adProduct)) && w.percentChance(88) {
			rows = append(rows, row(p, i, adProduct))
		}
	}
	if filter == nil && w.percentChance(30) { // of an ad product that is left out
		rows = append(rows, row(p, w.IntN(number), "SPONSORED_TELEVISION"))
	}
	w.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// campaignOf is the number of the campaign above an entity; two more than
// there ever are.
func (w *listWriter) campaignOf(entity platform.Entity, i int) int {
	switch entity {
	case platform.AdGroups:
		return i % (w.size + 2)
	case platform.Ads:
		return w.campaignOf(platform.AdGroups, w.adGroupOf(i))
	}
	return i
}

func (w *listWriter) adGroupOf(ad int) int { return ad % (w.size*3/2 + 2) }

func (w *listWriter) drawName() string {
	if w.percentChance(40) {
		return pickOne(&w.writer, troublesome)
	}
	return fmt.Sprintf("%s %03d", pickOne(&w.writer, troublesome), w.IntN(300))
}

// What the platform's common model has beside what is kept.
var unused = []member{{"lastUpdatedDateTime", `"2023-08-08T14:23:40.091Z"`}, {"portfolioId", "null"}, {"tags", `[{"key":"k","value":"v"}]`}, {"optimization", "[]"}}

const (
	delivering = "DELIVERING"
	created    = "2023-08-08T14:23:40.091Z"
)

func (w *listWriter) drawState() string { return pickOne(&w.writer, states) }

func (w *listWriter) drawPrice(cents int) json.Number {
	n := 1 + w.IntN(cents)
	switch w.IntN(3) {
	case 0:
		return json.Number(strconv.Itoa(1 + n/100))
	case 1:
		return json.Number(fmt.Sprintf("%d.%d", n/100, 1+n/10%9))
	}
	return json.Number(fmt.Sprintf("%d.%02d", n/100+1, n%100))
}

func (w *listWriter) campaignRow(p profile, i int, adProduct string) string {
	first := w.today.AddDate(0, 0, -w.IntN(900))
	c := made.Campaign{
		CampaignID: entityID(i), AdProduct: adProduct, Name: w.drawName(), State: w.drawState(), StartDate: first.Format(time.DateOnly),
		DeliveryStatus: delivering, CreationDateTime: created,
		BudgetCaps: made.NewBudget(pickOne(&w.writer, []string{"DAILY", "DAILY", "LIFETIME"}), p.currency, w.drawPrice(500_000)),
	}
	switch adProduct {
	case "SPONSORED_PRODUCTS":
		c.TargetingSettings = pickOne(&w.writer, []string{"AUTO", "MANUAL"})
	case "SPONSORED_DISPLAY":
		c.TargetingSettings, c.CostType = pickOne(&w.writer, []string{"T00020", "T00030"}), "VCPM"
	}
	extra := slices.Clone(unused)
	switch w.IntN(3) {
	case 0:
		extra = append(extra, member{"endDate", "null"})
	case 1:
		c.EndDate = first.AddDate(0, 0, w.IntN(999)).Format(time.DateOnly)
	}
	row := w.varyObject(c, extra...)
	if says := []string{"false", "true", "null", ""}[i/3%4]; says != "" { // of other ad products it means nothing
		row = strings.Replace(row, "{", `{"isMultiAdGroupsEnabled":`+says+",", 1)
	}
	return row
}

func (w *listWriter) adGroupRow(p profile, i int, adProduct string) string {
	g := made.AdGroup{
		AdGroupID: entityID(i), CampaignID: entityID(w.campaignOf(platform.AdGroups, i)), AdProduct: adProduct, Name: w.drawName(),
		State: w.drawState(), DeliveryStatus: delivering, CreationDateTime: created,
	}
	extra := slices.Clone(unused)
	if adProduct != "SPONSORED_BRANDS" {
		g.Bid = &made.Bid{DefaultBid: w.drawPrice(900), CurrencyCode: p.currency}
	} else if w.percentChance(30) {
		extra = append(extra, member{"bid", "null"})
	}
	return w.varyObject(g, extra...)
}

// adRow leaves the id out as legacy campaigns of Sponsored Brands do.
func (w *listWriter) adRow(_ profile, i int, adProduct string) string {
	a := made.Ad{
		AdGroupID: entityID(w.adGroupOf(i)), AdProduct: adProduct, State: w.drawState(), AdType: "PRODUCT_AD",
		Creative: made.NewCreative("B0986YK83J"), DeliveryStatus: delivering, CreationDateTime: created,
	}
	extra := slices.Clone(unused)
	if adProduct != "SPONSORED_BRANDS" || w.percentChance(60) {
		a.AdID = entityID(i)
		extra = append(extra, member{"name", quoteJSON(w.drawName())})
	}
	return w.varyObject(a, extra...)
}
