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

func columns(kindName string) []string {
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

// rows writes a download's rows: none at all for an emptied report, days
// without any, and several for one product and day.
func (w *writer) rows(d description) []string {
	if w.chance(8) {
		return nil
	}
	var rows []string
	for day := d.start; !day.After(d.end); day = day.AddDate(0, 0, 1) {
		if w.chance(15) {
			continue
		}
		for range w.IntN(7) {
			rows = append(rows, w.row(d, day.Format(time.DateOnly)))
		}
	}
	w.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

func (w *writer) row(d description, day string) string {
	members := []member{
		{"date", quote(day)}, {"campaignId", w.id(strconv.FormatUint(144158449488730278+uint64(w.IntN(9)), 10))},
		{"campaignName", quote("C\u00f4te, \"auto\"")},
	}
	if w.chance(70) {
		members = append(members, member{"campaignBudgetCurrencyCode", quote(d.profile.currency)})
	}
	if asin := kinds[d.kind].asin; asin != "" {
		members = append(members, member{asin, w.asin()}, member{"adGroupId", w.id("72320882861500")}, member{"adId", "null"})
	}
	return w.object(append(members, w.measures(d)...)...)
}

func (w *writer) asin() string {
	if w.chance(8) {
		return pick(w, []string{"null", `""`})
	}
	return quote(pick(w, asins))
}

// measures writes the counts and amounts. The 14-day window holds more than
// the 7-day one, so a loader that takes the wrong one is seen.
func (w *writer) measures(d description) []member {
	zero := w.chance(12)
	m := []member{{"impressions", w.count(zero, 5000)}, {"clicks", w.count(zero, 90)}, {"cost", w.amount(zero, 9000)}}
	if d.kind == "spAdvertisedProduct" {
		return append(m, member{"purchases7d", w.count(zero, 7)}, member{"sales7d", w.amount(zero, 30000)},
			member{"purchases14d", w.count(zero, 11)}, member{"sales14d", w.amount(zero, 50000)},
			member{"unitsSoldClicks7d", "1"}, member{"unitsSoldClicks14d", "2"})
	}
	return append(m, member{"purchases", w.count(zero, 9)}, member{"sales", w.amount(zero, 40000)},
		member{"purchasesClicks", w.count(zero, 3)}, member{"salesClicks", w.amount(zero, 9000)}, member{"unitsSold", "3"})
}

func (w *writer) count(zero bool, below int) string {
	switch {
	case zero || w.chance(30):
		return "0"
	case w.Big && w.chance(60):
		return pick(w, []string{"9223372036854775807", "9223372036854775806", "9007199254740993", strconv.FormatInt(w.Int64(), 10)})
	}
	return strconv.Itoa(1 + w.IntN(below))
}

// amount writes an amount in one of the ways in which the platform prints it,
// binary leftovers such as 59.980000000000004 included.
func (w *writer) amount(zero bool, belowCents int) string {
	if zero || w.chance(25) {
		return pick(w, []string{"0", "0.0", "0.00"})
	}
	if w.Big && w.chance(60) {
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
