package demo

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"adlens"
	"adlens/internal/made"
)

// A market is one marketplace of the account: a profile of the platform and
// what sets its figures apart.
type market struct {
	country, currency, timezone string
	profileID, marketplaceID    string
	holder, kind, name          string // accountInfo
	dailyBudget                 int64  // sellers only
	// dayEnds is how many hours after midnight UTC the profile's day has
	// surely ended, summer or winter.
	dayEnds int

	german     bool    // campaign names
	size       float64 // of the audience
	middle     float64 // the year in the middle of its growth
	share      float64 // of the shelf that is sold here
	priceLevel float64 // amounts of its currency for a US dollar of list price
	priceEnd   cents   // the last digits of a price tag
}

var markets = []*market{
	{
		country: "US", currency: "USD", timezone: "America/Los_Angeles",
		profileID: "3318640271905824", marketplaceID: "ATVPDKIKX0DER",
		holder: "A3DEMOTANNWK01", kind: "seller", name: "Tannwick Outdoor Inc", dailyBudget: 999999999, dayEnds: 8,
		size: 1, middle: 2024.0, share: 0.62, priceLevel: 1, priceEnd: 99,
	},
	{
		country: "UK", currency: "GBP", timezone: "Europe/London",
		profileID: "1926053748260117", marketplaceID: "A1F83G8C2ARO7P",
		holder: "ENTITY28DEMOTANNWK", kind: "vendor", name: "Tannwick Trading Ltd", dayEnds: 0,
		size: 0.55, middle: 2024.5, share: 0.46, priceLevel: 0.82, priceEnd: 99,
	},
	{
		country: "DE", currency: "EUR", timezone: "Europe/Paris",
		profileID: "4471209935518602", marketplaceID: "A1PA6795UKMFR9",
		holder: "A2DEMOTANNWK49", kind: "seller", name: "Tannwick Heim & Garten GmbH", dailyBudget: 999999999, dayEnds: 0,
		german: true, size: 0.6, middle: 2025.5, share: 0.46, priceLevel: 0.95, priceEnd: 95,
	},
}

func (m *market) isSeller() bool { return m.kind == "seller" }

// localPrice tags a list price in US dollars in the market's currency.
func (m *market) localPrice(dollars float64) cents {
	return cents(max(3, math.Round(dollars*m.priceLevel)))*100 - 100 + m.priceEnd
}

// accountProfiles is the platform's list of the account's profiles.
func accountProfiles() []made.Profile {
	list := make([]made.Profile, len(markets))
	for i, m := range markets {
		list[i] = made.Profile{
			ProfileID: json.Number(m.profileID), CountryCode: m.country, CurrencyCode: m.currency,
			DailyBudget: m.dailyBudget, Timezone: m.timezone,
			AccountInfo: made.AccountInfo{MarketplaceStringID: m.marketplaceID, ID: m.holder, Type: m.kind, Name: m.name, ValidPaymentMethod: true},
		}
	}
	return list
}

// cents is an amount with two decimals, kept exact.
type cents int64

// jsonNumber is the amount as the platform writes it.
func (c cents) jsonNumber() json.Number { return json.Number(made.AppendDecimal(nil, int64(c), 2)) }

// ratesEpoch is where every rate begins its walk: a rate is a function of its
// date, so it does not move with the span.
var ratesEpoch = adlens.Date(oldestYear, time.January, 1)

var currencies = []struct {
	code string
	mean float64
}{{"EUR", 1.09}, {"GBP", 1.27}}

// ratesCSV lists US dollars for one pound and one euro on business days, from a
// week before the span. Weekends are absent, as in the banks' own tables: a
// reader must look back.
func ratesCSV(seed uint64, s span) []byte {
	walks := make([][]float64, len(currencies))
	for i, c := range currencies {
		walks[i] = walkRate(seed, c.code, c.mean, s.last)
	}
	var table made.Rates
	for d := s.first - 7; d <= s.last; d++ {
		if !isBusinessDay(d) {
			continue
		}
		for i, c := range currencies {
			table.Add(d, c.code, strconv.FormatFloat(walks[i][d-ratesEpoch], 'f', 5, 64))
		}
	}
	return table.Bytes()
}

// walkRate is a random walk from the epoch that is slowly pulled back to its
// mean.
func walkRate(seed uint64, code string, mean float64, last adlens.Day) []float64 {
	r := newStream(seed, "rate", code)
	out := make([]float64, last-ratesEpoch+1)
	off := 0.0
	for i := range out {
		if isBusinessDay(ratesEpoch + adlens.Day(i)) {
			off = 0.996*off + 0.0042*r.NormFloat64()
		}
		out[i] = mean * math.Exp(off)
	}
	return out
}

func isBusinessDay(d adlens.Day) bool {
	w := d.Time().Weekday()
	return w != time.Saturday && w != time.Sunday
}
