// Package jsonbench measures the reader of rows side by side with other
// decoders of JSON, on the same bytes.
package jsonbench

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"adlens"
	"adlens/internal/platform"

	"github.com/bytedance/sonic"
	"github.com/go-json-experiment/json/jsontext"
	goccy "github.com/goccy/go-json"
	"github.com/minio/simdjson-go"
)

const rows = 20_000

// download is what the platform sends: 25 columns, of which 19 are kept.
var download = func() []byte {
	var b bytes.Buffer
	for i := range rows {
		separator := ",\n"
		if i == 0 {
			separator = "["
		}
		fmt.Fprintf(&b, `%s{"date":"2026-01-%02d","campaignBudgetCurrencyCode":"USD","campaignId":%d,"campaignName":"SP | Lamps | exact","adGroupId":%d,"adId":%d,"advertisedAsin":"B0%08d","impressions":%d,"clicks":%d,"purchases1d":%d,"purchases7d":%d,"purchases14d":%d,"purchases30d":%d,"unitsSoldClicks1d":%d,"unitsSoldClicks7d":%d,"unitsSoldClicks14d":%d,"unitsSoldClicks30d":%d,"cost":%d.%02d,"sales1d":%d.5,"sales7d":%d.25,"sales14d":%d.99,"sales30d":%d.01,"attributedSalesSameSku7d":%d,"salesOtherSku7d":0,"qualifiedBorrows":null}`,
			separator, 1+i%31, 144158449488730278+i%50, 72320882861500+i%300, 99320882861500+i, i*7%5000, i%7000, i%90,
			i%2, i%3, i%4, i%5, i%2, i%3, i%4, i%5, i%40, i%100, i%80, i%90, i%100, i%110, i%50)
	}
	b.WriteString("]")
	return b.Bytes()
}()

// row is what a program reads that keeps the same columns. Numbers stay text
// where the decoder can: floats would not be exact.
type row struct {
	Date                       string         `json:"date"`
	CampaignBudgetCurrencyCode string         `json:"campaignBudgetCurrencyCode"`
	AdvertisedAsin             string         `json:"advertisedAsin"`
	Impressions                uint64         `json:"impressions"`
	Clicks                     uint64         `json:"clicks"`
	Purchases1d                uint64         `json:"purchases1d"`
	Purchases7d                uint64         `json:"purchases7d"`
	Purchases14d               uint64         `json:"purchases14d"`
	Purchases30d               uint64         `json:"purchases30d"`
	UnitsSoldClicks1d          uint64         `json:"unitsSoldClicks1d"`
	UnitsSoldClicks7d          uint64         `json:"unitsSoldClicks7d"`
	UnitsSoldClicks14d         uint64         `json:"unitsSoldClicks14d"`
	UnitsSoldClicks30d         uint64         `json:"unitsSoldClicks30d"`
	Cost                       stdjson.Number `json:"cost"`
	Sales1d                    stdjson.Number `json:"sales1d"`
	Sales7d                    stdjson.Number `json:"sales7d"`
	Sales14d                   stdjson.Number `json:"sales14d"`
	Sales30d                   stdjson.Number `json:"sales30d"`
	AttributedSalesSameSku7d   stdjson.Number `json:"attributedSalesSameSku7d"`
	SalesOtherSku7d            stdjson.Number `json:"salesOtherSku7d"`
	QualifiedBorrows           *uint64        `json:"qualifiedBorrows"`
}

func report() *platform.Report {
	t, _ := platform.FindReportType("spAdvertisedProduct")
	r := &platform.Report{ID: "r", ProfileID: "1", Type: t, Start: adlens.Date(2026, time.January, 1), End: adlens.Date(2026, time.January, 31)}
	r.Columns = []string{"date", "campaignBudgetCurrencyCode", "advertisedAsin"}
	for _, m := range t.Measures {
		r.Columns = append(r.Columns, m.Column)
	}
	return r
}

// whole decodes the file into memory at once, which a file of gigabytes does
// not allow.
func whole(unmarshal func([]byte, any) error) func([]byte) (int, error) {
	return func(text []byte) (int, error) {
		var all []row
		err := unmarshal(text, &all)
		return len(all), err
	}
}

// streamed decodes one row after the other from a stream.
func streamed(open func(io.Reader) (token func() error, more func() bool, decode func(any) error)) func([]byte) (int, error) {
	return func(text []byte) (n int, err error) {
		token, more, decode := open(bytes.NewReader(text))
		if err := token(); err != nil {
			return 0, err
		}
		for more() {
			var r row
			if err := decode(&r); err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}
}

// tape is only the first half of a decoder: the text is checked and indexed,
// no value is taken out.
func tape(text []byte) (n int, err error) {
	parsed, err := simdjson.Parse(text, nil, simdjson.WithCopyStrings(false))
	if err != nil {
		return 0, err
	}
	return rows, parsed.ForEach(func(simdjson.Iter) error { return nil })
}

func rowReader(text []byte) (n int, err error) {
	err = platform.NewRowReader(bytes.NewReader(text), report(), "impressions", "clicks", "purchases7d", "cost", "sales7d").Each(func(*platform.Row) error { n++; return nil })
	return n, err
}

func tokens(text []byte) (n int, err error) {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		token, err := dec.ReadToken()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if token.Kind() == '{' {
			n++
		}
	}
}

func BenchmarkDecoders(b *testing.B) {
	for _, decoder := range []struct {
		name string
		read func([]byte) (int, error)
	}{
		{"adlens rows, streamed", rowReader},
		{"encoding/json, streamed", streamed(func(r io.Reader) (func() error, func() bool, func(any) error) {
			d := stdjson.NewDecoder(r)
			return func() error { _, err := d.Token(); return err }, d.More, d.Decode
		})},
		{"encoding/json, whole", whole(stdjson.Unmarshal)},
		{"go-json-experiment, tokens only, streamed", tokens},
		{"goccy/go-json, streamed", streamed(func(r io.Reader) (func() error, func() bool, func(any) error) {
			d := goccy.NewDecoder(r)
			return func() error { _, err := d.Token(); return err }, d.More, d.Decode
		})},
		{"goccy/go-json, whole", whole(func(text []byte, into any) error { return goccy.Unmarshal(text, into) })},
		{"bytedance/sonic, whole", whole(sonic.Unmarshal)},
		{"bytedance/sonic, whole, strict text", whole(sonic.ConfigStd.Unmarshal)},
		{"minio/simdjson-go, index only, whole", tape},
	} {
		b.Run(decoder.name, func(b *testing.B) {
			b.SetBytes(int64(len(download)))
			b.ReportAllocs()
			for b.Loop() {
				if n, err := decoder.read(download); err != nil || n != rows {
					b.Fatal(n, err)
				}
			}
		})
	}
}
