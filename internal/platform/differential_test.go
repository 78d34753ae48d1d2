package platform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"adlens"

	"github.com/google/go-cmp/cmp"
)

func januaryReport() *Report {
	t, _ := FindReportType("spAdvertisedProduct")
	return &Report{ID: "r", ProfileID: "1", Type: t,
		Start: adlens.Date(2026, time.January, 1), End: adlens.Date(2026, time.January, 31),
		Columns: []string{"date", "advertisedAsin", "impressions", "clicks", "cost", "purchases7d", "sales7d", "unitsSoldClicks7d", "sales30d"}}
}

// written is all that a reader says of a file, with the nulls of a whole one.
func written(each func(func(*Row) error) error, nulls func() map[string]int) (said []string) {
	err := each(func(r *Row) error {
		said = append(said, fmt.Sprintf("%d %s %q %q %v %v", r.Number, r.Day, r.Product, r.Currency, r.Counts, r.Amounts))
		return nil
	})
	if err == nil {
		said = append(said, fmt.Sprint(nulls()))
	}
	return append(said, quotation.ReplaceAllString(fmt.Sprint(err), "$1"))
}

// How much of the text the decoder repeats in an error of the form depends on
// how much it happens to have read.
var quotation = regexp.MustCompile("(?s)(damaged JSON at byte [0-9]+: invalid (?:character|surrogate pair|escape sequence)) ['`\"].*['`\"] ")

func writtenByOld(r io.Reader) []string {
	old := newOldRowReader(r, januaryReport(), "purchases7d", "sales7d")
	return written(old.Each, func() map[string]int { return old.nulls })
}

func writtenByNew(r io.Reader) []string {
	reader := NewRowReader(r, januaryReport(), "impressions", "clicks", "purchases7d", "cost", "sales7d")
	return written(reader.Each, func() map[string]int {
		nulls := map[string]int{}
		for _, n := range reader.Nulls() {
			nulls[n.Column] = n.Rows
		}
		return nulls
	})
}

func sameAsOld(t *testing.T, text []byte) {
	t.Helper()
	if diff := cmp.Diff(writtenByOld(bytes.NewReader(text)), writtenByNew(bytes.NewReader(text))); diff != "" {
		t.Errorf("%q is read otherwise than before (-old +new):\n%s", text, diff)
	}
}

const soundRow = `{"date":"2026-01-02","campaignId":144158449488730278,"campaignName":"SP | \"x\" | \u00e9ü","other":true,"advertisedAsin":"B0A","campaignBudgetCurrencyCode":"EUR","impressions":10,"clicks":2,"cost":1.5,"purchases7d":1,"sales7d":3,"unitsSoldClicks7d":null,"sales30d":null}`

// oddities are put into sound rows, in place of a part or behind it.
var oddities = []string{
	"", " ", "\n", "\t", "\x00", "\xff", "\xc3", "é", "\u2028", "\\", `\"`, `\u0041`, `\u00e`, `\ud800`, `\ud83d\ude00`, `\/`, `\x`, "\"", ",", ",,", ":", "{", "}", "[", "]", "[]", "{}",
	`{"a":1,"a":2}`, "null", "nul", "true", "false", "0", "00", "01", "-0", "-", "-1", "1.", ".5", "1.5", "1e3", "1E+3", "1e", "1e-21", "1e400", "9223372036854775807", "9223372036854775808",
	"999999999999", "1000000000000", "999999999999.99999999999999999999", "0.000000000000000000001", "123456789012345678901234567890", "NaN", `"date":"2026-01-03",`, `"\u0064ate":"2026-01-03",`, `"x":1,`, `"2026-01-31"`, `"2026-02-01"`, `"B0B"`,
	`"` + strings.Repeat("x", 64) + `"`, `"` + strings.Repeat("x", 65) + `"`, `"` + strings.Repeat("é", 40) + `"`,
}

// parts splits a row where something else may stand.
func parts(text string) []string {
	var all []string
	for text != "" {
		end := max(1, strings.IndexAny(text, `,:{}"\`))
		all, text = append(all, text[:end]), text[end:]
	}
	return all
}

func TestOddRowsAreReadAsBefore(t *testing.T) {
	row := parts(soundRow)
	for i := range row {
		for _, odd := range oddities {
			for _, kept := range []string{"", row[i]} {
				changed := strings.Join(slices.Concat(row[:i], []string{odd + kept}, row[i+1:]), "")
				// The first row is learned from, the others can be plain.
				sameAsOld(t, []byte("["+soundRow+",\n"+soundRow+","+changed+" ,"+soundRow+"]"))
				sameAsOld(t, []byte("["+changed+","+changed+"]"))
			}
		}
	}
}

func TestARowCutOffAnywhereIsReadAsBefore(t *testing.T) {
	whole := "[" + soundRow + " , " + soundRow + "\n,\n" + soundRow + "]\n"
	for cut := range len(whole) + 1 {
		sameAsOld(t, []byte(whole[:cut]))
		for _, broken := range []error{io.ErrUnexpectedEOF, errors.New("the disk is gone")} {
			then := func() io.Reader { return io.MultiReader(strings.NewReader(whole[:cut]), iotest.ErrReader(broken)) }
			if diff := cmp.Diff(writtenByOld(then()), writtenByNew(then())); diff != "" {
				t.Fatalf("cut off after %d bytes by %q (-old +new):\n%s", cut, broken, diff)
			}
		}
	}
}

// Rows lie across the window's edges in every way, and some outgrow it.
func TestRowsAcrossTheWindowsEdgesAreReadAsBefore(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("[" + soundRow)
	for i := range 2000 {
		fmt.Fprintf(&b, ",%s", strings.Replace(soundRow, "SP |", strings.Repeat("é", i%97), 1))
		if i%500 == 499 {
			fmt.Fprintf(&b, ",%s", strings.Replace(soundRow, "SP |", strings.Repeat("x", i*400), 1))
		}
	}
	b.WriteString("]")
	want := writtenByOld(bytes.NewReader(b.Bytes()))
	for name, r := range map[string]io.Reader{
		"at once": bytes.NewReader(b.Bytes()), "in halves": iotest.HalfReader(bytes.NewReader(b.Bytes())),
		"by bytes": iotest.OneByteReader(bytes.NewReader(b.Bytes())), "with the end": iotest.DataErrReader(bytes.NewReader(b.Bytes())),
	} {
		if diff := cmp.Diff(want, writtenByNew(r)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// All but the first row of a usual file must go the plain way, or it is no use.
func TestUsualRowsAreReadThePlainWay(t *testing.T) {
	r := NewRowReader(strings.NewReader("["+soundRow+strings.Repeat(","+soundRow, 999)+"]"), januaryReport(), "impressions", "clicks", "purchases7d", "cost", "sales7d")
	if err := r.strict.openArray(); err != nil {
		t.Fatal(err)
	}
	for number := 1; number <= 1000; number++ {
		plain := r.readPlain()
		if plain != (number > 1) {
			t.Fatalf("row %d is plain: %v", number, plain)
		}
		if plain {
			continue
		}
		if more, err := r.strict.readRow(); err != nil || !more {
			t.Fatal(more, err)
		}
	}
}

func FuzzRowsAsBefore(f *testing.F) {
	f.Add([]byte(soundRow), []byte(soundRow))
	row := parts(soundRow)
	for i, odd := range oddities {
		at := i * 7 % len(row)
		f.Add([]byte(strings.Join(slices.Concat(row[:at], []string{odd}, row[at:]), "")), []byte(soundRow))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		sameAsOld(t, slices.Concat([]byte("["), first, []byte(","), second, []byte(","), first, []byte("]")))
		sameAsOld(t, slices.Concat([]byte("["+soundRow+","), first, []byte(","), second, []byte("]")))
	})
}
