package engine

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestALimitOfTheSystemThatStopsTheEngineIsNamed(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]string{
		"ulimit -n 60":      "may open 60 files: it needs 512; raise the limit (ulimit -n, ",
		"ulimit -v 2000000": "may have 2048000000 bytes of address space, ",
	} {
		dir := dataDir(t)
		cmd := exec.CommandContext(t.Context(), "sh", "-c", limit+` && exec "$0"`, os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"=use "+dir)
		began := time.Now()
		out, err := cmd.Output()
		if text := string(out); err == nil || !strings.Contains(text, want) || strings.Contains(text, "make engine") {
			t.Errorf("%s: %v: %s", limit, err, text)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: the error came after %s", limit, took)
		}
	}
}
