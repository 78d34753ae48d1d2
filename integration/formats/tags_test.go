package formats_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"adlens/integration/house"
)

// tagged are the bodies of an answer that were seen, by the tags that they had.
type tagged map[string]string

// mustTag demands that a tag stands for one body and a body for one tag, among all
// that were seen of an answer.
func (seen tagged) mustTag(t *testing.T, what, tag, body string) {
	t.Helper()
	if before, known := seen[tag]; tag == "" || known && before != body {
		t.Fatalf("%s: the tag %q is of two bodies:\n%q\n%q", what, tag, before, body)
	}
	for other, before := range seen {
		if before == body && other != tag {
			t.Fatalf("%s: one body has the tags %s and %s: %q", what, tag, other, body)
		}
	}
	seen[tag] = body
}

// randomLoad writes files of one load: figures of a marketplace, old ones that
// change nothing, the same figures again, a title, a rule, an operation, a list.
func randomLoad(t *testing.T, r *rand.Rand, n int) []string {
	t.Helper()
	dir, stem := t.TempDir(), fmt.Sprint("random-", n)
	profile := []string{"101", "102"}[r.IntN(2)]
	switch r.IntN(8) {
	case 0, 1:
		p := house.SpPair(stem, profile, house.DaysAgo(1+r.IntN(40)), 1+r.IntN(3), time.Now())
		for _, row := range p.Rows {
			row["clicks"] = 1 + r.IntN(3)
		}
		return p.Write(t, dir)
	case 2: // another report, with the figures of the one before it
		return house.SpPair(stem, profile, house.DaysAgo(9), 2, time.Now()).Write(t, dir)
	case 3: // older than what is held
		return house.SpPair(stem, profile, house.DaysAgo(3), 1, time.Now().AddDate(0, 0, -2)).Write(t, dir)
	case 4:
		return []string{house.Put(t, dir, "products.csv", fmt.Appendf(nil, "product_id,title\nB000,Lamp %d\n", r.IntN(2)))}
	case 5:
		return []string{house.Put(t, dir, "rules.ndjson", house.Lines(t, house.With(house.RuleLine("two"), "name", fmt.Sprint("Rule ", r.IntN(2)))))}
	case 6:
		return []string{house.Put(t, dir, "activity.ndjson", house.Lines(t, house.ActivityLine(fmt.Sprint("entry-", r.IntN(2)), "101")))}
	default:
		renamed := house.ThreeCampaigns()
		renamed[1]["name"] = fmt.Sprint("Campaign ", r.IntN(2))
		return house.ExportPair(stem, "101", "campaigns", time.Now(), renamed...).Write(t, dir)
	}
}

// Between random loads, a client that holds any answer that ever was gets 304 exactly
// where it is the answer of now, and equal tags are equal bytes.
func TestATagIsThatOfTheContent(t *testing.T) {
	t.Parallel()
	house.AwayFromMidnight(t)
	h, one := house.ShopWithLists(t)
	seed := house.Seed(t)
	r := rand.New(rand.NewPCG(seed, 24))
	answers, saved, sent := map[string]tagged{}, 0, 0
	for n := range max(2, house.Scaled(6)) { // the first has nothing to compare with
		if n > 0 {
			house.Load(t, h.Program, one, randomLoad(t, r, n)...)
		}
		for _, path := range append(slices.Clone(paths), "/report?range=all_time&dimensions=month,product", "/report?range=last_30_days&dimensions=campaign&page_size=2") {
			for _, format := range []string{"json", "csv", "xlsx", "parquet", "ndjson"} {
				path := withFormat(path, format)
				a := house.Get(t, one.Ask, path)
				if a.Status != 200 {
					t.Fatalf("%s: %s", path, a)
				}
				if answers[path] == nil {
					answers[path] = tagged{}
				}
				held := slices.Collect(maps.Keys(answers[path]))
				answers[path].mustTag(t, path, a.Header.Get("ETag"), string(a.Body)+a.Header.Get("X-Total-Rows")+a.Header.Get("X-Truncated"))
				for _, tag := range held {
					want := 200
					if tag == a.Header.Get("ETag") {
						want = 304
					}
					again := house.Get(t, one.Ask, path, "If-None-Match", tag)
					for _, name := range []string{"X-Total-Rows", "X-Truncated", "Link"} {
						if got, want := again.Header.Get(name), a.Header.Get(name); got != want {
							t.Errorf("%s: who holds %s gets %d with %s %q, expected %q", path, tag, again.Status, name, got, want)
						}
					}
					if again.Status != want || again.Header.Get("ETag") != a.Header.Get("ETag") || want == 304 && len(again.Body) > 0 {
						t.Fatalf("%s: who holds %s gets %d with %s, expected %d; seed %d", path, tag, again.Status, again.Header.Get("ETag"), want, seed)
					}
				}
				if slices.Contains(held, a.Header.Get("ETag")) {
					saved++
				} else {
					sent++
				}
			}
		}
	}
	if saved == 0 || sent <= 2*len(paths) {
		t.Errorf("%d answers stayed and %d were new: the loads tested nothing", saved, sent)
	}
}
