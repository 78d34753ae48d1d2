package extracts

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adlens/internal/made"
)

// writeLegacy adds legacy reports of Sponsored Brands to an account's: of single days, of
// campaigns that its first lists have. They are drawn from numbers
// of their own, so that all else is the same without them.
func (w *writer) writeLegacy(a *Account, dir string) error {
	own := &writer{Options: w.Options, Rand: rand.New(rand.NewPCG(w.Seed, 19)), today: w.today, profiles: w.profiles}
	known, err := knownCampaigns(a.Base)
	if err != nil || len(known) == 0 {
		return err
	}
	profiles := slices.Sorted(maps.Keys(known))
	first := own.today.AddDate(0, 0, -own.recentDays())
	for n := range w.Reports / 2 {
		profile := pickOne(own, profiles)
		day := first.AddDate(0, 0, own.IntN(own.recentDays()))
		if n%3 > 0 { // restated, or next to another
			day = first.AddDate(0, 0, own.recentDays()/2+own.IntN(4))
		}
		pair, err := own.writePair(dir, fmt.Sprintf("legacy-%03d", n), made.ReportEnd, own.legacyRows(known[profile]), func(int) string { return own.legacyObject(profile, day) })
		if err != nil {
			return err
		}
		a.Reports = append(a.Reports, pair)
	}
	return nil
}

func (w *writer) legacyObject(profile string, day time.Time) string {
	generated := day.Add(time.Duration(24+w.IntN(4)) * time.Hour)
	object, _ := json.Marshal(map[string]any{"reportId": "amzn1.clicksAPI.v1.p1." + w.drawUUID(), "status": "SUCCESS",
		"statusDetails": "Report has been successfully generated.", "location": "https://advertising-api.amazon.com/v2/reports/x/download", "fileSize": 22,
		"profileId": json.Number(profile), "creativeType": "all", "reportDate": day.Format("20060102"), "generatedAt": generated.Format(time.RFC3339)})
	return string(object)
}

// legacyRows are rows of some campaigns, now and then two of one.
func (w *writer) legacyRows(ids []string) (rows []string) {
	for range w.IntN(7) {
		id, zero := pickOne(w, ids), w.percentChance(12)
		rows = append(rows, w.shuffledObject(member{"campaignId", w.varyID(id)}, member{"campaignName", quoteJSON(fmt.Sprintf("legacy %d", w.IntN(3)))},
			member{"impressions", w.drawCount(zero, 5000)}, member{"clicks", w.drawCount(zero, 90)}, member{"cost", w.drawAmount(zero, 9000)},
			member{"attributedConversions14d", w.drawCount(zero, 9)}, member{"attributedSales14d", w.drawAmount(zero, 40000)}))
	}
	return rows
}

// knownCampaigns are the campaigns of Sponsored Brands, by profile, that the lists of a
// directory have, whether or not they say of them that they may have several ad groups.
func knownCampaigns(dir string) (map[string][]string, error) {
	known := map[string][]string{}
	objects, err := filepath.Glob(filepath.Join(dir, "*"+made.ExportEnd))
	for _, object := range objects {
		var of struct {
			Entity    string `json:"entity"`
			ProfileID any    `json:"profileId"`
		}
		var rows []map[string]any
		if err := readInto(object, &of); err != nil {
			return nil, err
		}
		if of.Entity != "campaigns" {
			continue
		}
		if err := readInto(strings.TrimSuffix(object, made.ExportEnd), &rows); err != nil {
			return nil, err
		}
		for _, row := range rows {
			if row["adProduct"] == "SPONSORED_BRANDS" {
				profile := fmt.Sprint(of.ProfileID)
				known[profile] = append(known[profile], fmt.Sprint(row["campaignId"]))
			}
		}
	}
	return known, err
}

// readInto reads a JSON file, or the download of a stem.
func readInto(path string, into any) error {
	for _, name := range []string{path, path + ".json.gz", path + ".json"} {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var from io.Reader = bytes.NewReader(content)
		if bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
			if from, err = gzip.NewReader(from); err != nil {
				return err
			}
		}
		decoder := json.NewDecoder(from)
		decoder.UseNumber()
		return decoder.Decode(into)
	}
	return fmt.Errorf("no file %s", path)
}
