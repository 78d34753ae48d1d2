package extracts

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The advertised products; marketplaces share them.
var asins = []string{"B0AAAAAAA1", "B0AAAAAAA2", "B0BBBBBBB1", "B0CCCCCCC3", "B0LAMP0001", "B0LAMP0002", "B0LAMP0003", "b0lower001"}

// The campaigns and ad groups of reports, by number; all marketplaces and ad products
// share them, so that a row may be of several. A campaign and an ad group of one
// number have the same id. One report is about few of them.
const (
	campaigns = 40
	adGroups  = campaigns * 3 / 2 // as lists have
	inReport  = 12
)

// What campaigns and ad groups are called, a number after it.
var labels = []string{
	"C\u00f4te, \"auto\"", "Lamp", "lamp", "=SUM(A1:A9)", "\u00c4pfel & B\u00e4ume", "\u65e5\u672c \u30e9\u30f3\u30d7", "\U0001f600 emoji", "a;b", "Zebra", "it's <b>",
}

var counts = []string{"impressions", "clicks"}

func columnNames(kindName string) []string {
	names := append([]string{"date", "cost", "campaignId", "campaignName", "campaignBudgetCurrencyCode"}, counts...)
	if kindName == "spAdvertisedProduct" {
		return append(names, "advertisedAsin", "adGroupId", "adGroupName", "adId", "purchases7d", "sales7d", "purchases14d", "sales14d", "unitsSoldClicks7d", "unitsSoldClicks14d")
	}
	names = append(names, "purchases", "sales", "purchasesClicks", "salesClicks", "unitsSold")
	if kindName == "sdAdvertisedProduct" {
		names = append(names, "promotedAsin", "adGroupId", "adGroupName", "adId")
	}
	return names
}

// askedColumns are the columns of one report. Some reports were not asked for what
// their rows have all the same: it does not count.
func (w *writer) askedColumns(d description) []string {
	return slices.DeleteFunc(columnNames(d.kind), func(name string) bool {
		return slices.Contains([]string{"campaignId", "adGroupId", "campaignName", "adGroupName", "unitsSoldClicks7d", "purchasesClicks", "salesClicks", "unitsSold"}, name) && w.percentChance(6)
	})
}

// reportRows writes a download's rows: none at all for an emptied report, days
// without any, several for one product and day, and crowds.
func (w *writer) reportRows(d description) []string {
	if w.percentChance(8) {
		return nil
	}
	var rows []string
	for day := d.start; !day.After(d.end); day = day.AddDate(0, 0, 1) {
		if w.percentChance(15) {
			continue
		}
		if w.percentChance(8) {
			rows = append(rows, w.crowdRows(d, day.Format(time.DateOnly))...)
			continue
		}
		for range w.IntN(5) {
			rows = append(rows, w.rowObject(d, day.Format(time.DateOnly), w.drawASIN(), w.measureMembers(d)))
		}
	}
	w.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// crowdRows writes a day of one product in many campaigns and ad groups. Half of the
// times all have the same amounts, so that they are equals where the millionths
// of their dollars are shared.
func (w *writer) crowdRows(d description, day string) (rows []string) {
	asin, measures, equal := w.drawASIN(), w.measureMembers(d), w.percentChance(50)
	for range 5 + w.IntN(16) {
		if !equal {
			measures = w.measureMembers(d)
		}
		rows = append(rows, w.rowObject(d, day, asin, measures))
	}
	return rows
}

func (w *writer) rowObject(d description, day, asin string, measures []member) string {
	adGroup := (d.first + w.IntN(inReport)) % adGroups
	campaign := adGroup % campaigns
	if w.percentChance(15) { // an ad group of two campaigns
		campaign = (campaign + 1) % campaigns
	}
	members := slices.Concat([]member{{"date", quoteJSON(day)}}, measures, w.nameMembers(d, "campaign", campaign))
	if w.percentChance(70) {
		members = append(members, member{"campaignBudgetCurrencyCode", quoteJSON(d.profile.currency)})
	}
	if column := kinds[d.kind].asin; column != "" {
		members = append(members, member{column, asin}, member{"adId", "null"})
	}
	if kinds[d.kind].asin != "" || w.percentChance(10) { // never requested where there are no products
		members = append(members, w.nameMembers(d, "adGroup", adGroup)...)
	}
	return w.shuffledObject(members...)
}

// nameMembers writes id and name of a campaign or an ad group. Either may be null,
// empty or missing. Names change from report to report, and within some.
func (w *writer) nameMembers(d description, of string, number int) (members []member) {
	version := d.names
	if w.percentChance(5) {
		version = w.IntN(4)
	}
	name := fmt.Sprintf("%s %d.%d", labels[number%len(labels)], number, version)
	for _, m := range []member{{of + "Id", w.varyID(entityID(number))}, {of + "Name", quoteJSON(name)}} {
		switch w.IntN(30) {
		case 0:
			continue
		case 1:
			m.value = "null"
		case 2:
			m.value = `""`
		}
		members = append(members, m)
	}
	return members
}

func (w *writer) drawASIN() string {
	if w.percentChance(8) {
		return pickOne(w, []string{"null", `""`})
	}
	return quoteJSON(pickOne(w, asins))
}

// measureMembers writes the counts and amounts. The 14-day window holds more than
// the 7-day one, so a loader that takes the wrong one is seen.
func (w *writer) measureMembers(d description) []member {
	zero := w.percentChance(12)
	m := []member{{"impressions", w.drawCount(zero, 5000)}, {"clicks", w.drawCount(zero, 90)}, {"cost", w.drawAmount(zero, 9000)}}
	if d.kind == "spAdvertisedProduct" {
		return append(m, member{"purchases7d", w.drawCount(zero, 7)}, member{"sales7d", w.drawAmount(zero, 30000)},
			member{"purchases14d", w.drawCount(zero, 11)}, member{"sales14d", w.drawAmount(zero, 50000)},
			member{"unitsSoldClicks7d", "1"}, member{"unitsSoldClicks14d", "2"})
	}
	return append(m, member{"purchases", w.drawCount(zero, 9)}, member{"sales", w.drawAmount(zero, 40000)},
		member{"purchasesClicks", w.drawCount(zero, 3)}, member{"salesClicks", w.drawAmount(zero, 9000)}, member{"unitsSold", "3"})
}

func (w *writer) drawCount(zero bool, below int) string {
	switch {
	case w.percentChance(2):
		return "null"
	case zero || w.percentChance(30):
		return "0"
	case w.Big && w.percentChance(60):
		return pickOne(w, []string{"9223372036854775807", "9223372036854775806", "9007199254740993", strconv.FormatInt(w.Int64(), 10)})
	}
	return strconv.Itoa(1 + w.IntN(below))
}

// drawAmount writes an amount in one of the ways in which the platform prints it,
// binary leftovers such as 59.980000000000004 included.
func (w *writer) drawAmount(zero bool, belowCents int) string {
	if zero || w.percentChance(25) {
		return pickOne(w, []string{"0", "0.0", "0.00", "null"})
	}
	if w.Big && w.percentChance(60) {
		return fmt.Sprintf("%d.%02d", 999_999_999_999-w.Int64N(3), w.IntN(100))
	}
	cents := int64(1 + w.IntN(belowCents))
	text := big.NewRat(cents, 100).FloatString(2)
	switch w.IntN(10) {
	case 0:
		return text + "0"
	case 1:
		return text + "0000000000000" + strconv.Itoa(1+w.IntN(9))
	case 2:
		return fmt.Sprintf("%s%04d", text, w.IntN(10000))
	case 3, 4, 5:
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}
