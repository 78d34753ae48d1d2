package loading_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"adlens/integration/house"
	"adlens/integration/model"
)

// fault is one way to spoil a file. Every word of says must be in the refusal;
// where row is set, so must that row's number, counted from one.
type fault struct {
	name  string
	spoil func(*house.Pair)
	says  []string
	row   int
}

func TestBrokenReportsAreRefusedAndHarmNothing(t *testing.T) {
	t.Parallel()
	all := append(append(objectFaults(), rowFaults()...), downloadFaults()...)
	for i, part := range [][]fault{all[:len(all)/2], all[len(all)/2:]} {
		t.Run(fmt.Sprintf("part%d", i+1), func(t *testing.T) {
			t.Parallel()
			c := newClinic(t)
			for some := range slices.Chunk(part, atOnce) {
				var spoiled []spoilt
				for _, f := range some {
					dir := t.TempDir()
					// Of the very days that hold figures.
					p := house.SpPair("broken", "101", house.DaysAgo(40), 3, time.Now().Add(-time.Minute))
					f.spoil(p)
					p.Write(t, dir)
					spoiled = append(spoiled, spoilt{f.name, dir, f.says, f.row})
				}
				c.refusesAll(t, spoiled)
			}
		})
	}
}

// atOnce is how many broken files are loaded together.
const atOnce = 8

func TestBrokenTablesAreRefusedAndHarmNothing(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	for some := range slices.Chunk(tableFaults(), atOnce) {
		var spoiled []spoilt
		for _, f := range some {
			dir := t.TempDir()
			house.Put(t, dir, f.file, []byte(f.content))
			spoiled = append(spoiled, spoilt{f.name, dir, f.says, 0})
		}
		c.refusesAll(t, spoiled)
	}
}

// clinic is an account with good data, into which broken files are loaded.
type clinic struct {
	house *house.House
	one   *house.Tenant
	look  func(*testing.T) // compares the answers with the oracle's
	// harmed is set once a broken file got in, which fails its own case and
	// would fail all that follow.
	harmed bool
	loads  int // of broken files
}

// Profiles of the clinic: 101 has figures, 102 sells in Germany without any
// rate, 103 is a vendor.
func newClinic(t *testing.T) *clinic {
	t.Helper()
	c := &clinic{house: house.Shared(t), one: &house.Tenant{Model: model.New()}}
	c.look = func(t *testing.T) { t.Helper(); house.CheckAll(t, c.one.Ask, c.one.Model) }
	c.one.Files.ID = house.AccountID(t)
	c.one.Ask = c.house.Client(t, c.one.Files.ID)
	dir := t.TempDir()
	house.ProfilesFile(t, dir, [4]string{"101", "US", "USD", "seller"}, [4]string{"102", "DE", "EUR", "seller"},
		[4]string{"103", "US", "USD", "vendor"}, [4]string{"104", "UK", "GBP", "seller"})
	house.Put(t, dir, "rates.csv", []byte("date,currency,usd\n"+house.DaysAgo(40)+",GBP,1.3\n"))
	house.Put(t, dir, "products.csv", []byte("product_id,title\nB000,Blue lamp\n"))
	house.SpPair("healthy", "101", house.DaysAgo(40), 5, time.Now().Add(-time.Hour)).Write(t, dir)
	house.SpPair("sterling", "104", house.DaysAgo(40), 3, time.Now().Add(-time.Hour)).Write(t, dir)
	house.Load(t, c.house.Program, c.one, dir)
	return c
}
