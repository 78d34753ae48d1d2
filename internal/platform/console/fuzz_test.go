package console

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	"adlens"
	"adlens/internal/platform"
)

func FuzzReports(f *testing.F) {
	f.Add([]byte(english+oneRow+oneRow), false)
	f.Add([]byte("\ufeffTitle\n"+english+"2026-09-01,,USD,C,G,B,\"1,500\",1,1.234,0,1\n"), false)
	f.Add(book(f, []string{`"Date"`, `"Campaign Name"`, `"Advertised ASIN"`, `"Impressions"`, `"Clicks"`, `"Spend"`, `"7 Day Total Sales"`}, []string{"46266", `"C"`, `"B0A"`, "1", "2", "3.5", "12.340000000000001"}), true)
	f.Fuzz(func(t *testing.T, text []byte, isWorkbook bool) {
		file, err := Open(bytes.NewReader(text), int64(len(text)), isWorkbook)
		if err != nil {
			return
		}
		if file.Type == nil || file.Start > file.End || file.Start < adlens.FirstStorableDay || file.End > adlens.LastStorableDay {
			t.Fatalf("accepted: %+v", file)
		}
		first, last := file.End, file.Start
		read := func() (rows, number int, err error) {
			r := file.Rows()
			err = r.Each(func(row *platform.Row) error {
				if row.Number <= number || row.Day < file.Start || row.Day > file.End || len(row.Counts) != len(r.CountColumns) || len(row.Amounts) != len(r.AmountColumns) {
					t.Fatalf("accepted: %+v", row)
				}
				rows, number, first, last = rows+1, row.Number, min(first, row.Day), max(last, row.Day)
				return nil
			})
			return rows, number, err
		}
		rows, _, err := read()
		again, _, errAgain := read()
		if rows != again || (err == nil) != (errAgain == nil) {
			t.Fatalf("%d rows, %v, and then %d, %v", rows, err, again, errAgain)
		}
		if err == nil && (rows == 0 || first != file.Start || last != file.End) {
			t.Fatalf("%d rows from %s to %s of a report from %s to %s", rows, first, last, file.Start, file.End)
		}
		if errors.Is(err, ErrUnknown) {
			t.Fatal("it is known, and then it is not")
		}
	})
}

// A decimal of up to four digits after the point and fifteen in all survives a
// float, and sums of floats.
func FuzzMeantNumbers(f *testing.F) {
	f.Add(int64(123400), 1)
	f.Add(int64(5), 3)
	f.Fuzz(func(t *testing.T, tenThousandths int64, times int) {
		if tenThousandths < 0 || tenThousandths > 1e11 || times < 1 || times > 4 {
			return
		}
		want := big.NewRat(tenThousandths*int64(times), 10_000)
		one, _ := big.NewRat(tenThousandths, 10_000).Float64()
		sum := 0.0
		for range times {
			sum += one
		}
		text, ok := meantNumber(big.NewFloat(sum).Text('g', 17))
		got, parsed := new(big.Rat).SetString(text)
		if !ok || !parsed || got.Cmp(want) != 0 {
			t.Fatalf("%s from %v is %s", want.FloatString(4), sum, text)
		}
	})
}
