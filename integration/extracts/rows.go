package extracts

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// The advertised products; marketplaces share them.
var asins = []string{"B0AAAAAAA1", "B0AAAAAAA2", "B0BBBBBBB1", "B0CCCCCCC3", "B0LAMP0001", "B0LAMP0002", "B0LAMP0003", "b0lower001"}

var counts = []string{"impressions", "clicks"}

func columnNames(kindName string) []string {
	names := append([]string{"date", "cost", "campaignId", "campaignBudgetCurrencyCode"}, counts...)
	if kindName == "spAdvertisedProduct" {
		return append(names, "advertisedAsin", "adGroupId", "adId", "purchases7d", "sales7d", "purchases14d", "sales14d", "unitsSoldClicks7d", "unitsSoldClicks14d")
	}
	names = append(names, "purchases", "sales", "purchasesClicks", "salesClicks", "unitsSold")
	if kindName == "sdAdvertisedProduct" {
		names = append(names, "promotedAsin", "adGroupId", "adId")
	}
	return names
}

// reportRows writes a download's rows: none at all for an emptied report, days
// without any, and several for one product and day.
func (w *writer) reportRows(d description) []string {
	if w.percentChance(8) {
		return nil
	}
	var rows []string
	for day := d.start; !day.After(d.end); day = day.AddDate(0, 0, 1) {
		if w.percentChance(15) {
			continue
		}
		for range w.IntN(7) {
			rows = append(rows, w.rowObject(d, day.Format(time.DateOnly)))
		}
	}
	w.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

func (w *writer) rowObject(d description, day string) string {
	members := []member{
		{"date", quoteJSON(day)}, {"campaignId", w.varyID(strconv.FormatUint(144158449488730278+uint64(w.IntN(9)), 10))},
		{"campaignName", quoteJSON("C\u00f4te, \"auto\"")},
	}
	if w.percentChance(70) {
		members = append(members, member{"campaignBudgetCurrencyCode", quoteJSON(d.profile.currency)})
	}
	if asin := kinds[d.kind].asin; asin != "" {
		members = append(members, member{asin, w.drawASIN()}, member{"adGroupId", w.varyID("72320882861500")}, member{"adId", "null"})
	}
	return w.shuffledObject(append(members, w.measureMembers(d)...)...)
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
		return pickOne(w, []string{"0", "0.0", "0.00"})
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
