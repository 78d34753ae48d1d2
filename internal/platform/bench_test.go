package platform_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"adlens/internal/platform"
)

// download is what the platform sends for a few thousand rows.
func download(rows int) []byte {
	var b bytes.Buffer
	for i := range rows {
		separator := ",\n"
		if i == 0 {
			separator = "["
		}
		fmt.Fprintf(&b, `%s{"date":"2026-01-%02d","campaignId":%d,"campaignName":"SP | Lamps | exact","adGroupId":%d,"advertisedAsin":"B0%08d","campaignBudgetCurrencyCode":"USD","impressions":%d,"clicks":%d,"cost":%d.%02d,"purchases7d":%d,"sales7d":%d.5,"unitsSoldClicks7d":1,"sales30d":null}`,
			separator, 1+i%31, 144158449488730278+i%50, 72320882861500+i, i%700, i, i%90, i%40, i%100, i%3, i%80)
	}
	b.WriteString("]")
	return b.Bytes()
}

func BenchmarkRows(b *testing.B) {
	text := download(20000)
	b.Run("RowReader", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			rows := 0
			err := platform.NewRowReader(bytes.NewReader(text), spReport(), "impressions", "clicks", "purchases7d", "cost", "sales7d").Each(func(*platform.Row) error { rows++; return nil })
			if err != nil || rows != 20000 {
				b.Fatal(rows, err)
			}
		}
	})
	// What one would write first; it checks nothing and counts in floats.
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if rows := decodeWithStandard(b, text); rows != 20000 {
				b.Fatal(rows)
			}
		}
	})
}

func decodeWithStandard(b *testing.B, text []byte) (rows int) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		b.Fatal(err)
	}
	for decoder.More() {
		var row struct {
			Date, AdvertisedAsin, CampaignBudgetCurrencyCode string
			Impressions, Clicks, Purchases7d                 uint64
			UnitsSoldClicks7d                                uint64
			Cost, Sales7d, Sales30d                          float64
		}
		if err := decoder.Decode(&row); err != nil {
			b.Fatal(err)
		}
		rows++
	}
	return rows
}
