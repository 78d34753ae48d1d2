package demo

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
)

// A market is one marketplace of the account: a profile of the platform and
// what sets its figures apart.
type market struct {
	country, currency, timezone string
	profileID                   int64
	marketplaceID               string
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
		profileID: 3318640271905824, marketplaceID: "ATVPDKIKX0DER",
		holder: "A3DEMOTANNWK01", kind: "seller", name: "Tannwick Outdoor Inc", dailyBudget: 999999999, dayEnds: 8,
		size: 1, middle: 2024.0, share: 0.62, priceLevel: 1, priceEnd: 99,
	},
	{
		country: "UK", currency: "GBP", timezone: "Europe/London",
		profileID: 1926053748260117, marketplaceID: "A1F83G8C2ARO7P",
		holder: "ENTITY28DEMOTANNWK", kind: "vendor", name: "Tannwick Trading Ltd", dayEnds: 0,
		size: 0.55, middle: 2024.5, share: 0.46, priceLevel: 0.82, priceEnd: 99,
	},
	{
		country: "DE", currency: "EUR", timezone: "Europe/Paris",
		profileID: 4471209935518602, marketplaceID: "A1PA6795UKMFR9",
		holder: "A2DEMOTANNWK49", kind: "seller", name: "Tannwick Heim & Garten GmbH", dailyBudget: 999999999, dayEnds: 0,
		german: true, size: 0.6, middle: 2025.5, share: 0.46, priceLevel: 0.95, priceEnd: 95,
	},
}

func (m *market) seller() bool { return m.kind == "seller" }

// price tags a list price in US dollars in the market's currency.
func (m *market) price(dollars float64) cents {
	return cents(max(3, math.Round(dollars*m.priceLevel)))*100 - 100 + m.priceEnd
}

// A scene is what all ads of a market share on one day.
type scene struct {
	date     quoted
	day      day
	rng      *rand.Rand
	demand   [len(categories)]float64
	discount float64 // factor on prices
	eager    float64 // factor on orders per click
	bids     float64 // factor on the cost of a click

	// What an earlier version of a report shows otherwise than the final one:
	late    float64 // chance that an order is not credited yet
	phantom bool    // a product has a row that will be taken back
}

// scene sets the day for one ad type. Every day has its own stream: a week and
// the month around it tell the same story, and tomorrow's file only adds to it.
func (m *market) scene(seed uint64, t adType, d day) *scene {
	s := &scene{day: d, discount: 1}
	s.date = quote(d.String())
	s.rng = stream(seed, "day", m.country, t.slug(), d.String())
	s.bids = 1 + 0.2*(season(d)-1)
	s.eager = s.bids * mood(d, m.middle) * jitter(s.rng, 0.06)
	if isSale(d) {
		s.discount, s.eager = 0.85, s.eager*1.15
	}
	all := m.size * growth(d, m.middle) * season(d) * weekdays[d.weekday()] * jitter(s.rng, 0.06)
	for i, c := range categories {
		s.demand[i] = all * (1 + c.summer*summer(d))
	}
	return s
}

// profiles is the platform's list of the account's profiles.
func profiles() ([]byte, error) {
	type info struct {
		MarketplaceStringID string `json:"marketplaceStringId"`
		ID                  string `json:"id"`
		Type                string `json:"type"`
		Name                string `json:"name"`
		ValidPaymentMethod  bool   `json:"validPaymentMethod"`
	}
	type profile struct {
		ProfileID    json.Number `json:"profileId"`
		CountryCode  string      `json:"countryCode"`
		CurrencyCode string      `json:"currencyCode"`
		DailyBudget  int64       `json:"dailyBudget,omitempty"`
		Timezone     string      `json:"timezone"`
		AccountInfo  info        `json:"accountInfo"`
	}
	list := make([]profile, len(markets))
	for i, m := range markets {
		list[i] = profile{
			ProfileID:   json.Number(strconv.FormatInt(m.profileID, 10)),
			CountryCode: m.country, CurrencyCode: m.currency, DailyBudget: m.dailyBudget, Timezone: m.timezone,
			AccountInfo: info{m.marketplaceID, m.holder, m.kind, m.name, true},
		}
	}
	return jsonFile(list)
}
