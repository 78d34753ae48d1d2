package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"adlens"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// The rules of commits are tried on a model of the small tables. This compares the
// model with the engine: the same random steps on both have the same answers.
func TestTheModelOfTheSmallTablesIsLikeTheEngine(t *testing.T) {
	d := openShared(t)
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			c := compared{t: t, ctx: t.Context(), db: d.Database, engine: d.Tables, model: tables.NewMemory(time.Now), random: rand.New(rand.NewPCG(seed, 9)),
				account: fmt.Sprint(t.Name(), " ", seed)}
			for range 40 {
				c.step()
			}
		})
	}
}

type compared struct {
	t       *testing.T
	ctx     context.Context
	db      *Database
	engine  tables.Port
	model   *tables.Memory
	random  *rand.Rand
	account string
}

func (c *compared) number() uint32 { return 1 + c.random.Uint32N(40) }

func (c *compared) step() {
	switch c.random.IntN(9) {
	case 0:
		first := c.number()
		same(c, tables.Port.Reservations, tables.Reservation{First: first, Next: first + 5, Token: fmt.Sprint(c.random.IntN(5))})
	case 1:
		same(c, tables.Port.Commits, manifest.Commit{Number: c.number() + c.random.Uint32N(1<<20)*50, Base: c.number(), Rows: 3, Digest: c.random.Uint64()})
	case 2:
		same(c, tables.Port.Units, c.unit())
	case 3:
		c.newestSeal()
	case 4:
		c.newestSettled()
	case 5:
		same(c, tables.Port.Dead, tables.Dead{Table: "product_titles", Generation: c.number()})
	case 6:
		c.insert()
	case 7:
		c.delete()
	default:
		c.count()
	}
}

// unit has all that a unit may have. Its number comes once.
func (c *compared) unit() tables.Unit {
	u := tables.Unit{Number: c.number() + c.random.Uint32N(1<<20)*50, Entry: manifest.Entry{
		Unit:       manifest.Unit{Kind: manifest.Month, Slice: manifest.Slice{Marketplace: 3, AdProduct: adlens.SponsoredDisplay}, Start: adlens.Date(2026, time.February, 1)},
		Generation: c.number(), Rows: c.random.Uint64(), Derived: []uint64{c.random.Uint64(), 0}, Origin: c.random.Uint64()}}
	for i := range c.random.IntN(3) {
		u.Sources = append(u.Sources, manifest.Source{ReportID: fmt.Sprint("report ", i), GeneratedAt: time.Unix(1_770_000_000, int64(c.random.IntN(1e9))).UTC(),
			SHA256: "ab", Days: manifest.Days(c.random.Uint32())})
	}
	return u
}

// same appends a row to a table of both and compares what they then read. Rows
// that are stored twice may come once or twice.
func same[R any](c *compared, of func(tables.Port) tables.Table[R], row R) {
	c.t.Helper()
	var read [2][]string
	for i, port := range []tables.Port{c.engine, c.model} {
		if err := of(port).Append(c.ctx, c.account, row); err != nil {
			c.t.Fatal(err)
		}
		all, err := of(port).Read(c.ctx, c.account)
		if err != nil {
			c.t.Fatal(err)
		}
		byAccount, err := of(port).ReadAll(c.ctx)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, rows := range [][]R{all, byAccount[c.account]} {
			read[i] = append(read[i], plainRows(rows)...)
		}
		slices.Sort(read[i])
		read[i] = slices.Compact(read[i])
	}
	if !slices.Equal(read[0], read[1]) {
		c.t.Fatalf("the engine reads\n%v\nand the model\n%v", read[0], read[1])
	}
}

// Of seals and settled numbers the engine keeps the greatest for certain, and
// only that one counts.
func (c *compared) newestSeal() {
	seal := tables.Seal{Number: c.number()}
	newest(c, tables.Port.Seals, seal, func(s tables.Seal) uint32 { return s.Number })
}

func (c *compared) newestSettled() {
	settled := tables.Settled{Next: c.number()}
	newest(c, tables.Port.Settled, settled, func(s tables.Settled) uint32 { return s.Next })
}

func newest[R any](c *compared, of func(tables.Port) tables.Table[R], row R, number func(R) uint32) {
	c.t.Helper()
	var greatest [2]uint32
	for i, port := range []tables.Port{c.engine, c.model} {
		if err := of(port).Append(c.ctx, c.account, row); err != nil {
			c.t.Fatal(err)
		}
		all, err := of(port).Read(c.ctx, c.account)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, r := range all {
			greatest[i] = max(greatest[i], number(r))
		}
	}
	if greatest[0] != greatest[1] {
		c.t.Fatalf("%T: the greatest number of the engine is %d, that of the model %d", row, greatest[0], greatest[1])
	}
}

// plainRows are rows as text, without the times that the store sets.
func plainRows[R any](rows []R) (all []string) {
	for _, r := range rows {
		v := reflect.ValueOf(&r).Elem()
		for _, name := range []string{"At", "NotedAt"} {
			if f := v.FieldByName(name); f.IsValid() {
				f.SetZero()
			}
		}
		text := fmt.Sprintf("%#v", r)
		if u, ok := any(r).(tables.Unit); ok {
			text = fmt.Sprintf("%d %x %d", u.Number, u.Entry.Encode(), u.Origin)
		}
		all = append(all, text)
	}
	return all
}

// insert writes rows of generations.
func (c *compared) insert() {
	generation, titles := c.number(), map[string]string{}
	var rows []tables.Row
	for i := range 1 + c.random.IntN(4) {
		titles[fmt.Sprint(c.random.IntN(1e6), " ", i)] = "a title"
	}
	for range titles {
		rows = append(rows, tables.Row{Generation: generation})
	}
	if err := c.db.Loads.InsertTitles(c.ctx, c.account, generation, titles); err != nil {
		c.t.Fatal(err)
	}
	c.model.Rows("product_titles").Append(c.ctx, c.account, rows...)
	numbers := map[string]uint32{"a": 1, "b": 2}
	if err := c.db.Loads.InsertProductNumbers(c.ctx, c.account, generation, numbers); err != nil {
		c.t.Fatal(err)
	}
	c.model.Rows("products").Append(c.ctx, c.account, tables.Row{Generation: generation, Key: 1}, tables.Row{Generation: generation, Key: 2})
	c.count()
}

// delete deletes rows, and waits until the engine has done so.
func (c *compared) delete() {
	below, generation := c.number()/2, c.number()
	for _, port := range []tables.Port{c.engine, c.model} {
		for _, deleteBelow := range []func(context.Context, string, uint32) error{port.Reservations().DeleteBelow, port.Seals().DeleteBelow, port.Settled().DeleteBelow} {
			if err := deleteBelow(c.ctx, c.account, below); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	d := tables.Deletion{Table: "product_titles", Account: c.account, Generations: []uint32{generation}}
	c.model.DeleteRows(c.ctx, []tables.Deletion{d})
	// The engine leaves tables out that are still deleting.
	for deleted := false; !deleted; {
		if err := c.engine.DeleteRows(c.ctx, []tables.Deletion{d}); err != nil {
			c.t.Fatal(err)
		}
		for _, table := range []string{"dead_generations", "product_titles", "number_blocks", "seals", "accounted"} {
			if err := c.db.Cluster.Exec(c.ctx, "ALTER TABLE "+table+" DELETE WHERE 0 SETTINGS mutations_sync = 2", nil); err != nil {
				c.t.Fatal(err)
			}
		}
		counts, err := c.engine.CountRows(c.ctx, c.account, "product_titles")
		if err != nil {
			c.t.Fatal(err)
		}
		deleted = !slices.ContainsFunc(counts, func(n tables.Count) bool { return n.Generation == generation })
	}
	c.count()
}

func (c *compared) count() {
	c.t.Helper()
	var counted [2][]tables.Count
	for i, port := range []tables.Port{c.engine, c.model} {
		counts, err := port.CountRows(c.ctx, c.account, "product_titles", "products", "rates")
		if err != nil {
			c.t.Fatal(err)
		}
		slices.SortFunc(counts, func(a, b tables.Count) int {
			return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Generation, b.Generation))
		})
		counted[i] = counts
	}
	if !slices.Equal(counted[0], counted[1]) {
		c.t.Fatalf("the engine counts\n%v\nand the model\n%v", counted[0], counted[1])
	}
}
