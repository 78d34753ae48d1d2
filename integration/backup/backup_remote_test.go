package backup_test

import (
	"testing"

	"adlens/integration/house"
)

// From the embedded engine to a server, and back.
func TestABackupMovesToAServerAndBack(t *testing.T) {
	t.Parallel()
	house.NeedEngine(t)
	p := house.OwnProgram(t)
	figures, lists := house.FiguresAndLists(t, p, house.Seed(t), 2)
	place := house.Copied{Program: p, Place: t.TempDir(), More: nil}
	place.Backup(t)

	elsewhere := house.OwnProgram(t)
	house.Serve(t, elsewhere) // so that its engine runs
	theirs := house.AsServer(t, elsewhere)
	server := []string{"--clickhouse", theirs.Loader(theirs.Password)}
	if r := p.Run(append([]string{"restore", "--from", place.Place}, server...)...); r.Code != 0 {
		t.Fatalf("restore into a server: %s", r)
	}
	paths := figures.Take(2)
	figures.Model.Load(paths...)
	if r := p.Run(append(p.LoadArgs(figures.Files.ID, paths...), server...)...); r.Code != 0 {
		t.Fatalf("load into the server: %s", r)
	}
	moved := house.Copied{Program: p, Place: place.Place, More: server}
	if _, rows := moved.Backup(t); rows == 0 {
		t.Error("nothing was new in the server")
	}
	back := house.Serve(t, place.Restore(t))
	for _, one := range []*house.Tenant{figures, lists} {
		one.Ask.Address = back.Address
		house.CheckAll(t, one.Ask, one.Model)
	}
}
