package console

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"adlens"
)

// cell is what a file has in a column of a row.
type cell struct {
	text   string
	number bool // of a workbook, which stores numbers as binary floats
	bad    bool // of a workbook: an error or a truth value
}

// isEmpty reports whether the cell has no value. The console writes a dash where
// nothing applies.
func (c cell) isEmpty() bool {
	text := strings.TrimSpace(c.text)
	return text == "" || !c.number && text == "-"
}

// months are their names as the console shortens them, in English, German, Spanish
// and Italian: those of Java's dates ("Mär", "ago") and of Unicode's ("März",
// "sept"). No name means two months.
var months = func() map[string]time.Month {
	found := map[string]time.Month{}
	for i, names := range []string{
		"jan january januar jän ene gen", "feb february februar", "mar march mär märz mrz", "apr april abr", "may mai mag", "jun june juni giu",
		"jul july juli lug", "aug august ago", "sep sept september set", "oct october okt oktober ott", "nov november", "dec december dez dezember dic",
	} {
		for _, name := range strings.Fields(names) {
			found[name] = time.Month(i + 1)
		}
	}
	return found
}()

// Days as the console writes them: "Sep 01, 2026", also with a month's name in the
// console's language; the others begin with the year, so that they cannot be
// mistaken.
var (
	monthFirst = regexp.MustCompile(`^(\p{L}+)\.? ([0-9]{1,2}), ([0-9]{4})$`)
	yearFirst  = regexp.MustCompile(`^([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})(?:T00:00:00(?:\.000)?Z?)?$`)
	eastern    = regexp.MustCompile(`^([0-9]{4})年([0-9]{1,2})月([0-9]{1,2})日$`)
)

const aDay = `a day like "Sep 01, 2026" or "2026-09-01" that exists`

// day reads the cell of a day. Days of a workbook are numbers: days since
// 1899-12-30, of those after the 29 February 1900 that Excel believes in.
func (c cell) day() (adlens.Day, bool) {
	const zero, firstSure, lastSure = 25569, 61, 100_000 // zero is 1970-01-01
	text := strings.TrimSpace(c.text)
	if c.number {
		n, err := strconv.ParseUint(strings.TrimSuffix(text, ".0"), 10, 32)
		return adlens.Day(int64(n) - zero), err == nil && n >= firstSure && n <= lastSure
	}
	if m := monthFirst.FindStringSubmatch(text); m != nil {
		return dayOf(m[3], months[strings.ToLower(m[1])], m[2])
	}
	for _, form := range []*regexp.Regexp{yearFirst, eastern} {
		if m := form.FindStringSubmatch(text); m != nil {
			month, _ := strconv.Atoi(m[2])
			return dayOf(m[1], time.Month(month), m[3])
		}
	}
	return 0, false
}

func dayOf(year string, month time.Month, day string) (adlens.Day, bool) {
	y, _ := strconv.Atoi(year)
	d, _ := strconv.Atoi(day)
	at := adlens.Date(y, month, d)
	exists := y > 0 && month >= time.January && month <= time.December && at.DayOfMonth() == d
	return at, exists
}

// storedNumber is what a number in a file of ours may look like, with little
// enough to it that it can be computed with.
var storedNumber = regexp.MustCompile(`^-?[0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?$`)

// A number of a workbook is a binary float, whose text may have more digits than the
// number that was meant: 12.34 may be 12.340000000000001.
const (
	shownDecimals = 4  // the console shows amounts with up to four (0,4356)
	floatDigits   = 15 // that a float holds of any decimal number, and that spreadsheets show
)

// meantNumber returns the number that a workbook's float stands for: the one of
// at most four decimals, where one is within 10^-9 of it, else the float cut to 15
// digits, half away from zero.
func meantNumber(text string) (string, bool) {
	if !storedNumber.MatchString(text) {
		return "", false
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", false
	}
	short := n.FloatString(shownDecimals)
	near, _ := new(big.Rat).SetString(short)
	if distance := new(big.Rat).Sub(n, near); distance.Abs(distance).Cmp(big.NewRat(1, 1_000_000_000)) <= 0 {
		return short, true
	}
	// A float of 15 digits in front of the point and more does not get here.
	whole := len(strings.TrimPrefix(new(big.Int).Quo(new(big.Int).Abs(n.Num()), n.Denom()).String(), "0"))
	return n.FloatString(max(floatDigits-whole, 0)), true
}

// notation is how a file of text writes numbers: with a point or a comma before the
// decimals. It is 0 until a number has shown it.
type notation byte

// other is the sign that separates thousands.
func (n notation) other() notation { return '.' + ',' - n }

// writtenNumber cuts a number into what is before and after its digits: the mark of a
// currency, which amounts may have on one side. It is no number where it has other
// letters: those of thousands and millions (3K, 1,2 Mio) are part of its value.
func (c cell) writtenNumber(amount bool) (bare, mark string, ok bool) {
	text := strings.TrimSpace(c.text)
	bare = strings.TrimFunc(text, func(r rune) bool {
		return unicode.Is(unicode.Sc, r) || unicode.IsLetter(r) || unicode.IsSpace(r)
	})
	if bare == text || bare == "" {
		return bare, "", bare != ""
	}
	before, after, _ := strings.Cut(text, bare)
	mark = strings.Join(strings.Fields(before+after), "") // US $ is US$
	return bare, mark, amount && (before == "" || after == "") && isMark(mark)
}

// notationOf returns the notation that a written number shows, 0 where it can be
// read both ways or is no number. What has a sign can be read both ways where
// three digits follow the sign and it may separate thousands.
func notationOf(text string, count bool) notation {
	last := strings.LastIndexAny(text, ".,")
	if last < 0 {
		return 0
	}
	sign := notation(text[last])
	one := strings.Count(text, string(rune(sign))) == 1
	switch {
	case strings.ContainsRune(text, rune(sign.other())) && one && !count:
		return sign
	case !isGrouped(text, byte(sign)):
		if one && !count {
			return sign
		}
		return 0
	case count || !one:
		return sign.other()
	}
	return 0
}

// isGrouped reports whether a sign separates thousands, or as in India hundreds in
// front of the last three digits.
func isGrouped(text string, sign byte) bool {
	groups := strings.Split(text, string(rune(sign)))
	for i, group := range groups {
		if strings.Trim(group, "0123456789") != "" || len(group) > 3 || len(group) == 0 || i > 0 && len(group) == 1 || i == len(groups)-1 && len(group) != 3 {
			return false
		}
	}
	return len(groups) > 1 && groups[0][0] != '0'
}

// plainNumber is a bare number without separators, and with a point.
func (n notation) plainNumber(text string) (string, bool) {
	whole, fraction, hasFraction := strings.Cut(text, string(rune(n)))
	if strings.ContainsRune(whole, rune(n.other())) {
		if !isGrouped(strings.TrimPrefix(whole, "-"), byte(n.other())) {
			return "", false
		}
		whole = strings.ReplaceAll(whole, string(rune(n.other())), "")
	}
	if strings.Trim(strings.TrimPrefix(whole, "-"), "0123456789") != "" || hasFraction && (fraction == "" || strings.Trim(fraction, "0123456789") != "") {
		return "", false
	}
	if hasFraction {
		return whole + "." + fraction, true
	}
	return whole, whole != ""
}

// numberText returns the number of a cell as JSON writes it.
func (c cell) numberText(n notation, amount bool) (string, bool) {
	switch {
	case c.bad:
		return "", false
	case c.number:
		return meantNumber(c.text)
	case n == 0:
		n = '.' // no number of the file has a sign
	}
	bare, _, ok := c.writtenNumber(amount)
	if !ok {
		return "", false
	}
	return n.plainNumber(bare)
}
