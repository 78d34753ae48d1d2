package extracts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"adlens"
	"adlens/internal/made"
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
		if w.percentChance(50) {
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
	base, late, other := w.rateTables()
	titles, err := made.Titles(w.titleRows())
	if err != nil {
		return err
	}
	for file, content := range map[string][]byte{
		filepath.Join(a.Base, made.ProfilesFile):   []byte("[" + strings.Join(objects, ",\n ") + "]\n"),
		filepath.Join(a.Base, made.TitlesFile):     titles,
		filepath.Join(a.Base, made.RatesFile):      base,
		filepath.Join(a.LateRates, made.RatesFile): late,
		filepath.Join(a.NewRates, made.RatesFile):  other,
	} {
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) profileObject(p profile) string {
	o := made.Profile{
		ProfileID: json.Number(p.id), CountryCode: p.country, CurrencyCode: p.currency, Timezone: p.timezone,
		AccountInfo: made.AccountInfo{MarketplaceStringID: "ATVPDKIKX0DER", ID: "ENTITY" + p.id, Type: p.kind, Name: "Beispiel \u00fc " + p.country, ValidPaymentMethod: true},
	}
	if p.kind == "seller" {
		o.DailyBudget = 999999999
	}
	return w.varyObject(o)
}

// rateTables gives the working days' rates, then those of weekends alone (a Sunday
// that was converted with Friday's rate changes), then other working days'.
func (w *writer) rateTables() (base, late, other []byte) {
	var tables [3]made.Rates
	for back := w.Days + 12; back >= -2; back-- {
		date := w.today.AddDate(0, 0, -back)
		day, own := adlens.DayOf(date), w.fork() // a weekend draws less
		for _, currency := range []string{"CAD", "EUR", "GBP", "JPY"} {
			rate := own.drawRate(currency)
			weekend := date.Weekday() == time.Saturday || date.Weekday() == time.Sunday
			switch {
			case !weekend:
				tables[0].Add(day, currency, rate)
				if own.percentChance(15) {
					tables[2].Add(day, currency, own.drawRate(currency))
				}
			case own.percentChance(30):
				tables[1].Add(day, currency, rate)
			}
		}
	}
	return tables[0].Bytes(), tables[1].Bytes(), tables[2].Bytes()
}

func (w *writer) drawRate(currency string) string {
	micros := aroundRate[currency]
	micros += w.IntN(micros/10) - micros/20
	return fmt.Sprintf("%d.%06d", micros/1_000_000, micros%1_000_000)
}

func (w *writer) titleRows() [][]string {
	var rows [][]string
	for i, asin := range asins {
		if i%3 != 2 { // a third of the products has no title
			rows = append(rows, []string{asin, fmt.Sprintf("Lamp \"No. %d\", gr\u00fcn", i)})
		}
	}
	return rows
}
