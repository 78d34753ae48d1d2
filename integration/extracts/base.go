package extracts

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

type profile struct {
	id, country, currency, timezone, kind string
}

// The first five are always written: three currencies beside the dollar, a
// vendor, and a country with two profiles.
var menu = []profile{
	{"", "US", "USD", "America/Los_Angeles", "seller"},
	{"", "UK", "GBP", "Europe/London", "seller"},
	{"", "DE", "EUR", "Europe/Paris", "vendor"},
	{"", "JP", "JPY", "Asia/Tokyo", "seller"},
	{"", "DE", "EUR", "Europe/Paris", "seller"},
	{"", "US", "USD", "America/Los_Angeles", "vendor"},
	{"", "CA", "CAD", "America/Los_Angeles", "vendor"},
}

// Units of the dollar, in millionths, around which the rates move.
var aroundRate = map[string]int{"GBP": 1_310_000, "EUR": 1_087_300, "JPY": 6_712, "CAD": 724_500}

func (w *writer) pickProfiles() []profile {
	chosen := append([]profile(nil), menu[:5]...)
	for _, p := range menu[5:] {
		if w.chance(50) {
			chosen = append(chosen, p)
		}
	}
	for i := range chosen {
		chosen[i].id = strconv.FormatInt(1_000_000_000_000_000+w.Int64N(8_000_000_000_000_000)*int64(1+i%2), 10)
	}
	return chosen
}

func (w *writer) writeBase(a Account) error {
	var objects []string
	for _, p := range w.profiles {
		objects = append(objects, w.profileObject(p))
	}
	// Agencies are skipped by the loader; no report names this one.
	objects = append(objects, w.profileObject(profile{"77", "FR", "EUR", "Europe/Paris", "agency"}))
	base, late, other := w.rates()
	for file, content := range map[string]string{
		filepath.Join(a.Base, "profiles.json"):  "[" + strings.Join(objects, ",\n ") + "]\n",
		filepath.Join(a.Base, "products.csv"):   w.titles(),
		filepath.Join(a.Base, "rates.csv"):      base,
		filepath.Join(a.LateRates, "rates.csv"): late,
		filepath.Join(a.NewRates, "rates.csv"):  other,
	} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) profileObject(p profile) string {
	info := w.object(
		member{"marketplaceStringId", quote("ATVPDKIKX0DER")}, member{"id", quote("ENTITY" + p.id)},
		member{"type", quote(p.kind)}, member{"name", quote("Beispiel \u00fc " + p.country)},
		member{"validPaymentMethod", "true"},
	)
	members := []member{
		{"profileId", w.id(p.id)}, {"countryCode", quote(p.country)}, {"currencyCode", quote(p.currency)},
		{"timezone", quote(p.timezone)}, {"accountInfo", info},
	}
	if p.kind == "seller" {
		members = append(members, member{"dailyBudget", "999999999.0"})
	}
	return w.object(members...)
}

// rates gives the working days' rates, then those of weekends alone (a Sunday
// that was converted with Friday's rate changes), then other working days'.
func (w *writer) rates() (base, late, other string) {
	const head = "date,currency,usd\n"
	var texts [3]strings.Builder
	for i := range texts {
		texts[i].WriteString(head)
	}
	for back := w.Days + 12; back >= -2; back-- {
		date := w.today.AddDate(0, 0, -back)
		for _, currency := range []string{"CAD", "EUR", "GBP", "JPY"} {
			line := date.Format(time.DateOnly) + "," + currency + "," + w.rate(currency) + "\n"
			weekend := date.Weekday() == time.Saturday || date.Weekday() == time.Sunday
			switch {
			case !weekend:
				texts[0].WriteString(line)
				if w.chance(15) {
					texts[2].WriteString(date.Format(time.DateOnly) + "," + currency + "," + w.rate(currency) + "\n")
				}
			case w.chance(30):
				texts[1].WriteString(line)
			}
		}
	}
	return texts[0].String(), texts[1].String(), texts[2].String()
}

func (w *writer) rate(currency string) string {
	micros := aroundRate[currency]
	micros += w.IntN(micros/10) - micros/20
	return fmt.Sprintf("%d.%06d", micros/1_000_000, micros%1_000_000)
}

func (w *writer) titles() string {
	text := "product_id,title\n"
	for i, asin := range asins {
		if i%3 != 2 { // a third of the products has no title
			text += fmt.Sprintf("%s,\"Lamp \"\"No. %d\"\", gr\u00fcn\"\n", asin, i)
		}
	}
	return text
}
