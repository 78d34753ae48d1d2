package main

import (
	"errors"
	"strings"
	"testing"

	"adlens/internal/backup"
)

// An account that is added while a backup is restored would be the restored one, under
// another name, or would keep it from being shown.
func TestAnAccountIsAddedBeforeOrAfterARestore(t *testing.T) {
	d, o := home(t)
	release, err := d.locker.Lock(t.Context(), backup.LockName, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Sink.Began(t.Context(), "acme") // makes its table
	if err := errors.Join(err, d.Sink.Begin(t.Context(), "acme", "20261126")); err != nil {
		t.Fatal(err)
	}
	type result struct {
		out string
		err error
	}
	added := make(chan result, 1)
	go func() {
		out, err := run(o, "account", "add", "acme", "--name", "Acme")
		added <- result{out, err}
	}()
	if _, err := run(o, "account", "list"); err != nil { // takes as long as the other command needs
		t.Fatal(err)
	}
	select {
	case r := <-added:
		t.Errorf("beside a restore: %q: %v", r.out, r.err)
	default:
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if r := <-added; r.err == nil || !strings.Contains(r.err.Error(), "a restore of the backup 20261126 did not end") || !strings.Contains(r.out, "waiting for a restore: process ") {
		t.Errorf("after a restore that did not end: %q: %v", r.out, r.err)
	}
	if out, err := run(o, "account", "add", "other", "--name", "Other"); err != nil {
		t.Errorf("an account of which no restore began: %q: %v", out, err)
	}
	if err := d.Sink.Done(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	if out, err := run(o, "account", "add", "acme", "--name", "Acme"); err != nil {
		t.Errorf("after a restore that ended: %q: %v", out, err)
	}
}

func TestANameOfAnAccountIsOneCellOfTheList(t *testing.T) {
	_, o := home(t)
	if _, err := run(o, "account", "add", "acme", "--name", "Acme\nother  Other Ltd\tactive"); err != nil {
		t.Fatal(err)
	}
	out, err := run(o, "account", "list")
	if err != nil || strings.Count(out, "\n") != 2 || !strings.Contains(out, "acme  Acme other Other Ltd active  active  ") {
		t.Errorf("%q: %v", out, err)
	}
	if out, err := run(o, "account", "list", "--json"); err != nil || !strings.Contains(out, `"name":"Acme\nother  Other Ltd\tactive"`) {
		t.Errorf("%q: %v", out, err)
	}
}
