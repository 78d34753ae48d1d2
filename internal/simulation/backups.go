package simulation

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"adlens"
	"adlens/internal/backup"
	"adlens/internal/commits"
	"adlens/internal/manifest"
	"adlens/internal/tables"
)

// copied is a backup that was begun, as its command saw it.
type copied struct {
	begun, ended int // steps; ended is 0 where the command died
	taken        backup.Taken
	whole        bool // the command said so
}

// takeBackup does what adlens backup does, and notes what it said.
func (p *process) takeBackup(ctx context.Context, step Step) {
	w := p.world
	p.wait(ctx, step.Wait)
	c := &copied{}
	p.begin("")
	p.local(ctx, "begin a backup", "", nil, func() { c.begun = w.steps; w.copies = append(w.copies, c) })
	taken, err := backup.Take(ctx, source{p}, place{p}, backup.Options{Version: "simulation", Schema: 1, Keep: step.Count, Now: w.wallClock}, quiet{})
	p.local(context.Background(), "backed up", brief(err), nil, func() {
		c.ended, c.taken, c.whole = w.steps, taken, err == nil
		p.judgeError(p.op, err)
		if adlens.KindOf(err) == adlens.Damaged && !p.op.marred && taken.Name == "" && w.allKnown() {
			w.fail("damage to an account kept the others from being backed up: %v", err)
		}
	})
}

// allKnown reports whether there is an account that lost nothing.
func (w *world) allKnown() bool {
	return slices.ContainsFunc(w.plan.Accounts, func(account string) bool { return w.lost(account) == "" })
}

// quiet hears nothing.
type quiet struct{}

func (quiet) Account(string, int, int) {}
func (quiet) Rows(uint64, uint64)      {}
func (quiet) Notice(string)            {}

// source is the store as a backup reads it. Rows are handles of what is in
// memory; that bytes are what they were is what files and their sums are for.
type source struct{ *process }

var unitColumns = [][2]string{{"account_id", "LowCardinality(String)"}, {"number", "UInt32"}, {"kind", "UInt8"}, {"marketplace_key", "UInt16"},
	{"ad_product", "UInt8"}, {"start", "Date"}, {"generation", "UInt32"}, {"rows", "Array(UInt64)"}, {"origin", "UInt64"}, {"handle", "UInt64"}}

func (s source) Shown(ctx context.Context, account string) (all []string, err error) {
	err = s.read(ctx, "read accounts", "", func() error {
		all = slices.DeleteFunc(slices.Clone(s.world.plan.Accounts), func(id string) bool { return account != "" && id != account })
		return nil
	})
	return all, err
}

// RequireDirectory finds nothing: what the simulation knows of accounts is its
// plan, which loses nothing.
func (s source) RequireDirectory(context.Context, string) error { return nil }

func (s source) Columns(_ context.Context, table string) (backup.Header, error) {
	return columnsOf(table)
}

func columnsOf(table string) (backup.Header, error) {
	columns := [][2]string{{"account_id", "LowCardinality(String)"}, {"generation", "UInt32"}, {"handle", "UInt64"}}
	switch table {
	case backup.UnitTable:
		columns = unitColumns
	case "accounts":
		columns = [][2]string{{"account_id", "LowCardinality(String)"}, {"created_at", "DateTime64(3)"}, {"handle", "UInt64"}}
	}
	var names, types []string
	for _, c := range columns {
		names, types = append(names, c[0]), append(types, c[1])
	}
	return backup.NewHeader(names, types)
}

// handle returns a number under which a value is found again.
func (w *world) handle(value any) uint64 {
	w.handles = append(w.handles, value)
	return uint64(len(w.handles) - 1)
}

func (w *world) row(account string, value any) []byte {
	row := append(binary.AppendUvarint(nil, uint64(len(account))), account...)
	of, _ := value.(tables.Row) // 0 where rows have none
	row = binary.LittleEndian.AppendUint32(row, of.Generation)
	return binary.LittleEndian.AppendUint64(row, w.handle(value))
}

func (s source) Live(ctx context.Context, account string, _ backup.Header) (all []backup.Live, err error) {
	of := []string{account}
	if s.world.broken == BackupOfNone {
		of = append(of, s.world.plan.Accounts...)
	}
	var state commits.State
	for i := len(of) - 1; i >= 0; i-- {
		if state, err = commits.ReadWhole(ctx, port(s), of[i]); err != nil {
			return nil, err
		}
	}
	units, err := port(s).Units().Read(ctx, account)
	rows := map[manifest.Unit]tables.Unit{}
	for _, u := range units {
		if state.Names(u) && u.Number >= rows[u.Unit].Number {
			rows[u.Unit] = u
		}
	}
	for _, e := range state.Manifest.Entries() {
		all = append(all, backup.Live{Entry: e, Version: rows[e.Unit].Number, Row: s.world.unitRow(account, rows[e.Unit])})
	}
	return all, err
}

// Units are read in runs about backups. In others a backup takes the steps that the seeds of
// docs/faults.md were found with, some of which are one in tens of thousands.
func (s source) Units(ctx context.Context, account string) ([]tables.Unit, error) {
	if s.world.plan.World != Backups {
		return nil, nil
	}
	return commits.Units(ctx, port(s), account)
}

func (w *world) unitRow(account string, u tables.Unit) []byte {
	row := append(binary.AppendUvarint(nil, uint64(len(account))), account...)
	row = append(binary.LittleEndian.AppendUint32(row, u.Number), byte(u.Kind))
	row = append(binary.LittleEndian.AppendUint16(row, u.Slice.Marketplace), byte(u.Slice.AdProduct))
	row = binary.LittleEndian.AppendUint16(row, uint16(u.Start))
	row = binary.LittleEndian.AppendUint32(row, u.Generation)
	counts := append([]uint64{u.Rows}, u.Derived...)
	row = binary.AppendUvarint(row, uint64(len(counts)))
	for _, n := range counts {
		row = binary.LittleEndian.AppendUint64(row, n)
	}
	row = binary.LittleEndian.AppendUint64(row, u.Origin)
	return binary.LittleEndian.AppendUint64(row, w.handle(u))
}

// Export visits rows. Of a product's number there is one row, as the database's
// merges have it.
func (s source) Export(ctx context.Context, e backup.Extent, _ backup.Header, visit func([]byte) error) error {
	var rows [][]byte
	w := s.world
	err := s.read(ctx, "export "+e.Table, e.Account+" "+fmt.Sprint(e.Generations), func() error {
		add := func(value any) { rows = append(rows, w.row(e.Account, value)) }
		switch e.Table {
		case "number_blocks":
			all, _ := w.rows.Reservations().Read(ctx, e.Account)
			for _, r := range all {
				add(r)
			}
		case "ledger":
			for _, line := range w.ledger[e.Account] {
				add(line)
			}
		case "accounts":
			row := append(binary.AppendUvarint(nil, uint64(len(e.Account))), e.Account...)
			row = binary.LittleEndian.AppendUint64(row, 0) // when it was made
			rows = append(rows, binary.LittleEndian.AppendUint64(row, w.handle(e.Account)))
		case "refreshed":
			for _, row := range w.readRows {
				if row.account == e.Account {
					add(row)
				}
			}
		case "feeds":
			for _, row := range s.linkRowsOf(e.Account) {
				add(row)
			}
		default:
			type numbered struct{ generation, key uint32 }
			seen := map[numbered]bool{}
			for _, r := range store(s).rowsOfGenerations(e) {
				if of := (numbered{r.Generation, r.Key}); r.Key == 0 || !seen[of] {
					seen[of] = true
					add(r)
				}
			}
		}
		return nil
	})
	for _, row := range rows {
		if err == nil {
			err = visit(row)
		}
	}
	return err
}

func (s store) rowsOfGenerations(e backup.Extent) []tables.Row {
	if len(e.Generations) == 0 {
		return nil
	}
	return s.rowsOf(e.Account, e.Table, e.Generations...)
}

// place is a disk on which backups are kept. What was not settled may be cut
// when the power goes.
type place struct{ *process }

func (place) String() string { return "the disk" }

// act parks an act on the disk.
func (p place) act(name, detail string, do func()) error {
	return p.local(context.Background(), "disk: "+name, detail, nil, do)
}

func (p place) List(_ context.Context, prefix string) (sizes map[string]int64, err error) {
	sizes = map[string]int64{}
	err = p.act("list", prefix, func() {
		for name, content := range p.disk {
			if strings.HasPrefix(name, prefix) {
				sizes[name] = int64(len(content))
			}
		}
	})
	return sizes, err
}

func (p place) Open(_ context.Context, name string) (body io.ReadCloser, err error) {
	fault := p.act("open", nameless(name), func() {
		content, ok := p.disk[name]
		if !ok {
			err = &backup.Damage{Name: name, Err: backup.ErrMissing}
			return
		}
		body = io.NopCloser(bytes.NewReader(content))
	})
	return body, errors.Join(fault, err)
}

// nameless is a file's name without the sums in it.
func nameless(name string) string { return strings.SplitN(name, ".", 2)[0] }

func (p place) Draft() (*os.File, error) {
	return os.CreateTemp(p.world.plan.universe.drafts, "draft-")
}

func (p place) Keep(_ context.Context, name string, draft *os.File) error {
	content, err := os.ReadFile(draft.Name())
	if err != nil {
		return err
	}
	return p.act("keep", nameless(name), func() {
		p.disk[name] = content
		p.world.unsettled = append(p.world.unsettled, name)
	})
}

func (p place) Settle(context.Context) error {
	return p.act("settle", "", func() {
		if p.world.broken != UnsettledBackup {
			p.world.unsettled = nil
		}
	})
}

func (p place) Remove(_ context.Context, name string) error {
	return p.act("remove", nameless(name), func() { delete(p.disk, name) })
}

func (p place) Sweep(_ context.Context, needed map[string]bool) error {
	return p.act("sweep", "", func() {
		maps.DeleteFunc(p.disk, func(name string, _ []byte) bool { return strings.HasPrefix(name, "accounts/") && !needed[name] })
	})
}

func (p place) Lock(context.Context) (release func() error, err error) {
	w := p.world
	held := func() bool {
		return slices.ContainsFunc(w.claims["/disk"], func(other *process) bool { return !other.killed })
	}
	err = p.local(context.Background(), "disk: lock", "", func() bool { return !held() }, func() { w.claims["/disk"] = append(w.claims["/disk"], p.process) })
	return func() error { return p.act("unlock", "", func() { w.release(p.process) }) }, err
}

// cutPower cuts files that were not settled.
func (w *world) cutPower() {
	r := w.eventRandom()
	w.trace.add("%d the power is cut", w.steps)
	for _, name := range w.unsettled {
		if content, ok := w.disk[name]; ok && r.IntN(2) == 0 {
			w.disk[name] = content[:r.IntN(len(content))]
		}
	}
	w.unsettled = nil
}
