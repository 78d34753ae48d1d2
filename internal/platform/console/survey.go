package console

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/platform"
)

// survey reads all rows for what they say together: days, currency, country and how
// numbers are written.
func (f *File) survey() error {
	s := survey{file: f}
	if err := f.eachRow(s.addRow); err != nil {
		return err
	}
	if s.rows == 0 {
		return errors.New("it has no rows, and without them it does not say of which days; a day without figures cannot be told from one that was not downloaded")
	}
	if f.Currency == "" {
		f.Currency, f.Mark = currencyOf(s.mark), s.mark
	}
	if f.notation == 0 && s.unsure != nil {
		s.unsure.Expected = "a number that can be read in one way, or another in the file that shows whether its decimals follow a point or a comma"
		return s.unsure
	}
	return nil
}

// survey collects what the rows of a file say together.
type survey struct {
	file   *File
	rows   int
	shown  *platform.Fault // the number that shows the notation
	unsure *platform.Fault // the first number that can be read in two ways

	sign *platform.Fault // the first amount that has the mark of a currency
	mark string          // that mark
}

func (s *survey) addRow(cells []cell, number int) error {
	f := s.file
	if i := slices.IndexFunc(f.fields, func(field *field) bool { return field != nil && field.column == currencyColumn }); i >= 0 { // before the amounts, wherever it stands
		if err := sameText(&f.Currency, s.rows, number, f.fields[i], cellOf(cells, i)); err != nil {
			return err
		}
	}
	for i, field := range f.fields {
		if field == nil {
			continue
		}
		c := cellOf(cells, i)
		switch {
		case field.column == dateColumn:
			day, ok := c.day()
			if !ok || day < adlens.FirstStorableDay || day > adlens.LastStorableDay {
				return fault(number, field, c, aDay)
			}
			if s.rows == 0 {
				f.Start, f.End = day, day
			}
			f.Start, f.End = min(f.Start, day), max(f.End, day)
		case field.column == countryColumn:
			if err := sameText(&f.Country, s.rows, number, field, c); err != nil {
				return err
			}
		case (field.count || field.amount) && f.workbook == nil && !c.isEmpty():
			if err := s.addNumber(number, field, c); err != nil {
				return err
			}
		case (field.count || field.amount) && !c.number && !c.isEmpty():
			return fault(number, field, c, "a number, not text: what is text in a workbook could be written in any country's way")
		}
	}
	s.rows++
	return nil
}

// sameText makes sure that all rows have one value in a column.
func sameText(all *string, rows, number int, f *field, c cell) error {
	text := strings.TrimSpace(c.text)
	if rows > 0 && text != *all {
		return fault(number, f, c, fmt.Sprintf("%s as in the rows before: one download for each marketplace", cmp.Or(*all, "empty")))
	}
	*all = text
	return nil
}

const yen = "JPY"

// currenciesOf are the currencies that a mark at an amount may stand for: the marks of
// the currencies of marketplaces. Amounts have no others.
var currenciesOf = map[string][]string{
	"£": {"GBP"}, "€": {"EUR"}, "₹": {"INR"}, "Rs": {"INR"}, "zł": {"PLN"}, "￥": {yen}, "¥": {yen}, "JP¥": {yen}, "円": {yen},
	"₺": {"TRY"}, "TL": {"TRY"}, "kr": {"SEK", "NOK", "DKK"}, "R": {"ZAR"}, "E£": {"EGP"},
	"$":   {"USD", "CAD", "MXN", "BRL", "AUD", "SGD", "NZD", "HKD", "TWD", "ARS", "CLP", "COP", "UYU"},
	"US$": {"USD"}, "CA$": {"CAD"}, "C$": {"CAD"}, "CDN$": {"CAD"}, "MX$": {"MXN"}, "Mex$": {"MXN"}, "R$": {"BRL"}, "A$": {"AUD"}, "AU$": {"AUD"}, "S$": {"SGD"},
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

func isMark(text string) bool { return currencyCode.MatchString(text) || currenciesOf[text] != nil }

// currencyOf returns the currency that a mark alone says, "" where it says none.
func currencyOf(mark string) string {
	if currencyCode.MatchString(mark) {
		return mark
	}
	if all := currenciesOf[mark]; len(all) == 1 {
		return all[0]
	}
	return ""
}

// MayBeIn reports whether the file's amounts may be in a currency, as far as the file
// says: a mark such as $ is of several.
func (f *File) MayBeIn(currency string) bool {
	if f.Currency != "" {
		return f.Currency == currency
	}
	return f.Mark == "" || slices.Contains(currenciesOf[f.Mark], currency)
}

// addNumber learns how numbers are written, and of which currency the amounts are.
func (s *survey) addNumber(number int, field *field, c cell) error {
	bare, mark, ok := c.writtenNumber(field.amount)
	if !ok {
		return fault(number, field, c, field.expectedNumber())
	}
	if err := s.addSign(number, field, c, mark); err != nil {
		return err
	}
	shown := notationOf(bare, field.count)
	if shown == 0 && (currencyOf(s.mark) == yen || s.file.Currency == yen) {
		shown = notationOf(bare, true) // a yen has no decimals, so a sign separates thousands
	}
	switch {
	case shown == 0:
		if s.unsure == nil && strings.ContainsAny(bare, ".,") {
			s.unsure = fault(number, field, c, "")
		}
	case s.file.notation == 0:
		s.file.notation, s.shown = shown, fault(number, field, c, "")
	case s.file.notation != shown:
		return fault(number, field, c, fmt.Sprintf("a number written as %s in row %d is", s.shown.Value, s.shown.Row))
	}
	return nil
}

// addSign learns of which currency the amounts are by the mark at one; all have the
// same one, or that of the column. Headers are not looked at, which may have one sign for
// all.
func (s *survey) addSign(number int, field *field, c cell, mark string) error {
	switch {
	case mark == "" || mark == s.mark:
	case s.file.Currency != "":
		if mark != s.file.Currency && !slices.Contains(currenciesOf[mark], s.file.Currency) {
			return fault(number, field, c, fmt.Sprintf("an amount in %s, the file's currency", s.file.Currency))
		}
	case s.sign == nil:
		s.sign, s.mark = fault(number, field, c, ""), mark
	case currencyOf(mark) == "" || currencyOf(mark) != currencyOf(s.mark):
		return fault(number, field, c, fmt.Sprintf("an amount in the currency of %s in row %d", s.sign.Value, s.sign.Row))
	}
	return nil
}

func fault(row int, f *field, c cell, expected string) *platform.Fault {
	text := c.text
	if strings.TrimSpace(text) == "" {
		text = "empty"
	}
	return &platform.Fault{Row: row, Field: f.header, Value: text, Expected: expected}
}
