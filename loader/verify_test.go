package loader_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adlens/loader"
)

// A part that the disk spoiled is found when the engine starts: what it held is
// missing, and Verify names it. A part that held nothing live does no harm.
func TestDamagedPartsAreFoundAndSaid(t *testing.T) {
	t.Parallel()
	d := openOwn(t)
	verify := func() []string {
		t.Helper()
		faults, err := loader.Verify(t.Context(), d.store(), "acct")
		if err != nil {
			t.Fatal(err)
		}
		return faults
	}
	base := writeBase(t, fixtureRates...)
	mustLoad(t, d.store(), "acct", base, firstReport.write(t, t.TempDir()))
	if parts, err := d.db.Inspector.DamagedParts(t.Context()); err != nil || len(parts) > 0 || len(verify()) > 0 {
		t.Fatalf("a sound account: parts %v, %v; %v", parts, err, verify())
	}
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	spoilFacts(t, d.dir)
	if err := d.reopen(); err != nil {
		t.Fatal(err)
	}
	parts, err := d.db.Inspector.DamagedParts(t.Context())
	if err != nil || !slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, "facts ") }) {
		t.Errorf("damaged parts: %q, %v", parts, err)
	}
	faults := verify()
	if !slices.ContainsFunc(faults, func(fault string) bool {
		return strings.Contains(fault, "rows") && strings.Contains(fault, "were loaded")
	}) {
		t.Errorf("faults: %q", faults)
	}
}

// spoilFacts cuts the data of one part of the facts short.
func spoilFacts(t *testing.T, dir string) {
	t.Helper()
	spoilt := ""
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || spoilt != "" || e.Name() != "spend_local.bin" && e.Name() != "data.bin" {
			return err
		}
		columns, err := os.ReadFile(filepath.Join(filepath.Dir(path), "columns.txt"))
		if err != nil || !strings.Contains(string(columns), "purchases_30d") {
			return err
		}
		spoilt = path
		return os.Truncate(path, 10)
	})
	if err != nil || spoilt == "" {
		t.Fatalf("no part of the facts was found: %v", err)
	}
}
