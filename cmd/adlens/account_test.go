package main

import (
	"strings"
	"testing"
)

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
