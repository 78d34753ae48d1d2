package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADemonstrationHasOneValidKey(t *testing.T) {
	d, o := home(t)
	if err := d.demoAccount(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := run(o, "key", "create", "--account", demoAccount, "--name", "my sheet"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		key, err := d.renewDemoKey(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all, err := d.Keys.Keys(t.Context(), demoAccount)
		if err != nil {
			t.Fatal(err)
		}
		valid := map[string]string{}
		for _, r := range all {
			if r.RevokedAt == nil {
				valid[r.Name] += r.Start
			}
		}
		if len(valid) != 2 || valid[demoKey] != key.Start() || valid["my sheet"] == "" {
			t.Errorf("the valid keys are %v, the newest is %s", valid, key.Start())
		}
	}
}

// An account that happens to have the demonstration's id gets no made-up figures.
func TestADemonstrationLeavesAnAccountOfItsNameAlone(t *testing.T) {
	d, o := home(t)
	if _, err := run(o, "account", "add", demoAccount, "--name", "Demolition Ltd"); err != nil {
		t.Fatal(err)
	}
	if _, err := run(o, "key", "create", "--account", demoAccount, "--name", demoKey); err != nil {
		t.Fatal(err)
	}
	out, err := run(o, "demo", "--listen", "127.0.0.1:0")
	if err == nil || !strings.Contains(err.Error(), "is no demonstration") || out != "" {
		t.Errorf("%q: %v", out, err)
	}
	if all, err := d.Keys.Keys(t.Context(), demoAccount); err != nil || len(all) != 1 || all[0].RevokedAt != nil {
		t.Errorf("the account's key was revoked: %v: %v", all, err)
	}
	if _, err := os.Stat(filepath.Join(o.dataDir, "demo-extracts")); err == nil {
		t.Error("extracts were written")
	}
}

// Nothing is made where the address cannot be had.
func TestADemonstrationWithoutItsAddressWritesNothing(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, o := home(t)
	out, err := run(o, "demo", "--listen", taken.Addr().String())
	if err == nil || !strings.Contains(err.Error(), taken.Addr().String()+" is in use") || out != "" {
		t.Errorf("%q: %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(o.dataDir, "demo-extracts")); err == nil {
		t.Error("extracts were written")
	}
}

// A running demonstration's key is the one that was printed: a start that fails
// prints none, and so ends none.
func TestADemonstrationThatCannotServeEndsNoKey(t *testing.T) {
	d, o := home(t)
	if err := d.demoAccount(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := d.renewDemoKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"--log-level=loud", "--limit-minute=-1", "--limit-day=-1", "--answer-cache=-1", "--answer-memory=-1", "--figure-memory=-1"} {
		if out, err := run(o, "demo", "--listen", "127.0.0.1:0", wrong); err == nil || out != "" {
			t.Errorf("%s: %q: %v", wrong, out, err)
		}
	}
	if all, err := d.Keys.Keys(t.Context(), demoAccount); err != nil || len(all) != 1 || all[0].RevokedAt != nil {
		t.Errorf("the key was replaced: %v: %v", all, err)
	}
}
