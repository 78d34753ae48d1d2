package limits_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"adlens/integration/house"
)

// bomb is a small file that becomes a large one when it is unpacked.
type bomb struct {
	name, file, says string
	content          func(io.Writer) error
	object           *house.Pair // that the content is the download of; nil for none
}

const megabyte = 1 << 20

// mass writes a beginning and then one letter, so many megabytes of it.
func mass(beginning string, letter byte, megabytes int) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, beginning)
		for block := bytes.Repeat([]byte{letter}, megabyte); megabytes > 0 && err == nil; megabytes-- {
			_, err = w.Write(block)
		}
		return err
	}
}

func bombs() []bomb {
	report := func(name, says string, content func(io.Writer) error) bomb {
		return bomb{name, "bomb.json.gz", says, content, house.SpPair("bomb", "101", house.DaysAgo(40), 1, time.Now())}
	}
	export := func(name, says string, content func(io.Writer) error) bomb {
		return bomb{name, "bomb.json.gz", says, content, house.ExportPair("bomb", "101", "campaigns", time.Now())}
	}
	table := func(file, name, says string, content func(io.Writer) error) bomb {
		return bomb{name, file, says, content, nil}
	}
	return []bomb{
		report("a report of spaces", "row 1", mass("[", ' ', 256)),
		report("spaces behind a report", "more than", mass("[]", ' ', 256)),
		report("a report with a text without end", "row 1", mass(`[{"date":"`, 'a', 256)),
		report("a report of brackets", "row 1", mass("[", '[', 64)),
		report("a row of nested lists", "row 1", mass(`[{"x":`, '[', 1)),
		report("a row of nested objects", "row 1", func(w io.Writer) error {
			_, err := io.WriteString(w, `[{"x":`+strings.Repeat(`{"x":`, 100_000))
			return err
		}),
		report("a number of a million digits", "row 1", mass(`[{"date":"`+house.DaysAgo(40)+`","cost":1`, '0', 16)),
		report("an exponent of a million digits", "row 1", mass(`[{"date":"`+house.DaysAgo(40)+`","cost":1e`, '9', 16)),
		export("an export of spaces", "row 1", mass("[", ' ', 256)),
		export("an export with a name without end", "row 1", mass(`[{"name":"`, 'a', 256)),
		table("profiles.json", "profiles of spaces", "67108864", mass("[", ' ', 512)),
		table("rates.csv", "rates in one line", "row 2", mass("date,currency,usd\n", 'a', 512)),
		table("products.csv", "a title without end", "row 2", mass("product_id,title\nA,\"", 'a', 512)),
		table("products.csv", "a title of empty lines", "row 2", mass("product_id,title\nA,\"", '\n', 512)),
		table("products.csv", "a header without end", "row 1", mass("product_id,title", 'a', 512)),
		table("rules.ndjson", "a rule without end", "row 1", mass(`{"rule_id":"`, 'a', 512)),
		table("activity.ndjson", "an entry of nested lists", "row 1", mass(`{"activity_id":`, '[', 8)),
	}
}

func TestBombsAreRefusedInLittleMemory(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	for _, b := range bombs() {
		t.Run(b.name, func(t *testing.T) {
			dir := t.TempDir()
			if b.object != nil {
				house.Put(t, dir, b.object.ObjectName, house.Marshal(t, b.object.Object))
			}
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			house.Need(t, b.content(z))
			house.Need(t, z.Close())
			house.Put(t, dir, b.file, packed.Bytes())
			began := time.Now()
			done, err := h.Load(one.Files.ID, dir)
			house.Need(t, err)
			if len(done.Files) != 1 || done.Files[0].Status != "refused" || !strings.Contains(done.Files[0].Error, b.says) || len(done.Files[0].Error) > 600 {
				t.Errorf("want it refused with %q, got %s", b.says, done.Result)
			}
			if done.Memory > 400*megabyte || time.Since(began) > time.Minute {
				t.Errorf("%d bytes took %d MiB and %v", packed.Len(), done.Memory/megabyte, time.Since(began))
			}
			t.Logf("%d bytes packed: %d MiB, %v: %s", packed.Len(), done.Memory/megabyte, time.Since(began), done.Files[0].Error)
		})
	}
	house.CheckAll(t, one.Ask, one.Model)
}

// TestMembersOfAnArchiveAddUp packs a report in many members, as some tools do.
func TestMembersOfAnArchiveAddUp(t *testing.T) {
	t.Parallel()
	h, one := house.ShopWithData(t)
	p := house.SpPair("members", "101", house.DaysAgo(5), 2, time.Now())
	text := house.Marshal(t, p.Rows)
	for part := range slices.Chunk(text, 7) {
		p.RawRows = append(p.RawRows, house.Zip(string(part))...)
	}
	p.RowsName = "members.json.gz"
	house.Load(t, h.Program, one, p.Write(t, t.TempDir())...)
	house.CheckAll(t, one.Ask, one.Model)
}
