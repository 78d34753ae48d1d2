package platform_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"adlens"
	"adlens/internal/platform"
)

func FuzzRows(f *testing.F) {
	f.Add([]byte("[{" + good + "}]"))
	f.Add([]byte("[{" + good + `,"campaignBudgetCurrencyCode":"EUR","unitsSoldClicks7d":7,"sales30d":1e-20},` + with("advertisedAsin", "null") + "]"))
	for _, value := range []string{"-1", "1.5", "1e18", "9223372036854775808", "999999999999.99", "null", `"x"`, "[{}]"} {
		f.Add([]byte("[" + with("clicks", value) + "," + with("cost", value) + "," + with("date", value) + "]"))
	}
	f.Add([]byte(`[{"\u0064ate":"2026-01-31"},]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		report, number := spReport(), 0
		reader := platform.NewRowReader(bytes.NewReader(text), report, "impressions", "clicks", "purchases7d", "cost", "sales7d")
		err := reader.Each(func(r *platform.Row) error {
			if number++; r.Number != number {
				t.Errorf("row %d is reported to be row %d", number, r.Number)
			}
			checkRow(t, report, r)
			return nil
		})
		// What is taken for whole is whole: it cannot be so without its end.
		if trimmed := bytes.TrimRight(text, " \t\r\n"); err == nil {
			cut := platform.NewRowReader(bytes.NewReader(trimmed[:len(trimmed)-1]), report, "impressions", "clicks", "purchases7d", "cost", "sales7d")
			if cut.Each(func(*platform.Row) error { return nil }) == nil {
				t.Error("a file is taken for whole without its last byte")
			}
		}
	})
}

func checkRow(t *testing.T, report *platform.Report, r *platform.Row) {
	t.Helper()
	if r.Day < report.Start || r.Day > report.End {
		t.Errorf("day %s", r.Day)
	}
	if len(r.Product) > 64 || !utf8.ValidString(r.Product) || strings.ContainsRune(r.Product, 0) {
		t.Errorf("product %q", r.Product)
	}
	limit, err := adlens.ParseAmount([]byte("999999999999.99999999999999999999"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range r.Counts {
		if n > 1<<63-1 {
			t.Errorf("count %d", n)
		}
	}
	for _, a := range r.Amounts {
		if limit.Less(a) {
			t.Errorf("amount %s", a)
		}
	}
}

func FuzzReport(f *testing.F) {
	for _, changes := range []map[string]any{nil, {"profileId": "x"}, {"status": "PENDING"}, {"startDate": "2026-02-30"}, {"generatedAt": "2026-01-30T23:59:59.999999999+14:00"}, {"configuration": nil}} {
		f.Add([]byte(reportObject(f, changes)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := platform.DecodeReport(bytes.NewReader(text))
		if err != nil {
			return
		}
		if r.ID == "" || r.ProfileID == "" || r.Type == nil {
			t.Errorf("accepted without ids or type: %+v", r)
		}
		if r.Start > r.End || r.Start < adlens.FirstStorableDay || r.End > adlens.LastStorableDay || r.End > adlens.DayOf(r.GeneratedAt.UTC())+1 {
			t.Errorf("accepted with days %s to %s, generated at %s", r.Start, r.End, r.GeneratedAt)
		}
		if !r.Has("date") || !r.Has("cost") {
			t.Errorf("accepted with columns %v", r.Columns)
		}
	})
}

var plainID = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

func FuzzProfiles(f *testing.F) {
	f.Add([]byte("[" + sellerText + "," + vendorText + "]"))
	f.Add([]byte("[" + vendorText + "," + vendorText + "]"))
	f.Add([]byte(`[{"accountInfo":{"type":"agency"}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		profiles, _, err := platform.DecodeProfiles(bytes.NewReader(text))
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, p := range profiles {
			if seen[p.ID] || !plainID.MatchString(p.ID) || len(p.Country) != 2 || len(p.Currency) != 3 || p.TimeZone == "" || p.Country == "GB" {
				t.Errorf("accepted: %+v", p)
			}
			seen[p.ID] = true
		}
	})
}
