package loading_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
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
			for n, f := range part {
				t.Run(f.name, func(t *testing.T) { c.refuses(t, n, f) })
			}
		})
	}
}

func TestBrokenTablesAreRefusedAndHarmNothing(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	for n, f := range tableFaults() {
		t.Run(f.name, func(t *testing.T) {
			dir := t.TempDir()
			house.Put(t, dir, f.file, []byte(f.content))
			// The same file name stands beside good ones, below another directory.
			c.refusesFiles(t, n, f.file, []string{filepath.Join(dir, f.file)}, f.says, 0)
		})
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

// refuses loads a spoilt report of the very days that hold figures.
func (c *clinic) refuses(t *testing.T, n int, f fault) {
	t.Helper()
	p := house.SpPair("broken", "101", house.DaysAgo(40), 3, time.Now().Add(-time.Minute))
	f.spoil(p)
	c.refusesFiles(t, n, p.Stem, p.Write(t, t.TempDir()), f.says, f.row)
}

// refusesFiles loads broken files together with a good report and demands all
// that the contract promises.
func (c *clinic) refusesFiles(t *testing.T, n int, stem string, broken []string, says []string, row int) {
	t.Helper()
	good := house.SpPair(fmt.Sprintf("good-%02d", n), "101", house.DaysAgo(30), 2, time.Now().Add(-time.Hour).Add(time.Duration(n)*time.Second))
	good.Rows[0]["clicks"] = 1 + n
	paths := good.Write(t, t.TempDir())
	done, err := c.house.Load(c.one.Files.ID, append(broken, paths...)...)
	house.Need(t, err)
	c.one.Model.Load(paths...)
	if done.Code == 0 {
		t.Errorf("want an exit code other than 0, got %s", done.Result)
	}
	status, text := done.Status(stem)
	if status != "refused" {
		t.Errorf("want %s refused, got %q: %s", stem, status, done.Result)
		c.harmed = true
	}
	if !strings.Contains(text+done.Named(stem), stem) {
		t.Errorf("the refusal does not name %s: %q", stem, text)
	}
	// Directories are named after the test, which must not pass for an answer.
	text = strings.ReplaceAll(text, filepath.Dir(broken[0]), "")
	for _, word := range says {
		if !strings.Contains(text, word) {
			t.Errorf("the refusal does not say %q: %q", word, text)
		}
	}
	if row > 0 && !regexp.MustCompile(fmt.Sprintf(`\b%d\b`, row)).MatchString(text) {
		t.Errorf("the refusal does not name row %d: %q", row, text)
	}
	if status, text := done.Status(good.Stem); status != "loaded" {
		t.Errorf("the good file beside it: want loaded, got %q %s", status, text)
	}
	if !c.harmed {
		c.look(t)
	}
}
