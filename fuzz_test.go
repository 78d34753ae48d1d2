package adlens

import "testing"

func FuzzParseDay(f *testing.F) {
	for _, seed := range []string{"2026-02-28", "2024-02-29", "2026-02-30", "0000-01-01", "0001-01-01", "9999-12-31", "10000-01-01", "-026-01-01", "2026-2-3", "2026-01-01 ", "20260101", "٢٠٢٦-01-01", "2026-01-01T00:00Z", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		day, err := ParseDay(text)
		if err != nil {
			return
		}
		if day.String() != text {
			t.Fatalf("%q was read as %s", text, day)
		}
		if again := Date(day.Year(), day.Time().Month(), day.DayOfMonth()); again != day {
			t.Fatalf("%s is day %d, and day %d by its parts", text, day, again)
		}
		if day.FirstOfMonth() > day || day.LastOfMonth() < day || day.FirstOfYear() > day.FirstOfMonth() || day.LastOfYear() < day.LastOfMonth() {
			t.Fatalf("%s lies outside its month or year", text)
		}
	})
}
