package answer

import (
	"strings"
	"testing"

	"adlens/internal/formats"

	"pgregory.net/rapid"
)

func TestATableForPeople(t *testing.T) {
	got, err := formats.Table(func(w *formats.Writer) {
		w.Object("period", func() {
			w.Moment("start_date", formats.Day, "2026-01-01")
			w.Moment("end_date", formats.Day, "2026-03-31")
			w.Text("range", "custom")
			w.Text("timezone", "UTC")
		})
		w.Text("currency", "USD")
		figures := func(spend, acos, clicks string) {
			number := func(name string, scale int, digits string) {
				if digits == "" {
					w.Number(name, scale, nil)
					return
				}
				w.Number(name, scale, []byte(digits))
			}
			number("spend", 2, spend)
			number("acos", 2, acos)
			number("clicks", 0, clicks)
		}
		w.Object("totals", func() { figures("1234567.80", "24.94", "1001") })
		rows := [][4]string{{"Lamp\n\tgreen", "1234567.79", "24.94", "1000"}, {"電気スタンド", "0.01", "", "1"}, {strings.Repeat("long ", 20), "-12.00", "0.00", "0"}}
		formats.Rows(w, "data", [4]string{}, func(yield func([4]string) bool) {
			for _, row := range rows {
				if !yield(row) {
					return
				}
			}
		}, func(row [4]string) {
			w.Text("title", row[0])
			figures(row[1], row[2], row[3])
		})
		w.Object("meta", func() {
			w.Moment("data_last_date", formats.Day, "2026-03-30")
			w.Bool("history_covered", false)
		})
	}, func(c formats.Column) formats.Column { return c }, newText)
	want := `2026-01-01 to 2026-03-31 (custom, UTC); figures up to 2026-03-30
The period begins before the first day that is held.

TITLE                                                SPEND USD    ACOS  CLICKS
Lamp green                                        1,234,567.79  24.94%   1,000
電気スタンド                                              0.01       -       1
long long long long long long long long long lo…        -12.00   0.00%       0
total                                             1,234,567.80  24.94%   1,001
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

func TestGroupedThousandsAreTheSameNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`-?[1-9][0-9]{0,25}(\.[0-9]{2})?`).Draw(t, "number")
		grouped := groupThousands(number)
		if strings.ReplaceAll(grouped, ",", "") != number {
			t.Fatalf("%s becomes %s", number, grouped)
		}
		whole, _, _ := strings.Cut(strings.TrimPrefix(grouped, "-"), ".")
		for i, group := range strings.Split(whole, ",") {
			if len(group) != 3 && (i > 0 || len(group) > 3 || group == "") {
				t.Fatalf("%s is grouped as %s", number, grouped)
			}
		}
	})
}

func TestAClippedTextFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if clipped := clipText(s); columnsOf(clipped) > maxCell || columnsOf(s) <= maxCell && clipped != s || !strings.HasPrefix(s, strings.TrimSuffix(clipped, "…")) {
			t.Fatalf("%q becomes %q", s, clipped)
		}
	})
}
