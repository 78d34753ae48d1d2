package integration_test

import "testing"

// From the embedded engine to a server, and back.
func TestABackupMovesToAServerAndBack(t *testing.T) {
	t.Parallel()
	needEngine(t)
	p := ownProgram(t)
	figures, lists := figuresAndLists(t, p, seed(t), 2)
	place := copied{p, t.TempDir(), nil}
	place.backup(t)

	elsewhere := ownProgram(t)
	serve(t, elsewhere) // so that its engine runs
	theirs := asServer(t, elsewhere)
	server := []string{"--clickhouse", theirs.loader(theirs.password)}
	if r := p.Run(append([]string{"restore", "--from", place.place}, server...)...); r.Code != 0 {
		t.Fatalf("restore into a server: %s", r)
	}
	paths := takeFiles(figures, 2)
	figures.model.Load(paths...)
	if r := p.Run(append(p.LoadArgs(figures.files.ID, paths...), server...)...); r.Code != 0 {
		t.Fatalf("load into the server: %s", r)
	}
	moved := copied{p, place.place, server}
	if _, rows := moved.backup(t); rows == 0 {
		t.Error("nothing was new in the server")
	}
	back := serve(t, place.restore(t))
	for _, one := range []*tenant{figures, lists} {
		one.ask.Address = back.Address
		checkAll(t, one.ask, one.model)
	}
}
