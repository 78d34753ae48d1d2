package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"adlens"
)

// Shape says what data a run is about. The same shape makes the same extracts
// to the byte.
type Shape struct {
	Rows       int        `json:"rows"`                // fact rows of all accounts, about
	Small      int        `json:"small_accounts"`      // accounts beside the heavy one
	Products   int        `json:"products"`            // of the heavy account
	Campaigns  int        `json:"campaigns,omitempty"` // of the heavy account; 0: one for each marketplace
	Years      int        `json:"years"`               // of 365 days
	Zipf       float64    `json:"zipf"`                // exponent of the products' shares
	OneProduct bool       `json:"one_product"`         // one product has all clicks, spend and orders
	GapYear    bool       `json:"gap_year"`            // a year in the middle is held without figures
	Seed       uint64     `json:"seed"`
	End        adlens.Day `json:"end"` // the last day with figures
}

const (
	daysOfYear = 365
	heavyShare = 0.6 // of all rows, where small accounts stand beside it
	heavyID    = "heavy"
)

// firstDay is the first day with figures.
func (s Shape) firstDay() adlens.Day { return s.End - adlens.Day(s.Years*daysOfYear) + 1 }

// emptyYear is the year whose reports are empty; ok is false where there is none.
func (s Shape) emptyYear() (from, to adlens.Day, ok bool) {
	year := (s.firstDay() + (s.End-s.firstDay())/2).Year()
	from = adlens.Date(year, 1, 1)
	return from, from.LastOfYear(), s.GapYear
}

// figureDays is how many days have figures.
func (s Shape) figureDays() int {
	days := s.Years * daysOfYear
	if from, to, ok := s.emptyYear(); ok {
		days -= int(min(to, s.End) - max(from, s.firstDay()) + 1)
	}
	return days
}

// market is a marketplace of an account.
type market struct {
	country, currency, zone string
	profile                 string  // the platform's id
	dollar                  float64 // about how many units of the currency a dollar is
}

var markets = []market{
	{"US", "USD", "America/Los_Angeles", "3318640271905001", 1},
	{"DE", "EUR", "Europe/Paris", "3318640271905002", 0.92},
	{"UK", "GBP", "Europe/London", "3318640271905003", 0.77},
	{"JP", "JPY", "Asia/Tokyo", "3318640271905004", 150},
	{"CA", "CAD", "America/Los_Angeles", "3318640271905005", 1.37},
	{"FR", "EUR", "Europe/Paris", "3318640271905006", 0.92},
}

// account is one account of the shape with what its rows are drawn from.
type account struct {
	id       string
	number   uint64
	rows     int // about
	markets  []market
	products []product // by rank, the best seller first
	// campaigns is how many campaigns each slice has; 0 if its marketplace has one.
	campaigns int
}

// product is an advertised product.
type product struct {
	id     string
	shown  uint32  // chance of a row on a day, as a share of 2^32
	clicks float64 // mean on such a day
	price  int64   // cents of a dollar
}

// makeAccounts lists the heavy account, and then the small ones.
func (s Shape) makeAccounts() ([]account, error) {
	heavy := s.Rows
	if s.Small > 0 {
		heavy = int(heavyShare * float64(s.Rows))
	}
	all := []account{{id: heavyID, rows: heavy, markets: markets}}
	for i := range s.Small {
		m := i % len(markets)
		all = append(all, account{id: fmt.Sprintf("small-%03d", i+1), number: uint64(i + 1), rows: (s.Rows - heavy) / s.Small,
			markets: []market{markets[m], markets[(m+1)%len(markets)]}})
	}
	for i := range all {
		n := s.Products
		if i > 0 {
			n = max(min(s.Products, 200), s.Products/50)
		}
		if err := s.setCampaigns(&all[i]); err != nil {
			return nil, err
		}
		if err := s.drawProducts(&all[i], n); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// setCampaigns divides the shape's campaigns evenly among the slices of an account.
// A small account has a fiftieth of them.
func (s Shape) setCampaigns(a *account) error {
	if s.Campaigns == 0 {
		return nil
	}
	reports, fewest := len(a.markets)*len(kinds), slices.Max(runsByRank[:])
	a.campaigns = s.Campaigns / reports
	if a.id != heavyID {
		a.campaigns = max(fewest, a.campaigns/50)
	}
	if a.campaigns < fewest {
		return fmt.Errorf("-campaigns is %d, expected 0 or at least %d: a product runs in up to %d campaigns of one marketplace and ad product", s.Campaigns, fewest*reports, fewest)
	}
	return nil
}

// drawProducts gives an account its products. Their shares of the rows and of the
// clicks fall with their rank.
func (s Shape) drawProducts(a *account, n int) error {
	marketDays := float64(s.figureDays() * len(a.markets))
	perDay := (float64(a.rows)/marketDays - 1) / 2 // Sponsored Brands have one row a day, the other two the rest
	if a.campaigns > 0 {
		perDay = (float64(a.rows)/marketDays - brandsRows) / 2 / meanRuns
	}
	if perDay < 1 || perDay > 0.95*float64(n) {
		return fmt.Errorf("%d rows of account %s are %.1f products for each day, marketplace and ad product; expected 1 to 95 %% of its %d products (see -rows, -products, -years, -small-accounts, -campaigns)",
			a.rows, a.id, perDay, n)
	}
	scale := s.weightScale(n, perDay)
	rng := rand.New(rand.NewPCG(s.Seed, a.number))
	a.products = make([]product, n)
	for r := range a.products {
		weight := math.Pow(float64(r+1), -s.Zipf)
		a.products[r] = product{
			id:     productID(a.number, r),
			shown:  uint32(min(1, scale*weight) * math.MaxUint32),
			clicks: 0.3 + 60*weight,
			price:  500 + int64(rng.Uint64N(9500)),
		}
	}
	return nil
}

// productID makes ids that look like the platform's and do not repeat within
// an account: the factor has no divisor in common with the number of ids.
func productID(account uint64, rank int) string {
	const (
		first  = 36 * 36 * 36 * 36 * 36 * 36 * 36
		ids    = 35 * first
		factor = 1_000_000_007
	)
	n := first + (uint64(rank)+account<<16)*factor%ids
	return "B0" + strings.ToUpper(strconv.FormatUint(n, 36))
}

// weightScale is the factor by which the weights must be multiplied, so that so many
// products are shown on an average day.
func (s Shape) weightScale(n int, perDay float64) float64 {
	low, high := 0.0, math.Pow(float64(n), s.Zipf)
	for range 60 {
		middle, sum := (low+high)/2, 0.0
		for r := range n {
			sum += min(1, middle*math.Pow(float64(r+1), -s.Zipf))
		}
		if sum < perDay {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
